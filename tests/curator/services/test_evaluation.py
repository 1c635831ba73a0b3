"""Evaluation: gold of done documents, test allowed, nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.documents import DocumentState, Split
from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome
from tests.curator.services.fakes import World, ignore


def test_gold_of_one_split_is_compared(world: World) -> None:
    world.kb()
    world.documents(2, gold=True)
    world.documents(3, first=10, name="t.pubtator", gold=True, split=Split.TEST)
    world.project.curation.set_state(5, DocumentState.IN_PROGRESS)
    world.index()
    world.jobs.result = {"recall": {"1": 0.5}}
    ended: list[JobOutcome] = []
    handle = world.project.evaluation.start(Split.TEST, on_progress=ignore, on_end=ended.append)
    assert handle.wait(0) == ended[0]
    assert ended[0].result == {"recall": {"1": 0.5}}
    assert [(one["key"], one["split"]) for one in world.jobs.seen] == [("3", "test"), ("4", "test")]
    kind, spec = world.jobs.started[-1]
    assert (kind, spec["split"], spec["k"]) == ("evaluate", "test", 64)
    assert Path(spec["bundle"]).is_dir()
    assert not Path(spec["snapshot"]).exists()


def test_without_gold_or_bundle_it_says_what_to_do(world: World) -> None:
    with pytest.raises(UserError, match="index"):
        world.project.evaluation.start(Split.TEST, on_progress=ignore, on_end=ignore)
    world.kb()
    world.documents(1)
    world.index()
    with pytest.raises(UserError, match="done"):
        world.project.evaluation.start(Split.TRAIN, on_progress=ignore, on_end=ignore)
    with pytest.raises(UserError, match="no bundle nope"):
        world.project.evaluation.start(Split.TRAIN, bundle_id="nope", on_progress=ignore, on_end=ignore)

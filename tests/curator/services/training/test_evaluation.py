"""Evaluation and replay: gold of done documents, test allowed, nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.documents import DocumentState, Split
from curator.domain.jobs import JobOutcome
from curator.domain.wording import UserError
from curator.services.training.evaluation import EvaluationWish, ReplayWish
from tests.curator.services.fakes import World, ignore


@pytest.fixture
def judged(world: World) -> World:
    """Two train documents, one of them reopened, and three of test, one reopened; an index."""
    world.kb()
    world.documents(2, gold=True)
    world.documents(3, first=10, name="t.pubtator", gold=True, split=Split.TEST)
    for document in (2, 5):
        world.project.curation.set_state(document, DocumentState.IN_PROGRESS)
    world.index()
    return world


def test_gold_of_one_split_is_compared_and_train_is_what_was_seen(judged: World) -> None:
    judged.jobs.result = {"recall": {"1": 0.5}}
    ended: list[JobOutcome] = []
    handle = judged.project.evaluation.start(
        EvaluationWish(Split.TEST, seed=7), on_progress=ignore, on_end=ended.append
    )
    assert handle.wait(0) == ended[0]
    assert ended[0].result == {"recall": {"1": 0.5}}
    seen = [(one["key"], one["split"]) for one in judged.jobs.seen]
    assert seen == [("3", "test"), ("4", "test"), ("1", "train"), ("2", "train")], "train whether done or not"
    kind, spec = judged.jobs.started[-1]
    assert (kind, spec["split"], spec["k"], spec["seed"]) == ("evaluate", "test", 64, 7)
    assert (spec["against"], spec["memory"], spec["whole_kb"]) == (None, True, False)
    assert Path(spec["bundle"]).is_dir()
    assert not Path(spec["snapshot"]).exists()


def test_decisions_of_test_stay_out_of_other_evaluations(judged: World) -> None:
    judged.project.evaluation.start(EvaluationWish(Split.TRAIN, memory=False), on_progress=ignore, on_end=ignore)
    assert [(one["key"], one["split"]) for one in judged.jobs.seen] == [("1", "train")], "only done ones are judged"
    assert judged.jobs.started[-1][1]["memory"] is False


def test_the_snapshot_names_documents_and_what_their_file_stated(judged: World) -> None:
    judged.project.evaluation.start(EvaluationWish(Split.TRAIN), on_progress=ignore, on_end=ignore)
    [document] = judged.jobs.seen
    assert document["name"] == judged.project.queue.open(1).document.external_id
    assert [mention["stated"] for mention in document["mentions"]] == ["D008012", "D006323", "OMIM:115000", "-1"]


def test_against_another_bundle(judged: World) -> None:
    first, second = judged.project.evaluation.bundles()[:2]
    wish = EvaluationWish(Split.TEST, second.id, against=first.id)
    judged.project.evaluation.start(wish, on_progress=ignore, on_end=ignore)
    spec = judged.jobs.started[-1][1]
    assert (spec["bundle"], spec["against"]) == (second.path, first.path)


def test_replay_goes_through_one_split_and_then_another(judged: World) -> None:
    wish = ReplayWish(Split.TEST, then=Split.TRAIN, limit=9)
    judged.project.evaluation.replay(wish, on_progress=ignore, on_end=ignore)
    assert [(one["key"], one["split"]) for one in judged.jobs.seen] == [("3", "test"), ("4", "test"), ("1", "train")]
    spec = judged.jobs.started[-1][1]
    assert (spec["replay"], spec["split"], spec["then"], spec["limit"]) == (True, "test", "train", 9)


def test_without_gold_or_bundle_it_says_what_to_do(world: World) -> None:
    evaluation = world.project.evaluation
    with pytest.raises(UserError, match="index"):
        evaluation.start(EvaluationWish(Split.TEST), on_progress=ignore, on_end=ignore)
    world.kb()
    world.documents(1)
    world.index()
    with pytest.raises(UserError, match="done"):
        evaluation.start(EvaluationWish(Split.TRAIN), on_progress=ignore, on_end=ignore)
    with pytest.raises(UserError, match="done"):
        evaluation.replay(ReplayWish(Split.TRAIN), on_progress=ignore, on_end=ignore)
    with pytest.raises(UserError, match="no linker nope"):
        evaluation.start(EvaluationWish(Split.TRAIN, "nope"), on_progress=ignore, on_end=ignore)
    with pytest.raises(UserError, match="no linker nope"):
        evaluation.start(EvaluationWish(Split.TRAIN, against="nope"), on_progress=ignore, on_end=ignore)

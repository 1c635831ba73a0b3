"""Calibration on validation: when it is due, what it is given, and which bundle serves afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, ignore

ENOUGH = 34  # documents of one NIL and three linked mentions each


@pytest.fixture
def indexed(world: World) -> World:
    world.kb()
    world.index()
    return world


def validation(world: World, documents: int = ENOUGH) -> None:
    world.documents(documents, name="v.pubtator", gold=True, split=Split.VALIDATION)


def calibrate(world: World) -> JobOutcome:
    ended: list[JobOutcome] = []
    world.project.retraining.calibrate(on_progress=ignore, on_end=ended.append)
    [outcome] = ended
    return outcome


def active(world: World) -> str:
    return next(one.id for one in world.project.retraining.bundles() if one.active)


def test_it_is_due_when_validation_holds_enough(indexed: World) -> None:
    validation(indexed, ENOUGH - 5)
    assert not indexed.project.retraining.needs_calibration()
    validation_rest = indexed.documents(5, first=100, name="w.pubtator", gold=True, split=Split.VALIDATION)
    assert validation_rest
    assert indexed.project.retraining.needs_calibration()


def test_decisions_of_other_splits_do_not_count(indexed: World) -> None:
    indexed.documents(ENOUGH, gold=True, split=Split.TRAIN)
    assert not indexed.project.retraining.needs_calibration()
    with pytest.raises(UserError, match="30 NIL and 100 linked"):
        calibrate(indexed)


def test_it_sees_no_test_document_and_its_bundle_serves(indexed: World) -> None:
    indexed.documents(2, first=500, name="t.pubtator", gold=True, split=Split.TRAIN)
    indexed.documents(2, first=600, name="u.pubtator", gold=True, split=Split.TEST)
    validation(indexed)
    before = active(indexed)
    outcome = calibrate(indexed)
    assert outcome.state is JobState.DONE
    assert {one["split"] for one in indexed.jobs.seen} == {"train", "validation"}
    kind, spec = indexed.jobs.started[-1]
    assert (kind, Path(spec["bundle"]).name) == ("calibrate", before)
    assert active(indexed) == outcome.result["bundle"] != before
    assert indexed.linker.opened[-1:] in ([], [active(indexed)])


def test_a_calibrated_bundle_is_not_calibrated_again(indexed: World) -> None:
    validation(indexed)
    manifest = indexed.project.folder / "bundles" / active(indexed) / "manifest.json"
    raw: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(raw | {"nil": {"calibrated": True}}), encoding="utf-8")
    assert not indexed.project.retraining.needs_calibration()


def test_going_back_from_a_calibrated_bundle_lasts(indexed: World) -> None:
    validation(indexed)
    outcome = calibrate(indexed)
    manifest = indexed.project.folder / "bundles" / outcome.result["bundle"] / "manifest.json"
    raw: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    stages = [{"name": "lexical"}, {"name": "names"}]
    manifest.write_text(json.dumps(raw | {"nil": {"calibrated": True}, "retrievers": stages}), encoding="utf-8")
    indexed.project.retraining.rollback()
    assert active(indexed) != outcome.result["bundle"]
    assert not indexed.project.retraining.needs_calibration()


def test_a_failure_leaves_the_bundle_that_served(indexed: World) -> None:
    validation(indexed)
    before = active(indexed)
    indexed.jobs.outcomes = [JobOutcome(JobState.FAILED, "no memory")]
    assert calibrate(indexed).message == "no memory"
    assert active(indexed) == before
    assert list((indexed.project.folder / "bundles").glob(".staging-*")) == []


def test_a_new_index_is_calibrated_at_once(world: World) -> None:
    world.kb()
    validation(world)
    world.index()
    assert [kind for kind, _ in world.jobs.started] == ["index", "index", "calibrate"]


def test_without_a_bundle_there_is_nothing_to_calibrate(world: World) -> None:
    world.kb()
    validation(world)
    assert not world.project.retraining.needs_calibration()
    with pytest.raises(UserError, match="no index yet"):
        calibrate(world)

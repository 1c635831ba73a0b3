"""Refitting the weights: when it is due, what it is given, and which bundle serves afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, ignore

ENOUGH = 67  # documents of one NIL and three linked mentions each


@pytest.fixture
def indexed(world: World) -> World:
    world.kb()
    world.index()
    return world


def decided(world: World, documents: int = ENOUGH, *, split: Split = Split.VALIDATION, first: int = 1) -> None:
    world.documents(documents, first=first, name=f"{split}{first}.pubtator", gold=True, split=split)


def refit(world: World) -> JobOutcome:
    ended: list[JobOutcome] = []
    world.project.retraining.calibrate(on_progress=ignore, on_end=ended.append)
    [outcome] = ended
    return outcome


def active(world: World) -> str:
    return next(one.id for one in world.project.retraining.bundles() if one.active)


def test_it_is_due_from_two_hundred_links_on(indexed: World) -> None:
    decided(indexed, ENOUGH - 5, split=Split.TRAIN)
    assert not indexed.project.retraining.needs_calibration()
    decided(indexed, 5, first=100)
    assert indexed.project.retraining.needs_calibration()


def test_decisions_of_test_documents_do_not_count(indexed: World) -> None:
    decided(indexed, split=Split.TEST)
    assert not indexed.project.retraining.needs_calibration()
    with pytest.raises(UserError, match=r"200 links in .*there are 0"):
        refit(indexed)


def test_it_sees_no_test_document_and_its_bundle_serves(indexed: World) -> None:
    decided(indexed, 2, first=500, split=Split.TRAIN)
    decided(indexed, 2, first=600, split=Split.TEST)
    decided(indexed)
    before = active(indexed)
    outcome = refit(indexed)
    assert outcome.state is JobState.DONE
    assert {one["split"] for one in indexed.jobs.seen} == {"train", "validation"}
    kind, spec = indexed.jobs.started[-1]
    assert (kind, spec["recipe"], Path(spec["base"]).name) == ("train", "conventions", before)
    assert active(indexed) == outcome.result["bundle"] != before
    assert indexed.linker.opened[-1:] in ([], [active(indexed)])


@pytest.mark.parametrize("verdict", ["promote", "no_gain", "refused"])
def test_it_is_due_again_when_the_links_have_doubled(indexed: World, verdict: str) -> None:
    """Whatever came of it before; the curator who went back to another bundle is not asked at every start."""
    decided(indexed)
    indexed.jobs.verdict, indexed.jobs.metrics = verdict, {"links": 3 * ENOUGH}
    before = active(indexed)
    refit(indexed)
    assert (active(indexed) == before) is (verdict != "promote")
    assert not indexed.project.retraining.needs_calibration()
    decided(indexed, ENOUGH - 1, first=200)
    assert not indexed.project.retraining.needs_calibration()
    decided(indexed, 1, first=400)
    assert indexed.project.retraining.needs_calibration()


def test_going_back_lasts(indexed: World) -> None:
    decided(indexed)
    indexed.jobs.metrics = {"links": 3 * ENOUGH}
    outcome = refit(indexed)
    indexed.project.retraining.rollback()
    assert active(indexed) != outcome.result["bundle"]
    assert not indexed.project.retraining.needs_calibration()


def test_a_training_has_refitted_its_bundle(indexed: World) -> None:
    decided(indexed)
    indexed.project.retraining.start("pel-pb-quick", on_progress=ignore, on_end=ignore)
    assert not indexed.project.retraining.needs_calibration()


def test_a_failure_leaves_the_bundle_that_served(indexed: World) -> None:
    decided(indexed)
    before = active(indexed)
    indexed.jobs.outcomes = [JobOutcome(JobState.FAILED, "no memory")]
    assert refit(indexed).message == "no memory"
    assert active(indexed) == before
    assert list((indexed.project.folder / "bundles").glob(".staging-*")) == []


def test_a_new_index_is_refitted_at_once(world: World) -> None:
    world.kb()
    decided(world)
    world.index()
    assert [(kind, spec.get("recipe")) for kind, spec in world.jobs.started] == [
        ("index", None),
        ("index", None),
        ("train", "conventions"),
    ]


def test_without_a_bundle_there_is_nothing_to_refit(world: World) -> None:
    world.kb()
    decided(world)
    assert not world.project.retraining.needs_calibration()
    with pytest.raises(UserError, match="no index yet"):
        refit(world)

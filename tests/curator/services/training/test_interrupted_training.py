"""A training that is interrupted stays; one that is done or cancelled leaves nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import UserError
from curator.services.training.snapshots import INDEX
from curator.services.training.workplace import SPEC, TrainingFolders
from tests.curator.services.fakes import KB, World, ignore
from tests.failing_reads import fail_reads

RECIPE = "pel-pb"
CRASHED = JobOutcome(JobState.CRASHED, "The process ended; start it again.")


@pytest.fixture
def indexed(world: World) -> World:
    world.kb()
    world.documents(3, gold=True)
    world.documents(2, first=10, name="v.pubtator", gold=True, split=Split.VALIDATION)
    world.index()
    return world


def work_folder(world: World) -> Path:
    return world.project.folder / "bundles" / ".training"


def left(world: World) -> list[Path]:
    folder = work_folder(world)
    return list(folder.iterdir()) if folder.is_dir() else []


def train(world: World, outcome: JobOutcome | None = None, *, state: bool = False, resume: bool = False) -> JobOutcome:
    """One run that ends with `outcome` (None: done); with `state` its process kept something to resume from."""
    if outcome is not None:
        world.jobs.outcomes = [outcome]
    if state:
        _keep_state(world)
    service = world.project.retraining
    handle = (
        service.resume(on_progress=ignore, on_end=ignore)
        if resume
        else service.start(RECIPE, {"epochs": 3}, seed=7, on_progress=ignore, on_end=ignore)
    )
    ended = handle.wait(0)
    assert ended is not None
    return ended


def _keep_state(world: World) -> None:
    real = world.jobs.start

    def start(kind: str, spec: Mapping[str, Any], **options: Any) -> Any:
        checkpoints = Path(spec["work"]) / "checkpoints"
        checkpoints.mkdir(exist_ok=True)
        (checkpoints / "000001.json").write_text("{}", encoding="utf-8")
        world.jobs.start = real  # type: ignore[method-assign]
        return real(kind, spec, **options)

    world.jobs.start = start  # type: ignore[method-assign]


@pytest.mark.parametrize("outcome", [None, JobOutcome(JobState.CANCELLED, "Cancelled.")])
def test_done_and_cancelled_leave_nothing(indexed: World, outcome: JobOutcome | None) -> None:
    train(indexed, outcome, state=True)
    assert left(indexed) == []
    assert indexed.project.retraining.interrupted() == []


def test_what_is_no_folder_of_trainings_holds_none(indexed: World) -> None:
    (indexed.project.folder / "bundles" / ".training").touch()
    assert indexed.project.retraining.interrupted() == []


def test_a_crash_keeps_input_and_specification(indexed: World) -> None:
    outcome = train(indexed, CRASHED, state=True)
    [found] = indexed.project.retraining.interrupted()
    assert outcome.result["resumable"] == found.id
    assert "Resume" in outcome.message
    assert (found.recipe, found.spec["seed"], found.spec["parameters"]["epochs"]) == (RECIPE, 7, 3)
    assert found.reached is not None
    assert "resumes from" in found.words
    assert list((indexed.project.folder / "bundles").glob(".staging-*")) == []


@pytest.mark.parametrize("lacking", ["parameters", "device", "recipe"])
def test_a_specification_that_lacks_something_cannot_be_resumed(indexed: World, lacking: str) -> None:
    train(indexed, CRASHED)
    [found] = indexed.project.retraining.interrupted()
    spec = json.loads((found.folder / SPEC).read_text(encoding="utf-8"))
    (found.folder / SPEC).write_text(json.dumps({name: one for name, one in spec.items() if name != lacking}))
    assert indexed.project.retraining.interrupted() == []


def test_input_that_a_power_failure_left_incomplete_cannot_be_resumed(indexed: World) -> None:
    train(indexed, CRASHED)
    [found] = indexed.project.retraining.interrupted()
    (found.folder / "snapshot" / "documents.jsonl").unlink()
    assert indexed.project.retraining.interrupted() == []


def test_it_goes_on_with_the_same_decisions_and_settings(indexed: World) -> None:
    train(indexed, CRASHED)
    _, first = indexed.jobs.started[-1]
    seen = indexed.jobs.seen
    indexed.documents(2, first=40, name="later.pubtator", gold=True)
    outcome = train(indexed, resume=True)
    _, second = indexed.jobs.started[-1]
    assert indexed.jobs.seen == seen
    assert {**first, "staging": ""} == {**second, "staging": ""}
    assert first["staging"] != second["staging"]
    assert outcome.result["active"] is True
    assert left(indexed) == []


def test_a_project_cannot_say_where_a_resumed_training_writes(indexed: World, tmp_path: Path) -> None:
    train(indexed, CRASHED)
    [found] = indexed.project.retraining.interrupted()
    spec = json.loads((found.folder / SPEC).read_text(encoding="utf-8"))
    elsewhere = dict.fromkeys(("staging", "work", "snapshot"), str(tmp_path / "elsewhere"))
    (found.folder / SPEC).write_text(json.dumps({**spec, **elsewhere, "tensorboard": "../../../elsewhere"}))
    train(indexed, resume=True)
    _, sent = indexed.jobs.started[-1]
    for place in (*elsewhere, "tensorboard"):
        assert Path(sent[place]).resolve().is_relative_to(indexed.project.folder.resolve())
    assert Path(sent["tensorboard"]) == indexed.project.folder / "tensorboard" / "elsewhere"


def test_figures_go_on_into_the_same_tensorboard_folder(indexed: World) -> None:
    indexed.jobs.outcomes = [CRASHED]
    indexed.project.retraining.start(RECIPE, tensorboard=True, on_progress=ignore, on_end=ignore)
    train(indexed, resume=True)
    first, second = (spec["tensorboard"] for kind, spec in indexed.jobs.started if kind == "train")
    assert first == second
    assert Path(first).parent == indexed.project.folder / "tensorboard"
    train(indexed)
    assert "tensorboard" not in indexed.jobs.started[-1][1]


def test_it_may_be_interrupted_again(indexed: World) -> None:
    train(indexed, CRASHED)
    train(indexed, CRASHED, resume=True)
    assert len(indexed.project.retraining.interrupted()) == 1


def test_a_failure_is_kept_only_with_something_to_go_on_from(indexed: World) -> None:
    full = JobOutcome(JobState.FAILED, "The disk is full.")
    assert "resumable" not in train(indexed, full).result
    assert left(indexed) == []
    assert "resumable" in train(indexed, full, state=True).result


def test_one_that_gets_no_further_says_so_and_is_kept(indexed: World) -> None:
    full = JobOutcome(JobState.FAILED, "The disk is full.")
    assert "To resume it" in train(indexed, full, state=True).message
    outcome = train(indexed, full, resume=True)
    assert "It got no further than the last time" in outcome.message
    assert len(indexed.project.retraining.interrupted()) == 1


def test_closing_the_project_keeps_what_it_stops(indexed: World) -> None:
    outcome = train(indexed, JobOutcome(JobState.CANCELLED, "Closed.", {"closing": True}))
    assert outcome.message == "Closed."
    assert len(indexed.project.retraining.interrupted()) == 1


def test_nothing_is_taken_up_where_there_is_nothing(indexed: World) -> None:
    with pytest.raises(UserError, match="no interrupted training"):
        train(indexed, resume=True)


def test_a_replaced_knowledge_base_is_told(indexed: World) -> None:
    train(indexed, CRASHED)
    indexed.kb(KB[:2], name="smaller.jsonl")
    indexed.jobs.kb_hash = "another"
    indexed.index()
    with pytest.raises(UserError, match="knowledge base has been replaced"):
        train(indexed, resume=True)
    assert len(indexed.project.retraining.interrupted()) == 1


def test_a_base_that_is_gone_is_told(indexed: World) -> None:
    train(indexed, CRASHED)
    [found] = indexed.project.retraining.interrupted()
    shutil.rmtree(indexed.project.folder / "bundles" / found.base)
    with pytest.raises(UserError, match="no longer exists"):
        train(indexed, resume=True)


def test_its_base_cannot_be_deleted_before_it_is_discarded(indexed: World) -> None:
    train(indexed, CRASHED)
    [found] = indexed.project.retraining.interrupted()
    old = next(one.id for one in indexed.project.retraining.bundles() if not one.active)
    indexed.project.retraining.promote(old)
    with pytest.raises(UserError, match="needs the linker"):
        indexed.project.retraining.delete(found.base)
    indexed.project.retraining.discard_interrupted(found.id)
    assert left(indexed) == []
    indexed.project.retraining.delete(found.base)


def test_what_never_had_its_input_is_swept_away(indexed: World) -> None:
    broken = work_folder(indexed) / "broken"
    broken.mkdir(parents=True)
    (broken / "spec.json").write_text("{", encoding="utf-8")
    assert indexed.project.retraining.interrupted() == []
    train(indexed)
    assert left(indexed) == []


def test_what_cannot_be_resumed_is_removed_at_the_next_start(indexed: World) -> None:
    folder = work_folder(indexed)
    (folder / "0123456789ab" / "snapshot").mkdir(parents=True)
    folders = TrainingFolders(indexed.project.folder, read_only=False)
    train(indexed, CRASHED, state=True)
    (folder / "ba9876543210").mkdir()
    folders.clean()
    assert [path.name for path in left(indexed)] == [one.id for one in folders.interrupted()]
    indexed.project.retraining.discard_interrupted(folders.interrupted()[0].id)
    (folder / "ba9876543210").mkdir(parents=True)
    folders.clean()
    assert not folder.exists()


@pytest.mark.parametrize("name", [SPEC, INDEX])
def test_one_that_the_disk_does_not_give_once_is_not_removed(
    indexed: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    train(indexed, CRASHED, state=True)
    folders = TrainingFolders(indexed.project.folder, read_only=False)
    [found] = folders.interrupted()
    failed = fail_reads(monkeypatch, name)
    folders.clean()
    assert failed() == 1
    assert folders.interrupted() == [found]
    fail_reads(monkeypatch, name)
    assert folders.interrupted() == [found]


def test_one_training_at_a_time(indexed: World) -> None:
    told: list[str] = []

    def second(kind: str, spec: Mapping[str, Any]) -> JobOutcome:
        with pytest.raises(UserError, match="already running"):
            indexed.project.retraining.start(RECIPE, on_progress=ignore, on_end=ignore)
        with pytest.raises(UserError, match="running"):
            indexed.project.retraining.delete("any")
        told.append(kind)
        return CRASHED

    indexed.jobs.work = second  # type: ignore[method-assign]
    train(indexed)
    assert told == ["train"]


def test_a_folder_that_cannot_be_made_is_told(indexed: World) -> None:
    work_folder(indexed).write_text("with this name already exists", encoding="utf-8")
    with pytest.raises(UserError, match="permissions"):
        train(indexed)


def test_a_project_that_is_only_read_offers_nothing(indexed: World) -> None:
    """Another process may be training in it at this moment."""
    train(indexed, CRASHED)
    assert TrainingFolders(indexed.project.folder, read_only=True).interrupted() == []
    assert len(TrainingFolders(indexed.project.folder, read_only=False).interrupted()) == 1


def test_an_id_is_no_path(indexed: World, tmp_path: Path) -> None:
    outside = indexed.project.folder / "bundles"
    indexed.project.retraining.discard_interrupted("..")
    assert outside.is_dir()


def test_a_training_that_stopped_responding_can_be_resumed_or_started_again(indexed: World) -> None:
    said = "The background process stopped responding and was ended. Nothing was changed"
    silent = JobOutcome(JobState.FAILED, f"{said}; start it again.", {"unresponsive": True})
    assert train(indexed, silent).message == f"{said}; start it again."
    assert indexed.project.retraining.interrupted() == []
    outcome = train(indexed, silent, state=True)
    assert outcome.message.startswith(f"{said}. To resume it, choose Model › Resume the interrupted training")
    [kept] = indexed.project.retraining.interrupted()
    assert outcome.result["resumable"] == kept.id

"""Small projects: a part is tested on the documents that it learns from, in turns."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import MakeSpec
from tests.training.job.test_preparation import drain
from training.data.budget import Budget
from training.data.document_splits import linked_count
from training.data.progress import Event, Phase
from training.data.snapshot import SnapshotDocument
from training.data.spec import TrainingSpec
from training.job import turns
from training.job.fitting import CalibrationSet
from training.job.job import run_training
from training.job.preparation import Loaded, Prepared, load, prepare
from training.job.recipes import load_recipe
from training.job.turns import needs_turns, scored_in_turns


@pytest.fixture
def job(make_spec: MakeSpec) -> tuple[Loaded, Prepared]:
    loaded = drain(load(TrainingSpec.from_json(make_spec("pel-pb-quick"))))
    return loaded, drain(prepare(loaded, Budget(None), shuffle_labels=False))


def keys(documents: Sequence[SnapshotDocument]) -> set[str]:
    return {mention.key for document in documents for mention in document.mentions}


def test_each_document_is_scored_by_a_part_that_did_not_learn_from_it(job: tuple[Loaded, Prepared]) -> None:
    loaded, prepared = job
    trained: list[tuple[Loaded, Prepared]] = []
    asked: list[SnapshotDocument] = []

    def train(part: Loaded, given: Prepared, _: Budget) -> Generator[Event, None, None]:
        trained.append((part, given))
        yield Event(Phase.TRAIN, 1, 10, text="loss", data={"loss": 1.0})

    def score(staging: Path, documents: Sequence[SnapshotDocument]) -> Generator[Event, None, list[Any]]:
        part, given = trained[-1]
        assert staging == part.spec.staging
        assert staging.parent == loaded.spec.staging, "goes with it if the job is killed"
        assert staging.is_dir()
        learnt = {example.key for example in given.train}
        assert learnt
        assert not learnt & keys(documents)
        assert {example.key for example in given.held_out} <= keys(documents)
        assert learnt & keys(loaded.parts.held_out), "what is held out otherwise is learnt from here"
        assert not {one.key for one in part.parts.train} & {one.key for one in documents}
        asked.extend(documents)
        yield Event(Phase.REFIT)
        return [document.key for document in documents]

    events: list[Event] = []
    found = _run(scored_in_turns(loaded, prepared, Budget(None), train, score), events)
    assert sorted(found) == sorted(document.key for document in loaded.parts.train)
    assert len(asked) == len(loaded.parts.train)
    assert {event.phase for event in events} == {Phase.PREPARE}
    assert [event.text[-8:] for event in events if event.text] == ["(1 of 2)", "(2 of 2)"]
    assert not any(event.data for event in events)
    assert not any(part.spec.staging.exists() for part, _ in trained)


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_nothing_is_left_of_a_turn_that_was_interrupted(job: tuple[Loaded, Prepared], error: type) -> None:
    loaded, prepared = job
    folders: list[Path] = []

    def train(part: Loaded, _: Prepared, __: Budget) -> Generator[Event, None, None]:
        folders.append(part.spec.staging)
        yield Event(Phase.TRAIN)
        raise error

    steps = scored_in_turns(loaded, prepared, Budget(None), train, lambda *_: iter(()))  # type: ignore[arg-type]
    with pytest.raises(error):
        _run(steps, [])
    assert [folder.exists() for folder in folders] == [False]


@pytest.mark.parametrize(
    ("recipe", "few", "least", "minutes", "unseen", "needed"),
    [
        ("pel-pb-quick", 500, 1, None, True, True),
        ("prototype-quick", 500, 1, None, True, True),
        ("pel-pb-quick", 500, 1, 10.5, True, True),
        ("pel-pb-quick", 500, 1, 9.0, True, False),
        ("pel-pb-quick", 1, 1, None, True, False),
        ("pel-pb-quick", 500, 10**6, None, True, False),
        ("pel-pb-quick", 500, 1, None, False, False),
        ("pel-pb", 500, 1, None, True, False),
        ("names", 500, 1, None, True, False),
    ],
)
def test_turns_are_for_few_decisions_of_quick_recipes(
    monkeypatch: pytest.MonkeyPatch,
    job: tuple[Loaded, Prepared],
    recipe: str,
    few: int,
    least: int,
    minutes: float | None,
    unseen: bool,
    needed: bool,
) -> None:
    monkeypatch.setattr(turns, "FEW_HELD_OUT", few)
    monkeypatch.setattr(turns, "MIN_COMBINER", least)
    loaded, prepared = job
    assert linked_count(loaded.parts.held_out) >= 1
    loaded = replace(loaded, recipe=load_recipe(recipe))
    prepared = prepared if unseen else replace(prepared, calibration=CalibrationSet((), prepared.calibration.folds))
    assert needs_turns(loaded, prepared, Budget(minutes)) is needed


def _run(steps: Generator[Event, None, Any], events: list[Event]) -> Any:
    while True:
        try:
            events.append(next(steps))
        except StopIteration as stop:
            return stop.value


@pytest.mark.parametrize("recipe", ["pel-pb-quick", "prototype-quick"])
def test_all_decisions_judge_what_was_trained_in_turns(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    monkeypatch.setattr(turns, "MIN_COMBINER", 1)
    spec = make_spec(recipe)
    loaded = drain(load(TrainingSpec.from_json(spec)))
    *_, last = run_training(spec)
    judged = last.data["result"]["metrics"]["gate"]["mentions"]
    assert judged == linked_count(loaded.decided) > linked_count(loaded.parts.held_out)
    assert not [one for one in Path(spec["staging"]).iterdir() if one.name.startswith(".")]

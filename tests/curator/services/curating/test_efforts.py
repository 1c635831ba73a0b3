"""What decisions cost is kept apart from them, and lost before a decision is."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.services.curating.efforts import TOGETHER, EffortFigures
from tests.curator.services.fakes import World


def decide(world: World, *mention_ids: int, keys: int = 1, milliseconds: int = 1000) -> None:
    change = world.project.curation.decide_many(mention_ids, Verdict.nil())
    assert change.operation_id is not None
    world.project.efforts.record(change.operation_id, keys=keys, milliseconds=milliseconds)


def test_figures_are_means_over_decisions(filled: World) -> None:
    decide(filled, 1, keys=1, milliseconds=2000)
    decide(filled, 2, 3, 4, keys=3, milliseconds=6000)
    filled.project.efforts.flush()
    assert filled.project.efforts.figures() == EffortFigures(2, 4, 1.0, 2.0)
    assert filled.project.efforts.figures(curator="ben") == EffortFigures(0, 0, 0.0, 0.0)
    assert [(one.decisions, one.curator) for one in filled.project.efforts.spent()] == [(1, "ada"), (3, "ada")]


def test_what_was_undone_does_not_count_and_comes_back_with_redo(filled: World) -> None:
    decide(filled, 1)
    filled.project.efforts.flush()
    filled.project.curation.undo()
    assert filled.project.efforts.figures().operations == 0
    filled.project.curation.redo()
    assert filled.project.efforts.figures().operations == 1


def test_efforts_are_written_together(filled: World) -> None:
    for _ in range(TOGETHER - 1):
        decide(filled, 1)
    assert filled.project.efforts.spent() == []
    decide(filled, 1)
    assert len(filled.project.efforts.spent()) == TOGETHER


def test_a_clock_that_went_back_costs_nothing(filled: World) -> None:
    decide(filled, 1, milliseconds=-5000)
    filled.project.efforts.flush()
    assert filled.project.efforts.spent()[0].milliseconds == 0


def test_what_a_full_disk_refuses_waits(filled: World, monkeypatch: pytest.MonkeyPatch, caplog: object) -> None:
    decide(filled, 1)
    store = filled.store

    def full() -> None:
        raise UserError("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(type(store), "write", lambda _: full())
        filled.project.efforts.flush()
    filled.project.efforts.flush()
    assert filled.project.efforts.figures().operations == 1

"""Undo and redo without limit: over documents, bulk steps, restarts, a clock set back and a full disk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curator import bootstrap
from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState
from curator.domain.wording import UserError
from curator.services.curating.curation import CurationService
from curator.services.curating.propagation import PropagationScope
from curator.storage.store import SqlStore
from tests.curator.services.fakes import World, context

LIDOCAINE = Verdict.link("MESH:D008012")


def content(project: bootstrap.Project, documents: range = range(1, 3)) -> Any:
    """All that undo has to restore."""
    opened = [project.queue.open(one) for one in documents]
    return [
        (one.document.state, [view.decision and (view.decision.verdict, view.decision.note) for view in one.mentions])
        for one in opened
    ]


def test_everything_is_taken_back_and_done_again_after_restarts(world: World, tmp_path: Path) -> None:
    world.kb()
    world.documents(2)
    project = world.project
    states = [content(project)]
    steps = [
        lambda: project.curation.decide(2, Verdict.nil()),
        lambda: project.curation.decide(1, LIDOCAINE),
        lambda: project.propagation.decide(
            project.propagation.others(1, LIDOCAINE, scope=PropagationScope.PROJECT), [5]
        ),
        lambda: project.curation.decide_many([3, 4, 7, 8], Verdict.reject()),
        lambda: project.curation.set_state(2, DocumentState.DONE),
        lambda: project.curation.decide(5, Verdict.skip()),
    ]
    for step in steps:
        step()
        states.append(content(project))
    project.close()
    folder = tmp_path / "p.curation"
    for expected in reversed(states[:-1]):  # each step back in a process of its own
        again = bootstrap.open_project(folder, linker=False, curator="ben")
        assert again.curation.undo() is not None
        assert content(again) == expected
        again.close()
    again = bootstrap.open_project(folder, linker=False)
    for expected in states[1:]:
        assert again.curation.redo() is not None
        assert content(again) == expected
    assert not again.curation.can_redo()
    again.close()


class BackwardClock:
    """Each look at it is a day earlier."""

    def __init__(self) -> None:
        self.day = 28

    def now(self) -> datetime:
        self.day -= 1
        return datetime(2026, 2, self.day, tzinfo=UTC)


def test_a_clock_that_goes_back_changes_no_order(filled: World) -> None:
    curation = CurationService(
        context(filled.store, events=filled.project.events, clock=BackwardClock()), related=lambda *_: []
    )
    curation.decide(1, LIDOCAINE)
    curation.decide(1, Verdict.nil())
    assert curation.current([1])[1].verdict == Verdict.nil(), "the last said counts, whatever its date"
    curation.undo()
    assert curation.current([1])[1].verdict == LIDOCAINE
    curation.undo()
    assert curation.current([1]) == {}
    curation.redo()
    curation.redo()
    assert curation.current([1])[1].verdict == Verdict.nil()
    dates = [one.at for one in curation.history(1)]
    assert dates == sorted(dates, reverse=True)


def fill_disk(store: Any, *, pages: int) -> None:
    """Let the database grow by so many pages at most, as a full disk would."""
    assert isinstance(store, SqlStore)
    with store.write() as unit:
        connection = unit.connection
        now = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {now + pages}")


def test_a_disk_that_fills_up_during_a_bulk_step_leaves_nothing_half_done(filled: World) -> None:
    project, store = filled.project, filled.store
    filled.documents(40, first=10, name="b.pubtator")
    project.curation.decide(1, LIDOCAINE)
    before, ids = content(project, range(1, 43)), list(range(2, 160))
    fill_disk(store, pages=1)
    with pytest.raises(UserError, match="The disk is full: nothing of this step was saved"):
        project.curation.decide_many(ids, Verdict.nil(), note="a long note " * 200)
    assert content(project, range(1, 43)) == before
    assert project.curation.undo() is not None, "what was saved before can be taken back: it needs no room"
    fill_disk(store, pages=10_000)
    project.curation.redo()
    assert content(project, range(1, 43)) == before
    project.curation.decide_many(ids, Verdict.nil())
    assert len(project.curation.current(ids)) == len(ids)

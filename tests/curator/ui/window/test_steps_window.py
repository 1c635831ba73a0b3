"""The history of steps in the window: listed, narrowed, a step's mentions, and the way back to a step."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.services.curating.undo import Journey
from curator.ui.dashboard.steps_window import StepsWindow
from tests.curator.ui.window.fakes import CTRL, Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_entities import to_front

Key = Qt.Key
LIDOCAINE = "MESH:D008012"


@pytest.fixture
def worked(make_desk: MakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> StepsWindow:
    """Three steps: two mentions are linked, one is NIL, one is skipped. Pages of two."""
    monkeypatch.setattr("curator.ui.dashboard.steps_window.PAGE", 2)
    desk = make_desk(documents=2)
    curation = desk.project.curation
    first, second = desk.world.mentions(1), desk.world.mentions(2)
    curation.decide_many([second[0], first[0]], Verdict.link(LIDOCAINE))
    curation.decide(first[1], Verdict.nil())
    curation.decide(second[2], Verdict.skip())
    desk.press(Key.Key_Z, CTRL | Qt.KeyboardModifier.AltModifier)
    [window] = shown(StepsWindow)
    assert isinstance(window, StepsWindow)
    to_front(window)
    window.desk = desk  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: window.model.rowCount() >= 2)
    listed(window, qtbot)
    return window


def listed(window: StepsWindow, qtbot: QtBot) -> list[tuple[str, ...]]:
    """All rows: number, text, mentions, state."""
    qtbot.waitUntil(lambda: not window.worker.busy)
    while window.beyond is not None:
        window.model.fetchMore(window.model.index(-1, -1))
        qtbot.waitUntil(lambda: not window.worker.busy)
    cells = window.model
    return [tuple(cells.index(row, one).data().strip() for one in (0, 3, 4, 5)) for row in range(cells.rowCount())]


def desk_of(window: Any) -> Desk:
    found: Desk = window.desk
    return found


def test_steps_are_listed_and_narrowed(worked: StepsWindow, qtbot: QtBot) -> None:
    QAbstractItemModelTester(worked.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert listed(worked, qtbot)[:3] == [
        ("3", "Skipped “arrhythmia” (unsure)", "1", "last step now"),
        ("2", "Marked “cardiac arrest” as NIL (not in the knowledge base)", "1", ""),
        ("1", "Linked 2 mentions of “Lidocaine” to Lidocaine", "2", ""),
    ]
    assert "Imported a.pubtator" in listed(worked, qtbot)[-1][1]
    worked.filters.documents.setCurrentIndex(1)  # the open one is the first
    qtbot.waitUntil(lambda: [one[0] for one in listed(worked, qtbot)][:2] == ["2", "1"])
    worked.filters.documents.setCurrentIndex(0)
    worked.filters.words.setText("nobody did this")
    qtbot.waitUntil(lambda: worked.empty.headline.text() == "No step matches" and worked.empty.isVisible())
    worked.close()


def test_enter_shows_the_mentions_and_goes_to_the_first(worked: StepsWindow, qtbot: QtBot) -> None:
    desk = desk_of(worked)
    worked.table.setFocus()
    desk.press(Key.Key_End, CTRL, at=worked.table)
    worked.go_to(1)
    desk.press(Key.Key_Return, at=worked.table)
    qtbot.waitUntil(lambda: worked.mentions.hasFocus())
    assert "2 mentions" in worked.about.words
    opened = desk.bench.navigator.opened
    assert opened is not None
    assert opened.document.id == 2
    assert worked.isActiveWindow(), "the keyboard stays in the list"
    desk.press(Key.Key_Down, at=worked.mentions)
    desk.press(Key.Key_Return, at=worked.mentions)
    assert desk.bench.navigator.mention_id == desk.world.mentions(1)[0]
    worked.close()


def answered(qtbot: QtBot, answer: str) -> str:
    """Press a button of the question; returns the question."""
    qtbot.waitUntil(lambda: bool(shown(QMessageBox)))
    [box] = shown(QMessageBox)
    assert isinstance(box, QMessageBox)
    [button] = [one for one in box.buttons() if one.text().replace("&", "") == answer]
    button.click()
    return box.text()


def test_going_back_is_asked_and_can_be_redone(worked: StepsWindow, qtbot: QtBot) -> None:
    desk = desk_of(worked)
    worked.go_to(1)
    worked.journey.click()
    assert "This undoes 2 later steps with 2 decisions." in answered(qtbot, "Undo the steps")
    states = ["undone", "undone", "last step now"]
    qtbot.waitUntil(lambda: [one[3] for one in listed(worked, qtbot)][:3] == states)
    assert desk.project.curation.current([desk.world.mentions(1)[1]]) == {}
    assert worked.note.text() == "Undid 2 steps. Ctrl+Shift+Z redoes one step at a time."
    worked.go_to(2)
    assert worked.journey.text() == "&Redo up to here…"
    worked.journey.click()
    assert "This redoes 1 step with 1 decision." in answered(qtbot, "Redo the steps")
    qtbot.waitUntil(lambda: [one[3] for one in listed(worked, qtbot)][:2] == ["undone", "last step now"])
    worked.close()


def test_a_long_way_shows_how_far_it_is_and_stops_at_a_step(
    worked: StepsWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.curating.undo.AT_ONCE", 1)
    monkeypatch.setattr("curator.ui.dashboard.step_flows.EVERY", 0.0)
    steps, stopped = desk_of(worked).project.steps, threading.Event()
    walk = steps.walk

    def slowly(journey: Journey) -> Any:
        for progress in walk(journey):
            yield progress
            assert stopped.wait(10)

    monkeypatch.setattr(steps, "walk", slowly)
    worked.go_to(1)
    worked.journey.click()
    answered(qtbot, "Undo the steps")
    qtbot.waitUntil(lambda: worked.stop.isVisible())
    assert worked.note.text() == "0 of 2 steps are done. You can stop at any step."
    worked.stop.click()
    stopped.set()
    qtbot.waitUntil(lambda: worked.note.text() == "Undid 1 step. Stopped: 1 step is left.")
    assert not worked.stop.isVisible()
    qtbot.waitUntil(lambda: [one[3] for one in listed(worked, qtbot)][:2] == ["undone", "last step now"])
    worked.close()


def test_the_window_begins_again_when_it_is_opened_again(worked: StepsWindow, qtbot: QtBot) -> None:
    desk = desk_of(worked)
    worked.filters.words.setText("NIL")
    qtbot.waitUntil(lambda: worked.model.rowCount() == 1)
    worked.table.setCurrentIndex(worked.model.index(0, 0))
    worked.done(0)
    assert not shown(StepsWindow)
    to_front(desk.window)
    desk.press(Key.Key_Z, CTRL | Qt.KeyboardModifier.AltModifier)
    [again] = shown(StepsWindow)
    assert isinstance(again, StepsWindow)
    to_front(again)
    qtbot.waitUntil(lambda: again.model.rowCount() >= 2)
    assert again.filters.words.text() == ""
    assert again.table.hasFocus()
    again.close()


def test_what_stands_in_the_way_is_said(worked: StepsWindow, qtbot: QtBot) -> None:
    desk = desk_of(worked)
    with desk.world.store.write() as unit:
        record = unit.imports.all()[0]
        at = desk.project.steps.operation(3).at
        unit.imports.record(
            record.file.id, record.kind, batch=9, curator="ada", at=at.replace(year=at.year + 1), counts={}
        )
    worked.go_to(1)
    worked.journey.click()
    qtbot.waitUntil(lambda: "After step 3 (" in worked.note.text() and "imported (a.pubtator)" in worked.note.text())
    assert not shown(QMessageBox)
    worked.close()

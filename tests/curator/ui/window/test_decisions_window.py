"""The project's decisions as a list: pages, filters, and the way into a mention."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from curator.domain.decisions import OperationKind, Outcome, Shown, ShownCandidate, Verdict
from curator.domain.statistics import TakenDecision
from curator.ui.dashboard.decisions_window import DecisionsWindow, decision_columns, rank_words
from curator.ui.panels.history_rows import shown_words
from tests.curator.ui.window.fakes import Desk
from tests.curator.ui.window.test_entities import to_front
from tests.curator.ui.window.test_seeing import SHIFT_CTRL, seeing

AT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def decided(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> DecisionsWindow:
    """Three decisions, one of them undone and one done again; pages of two."""
    monkeypatch.setattr("curator.ui.dashboard.decisions_window.PAGE", 2)
    curation = desk.project.curation
    curation.decide(1, Verdict.link("MESH:D008012"))
    curation.decide(2, Verdict.nil())
    curation.undo()
    curation.decide(6, Verdict.skip())
    desk.press(Qt.Key.Key_H, SHIFT_CTRL)
    window = seeing(desk).show_decisions()
    qtbot.waitUntil(lambda: window.model.rowCount() >= 2)  # the list may ask for its next page at once
    return window


def cells(window: DecisionsWindow, column: int) -> list[str]:
    return [window.model.index(row, column).data() for row in range(window.model.rowCount())]


def test_older_ones_come_when_they_are_scrolled_to(decided: DecisionsWindow, qtbot: QtBot) -> None:
    QAbstractItemModelTester(decided.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    qtbot.waitUntil(lambda: not decided.worker.busy)
    assert cells(decided, 3)[:2] == ["skipped", "undecided again"]
    while decided.model.rowCount() < 4:
        decided.model.fetchMore(decided.model.index(-1, -1))
        qtbot.waitUntil(lambda: not decided.worker.busy)
    assert cells(decided, 3) == ["skipped", "undecided again", "NIL", "Lidocaine"]
    assert cells(decided, 5)[1:3] == ["undone · no longer current", "no longer current"]


def test_words_and_people_filter(decided: DecisionsWindow, desk: Desk, qtbot: QtBot) -> None:
    decided.words.setText("D008012")
    qtbot.waitUntil(lambda: cells(decided, 2) == ["Lidocaine"])
    decided.words.setText("nobody wrote this")
    qtbot.waitUntil(lambda: decided.model.rowCount() == 0)
    assert decided.empty.headline.text() == "No decision matches"
    assert not decided.table.isVisible()
    decided.words.clear()
    assert decided.curators.itemText(1) == desk.project.curation.curator
    decided.curators.setCurrentIndex(1)
    qtbot.waitUntil(lambda: decided.model.rowCount() >= 2)


def test_enter_opens_the_mention_and_the_list_stays(decided: DecisionsWindow, desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(decided.isActiveWindow)
    desk.press(Qt.Key.Key_Return, at=decided.words)
    assert decided.table.hasFocus()
    desk.press(Qt.Key.Key_Return, at=decided.table)
    assert decided.isVisible()
    opened = desk.bench.navigator.opened
    assert opened is not None
    assert (opened.document.id, desk.bench.navigator.mention_id) == (2, 6)


def test_without_decisions_the_keyboard_is_in_the_first_field(desk: Desk, qtbot: QtBot) -> None:
    """Also where another window is in front when the answer comes."""
    window = seeing(desk).show_decisions()
    assert window.focusWidget() is window.table
    to_front(desk.window)
    qtbot.waitUntil(window.empty.isVisible)
    assert window.focusWidget() is window.words


def test_headings_are_whole_in_a_narrow_window(decided: DecisionsWindow, qtbot: QtBot) -> None:
    header = decided.table.horizontalHeader()
    decided.resize(10, 400)
    qtbot.waitUntil(lambda: decided.table.horizontalScrollBar().maximum() > 0)
    assert all(header.sectionSize(at) >= header.sectionSizeHint(at) for at in range(header.count()))


def taken(**changes: Any) -> TakenDecision:
    plain = TakenDecision(1, AT, "ada", "ada", "decide", 1, "d1", 1, "x", "link", ("E",), 1, "", True, (1,))
    return replace(plain, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "1"),
        ({"rank": 12, "places": (12,)}, "12"),
        ({"rank": 3, "places": (2,)}, "2"),  # NIL stood above the candidates
        ({"rank": 1, "places": (1, 3)}, "1 + 3"),
        ({"rank": 0, "places": ()}, "not listed"),
        ({"rank": -1, "places": ()}, ""),
        ({"rank": -2, "places": ()}, "not shown"),
        ({"rank": -3, "places": ()}, "not shown"),
        ({"rank": None, "places": ()}, ""),
        ({"outcome": "nil", "rank": 1, "places": ()}, "suggested"),
        ({"outcome": "nil", "rank": 0, "places": ()}, "not suggested"),
    ],
)
def test_ranks_are_written_as_they_were_seen(changes: dict[str, Any], words: str) -> None:
    assert rank_words(taken(**changes)) == words


def test_below_a_suggested_nil_the_list_and_the_history_say_the_same_number(desk: Desk) -> None:
    candidates = tuple(ShownCandidate(one, 0.1) for one in ("MESH:D006323", "MESH:D008012"))
    shown = Shown("b", candidates, 0.9, nil_first=True)
    desk.project.curation.decide_many([1], Verdict.link("MESH:D008012"), shown=[shown])
    [row] = desk.project.statistics.taken(limit=1)
    assert rank_words(row) == "2"
    [decision] = desk.project.curation.history(1)
    assert "suggested NIL · rank 2 of 2 shown" in shown_words(decision)


def test_every_step_and_outcome_has_words() -> None:
    decided, how = (decision_columns(str)[at].words for at in (3, 5))
    kinds = [*(one.value for one in OperationKind), ""]
    rows = [taken(step=step, outcome=outcome.value) for step in kinds for outcome in Outcome]
    words = {words(row) for row in rows for words in (decided, how)}
    raw = {*kinds, "link", "cleared"} - {""}
    assert not {word for word in words if word in raw - {"undo", "redo"} or "_" in word}

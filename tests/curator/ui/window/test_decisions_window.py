"""The project's decisions as a list: pages, filters, and the way into a mention."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.ui.decisions_model import rank_words
from curator.ui.decisions_window import DecisionsWindow
from tests.curator.ui.window.fakes import Desk
from tests.curator.ui.window.test_seeing import SHIFT_CTRL, seeing


@pytest.fixture
def decided(desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> DecisionsWindow:
    """Three decisions, one of them undone and one done again; pages of two."""
    monkeypatch.setattr("curator.ui.decisions_window.PAGE", 2)
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
    qtbot.waitUntil(lambda: not decided.asking.busy)
    assert cells(decided, 3)[:2] == ["skipped", "undecided again"]
    while decided.model.rowCount() < 4:
        decided.model.fetchMore(decided.model.index(-1, -1))
        qtbot.waitUntil(lambda: not decided.asking.busy)
    assert cells(decided, 3) == ["skipped", "undecided again", "NIL", "Lidocaine"]
    assert cells(decided, 5)[1:3] == ["undone · no longer stands", "no longer stands"]


def test_words_and_people_filter(decided: DecisionsWindow, desk: Desk, qtbot: QtBot) -> None:
    decided.words.setText("D008012")
    qtbot.waitUntil(lambda: cells(decided, 2) == ["Lidocaine"])
    decided.words.setText("nobody wrote this")
    qtbot.waitUntil(lambda: decided.model.rowCount() == 0)
    assert decided.state.words == "No decision matches."
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


def test_ranks_are_written_as_they_were_seen() -> None:
    assert [rank_words(one) for one in (1, 12, 0, -1, -2, None)] == ["1", "12", "not listed", "", "not shown", ""]

"""A long comparison gets the room that the candidates do not need, and gives it back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QStringListModel, Qt
from PySide6.QtWidgets import QSplitter, QTextBrowser
from pytestqt.qtbot import QtBot

from curator.ui.candidates.candidate_rows import ROWS, RecordRoom
from curator.ui.kit.row_list import RowList

LONG = "<p>a line</p>" * 60


class Column(QSplitter):
    """A list above a browser, 600 pixels high."""

    def __init__(self, rows: int) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.rows, self.browser = RowList("rows", self), QTextBrowser(self)
        self.rows.setModel(QStringListModel([str(one) for one in range(rows)], self))
        self.addWidget(self.rows)
        self.addWidget(self.browser)
        self.setSizes([450, 150])
        self.room = RecordRoom(self, self.rows, self.browser)
        self.resize(300, 600)


@pytest.fixture
def column(qtbot: QtBot) -> Column:
    made = Column(30)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_long_comparison_leaves_the_first_rows_and_gives_the_room_back(column: Column, qtbot: QtBot) -> None:
    before = column.sizes()
    column.room.ask(True)
    column.browser.setHtml(LONG)
    qtbot.waitUntil(lambda: column.sizes() != before)
    assert column.rows.height() >= ROWS * column.rows.sizeHintForRow(0)
    assert column.browser.height() > 2 * before[1]
    column.room.ask(False)
    assert column.sizes() == before


def test_a_short_one_changes_nothing(column: Column, qtbot: QtBot) -> None:
    before = column.sizes()
    column.room.ask(True)
    column.browser.setHtml("<p>one line</p>")
    qtbot.wait(30)
    assert column.sizes() == before


def test_what_is_not_a_comparison_gets_no_room(column: Column, qtbot: QtBot) -> None:
    before = column.sizes()
    column.browser.setHtml(LONG)
    qtbot.wait(30)
    assert column.sizes() == before


def test_a_boundary_that_was_dragged_stays(column: Column, qtbot: QtBot) -> None:
    column.room.ask(True)
    column.browser.setHtml(LONG)
    qtbot.waitUntil(lambda: column.sizes()[1] > 150)
    column.moveSplitter(300, 1)
    dragged = column.sizes()
    column.room.ask(False)
    assert column.sizes() == dragged

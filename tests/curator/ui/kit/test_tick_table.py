"""Rows that are ticked."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.ui.kit.record_tables import RecordColumn, TickTable

COLUMNS = [
    RecordColumn[str]("Word", lambda one: one),
    RecordColumn[str]("Letters", lambda one: str(len(one)), figure=True),
]


def test_space_ticks_what_can_be_ticked_and_enter_chooses(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    table: TickTable[str] = TickTable("Words", COLUMNS, tickable=lambda one: one != "no")
    qtbot.addWidget(table)
    table.show_rows(["yes", "no", "maybe"], ticked=True)
    qtmodeltester.check(table.lines)
    assert table.ticked == ("yes", "maybe")
    QTest.keyClick(table, Qt.Key.Key_Space)
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Space)
    assert table.ticked == ("maybe",)
    with qtbot.waitSignal(table.chosen):
        QTest.keyClick(table, Qt.Key.Key_Return)
    assert table.current == "no"


def test_a_row_may_become_another_and_the_place_stays(qtbot: QtBot) -> None:
    table: TickTable[str] = TickTable("Words", COLUMNS, tickable=lambda one: one != "no")
    qtbot.addWidget(table)
    table.show_rows(["yes", "no"])
    table.setCurrentIndex(table.lines.index(1, 0))
    table.lines.replace_row(1, "aye", ticked=True)
    assert (table.current, table.ticked) == ("aye", ("aye",))
    table.show_rows(["a", "b", "c"])
    assert (table.current, table.ticked) == ("b", ())
    box = table.lines.index(0, 0)
    assert table.lines.setData(box, Qt.CheckState.Checked.value, Qt.ItemDataRole.CheckStateRole)
    assert table.ticked == ("a",)
    assert not table.lines.setData(table.lines.index(0, 1), Qt.CheckState.Checked.value, Qt.ItemDataRole.CheckStateRole)


def test_figures_keep_away_from_the_words_beside_them(qtbot: QtBot) -> None:
    table: TickTable[str] = TickTable("Words", COLUMNS)
    qtbot.addWidget(table)
    table.show_rows(["yes"])
    figure = table.lines.index(0, 1)
    assert figure.data() == "3\u2002"
    assert figure.data(Qt.ItemDataRole.AccessibleTextRole) == "3"
    assert str(table.lines.headerData(1, Qt.Orientation.Horizontal)).endswith("Letters\u2002")

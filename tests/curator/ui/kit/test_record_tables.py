from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.ui.kit.form import ShowDialog
from curator.ui.kit.record_tables import RecordColumn, RecordModel, RecordTable

COLUMNS = [
    RecordColumn[tuple[str, float | None]]("Name", lambda row: row[0]),
    RecordColumn[tuple[str, float | None]](
        "Figure", lambda row: "–" if row[1] is None else f"{row[1]}", by=lambda row: row[1], figure=True
    ),
]
WORDS = [
    RecordColumn[str]("Word", lambda one: one),
    RecordColumn[str]("Letters", lambda one: str(len(one)), figure=True),
]
ROWS = [("b", 10.0), ("a", 9.0), ("c", None)]


def test_the_model_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    model: RecordModel[tuple[str, float | None]] = RecordModel(COLUMNS)
    qtmodeltester.check(model)
    model.show_rows(ROWS)
    qtmodeltester.check(model)
    assert model.rowCount(model.index(0, 0)) == 0
    assert model.data(QModelIndex()) is None


def test_figures_are_sorted_as_figures_and_the_place_stays(qtbot: QtBot) -> None:
    table: RecordTable[tuple[str, float | None]] = RecordTable("Figures", COLUMNS)
    qtbot.addWidget(table)
    table.show_rows(ROWS)
    assert table.current == ("b", 10.0)
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [table.model().index(row, 1).data().strip() for row in range(3)] == ["–", "9.0", "10.0"]
    table.setCurrentIndex(table.model().index(2, 0))
    table.show_rows(ROWS[:2])
    assert table.current == ("b", 10.0)
    table.show_rows([])
    assert table.current is None


def test_enter_chooses_a_row_and_presses_no_button_of_the_dialog(qtbot: QtBot) -> None:
    dialog = ShowDialog("Figures")
    qtbot.addWidget(dialog)
    table: RecordTable[tuple[str, float | None]] = RecordTable("Figures", COLUMNS)
    dialog.body.addWidget(table)
    table.show_rows(ROWS)
    dialog.show()
    table.go_to(1)
    with qtbot.waitSignal(table.chosen):
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert table.current == ("a", 9.0)


def test_space_ticks_what_can_be_ticked_and_enter_chooses(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    table: RecordTable[str] = RecordTable("Words", WORDS, tickable=lambda one: one != "no")
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
    table: RecordTable[str] = RecordTable("Words", WORDS, tickable=lambda one: one != "no")
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
    table: RecordTable[str] = RecordTable("Words", WORDS)
    qtbot.addWidget(table)
    table.show_rows(["yes"])
    figure = table.lines.index(0, 1)
    assert figure.data() == "3\u2002"
    assert figure.data(Qt.ItemDataRole.AccessibleTextRole) == "3"
    assert str(table.lines.headerData(1, Qt.Orientation.Horizontal)).endswith("Letters\u2002")

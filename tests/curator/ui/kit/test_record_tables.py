from PySide6.QtCore import QModelIndex, Qt
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
    with qtbot.waitSignal(table.activated):
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert table.current == ("a", 9.0)

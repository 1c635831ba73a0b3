"""The choice of columns: offered for tables alone, filled in from the headings, refused until it makes sense."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from curator.io.registry import default_registry
from curator.io.tables.columns import ColumnMemory
from curator.services.ports.files import DocumentOptions
from curator.ui.files.document_columns import ColumnsButton, DocumentColumnsDialog
from curator.ui.files.document_files import DocumentFiles


def test_columns_are_chosen_and_kept(qtbot: QtBot, tmp_path: Path) -> None:
    registry = default_registry(ColumnMemory(tmp_path / "columns.json"))
    path = tmp_path / "a.csv"
    path.write_text("PMID,Befund,Ende\n1,Schmerz,4\n")
    dialog = DocumentColumnsDialog(registry, path)
    qtbot.addWidget(dialog)
    boxes = dialog.chooser.boxes
    assert dialog.chooser.columns == {**dict.fromkeys(boxes, ""), "document": "PMID"}
    assert dialog.chooser.rows.item(0, 1).text() == "Schmerz"
    dialog.accept()
    assert "holds the texts" in dialog.problem.text()
    boxes["text"].setCurrentText("Befund")
    with qtbot.waitSignal(dialog.accepted):
        dialog.accept()
    assert [one.text for one in registry.recognise(path).open(path)] == ["Schmerz"]


def test_the_button_is_for_tables_alone(qtbot: QtBot, tmp_path: Path) -> None:
    registry = default_registry(ColumnMemory(tmp_path / "columns.json"))
    button = ColumnsButton(registry)
    qtbot.addWidget(button)
    table, prose = tmp_path / "a.csv", tmp_path / "a.txt"
    table.write_text("id,text\n1,a\n")
    prose.write_text("A text.\n")
    states = []
    for one in (table, prose, None, tmp_path, tmp_path / "none.csv"):
        button.show_for(one)
        states.append(button.isEnabled())
    assert states == [True, False, False, False, False]
    registry.choose_columns(table, DocumentOptions({"text": "2"}))


def test_a_table_that_was_not_understood_is_understood_after_the_choice(qtbot: QtBot, tmp_path: Path) -> None:
    files = DocumentFiles(default_registry(ColumnMemory(tmp_path / "columns.json")))
    qtbot.addWidget(files)
    path = tmp_path / "a.csv"
    path.write_text("Nr,Befund\n1,Schmerz\n")
    files.add_paths([path])
    qtbot.waitUntil(lambda: not files.reading)
    assert files.problem
    assert files.columns.isEnabled()
    files.columns.click()
    dialog = files.findChild(DocumentColumnsDialog)
    dialog.chooser.boxes["text"].setCurrentText("Befund")
    dialog.accept()
    qtbot.waitUntil(lambda: not files.reading)
    assert (files.problem, files.paths) == ("", (path,))
    assert files.table.lines.index(0, 1).data().startswith("Table")
    files.close_reading()

"""The import dialog: as which format files are read, and what of folders and archives is left out."""

from __future__ import annotations

import zipfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.io.registry import default_registry
from curator.ui.files.import_documents import ImportDialog

PUBTATOR = "1|t|Title\n1|a|Text.\n\n"


def shown(dialog: ImportDialog) -> list[tuple[str, str]]:
    lines = dialog.files.lines
    return [(lines.index(row, 0).data(), lines.index(row, 1).data()) for row in range(lines.rowCount())]


def opened(qtbot: QtBot, *paths: Path) -> ImportDialog:
    dialog = ImportDialog(default_registry(), gold=False, paths=paths)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not dialog.list.reading)
    return dialog


def test_files_are_looked_at_again_as_the_format_that_is_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PUBTATOR)
    (tmp_path / "b.txt").write_text(PUBTATOR)
    dialog = opened(qtbot, tmp_path / "a.txt", tmp_path / "b.txt")
    assert dialog.format.currentText() == "Recognise automatically"
    assert shown(dialog) == [("a.txt", "PubTator"), ("b.txt", "PubTator")]
    dialog.files.selectRow(1)
    dialog.list.remove.click()
    dialog.format.setCurrentText("Plain text")
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert shown(dialog) == [("a.txt", "Plain text")], "what was removed stays so"
    assert dialog.wish.format_name == "text"
    dialog.format.setCurrentText("BioC XML")
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert shown(dialog) == [("a.txt", "not readable")]
    assert "is not BioC XML" in dialog.check()
    dialog.format.setCurrentIndex(0)
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert shown(dialog) == [("a.txt", "PubTator")]
    assert (dialog.wish.format_name, dialog.check()) == ("", "")
    dialog.reject()


def test_other_columns_keep_the_other_files_whatever_key_is_held(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PUBTATOR)
    (tmp_path / "b.txt").write_text(PUBTATOR)
    dialog = opened(qtbot, tmp_path / "a.txt", tmp_path / "b.txt")
    dialog.files.selectRow(0)
    QTest.keyPress(dialog, Qt.Key.Key_F35, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.keyboardModifiers() == Qt.KeyboardModifier.ControlModifier
    dialog.list.columns.chosen.emit(tmp_path / "b.txt")
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert [name for name, _ in shown(dialog)] == ["a.txt", "b.txt"]
    dialog.reject()


def test_what_is_left_out_is_named_with_its_reason(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "corpus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "With aspirin.\n")
        archive.writestr("a.ann", "T1\tDrug 5 12\taspirin\n")
        archive.writestr("1.pubtator", PUBTATOR)
        archive.writestr("notes.md", "Notes.\n")
    dialog = opened(qtbot, path)
    assert [name for name, _ in shown(dialog)] == ["corpus.zip", "1.pubtator"]
    assert "notes.md (not in a readable format)" in dialog.problem.text()
    assert [one.names for one in dialog.wish.left] == [("notes.md",)]
    dialog.files.selectRow(1)
    dialog.list.remove.click()
    assert dialog.wish.paths == (path,)
    dialog.reject()


def test_without_files_the_dialog_says_what_to_do_and_offers_nothing_else(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(qtbot)
    dialog.show()
    assert "Add files…" in dialog.files.accessibleDescription()
    assert not dialog.ok.isEnabled()
    assert not dialog.remove.isEnabled()
    empty = dialog.files.viewport().grab().toImage()
    dialog.files.setAccessibleDescription("")
    assert dialog.files.viewport().grab().toImage() != empty, "the words are painted"
    (tmp_path / "a.txt").write_text(PUBTATOR)
    dialog.list.add_paths([tmp_path / "a.txt"])
    qtbot.waitUntil(lambda: dialog.ok.isEnabled())
    assert dialog.remove.isEnabled()
    assert dialog.files.accessibleDescription() == ""
    dialog.remove.click()
    assert (dialog.ok.isEnabled(), dialog.remove.isEnabled()) == (False, False)
    assert "Add files…" in dialog.files.accessibleDescription()
    dialog.reject()

"""Importing a knowledge base from a file or a folder."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import openpyxl
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from curator.ui.files.import_kb import ImportKbDialog
from curator.ui.files.new_project import NewProjectDialog
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown

WIKIA = Path(str(resources.files("resources") / "demo" / "wikia"))


def asked(desk: Desk) -> ImportKbDialog:
    desk.window.menus.action("project.import_kb").trigger()
    [dialog] = shown(ImportKbDialog)
    assert isinstance(dialog, ImportKbDialog)
    return dialog


def test_a_folder_of_worlds_is_one_knowledge_base(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    dialog = asked(desk)
    dialog.file.folder_button.click()
    [browser] = [one for one in dialog.findChildren(QFileDialog) if one.isVisible()]
    assert browser.fileMode() is QFileDialog.FileMode.Directory
    browser.fileSelected.emit(str(WIKIA))
    browser.close()
    dialog.accept()
    qtbot.waitUntil(lambda: len(desk.world.jobs.started) == 2 and len(desk.bench.jobs) == 0)
    info = desk.project.knowledge.info()
    assert info is not None
    assert len(info.types) == 4, "every world of the folder"


def test_what_is_replaced_and_what_is_missing_are_said(desk: Desk, tmp_path: Path) -> None:
    dialog = asked(desk)
    assert "It replaces the knowledge base" in dialog.problem.text()
    dialog.accept()
    assert "Choose the file or the folder" in dialog.problem.text()
    dialog.file.set_path(tmp_path / "gone.obo")
    dialog.accept()
    assert "gone.obo does not exist" in dialog.problem.text()
    assert dialog.isVisible()
    dialog.reject()


def test_a_new_project_takes_a_folder_too(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = NewProjectDialog(place=tmp_path)
    qtbot.addWidget(dialog)
    dialog.name.setText("worlds")
    dialog.kb.set_path(WIKIA)
    assert dialog.check() == ""
    assert dialog.knowledge_base == WIKIA


def test_the_columns_of_a_table_are_chosen(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("code\tterm_en\taliases\tgroup\nK:1\tFirst\tuno|un\tDisease\n", encoding="utf-8")
    dialog = asked(desk)
    assert not dialog.columns.isVisible()
    dialog.file.set_path(path)
    assert dialog.columns.isVisible()
    assert dialog.columns.rows.item(0, 1).text() == "First"
    boxes = dialog.columns.boxes
    assert (boxes["id"].currentText(), boxes["synonyms"].currentText()) == ("code", "aliases")
    dialog.accept()
    assert "holds the names" in dialog.problem.text()
    boxes["name"].setCurrentText("term_en")
    boxes["synonyms"].setCurrentIndex(0)
    dialog.place.setCurrentIndex(1)
    assert "are added to the knowledge base" in dialog.problem.text()
    dialog.name.setText("K")
    before = desk.project.knowledge.info()
    dialog.accept()
    qtbot.waitUntil(lambda: len(desk.project.knowledge.sources()) == 2 and len(desk.bench.jobs) == 0)
    entity, after = desk.project.knowledge.entity("K:1"), desk.project.knowledge.info()
    assert entity is not None
    assert before is not None
    assert after is not None
    assert (entity.name, entity.synonyms, entity.types) == ("First", (), ()), "columns without a field are not read"
    assert after.entities == before.entities + 1


def test_a_source_is_renewed_under_its_name(desk: Desk) -> None:
    dialog = asked(desk)
    dialog.place.setCurrentIndex(2)
    [source] = desk.project.knowledge.sources()
    assert (dialog.wish.name, dialog.wish.add) == (source.name, True)
    assert not dialog.name.isEnabled()
    dialog.reject()


def umls(folder: Path) -> Path:
    """Two diseases and a drug; one name is German."""
    folder.mkdir()
    rows = [
        ("C0000001", "ENG", "MSH", "Gout"),
        ("C0000001", "GER", "MSHGER", "Gicht"),
        ("C0000002", "ENG", "NCI", "Influenza"),
        ("C0000003", "ENG", "MSH", "Aspirin"),
    ]
    lines = [f"{cui}|{lat}|P|L|PF|S|Y|A||||{sab}|PT|1|{name}|0|N||" for cui, lat, sab, name in rows]
    (folder / "MRCONSO.RRF").write_text("\n".join(lines) + "\n", encoding="utf-8")
    kinds = [("C0000001", "T047", "Disease"), ("C0000002", "T047", "Disease"), ("C0000003", "T121", "Drug")]
    types = [f"{cui}|{tui}|A|{name}|AT|256|" for cui, tui, name in kinds]
    (folder / "MRSTY.RRF").write_text("\n".join(types) + "\n", encoding="utf-8")
    return folder


def test_what_of_the_umls_is_read_is_chosen_and_shown(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = asked(desk)
    assert dialog.preview is not None
    preview, filters = dialog.preview, dialog.filters
    assert not filters.types.isVisible()
    dialog.file.set_path(umls(tmp_path / "META"))
    qtbot.waitUntil(lambda: "3 entities" in preview.toPlainText())
    assert filters.types.isVisible()
    assert filters.vocabularies.isVisible()
    filters.types.setText("T047")
    filters.types.editingFinished.emit()
    qtbot.waitUntil(lambda: "2 entities" in preview.toPlainText())
    filters.languages.setText("de, en")
    filters.languages.editingFinished.emit()
    qtbot.waitUntil(lambda: "Gicht" in preview.toPlainText())
    dialog.place.setCurrentIndex(1)
    dialog.accept()
    qtbot.waitUntil(lambda: len(desk.project.knowledge.sources()) == 2 and len(desk.bench.jobs) == 0)
    entity = desk.project.knowledge.entity("UMLS:C0000001")
    assert entity is not None
    assert set(entity.synonyms) | {entity.name} == {"Gout", "Gicht"}
    assert desk.project.knowledge.entity("UMLS:C0000003") is None
    again = asked(desk)
    again.place.setCurrentIndex(3)
    assert again.filters.types.text() == "T047", "the next version is read likewise, unless something else is said"
    again.file.set_path(tmp_path / "META")
    qtbot.waitUntil(lambda: again.preview is not None and "2 entities" in again.preview.toPlainText())
    again.filters.types.setText("")
    assert again.wish.options.types == ()
    assert again.wish.exact
    again.reject()


def test_what_a_file_would_bring_is_shown(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = asked(desk)
    assert dialog.preview is not None
    preview = dialog.preview
    path = tmp_path / "kb.jsonl"
    path.write_text(
        '{"id": "X:1", "name": "Gout", "synonyms": ["podagra"], "definition": "<Uric>."}\n', encoding="utf-8"
    )
    dialog.file.set_path(path)
    qtbot.waitUntil(lambda: "1 entity" in preview.toPlainText())
    for words in ("JSON lines", "X:1 Gout", "podagra", "<Uric>."):
        assert words in preview.toPlainText()
    assert not dialog.filters.any_shown
    path.with_suffix(".txt").write_text("nothing of the kind", encoding="utf-8")
    dialog.file.set_path(path.with_suffix(".txt"))
    qtbot.waitUntil(lambda: "not readable" in preview.toPlainText())
    dialog.file.set_path(tmp_path / "gone.obo")
    assert preview.toPlainText() == ""
    dialog.reject()


def test_the_columns_of_a_workbook_are_chosen_too(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["Kode", "Bezeichnung"])
    book.active.append(["K:1", "First"])
    book.save(path)
    dialog = asked(desk)
    dialog.file.set_path(path)
    assert dialog.columns.isVisible()
    assert "unpack" not in dialog.problem.text()
    dialog.columns.boxes["id"].setCurrentText("Kode")
    dialog.columns.boxes["name"].setCurrentText("Bezeichnung")
    preview = dialog.preview
    assert preview is not None
    qtbot.waitUntil(lambda: preview.found is not None and preview.found.entities == 1)
    dialog.reject()

"""The wizard: a page at a time, what will happen told before it does, and a project that is filled afterwards."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.domain.documents import Split
from curator.services.importing.foreseeing import Foreseen, seconds_to_index
from curator.ui.files.import_report import figures
from curator.ui.files.new_project import NewProjectDialog
from curator.ui.kit.sizing import SCROLLED
from tests.curator.ui.window.test_reach import clipped, double_size

DEMO = Path(__file__).resolve().parents[4] / "resources" / "demo" / "pubmed"
KB, DOCUMENTS = DEMO / "kb.jsonl", DEMO / "test.pubtator"


def wizard(qtbot: QtBot, place: Path) -> NewProjectDialog:
    dialog = NewProjectDialog(place=place, formats=bootstrap.document_formats())
    qtbot.addWidget(dialog)
    return dialog


def add(qtbot: QtBot, dialog: NewProjectDialog, path: Path) -> None:
    files = dialog.list
    assert files is not None
    files.add_paths([path])
    qtbot.waitUntil(lambda: not files.reading)


def test_each_page_is_left_only_when_it_is_right(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = wizard(qtbot, tmp_path)
    dialog.next.click()
    assert dialog.pages.current() == 0
    assert "name" in dialog.problem.text()
    dialog.name.setText("fresh")
    dialog.next.click()
    assert dialog.list is not None
    add(qtbot, dialog, tmp_path)
    dialog.next.click()
    assert dialog.pages.current() == 1
    assert "remove the file from the list" in dialog.problem.text()
    dialog.list.remove.click()  # the row that was added is chosen
    add(qtbot, dialog, DOCUMENTS)
    dialog.fields.gold.setChecked(True)
    dialog.next.click()
    dialog.next.click()
    assert dialog.pages.current() == 2, dialog.problem.text()
    assert "Importing gold requires a knowledge base to look up identifiers" in dialog.problem.text()
    dialog.back.click()
    assert dialog.pages.current() == 1


def test_a_short_page_is_not_as_high_as_the_longest(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = wizard(qtbot, tmp_path)
    assert dialog.list is not None
    dialog.list.setMinimumHeight(3000)
    dialog.name.setText("fresh")
    dialog.show()
    assert dialog.pages.minimumSizeHint().height() < 1000
    dialog.next.click()
    assert dialog.pages.minimumSizeHint().height() >= 3000
    dialog.back.click()
    assert dialog.pages.minimumSizeHint().height() < 1000


def test_the_last_page_is_whole_on_a_small_screen_in_large_letters(qtbot: QtBot, tmp_path: Path) -> None:
    with double_size():
        dialog = wizard(qtbot, tmp_path)
        dialog.name.setText("fresh")
        dialog.next.click()
        add(qtbot, dialog, DOCUMENTS)
        dialog.next.click()
        dialog.kb.set_path(KB)
        dialog.next.click()
        assert dialog.outlook is not None
        qtbot.waitUntil(lambda: dialog.outlook is not None and not dialog.outlook.reading)
        dialog.show()
        dialog.resize(1024, 700)
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        area = dialog.findChild(QScrollArea, SCROLLED)
        assert area is None or area.verticalScrollBar().maximum() == 0
        assert clipped(dialog) == []
        dialog.reject()


def test_the_last_page_tells_counts_splits_and_time(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = wizard(qtbot, tmp_path)
    dialog.name.setText("fresh")
    assert dialog.list is not None
    assert dialog.outlook is not None
    add(qtbot, dialog, DOCUMENTS)
    dialog.fields.split.setCurrentIndex(dialog.fields.split.findData(Split.TEST))
    dialog.kb.set_path(KB)
    for _ in range(3):
        dialog.next.click()
    qtbot.waitUntil(lambda: not dialog.outlook.reading)  # type: ignore[union-attr]
    documents, kb = dialog.outlook.found
    held = DOCUMENTS.read_text(encoding="utf-8").count("|t|")
    assert (documents.documents, documents.whole) == (held, True)
    assert kb.entities == len(KB.read_text(encoding="utf-8").splitlines())
    words = "\n".join(dialog.outlook.words())
    assert f"{held:,} documents are imported. They are test documents" in words
    assert "suggestions also compare meaning" in words
    table = dialog.outlook.table
    first = [table.item(0, column) for column in range(3)]
    assert [one.toolTip() for one in first if one is not None] == [DOCUMENTS.name, "PubTator", ""]
    assert [bool(one.textAlignment() & Qt.AlignmentFlag.AlignRight) for one in first if one is not None] == [
        False,
        False,
        True,
    ]
    dialog.show()
    assert table.columnWidth(0) >= table.columnWidth(1) - 1, "the name of a file gives way to no format's"


def words_on_page(page: QWidget | None) -> str:
    """Its sentences, and the documents' column of its tables."""
    assert page is not None
    labels = [one.text() for one in page.findChildren(QLabel)]
    tables = page.findChildren(QTableWidget)
    cells = [item.text() for one in tables for row in range(one.rowCount()) if (item := one.item(row, 2)) is not None]
    return "\n".join((*labels, *cells))


def uneven_files(folder: Path) -> tuple[Path, Path]:
    """600 documents and 12,000 entities whose ends are unlike their beginnings: what the first part tells is wrong."""
    long = ", ".join(f'"a rather long synonym {i}"' for i in range(12))
    kb, documents = folder / "kb.jsonl", folder / "many.pubtator"
    lines = (
        f'{{"id": "X:{n}", "name": "entity {n}", "synonyms": [{long if n >= 5_000 else ""}]}}' for n in range(12_000)
    )
    kb.write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = (f"{n}|t|Title\n{n}|a|{'Words. ' * (300 if n > 300 else 1)}\n\n" for n in range(1, 601))
    documents.write_text("".join(texts), encoding="utf-8")
    return documents, kb


def test_the_pages_have_the_same_numbers_and_estimates_give_way_to_true_ones(qtbot: QtBot, tmp_path: Path) -> None:
    documents, kb = uneven_files(tmp_path)
    dialog = wizard(qtbot, tmp_path)
    dialog.name.setText("fresh")
    outlook = dialog.outlook
    assert outlook is not None
    add(qtbot, dialog, documents)
    dialog.kb.set_path(kb)
    said: list[str] = []
    for _ in range(3):
        dialog.next.click()
    qtbot.waitUntil(lambda: bool(said.append("\n".join(outlook.words())) or not outlook.reading))
    for one in said:
        exact = "still being read" not in one
        assert exact or "entities" not in one or "About" in one
    words = "\n".join(outlook.words())
    assert "12,000 entities are loaded" in words
    assert "600 documents are imported." in words
    assert "About" not in words
    assert "600" in words_on_page(dialog.pages.widget(1)).splitlines()
    assert "600" in words_on_page(dialog.pages.widget(3)).splitlines()
    dialog.reject()


def test_an_estimate_is_called_one(qtbot: QtBot, tmp_path: Path) -> None:
    part = Foreseen(Path("a"), documents=465, mentions=9_000, whole=False)
    assert figures(part) == ("about 465", "about 9,000")
    assert figures(Foreseen(Path("a"), documents=500, mentions=9_385)) == ("500", "9,385")
    dialog = wizard(qtbot, tmp_path)
    outlook = dialog.outlook
    assert outlook is not None
    outlook.start(None, KB)
    assert outlook.reading
    outlook.take(Foreseen(KB, entities=53_183, whole=False))
    assert "About 53,183 entities are loaded" in "\n".join(outlook.words())
    dialog.reject()


def test_the_pages_name_the_buttons_that_they_have(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = wizard(qtbot, tmp_path)
    buttons = {one.text().replace("&", "") for one in dialog.findChildren(QPushButton)}
    named = [
        (number, name)
        for number in range(dialog.pages.count())
        for name in re.findall(r"press (\w+)", words_on_page(dialog.pages.widget(number)))
    ]
    assert named
    assert [one for one in named if one[1] not in buttons] == []
    dialog.reject()


def test_a_part_that_was_read_tells_the_whole() -> None:
    assert seconds_to_index([Foreseen(Path("kb"), entities=60_000)])[0] > 60

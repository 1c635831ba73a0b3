"""The wizard: a page at a time, with previews of the files."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.services.importing.foreseeing import Foreseen
from curator.ui.files.import_report import figures
from curator.ui.files.new_project import NewProjectDialog

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


def test_the_last_page_shows_the_knowledge_base(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = wizard(qtbot, tmp_path)
    dialog.name.setText("fresh")
    dialog.kb.set_path(KB)
    for _ in range(2):
        dialog.next.click()
    assert dialog.preview is not None
    qtbot.waitUntil(lambda: dialog.preview is not None and not dialog.preview.reading)
    assert f"{len(KB.read_text(encoding='utf-8').splitlines()):,} entities." in dialog.preview.toPlainText()
    assert not dialog.ok.isHidden()
    dialog.reject()


def test_an_estimate_is_called_one() -> None:
    part = Foreseen(Path("a"), documents=465, mentions=9_000, whole=False)
    assert figures(part) == ("about 465", "about 9,000")
    assert figures(Foreseen(Path("a"), documents=500, mentions=9_385)) == ("500", "9,385")


def test_the_pages_name_the_buttons_that_they_have(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = wizard(qtbot, tmp_path)
    buttons = {one.text().replace("&", "") for one in dialog.findChildren(QPushButton)}
    named = [
        (number, name)
        for number in range(dialog.pages.count())
        for label in dialog.pages.widget(number).findChildren(QLabel)  # type: ignore[union-attr]
        for name in re.findall(r"press (\w+)", label.text())
    ]
    assert named
    assert [one for one in named if one[1] not in buttons] == []
    dialog.reject()

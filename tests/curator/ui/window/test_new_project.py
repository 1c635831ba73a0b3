"""The wizard: a page at a time, what will happen told before it does, and a project that is filled afterwards."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.domain.documents import Split
from curator.services.foreseeing import Foreseen, seconds_to_index
from curator.ui.dialogs.new_project import NewProjectDialog
from curator.ui.dialogs.outlook import about

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
    assert dialog.pages.currentIndex() == 0
    assert "name" in dialog.problem.text()
    dialog.name.setText("fresh")
    dialog.next.click()
    assert dialog.list is not None
    add(qtbot, dialog, tmp_path)
    dialog.next.click()
    assert dialog.pages.currentIndex() == 1
    assert "remove it from the list" in dialog.problem.text()
    dialog.list.remove.click()  # the row that was added is chosen
    add(qtbot, dialog, DOCUMENTS)
    dialog.fields.gold.setChecked(True)
    dialog.next.click()
    dialog.next.click()
    assert dialog.pages.currentIndex() == 2, dialog.problem.text()
    assert "Gold needs a knowledge base" in dialog.problem.text()
    dialog.back.click()
    assert dialog.pages.currentIndex() == 1


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
    assert "meanings are compared from then on" in words


def test_a_part_that_was_read_tells_the_whole() -> None:
    assert seconds_to_index([Foreseen(Path("kb"), entities=60_000)])[0] > 60
    assert [about(s) for s in (3, 60, 600, 20_000)] == [
        "a few seconds",
        "about a minute",
        "about 10 minutes",
        "about 6 hours",
    ]

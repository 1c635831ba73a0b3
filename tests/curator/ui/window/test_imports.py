"""Imports in the window: what they would bring, changed texts, the list, undoing, going on, dropped folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from curator.domain.documents import Changed, SourceDocument
from curator.services.importing.import_comparing import Compared
from curator.services.importing.import_reading import FileReading, ImportChoices
from curator.services.importing.import_report import KNOWN, FileProblem, ImportReport
from curator.services.ports.files import Problem
from curator.services.ports.queue import QueueFilter
from curator.ui.files.changed_texts import ChangedTextsDialog
from curator.ui.files.import_documents import ImportDialog
from curator.ui.files.import_report import in_short, summary
from curator.ui.files.imports import ImportsDialog
from curator.ui.shell.dropping import sorted_out
from tests.curator.services.fakes import document, finish
from tests.curator.services.importing.test_changed_texts import FIRST, SECOND
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_main_window_projects import boxes, press_button


@pytest.fixture
def empty(make_desk: MakeDesk) -> Desk:
    return make_desk(documents=0)


def looked_at(desk: Desk, qtbot: QtBot, *paths: Path) -> ImportDialog:
    flow = desk.window.session.features.flows
    dialog = flow.import_documents(paths)
    qtbot.waitUntil(lambda: not dialog.list.reading)
    return dialog


def brought_in(desk: Desk, qtbot: QtBot, dialog: ImportDialog) -> None:
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    for other in desk.window.findChildren(ImportDialog):
        other.reject()


def ids(desk: Desk) -> list[int]:
    return desk.project.queue.ids(QueueFilter())


SEEN = FileProblem("a.txt", Problem(0, "note", "already imported as a.txt; nothing was changed"))
ASIDE = FileProblem("a.txt", Problem(2, "set aside", "odd"))


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (ImportReport((), {KNOWN: 1}, (SEEN,)), "Nothing was imported. 1 file was already imported. 1 note."),
        (ImportReport((), {KNOWN: 3}, (SEEN,) * 3), "Nothing was imported. 3 files were already imported. 3 notes."),
        (
            ImportReport(("a.txt",), {"documents": 2, KNOWN: 1}, (SEEN, ASIDE)),
            "Imported a.txt{time}: 2 documents. 1 file was already imported. 1 problem. 1 note.",
        ),
        (ImportReport(("a.txt",), {"documents": 1}), "Imported a.txt{time}: 1 document. No problems."),
        (ImportReport(("a.txt",)), "Imported a.txt{time}: nothing new. No problems."),
    ],
)
def test_what_an_import_did_is_said_in_short(report: ImportReport, words: str) -> None:
    assert in_short(report) == words.format(time="")
    assert summary(report) == words.format(time=" in 0.0 s")


def test_an_import_is_shown_before_anything_is_written(empty: Desk, qtbot: QtBot) -> None:
    path = empty.world.write(document(1) + "2|t|Odd title\n2|a|Words.\n2\t90\t99\tnowhere\tDisease\tD1\n\n")
    dialog = looked_at(empty, qtbot, path)
    assert dialog.files.lines.index(0, 2).data().strip() == "2"
    assert "1 skipped" in dialog.files.lines.index(0, 4).data()
    said = dialog.list.preview.toPlainText()
    assert "Odd title" in said
    assert "nowhere" in said
    assert "Lidocaine" in said
    assert ids(empty) == []
    dialog.reject()
    assert ids(empty) == []


def test_a_changed_text_is_shown_and_taken_where_it_is_chosen(empty: Desk, qtbot: QtBot) -> None:
    finish(empty.project.importing.documents([empty.world.write(FIRST)]))
    dialog = looked_at(empty, qtbot, empty.world.write(SECOND))
    assert "1 changed" in dialog.files.lines.index(0, 4).data()
    changed = dialog.look_at_changed()
    assert isinstance(changed, ChangedTextsDialog)
    said = changed.difference.toPlainText()
    assert "In this report" in said
    assert "Aspirin (Chemical)" in said
    assert not dialog.wish.choices.of
    changed.buttons_of[Changed.TAKE].click()
    changed.accept()
    assert dialog.wish.choices.of == {1: Changed.TAKE}
    brought_in(empty, qtbot, dialog)
    assert "In this report" in empty.project.queue.open(1).document.text


def test_undoing_says_what_was_done_by_hand_and_closes_the_hidden_document(desk: Desk, qtbot: QtBot) -> None:
    [first, *_] = ids(desk)
    desk.project.notes.comment(first, "look again")
    assert desk.bench.navigator.opened is not None
    desk.window.menus.action("project.undo_import").trigger()
    [listed] = shown(ImportsDialog)
    assert isinstance(listed, ImportsDialog)
    [box] = boxes()
    assert "1 comment in 1 document" in box.text()
    press_button(box, "Undo the import")
    qtbot.waitUntil(lambda: not ids(desk))
    qtbot.waitUntil(lambda: desk.bench.navigator.opened is None)
    qtbot.waitUntil(lambda: "undone" in listed.table.lines.index(0, 5).data())
    assert not listed.undo.isEnabled()
    listed.reject()


def test_a_stopped_import_says_what_is_in_and_goes_on(
    empty: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [empty.world.write(document(number), name=f"{number}.pubtator") for number in (1, 2, 3)]
    whole = FileReading.sort
    started: list[str] = []

    def cancelling(self: FileReading, compared: Sequence[Compared], choices: ImportChoices) -> list[SourceDocument]:
        started.append(self.source.name)
        if len(started) == 2:
            empty.bench.jobs.cancel()
        return whole(self, compared, choices)

    monkeypatch.setattr(FileReading, "sort", cancelling)
    with qtbot.waitSignal(empty.bench.jobs.ended):
        looked_at(empty, qtbot, *paths).accept()
    assert len(ids(empty)) == 1
    with qtbot.waitSignal(empty.bench.jobs.ended):
        looked_at(empty, qtbot, *paths).accept()
    assert len(ids(empty)) == 3


def test_a_folder_of_documents_is_dropped_as_its_files(empty: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"{number}.txt").write_text(document(number), encoding="utf-8")
    (folder / "README.md").write_text("What this is.", encoding="utf-8")
    assert sorted_out([folder], empty.project.formats).documents == (folder,)
    dialog = looked_at(empty, qtbot, folder)
    assert dialog.files.lines.rowCount() == 2
    assert "README.md" in dialog.problem.text(), "what is no document is named"
    brought_in(empty, qtbot, dialog)
    assert len(ids(empty)) == 2

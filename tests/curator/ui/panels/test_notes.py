"""Flags, comments and guidelines in the window's parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from curator.domain.audit import Comment
from curator.domain.decisions import STEPS, Change
from curator.domain.documents import DocumentState
from curator.services.ports.queue import QueueFilter
from curator.ui.deciding.navigator import Navigator
from curator.ui.document.document_view import DocumentView
from curator.ui.panels.guidelines_panel import GuidelinesPanel, headings
from curator.ui.panels.notes import CommentsPanel, CommentStrip, Noter
from tests.curator.services.fakes import World, make_world
from tests.curator.ui.samples import AT, opened

GUIDELINES = (
    "# Drugs\n\nLink salts to the base.\n\n## Brand names\n\nYes.\n\n```\n# no heading\n```\n\n## NIL\n\nRarely."
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    made = make_world(tmp_path)
    made.kb()
    made.documents(1)
    yield made
    made.project.close()


class Seeing:
    """Replaces the `Decider`: everything was seen."""

    def saw(self) -> bool:
        return True

    saw_document = saw

    def act(self, action: Callable[[], Change]) -> Change:
        return action()


class Desk:
    def __init__(self, world: World) -> None:
        project = world.project
        self.project = project
        self.at = Navigator(project.queue, project.suggestions)
        self.noter = Noter(project.notes, project.curation, self.at, Seeing())  # type: ignore[arg-type]
        project.events.subscribe(lambda change: self.at.reload() if change.kind in STEPS else None)
        self.strip, self.panel = CommentStrip(), CommentsPanel()
        self.strip.written.connect(self.noter.write_comment)
        self.panel.deleted.connect(self.noter.delete_comment)
        self.at.mention_changed.connect(lambda: self.noter.show_in(self.panel))
        self.at.open_first()


@pytest.fixture
def desk(qtbot: QtBot, world: World) -> Desk:
    made = Desk(world)
    qtbot.addWidget(made.strip)
    qtbot.addWidget(made.panel)
    return made


def test_a_comment_is_written_in_the_strip_and_deleted_in_the_panel(desk: Desk, qtbot: QtBot) -> None:
    assert desk.panel.isHidden()
    assert desk.noter.ask_comment(desk.strip, on_document=False)
    assert desk.strip.about.text() == "Comment on “Lidocaine”:"
    qtbot.keyClicks(desk.strip.line, "salt or base?")
    qtbot.keyClick(desk.strip.line, Qt.Key.Key_Return)
    assert desk.strip.isHidden()
    assert desk.panel.words[0].startswith("salt or base?\nada, ")
    assert not desk.panel.isHidden()
    desk.at.step(1)
    assert desk.panel.isHidden()
    desk.at.step(-1)
    desk.panel.list.setCurrentRow(0)
    qtbot.keyClick(desk.panel.list, Qt.Key.Key_Delete)
    assert desk.panel.isHidden()
    desk.project.curation.undo()
    desk.at.reload()
    assert len(desk.panel.words) == 1


def test_a_comment_goes_to_what_it_was_asked_about(desk: Desk, qtbot: QtBot) -> None:
    desk.noter.ask_comment(desk.strip, on_document=True)
    desk.at.step(1)
    qtbot.keyClicks(desk.strip.line, "two tables are missing")
    qtbot.keyClick(desk.strip.line, Qt.Key.Key_Return)
    assert [one.mention_id for one in desk.project.notes.comments(1)] == [None]
    assert desk.panel.words[0].endswith("on the document")


def test_esc_and_an_empty_line_write_nothing(desk: Desk, qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        desk.noter.ask_comment(desk.strip, on_document=False)
        with qtbot.waitSignal(desk.strip.left, timeout=500):
            qtbot.keyClick(desk.strip.line, key)
    assert desk.project.notes.comments(1) == []


def test_flags_and_discussion(desk: Desk) -> None:
    desk.noter.flag_mention()
    assert desk.at.mention is not None
    assert desk.at.mention.mention.flagged
    desk.noter.flag_document()
    desk.noter.discuss()
    (row,) = desk.project.queue.rows(QueueFilter())
    assert (row.flagged, row.state) == (True, DocumentState.DISCUSS)
    desk.noter.discuss()
    assert desk.project.queue.row(1).state is DocumentState.IN_PROGRESS
    for words in ("in progress", "needs discussion"):
        change = desk.project.curation.undo()
        assert change is not None
        assert change.text == f"Undid: Marked 1 as “{words}”"


def test_in_a_read_only_project_comments_cannot_be_deleted(qtbot: QtBot) -> None:
    panel = CommentsPanel()
    qtbot.addWidget(panel)
    panel.set_writable(False)
    panel.show_comments((Comment(1, 1, 1, "Anna", AT, "why?"),), ())
    panel.list.setCurrentRow(0)
    assert not panel.delete.isEnabled()
    with qtbot.assertNotEmitted(panel.deleted):
        qtbot.keyClick(panel.list, Qt.Key.Key_Delete)


def _picture(qtbot: QtBot, *, flagged: bool = False, comments: tuple[Comment, ...] = ()) -> QImage:
    view = DocumentView()
    qtbot.addWidget(view)
    view.resize(600, 300)
    shown = opened()
    first = shown.mentions[1]
    marked = replace(first, mention=replace(first.mention, flagged=flagged), comments=comments)
    view.show_document(replace(shown, mentions=(shown.mentions[0], marked, *shown.mentions[2:])))
    return view.grab().toImage()


def test_flags_and_comments_are_seen_in_the_text(qtbot: QtBot) -> None:
    plain = _picture(qtbot)
    assert _picture(qtbot) == plain
    flagged = _picture(qtbot, flagged=True)
    both = _picture(qtbot, flagged=True, comments=(Comment(1, 1, 2, "Anna", AT, "why?"),))
    assert flagged != plain
    assert both != flagged


def test_headings_leave_out_code() -> None:
    assert headings(GUIDELINES) == ["Drugs", "Brand names", "NIL"]
    assert headings("#hash\n\n####### seven\n\n ## ok ##") == ["ok"]


@pytest.fixture
def guidelines(qtbot: QtBot, world: World) -> GuidelinesPanel:
    panel = GuidelinesPanel(world.project.guidelines, writable=True)
    qtbot.addWidget(panel)
    panel.resize(400, 200)
    panel.show_panel()
    qtbot.waitExposed(panel)
    return panel


def test_guidelines_are_written_in_place_and_saved_by_themselves(
    guidelines: GuidelinesPanel, world: World, qtbot: QtBot
) -> None:
    assert "no guidelines yet" in guidelines.reader.toPlainText()
    guidelines.edit.setChecked(True)
    assert guidelines.editor.toPlainText() == ""
    guidelines.editor.insertPlainText(GUIDELINES)
    qtbot.waitUntil(lambda: world.project.guidelines.text() == GUIDELINES, timeout=5000)
    assert guidelines.state.text() == "Saved."
    qtbot.keyClick(guidelines.editor, Qt.Key.Key_Escape)
    assert guidelines.reader.toPlainText().startswith("Drugs\nLink salts")
    assert [guidelines.headings.itemText(i) for i in range(guidelines.headings.count())] == headings(GUIDELINES)


def test_putting_the_guidelines_away_saves_them(guidelines: GuidelinesPanel, world: World, qtbot: QtBot) -> None:
    guidelines.edit.setChecked(True)
    guidelines.editor.insertPlainText("# One")
    with qtbot.waitSignal(guidelines.closed, timeout=500):
        qtbot.mouseClick(guidelines.close_button, Qt.MouseButton.LeftButton)
    assert world.project.guidelines.text() == "# One"
    assert guidelines.isHidden()


def test_a_heading_is_found_by_a_part_of_it(guidelines: GuidelinesPanel, world: World) -> None:
    world.project.guidelines.set_text(
        "# Drugs\n\n" + "words\n\n" * 60 + "## Brand *names*\n\nYes.\n\n" + "more\n\n" * 60
    )
    guidelines.show_panel()
    assert guidelines.reader.verticalScrollBar().value() == 0
    guidelines.headings.setEditText("brand")
    guidelines.headings.activated.emit(0)
    assert guidelines.reader.textCursor().block().text() == "Brand names"
    assert guidelines.reader.verticalScrollBar().value() > 100
    guidelines.edit.setChecked(True)
    guidelines.headings.setEditText("BRAND")
    guidelines.headings.activated.emit(0)
    assert guidelines.editor.textCursor().block().text() == "## Brand *names*"


def test_guidelines_that_cannot_be_saved_stay_in_the_editor(
    guidelines: GuidelinesPanel, world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.curating.notes.LONGEST_GUIDELINES", 10)
    guidelines.edit.setChecked(True)
    guidelines.editor.setPlainText("eleven long")
    with qtbot.waitSignal(guidelines.said, timeout=2000) as caught:
        guidelines.flush()
    assert "at most 10 characters" in caught.args[0]
    assert world.project.guidelines.text() == ""
    assert guidelines.editor.toPlainText() == "eleven long"
    assert guidelines.state.text() == "Not saved."
    guidelines.editor.setPlainText("")

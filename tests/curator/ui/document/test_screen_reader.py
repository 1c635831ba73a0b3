"""The document for screen readers: text, places, marked ranges, and what is said where the caret goes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QTextCharFormat
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import Span, Utf16Map
from curator.services.queue.queue import OpenDocument
from curator.ui.document.document_view import DocumentView
from curator.ui.document.screen_reader import speak_to_screen_readers
from curator.ui.kit.theme import LIGHT
from tests.curator.ui.samples import TEXT, decision, document, opened, span, view

FK506 = span("FK506")
LINKED = view(1, FK506, verdict=Verdict.link("MESH:D016559"))
NIL = view(2, span("acute renal failure"), verdict=Verdict.nil())
INNER = view(3, span("renal"))
PLACES = Utf16Map(TEXT)


@pytest.fixture
def shown(qtbot: QtBot) -> DocumentView:
    speak_to_screen_readers()
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(500, 300)
    widget.show_document(OpenDocument(document(), (LINKED, NIL, INNER)))
    widget.show()
    qtbot.waitExposed(widget)
    return widget


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader gets, while there is one."""
    told: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: told.append(_words(event)))
    return told


def _words(event: object) -> str:
    if hasattr(event, "message"):
        return str(event.message())
    assert hasattr(event, "cursorPosition")
    return f"caret {event.cursorPosition()}"


def marks(widget: DocumentView) -> list[tuple[str, str, str]]:
    """What is marked: the text, its underline, its ground."""
    document_ = widget.reading_copy().document()
    found, block = [], document_.begin()
    while block.isValid():
        for one in block:
            letters = one.fragment().charFormat()
            if letters.underlineStyle() != QTextCharFormat.UnderlineStyle.NoUnderline:
                style = letters.underlineStyle().name.replace("Underline", "")
                found.append((one.fragment().text(), style, letters.background().color().name()))
        block = block.next()
    return found


def test_a_screen_reader_reads_the_text(shown: DocumentView) -> None:
    interface = QAccessible.queryAccessibleInterface(shown)
    assert interface.role() is QAccessible.Role.EditableText
    assert interface.state().readOnly
    assert interface.state().multiLine
    assert interface.childCount() == 0
    text = interface.textInterface()
    assert text.characterCount() == PLACES.to_utf16(len(TEXT))
    start, end = PLACES.to_utf16(FK506.start), PLACES.to_utf16(FK506.end)
    assert text.text(start, end) == "FK506"
    assert text.text(0, text.characterCount()) == TEXT


def test_every_character_is_where_it_is_painted(shown: DocumentView) -> None:
    text = QAccessible.queryAccessibleInterface(shown).textInterface()
    for words in ("A ", "warning", "FK506", "ventricular"):
        place = span(words)
        rect = text.characterRect(PLACES.to_utf16(place.start))
        painted = shown.rect_of(Span(place.start, place.start + 1)).toAlignedRect()
        painted.moveTopLeft(shown.viewport().mapToGlobal(painted.topLeft()))
        assert abs(rect.left() - painted.left()) <= 2
        assert painted.adjusted(0, -2, 0, 2).contains(rect.center())
        assert text.offsetAtPoint(rect.center()) == PLACES.to_utf16(place.start)


def test_places_follow_the_scrolling(shown: DocumentView, qtbot: QtBot) -> None:
    shown.resize(300, 120)
    qtbot.waitUntil(lambda: shown.verticalScrollBar().maximum() > 0)
    at = PLACES.to_utf16(span("ventricular").start)
    before = QAccessible.queryAccessibleInterface(shown).textInterface().characterRect(at)
    shown.verticalScrollBar().setValue(30)
    after = QAccessible.queryAccessibleInterface(shown).textInterface().characterRect(at)
    assert before.top() - after.top() == 30


def test_mentions_are_ranges_marked_by_their_state(shown: DocumentView) -> None:
    tints = {state: colours.tint.name() for state, colours in LIGHT.states.items()}
    nil = ("Dash", tints["nil"])  # type: ignore[index]
    assert marks(shown) == [
        ("FK506", "Single", tints["linked"]),  # type: ignore[index]
        ("acute ", *nil),
        ("renal", "DotLine", tints["undecided"]),  # type: ignore[index]
        (" failure", *nil),
    ]


def test_a_decision_marks_again_what_it_changed(shown: DocumentView) -> None:
    marks(shown)
    decided = replace(INNER, decision=decision(3, Verdict.link("MESH:D1")))
    shown.update_mentions((LINKED, NIL, decided))
    assert [(words, style) for words, style, _ in marks(shown)] == [
        ("FK506", "Single"),
        ("acute ", "Dash"),
        ("renal", "Single"),
        (" failure", "Dash"),
    ]
    shown.update_mentions((LINKED, NIL))
    assert [words for words, *_ in marks(shown)] == ["FK506", "acute renal failure"]
    shown.clear()
    assert marks(shown) == []


def test_the_caret_says_what_a_mention_is_when_it_enters_it(shown: DocumentView, heard: list[str]) -> None:
    shown.select(Span(FK506.start - 3, FK506.start - 3 + 1))
    shown.clear_selection()
    heard.clear()
    QTest.keyClick(shown, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    at = PLACES.to_utf16(FK506.start)
    assert heard == [f"caret {at}", "FK506, Chemical, linked to Tacrolimus (MESH:D016559)"]
    QTest.keyClick(shown, Qt.Key.Key_Right)
    assert heard[2:] == [f"caret {at + 1}"], "a mention is said once"


def test_a_screen_reader_moves_the_caret(shown: DocumentView) -> None:
    text = QAccessible.queryAccessibleInterface(shown).textInterface()
    text.setCursorPosition(PLACES.to_utf16(FK506.start))
    assert shown.caret == FK506.start
    assert text.cursorPosition() == PLACES.to_utf16(FK506.start)
    text.setSelection(0, PLACES.to_utf16(FK506.start), PLACES.to_utf16(FK506.end))
    assert shown.selection == FK506


def test_another_document_and_none_are_read(shown: DocumentView) -> None:
    shown.show_document(opened())
    text = QAccessible.queryAccessibleInterface(shown).textInterface()
    assert text.text(0, 1) == TEXT[0]
    odd = "Line\u2028one\r\n\r\n  two"
    shown.show_document(OpenDocument(document(odd, title="", passages=()), ()))
    text = QAccessible.queryAccessibleInterface(shown).textInterface()
    assert text.text(0, text.characterCount()).split() == ["Line", "one", "two"]
    assert text.text(odd.index("two"), len(odd)) == "two"
    shown.clear()
    assert QAccessible.queryAccessibleInterface(shown).textInterface().characterCount() == 0


def test_a_point_outside_is_no_character(shown: DocumentView) -> None:
    text = QAccessible.queryAccessibleInterface(shown).textInterface()
    assert text.offsetAtPoint(QPoint(-5000, -5000)) in (-1, 0)

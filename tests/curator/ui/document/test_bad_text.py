"""Texts of every script and of none: what is painted, hit and selected is always what is in the document."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from curator.domain.documents import Passage, Span, slice_spans
from curator.services.queue.queue import OpenDocument
from curator.ui.document.document_view import DocumentView
from tests.curator.ui.samples import document, view

Key, CTRL, SHIFT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
HEBREW = "\u05d0\u05e1\u05e4\u05d9\u05e8\u05d9\u05df"
TEXTS = {
    "right to left": (f"dose of {HEBREW} was given", HEBREW),
    "right to left with a number": (f"{HEBREW} 500 \u05de\u05d2 daily", "500"),
    "combining marks": ("Na\u0308ive and na\u0308ive", "na\u0308ive"),
    "emoji": ("a \U0001f468\u200d\U0001f469\u200d\U0001f467 family \U0001f9ec\U0001f9ec gene", "gene"),
    "astral letters": ("\U0001d6fc-blocker and \U0001d6fd-blocker given", "\U0001d6fd-blocker"),
    "no-break spaces": ("5\u00a0mg of\u00a0aspirin daily", "aspirin"),
    "over a line break": ("acute renal\nfailure after aspirin", "renal\nfailure"),
    "an odd line break": ("acute renal\u2028failure\rafter aspirin", "failure\rafter"),
    "a word of 10,000 characters": ("x" * 10_000 + " aspirin", "aspirin"),
}


def shown_text(qtbot: QtBot, text: str, words: str) -> DocumentView:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 500)
    widget.show()
    start = text.index(words)
    mention = view(1, Span(start, start + len(words)), text=text)
    page = document(text, title="", passages=(Passage("section", 0, len(text)),))
    widget.show_document(OpenDocument(page, (mention,)), current=1)
    return widget


@pytest.mark.parametrize(("text", "words"), TEXTS.values(), ids=TEXTS)
def test_a_mention_is_hit_selected_copied_and_found(qtbot: QtBot, text: str, words: str) -> None:
    widget = shown_text(qtbot, text, words)
    wanted = Span(text.index(words), text.index(words) + len(words))
    place = widget.rect_of(Span(wanted.start, wanted.start + 1)).center()
    with qtbot.waitSignal(widget.mention_activated, timeout=500) as caught:
        qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert caught.args == [1]
    widget.select(wanted)
    assert widget.selection == wanted
    qtbot.keyClick(widget, Key.Key_C, CTRL)
    assert slice_spans(text, [wanted]) == words
    copied = QGuiApplication.clipboard().text()
    assert copied.replace("\n", " ").split() == words.split()
    found = widget.find_text(words)
    assert wanted in found.spans
    widget.grab()


def test_an_empty_document_has_nothing_to_hit_and_every_key_is_harmless(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.show()
    for text in ("", " \n "):
        widget.show_document(OpenDocument(document(text, title="", passages=()), ()))
        widget.set_caret_mode(True)
        for key in (Key.Key_Right, Key.Key_Down, Key.Key_Home, Key.Key_End, Key.Key_C, Key.Key_Escape):
            qtbot.keyClick(widget, key, CTRL | SHIFT)
        qtbot.mouseClick(widget.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 60))
        qtbot.mouseMove(widget.viewport(), QPoint(70, 70))
        assert widget.find_text("x").spans == ()
        assert widget.selection is None
        widget.grab()
    assert not widget.caret_mode


def test_the_caret_walks_by_what_is_read_and_by_lines_and_never_leaves_the_text(qtbot: QtBot) -> None:
    text = "first line\nNa\u0308\U0001f9ec\nlast"
    widget = shown_text(qtbot, text, "last")
    widget.setFocus()
    widget.set_caret_mode(True)
    assert widget.caret == text.index("last")
    stops = {Key.Key_Up: 11, Key.Key_Right: 12, Key.Key_End: 15, Key.Key_Left: 14, Key.Key_Home: 11}
    for key, offset in stops.items():
        qtbot.keyClick(widget, key)
        if key == Key.Key_Left:
            assert text[widget.caret] == "\U0001f9ec"
        else:
            assert widget.caret in (offset, offset - 1), key
    qtbot.keyClick(widget, Key.Key_End, CTRL)
    assert widget.caret == len(text)
    qtbot.keyClick(widget, Key.Key_Home, CTRL)
    qtbot.keyClick(widget, Key.Key_Up)
    assert widget.caret == 0
    qtbot.keyClick(widget, Key.Key_Down, SHIFT)
    assert widget.selection is not None
    assert widget.selection.start == 0


@pytest.fixture(scope="module")
def reader(qapp: object) -> Iterator[DocumentView]:
    widget = DocumentView()
    widget.resize(420, 900)
    yield widget
    widget.deleteLater()


LETTERS = "ab \u00a0\u0308\u05d0\U0001f9ec\U0001d6fc\n-"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=LETTERS, min_size=1, max_size=60), st.data())
def test_what_is_painted_between_two_places_is_selected_in_code_points(
    reader: DocumentView, text: str, data: st.DataObject
) -> None:
    reader.clear()
    reader.show_document(OpenDocument(document(text, title="", passages=()), ()))
    layout = reader.laid_out
    assert layout is not None
    if not layout.blocks:
        return
    block = data.draw(st.sampled_from(layout.blocks))
    places = [block.start]
    while places[-1] < block.end and (following := layout.step(places[-1], by_word=False, forward=True)) <= block.end:
        places.append(following)
    start, end = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
    if start == end:
        return
    reader.select(Span(start, end))
    part = text[start:end].strip()
    found = reader.selection
    assert (text[found.start : found.end] if found is not None else "") == part
    for piece in layout.pieces(Span(start, end)):
        hit = layout.offset_at(QPointF(piece.rect.center()), nearest=False)
        assert 0 <= hit <= len(text)
        assert layout.blocks[piece.block].start <= hit <= layout.blocks[piece.block].end
    caret = layout.caret(start)
    assert caret.left() >= 0

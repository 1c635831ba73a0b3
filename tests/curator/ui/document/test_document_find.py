from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.documents import Span
from curator.ui.document import document_find
from curator.ui.document.document_find import FindBar, Found, find_in
from curator.ui.document.document_view import DocumentView
from curator.ui.document.mention_marks import MarkedScrollBar
from tests.curator.ui.samples import opened

TEXT = "Renal failure.\nAcute RENAL\u00a0 failure (a+b) and \U0001f9ec renal"


def test_case_and_the_kind_of_white_space_do_not_matter() -> None:
    found = find_in(TEXT, " renal failure ")
    assert [TEXT[one.start : one.end] for one in found.spans] == ["Renal failure", "RENAL\u00a0 failure"]
    assert find_in(TEXT, "(A+B)").spans == (Span(TEXT.index("(a"), TEXT.index(") and") + 1),)
    assert find_in(TEXT, "renal").spans[-1].end == len(TEXT), "offsets count code points"


def test_the_search_begins_where_the_curator_is_and_goes_round() -> None:
    found = find_in(TEXT, "renal", start=20)
    assert found.at == 1
    assert found.beside(1).at == 2
    assert found.beside(2).current == Span(0, 5)
    assert found.beside(-2).at == 2
    assert find_in(TEXT, "renal", start=len(TEXT)).at == 0


def test_nothing_is_found_without_words_and_no_more_than_can_be_looked_at(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    assert find_in(TEXT, " ") == find_in("", "x") == Found()
    assert Found().beside(1).current is None
    monkeypatch.setattr(document_find, "MOST", 2)
    assert len(find_in(TEXT, "e").spans) == 2


def test_matches_of_a_range_are_those_that_touch_it() -> None:
    found = find_in("ab ab ab", "ab")
    assert found.within(1, 4) == (Span(0, 2), Span(3, 5))
    assert found.within(2, 3) == ()


def test_the_bar_says_which_of_how_many(qtbot: QtBot) -> None:
    bar = FindBar()
    qtbot.addWidget(bar)
    bar.start("renal")
    bar.show_found(find_in(TEXT, "renal"))
    assert bar.count.text() == "1 of 3"
    bar.show_found(Found())
    assert bar.count.text() == "not in this document"
    bar.line.clear()
    bar.show_found(Found())
    assert bar.count.text() == ""


def test_the_scroll_bar_marks_undecided_mentions_and_matches(qtbot: QtBot, qapp: QApplication) -> None:
    view = DocumentView()
    qtbot.addWidget(view)
    view.resize(300, 120)
    view.show()
    view.show_document(opened())
    bar = view.verticalScrollBar()
    assert isinstance(bar, MarkedScrollBar)
    undecided, matches = bar.strips()
    assert len(undecided[1]) == 1
    assert matches[1] == []
    view.find_text("failure")
    (_, strips) = bar.strips()[1]
    rows = [row for strip in strips for row in strip]
    assert len(rows) == len(set(rows)) > 0
    assert all(0 <= row < bar.height() for row in rows)
    bar.grab()


def test_the_marks_are_reckoned_when_they_are_painted_and_once(qtbot: QtBot) -> None:
    asked: list[int] = []

    def places() -> list[tuple[QColor, list[float]]]:
        asked.append(1)
        return [(QColor("red"), [0.0, 0.001, 0.011, 0.031, 0.08, 1.0])]

    bar = MarkedScrollBar(places)
    qtbot.addWidget(bar)
    bar.resize(12, 100)
    assert asked == []
    assert bar.strips() == [(QColor("red"), [range(5), range(7, 9), range(97, 99)])]
    bar.strips()
    assert asked == [1]
    bar.forget()
    bar.strips()
    assert asked == [1, 1]

from dataclasses import replace

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.ui.document.document_layout import DocumentLayout, Styles
from curator.ui.document.mention_marks import Lane, Marks, lanes
from curator.ui.kit.mention_state import MentionState
from tests.curator.ui.samples import TEXT, decision, document, opened, span, suggestion, view


@pytest.fixture
def layout(qapp: QApplication) -> DocumentLayout:
    made = DocumentLayout(TEXT, document().passages, Styles.of(QFont(qapp.font())))
    made.lay_out(600)
    return made


def test_mentions_that_stand_alone_take_the_first_lane() -> None:
    assert lanes([view(1, Span(0, 3)), view(2, Span(3, 6))]) == {1: Lane(0, False), 2: Lane(0, False)}


def test_inner_mentions_stand_nearer_to_the_letters() -> None:
    found = lanes([view(1, Span(0, 20)), view(2, Span(0, 5)), view(3, Span(6, 9)), view(4, Span(30, 35))])
    assert found == {1: Lane(1, True), 2: Lane(0, True), 3: Lane(0, True), 4: Lane(0, False)}


def test_overlapping_equal_and_discontinuous_mentions_never_share_a_lane() -> None:
    views = [view(1, Span(0, 10)), view(2, Span(5, 15)), view(3, Span(5, 15)), view(4, Span(1, 2), Span(13, 14))]
    found = lanes(views)
    assert len({lane.number for lane in found.values()}) == 4
    assert all(lane.crowded for lane in found.values())


def test_a_point_hits_the_innermost_first(layout: DocumentLayout) -> None:
    marks = Marks(layout, opened().mentions)
    (piece,) = layout.pieces(span("renal failure"))
    assert [mark.id for mark in marks.at(piece.rect.center())] == [4, 3]
    (piece,) = layout.pieces(span("acute"))
    assert [mark.id for mark in marks.at(piece.rect.center())] == [3]
    (piece,) = layout.pieces(span("right"))
    assert marks.at(piece.rect.center()) == []


def test_a_patch_replaces_states_and_keeps_places(layout: DocumentLayout) -> None:
    views = list(opened().mentions)
    marks = Marks(layout, views)
    before = marks.get(2)
    views[1] = replace(views[1], decision=decision(2, Verdict.nil()))
    assert before is not None
    assert marks.same_places(views)
    (changed,) = marks.patch(views)
    assert (changed.id, changed.state) == (2, MentionState.NIL)
    assert changed.places is before.places


def test_undecided_lines_are_counted_once_and_follow_decisions(layout: DocumentLayout) -> None:
    views = [view(1, Span(0, 3)), view(2, Span(4, 6)), view(3, Span(0, 6))]
    marks = Marks(layout, views)
    top = layout.y_of(0)
    assert list(marks.undecided()) == [top]
    for number, made in ((0, Verdict.nil()), (1, Verdict.reject()), (0, Verdict.skip())):
        views[number] = replace(views[number], decision=decision(number + 1, made))
        marks.patch(views)
        assert list(marks.undecided()) == [top]
    views[2] = replace(views[2], decision=decision(3, Verdict.nil()))
    marks.patch(views)
    assert list(marks.undecided()) == []
    views[1] = replace(views[1], decision=None)
    marks.patch(views)
    assert list(marks.undecided()) == [top] == list(Marks(layout, views).undecided())


def test_mentions_that_moved_or_went_are_not_the_same_places(layout: DocumentLayout) -> None:
    views = list(opened().mentions)
    marks = Marks(layout, views)
    assert not marks.same_places(views[:-1])
    assert not marks.same_places([*views[:-1], view(5, Span(0, 1))])


def test_only_undecided_mentions_carry_the_nil_flag(layout: DocumentLayout) -> None:
    nil = suggestion(1, nil=True)
    marks = Marks(layout, [view(1, Span(0, 3), made=nil), view(2, Span(4, 6), made=nil, verdict=Verdict.nil())])
    assert [mark.maybe_nil for mark in marks.all()] == [True, False]

"""Positions of mentions in a laid-out document, their lanes under the text, and hit testing."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from curator.domain.documents import Span
from curator.domain.spans import overlaps
from curator.services.queue.queue import MentionView
from curator.ui.document.document_layout import DocumentLayout, LinePiece
from curator.ui.kit.mention_state import MentionState, state_of


class MentionPieces:
    """The positions of a mention. Pieces are measured when it is first drawn or hit, which never happens for most
    mentions."""

    def __init__(self, layout: DocumentLayout, spans: Sequence[Span]) -> None:
        self._layout = layout
        self._spans = spans

    @cached_property
    def pieces(self) -> tuple[LinePiece, ...]:
        return tuple(piece for span in self._spans for piece in self._layout.pieces(span))


@dataclass(frozen=True, slots=True)
class MentionMark:
    """A mention ready to be drawn. `lane` 0 is nearest to the letters; `crowded`: others overlap it."""

    view: MentionView
    state: MentionState
    lane: int
    crowded: bool
    places: MentionPieces

    @property
    def pieces(self) -> tuple[LinePiece, ...]:
        """The pieces from the top, one for each line of each span."""
        return self.places.pieces

    @property
    def id(self) -> int:
        return self.view.mention.id

    @property
    def maybe_nil(self) -> bool:
        """Whether it is undecided and the linker expects NIL."""
        suggestion = self.view.suggestion
        return self.state is MentionState.UNDECIDED and suggestion is not None and suggestion.expects_nil


@dataclass(frozen=True, slots=True)
class Lane:
    number: int
    crowded: bool


class Marks:
    """All marks of a document; rebuilt when mentions come or go, patched when one changes its state.

    A mark is created and its pieces are measured when it is first drawn or hit, which never happens for most of a long
    document.
    """

    def __init__(self, layout: DocumentLayout, views: Sequence[MentionView]) -> None:
        self._layout = layout
        self._views = {view.mention.id: view for view in views}
        self._given = tuple(views)
        self._lanes = lanes(views)
        self._marks: dict[int, MentionMark] = {}
        hulls = sorted((*_hull(view), view.mention.id) for view in views if view.mention.spans)
        self._order = [mention_id for _, _, mention_id in hulls]
        self._starts = [start for start, _, _ in hulls]
        self._reach = list(accumulate((end for _, end, _ in hulls), max))  # how far the hulls so far go
        self._undecided: Counter[float] | None = None  # undecided mentions by the top of their first line

    def _mark(self, mention_id: int) -> MentionMark:
        mark = self._marks.get(mention_id)
        if mark is None:
            view, lane = self._views[mention_id], self._lanes[mention_id]
            places = MentionPieces(self._layout, view.mention.spans)
            mark = MentionMark(view, state_of(view.decision), lane.number, lane.crowded, places)
            self._marks[mention_id] = mark
        return mark

    def __contains__(self, mention_id: object) -> bool:
        return mention_id in self._views

    def get(self, mention_id: int | None) -> MentionMark | None:
        return self._mark(mention_id) if mention_id is not None and mention_id in self._views else None

    def all(self) -> Iterable[MentionMark]:
        return (self._mark(one) for one in self._views)

    def undecided(self) -> Iterator[float]:
        """Tops of the lines where an undecided mention begins. They are counted once: a decision changes one count, not
        thousands."""
        if self._undecided is None:
            self._undecided = Counter(
                self._layout.y_of(start)
                for start, one in zip(self._starts, self._order, strict=True)
                if state_of(self._views[one].decision) is MentionState.UNDECIDED
            )
        return (top for top, number in self._undecided.items() if number)

    def same_places(self, views: Sequence[MentionView]) -> bool:
        """Whether only states and suggestions differ, so that `patch` suffices."""
        return len(views) == len(self._views) and all(
            (old := self._views.get(view.mention.id)) is not None and old.mention.spans == view.mention.spans
            for view in self._news(views)
        )

    def patch(self, views: Sequence[MentionView]) -> list[MentionMark]:
        """Replace views whose spans are as before; returns the marks that changed."""
        changed = []
        for view in self._news(views):
            old = self._views[view.mention.id]
            self._views[view.mention.id] = view
            if old != view:
                mark = replace(self._mark(view.mention.id), view=view, state=state_of(view.decision))
                self._marks[mark.id] = mark
                self._count(old, -1)
                self._count(view, 1)
                changed.append(mark)
        self._given = tuple(views)
        return changed

    def _news(self, views: Sequence[MentionView]) -> list[MentionView]:
        """Those that are not the same objects at the same places as before."""
        return [view for old, view in zip(self._given, views, strict=True) if view is not old]

    def _count(self, view: MentionView, number: int) -> None:
        if self._undecided is not None and view.mention.spans and state_of(view.decision) is MentionState.UNDECIDED:
            self._undecided[self._layout.y_of(_hull(view)[0])] += number

    def on_line(self, block: int, line: int) -> list[MentionMark]:
        """Marks with a piece on the line, longest first: inner ones are drawn over outer ones."""
        where = self._layout.line_span(block, line)
        found = []
        at = bisect_left(self._starts, where.end) - 1
        while at >= 0 and self._reach[at] > where.start:
            if overlaps(self._views[self._order[at]].mention.spans, where):
                found.append(self._mark(self._order[at]))
            at -= 1
        return sorted(found, key=lambda mark: (-mark.lane, mark.view.mention.spans))

    def at(self, point: QPointF) -> list[MentionMark]:
        """Marks under a point of the document, the innermost first."""
        found = []
        for index in self._layout.blocks_between(point.y(), point.y()):
            block = self._layout.blocks[index]
            number = int((point.y() - block.text_top) // block.style.line_height)
            if 0 <= number < block.lines:
                found += [m for m in self.on_line(index, number) if any(p.rect.contains(point) for p in m.pieces)]
        return found[::-1]


def _hull(view: MentionView) -> tuple[int, int]:
    spans = view.mention.spans
    if len(spans) == 1:
        return spans[0].start, spans[0].end
    return min(one.start for one in spans), max(one.end for one in spans)


def bounds(mark: MentionMark) -> QRectF:
    """The rectangle that holds all pieces of a mark."""
    whole = QRectF()
    for piece in mark.pieces:
        whole = whole.united(piece.rect)
    return whole


def lanes(views: Sequence[MentionView]) -> dict[int, Lane]:
    """A lane for each mention, so that overlapping mentions never share one, inner ones above outer ones.

    A discontinuous mention counts from its first to its last character, since its line joins its parts.
    """
    hulls = sorted((start, -end, v.mention.id) for v in views if v.mention.spans for start, end in (_hull(v),))
    result: dict[int, Lane] = {view.mention.id: Lane(0, False) for view in views}
    group: list[tuple[int, int]] = []  # (mention id, lane from outside in) of overlapping mentions
    ends: list[int] = []  # the end of the last mention in each lane
    for start, minus_end, mention_id in hulls:
        if ends and start >= max(ends):
            _close(group, len(ends), result)
            group, ends = [], []
        number = next((i for i, end in enumerate(ends) if end <= start), len(ends))
        if number == len(ends):
            ends.append(0)
        ends[number] = -minus_end
        group.append((mention_id, number))
    _close(group, len(ends), result)
    return result


def _close(group: list[tuple[int, int]], depth: int, result: dict[int, Lane]) -> None:
    for mention_id, number in group:
        result[mention_id] = Lane(depth - 1 - number, depth > 1)


# A scroll bar that shows the positions of undecided mentions and matches.

Places = Callable[[], Iterable[tuple[QColor, Iterable[float]]]]
MARK = 2
"""Pixels."""


class MarkedScrollBar(QScrollBar):
    """`places` returns groups of marks as (colour, shares of the document's height from 0 to 1). It is called when
    painting after `forget`, so that a decision in a long document costs nothing while the bar is hidden."""

    def __init__(self, places: Places, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._places = places
        self._strips: list[tuple[QColor, list[range]]] | None = None

    def forget(self) -> None:
        """Forget the marks, whose positions have changed."""
        self._strips = None
        self.update()

    def strips(self) -> list[tuple[QColor, list[range]]]:
        """Pixel rows with a mark, those that touch as one."""
        if self._strips is None:
            height = max(self.height() - 3, 1)
            self._strips = [
                (colour, _strips(sorted({int(share * height) for share in shares})))
                for colour, shares in self._places()
            ]
        return self._strips

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        for number, (colour, strips) in enumerate(self.strips()):
            left = 2.0 if number else self.width() - 5.0  # matches reach across, mentions are at the right
            for strip in strips:
                painter.fillRect(QRectF(left, strip.start, self.width() - 2 - left, len(strip)), colour)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.forget()


def _strips(rows: Iterable[int]) -> list[range]:
    """Marks of two pixels from each of the ascending rows on."""
    found: list[range] = []
    for row in rows:
        if found and row <= found[-1].stop:
            found[-1] = range(found[-1].start, row + MARK)
        else:
            found.append(range(row, row + MARK))
    return found

"""Where mentions stand in a laid-out document, which lane each takes under the text, and which one a point hits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QPointF, QRectF

from curator.domain.documents import Span
from curator.services.queue import MentionView
from curator.ui.document_layout import DocumentLayout, Piece
from curator.ui.mention_state import MentionState, state_of


class Places:
    """Where a mention stands. Pieces are measured when it is first drawn or hit, which most mentions never are."""

    def __init__(self, layout: DocumentLayout, spans: Sequence[Span]) -> None:
        self._layout = layout
        self._spans = spans

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(piece for span in self._spans for piece in self._layout.pieces(span))


@dataclass(frozen=True, slots=True)
class Mark:
    """A mention ready to be drawn. `lane` 0 is nearest to the letters; `crowded` when others share its text."""

    view: MentionView
    state: MentionState
    lane: int
    crowded: bool
    places: Places

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """From the top; one for each line of each span."""
        return self.places.pieces

    @property
    def id(self) -> int:
        return self.view.mention.id

    @property
    def maybe_nil(self) -> bool:
        """Undecided, and the linker thinks that the knowledge base lacks it."""
        suggestion = self.view.suggestion
        return self.state is MentionState.UNDECIDED and suggestion is not None and suggestion.expects_nil


@dataclass(frozen=True, slots=True)
class Lane:
    number: int
    crowded: bool


class Marks:
    """All marks of a document; rebuilt when mentions come or go, patched when one changes its state."""

    def __init__(self, layout: DocumentLayout, views: Sequence[MentionView]) -> None:
        self._layout = layout
        self._lanes = lanes(views)
        self._marks: dict[int, Mark] = {}
        self._by_line: dict[tuple[int, int], list[int]] = defaultdict(list)
        for view in views:
            mark = self._mark(view)
            self._marks[mark.id] = mark
            for place in {one for span in view.mention.spans for one in layout.lines(span)}:
                self._by_line[place].append(mark.id)

    def _mark(self, view: MentionView) -> Mark:
        lane = self._lanes[view.mention.id]
        old = self._marks.get(view.mention.id)
        if old is not None and old.view.mention.spans == view.mention.spans:
            places = old.places
        else:
            places = Places(self._layout, view.mention.spans)
        return Mark(view, state_of(view.decision), lane.number, lane.crowded, places)

    def __contains__(self, mention_id: object) -> bool:
        return mention_id in self._marks

    def get(self, mention_id: int | None) -> Mark | None:
        return None if mention_id is None else self._marks.get(mention_id)

    def all(self) -> Iterable[Mark]:
        return self._marks.values()

    def same_places(self, views: Sequence[MentionView]) -> bool:
        """Whether only states and suggestions differ, so that `patch` will do."""
        return len(views) == len(self._marks) and all(
            (mark := self._marks.get(view.mention.id)) is not None and mark.view.mention.spans == view.mention.spans
            for view in views
        )

    def patch(self, views: Iterable[MentionView]) -> list[Mark]:
        """Replace views whose spans are as before; returns the marks that changed."""
        changed = [self._mark(view) for view in views if self._marks[view.mention.id].view != view]
        for mark in changed:
            self._marks[mark.id] = mark
        return changed

    def on_line(self, block: int, line: int) -> list[Mark]:
        """Marks with a piece on the line, longest first: inner ones are drawn over outer ones."""
        found = [self._marks[one] for one in self._by_line.get((block, line), ())]
        return sorted(found, key=lambda mark: (-mark.lane, mark.view.mention.spans))

    def at(self, point: QPointF) -> list[Mark]:
        """Marks under a point of the document, the innermost first."""
        found = []
        for index in self._layout.blocks_between(point.y(), point.y()):
            block = self._layout.blocks[index]
            number = int((point.y() - block.text_top) // block.style.line_height)
            found += [m for m in self.on_line(index, number) if any(p.rect.contains(point) for p in m.pieces)]
        return found[::-1]


def bounds(mark: Mark) -> QRectF:
    """The rectangle that holds all pieces of a mark."""
    whole = QRectF()
    for piece in mark.pieces:
        whole = whole.united(piece.rect)
    return whole


def lanes(views: Sequence[MentionView]) -> dict[int, Lane]:
    """A lane for each mention so that mentions that share text never share a lane, inner ones above outer ones.

    A discontinuous mention counts from its first to its last character, as its line joins its parts.
    """
    hulls = sorted(
        (min(s.start for s in v.mention.spans), -max(s.end for s in v.mention.spans), v.mention.id)
        for v in views
        if v.mention.spans
    )
    result: dict[int, Lane] = {view.mention.id: Lane(0, False) for view in views}
    group: list[tuple[int, int]] = []  # (mention id, lane from outside in) of mentions that hang together
    ends: list[int] = []  # where each lane of the group is free again
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

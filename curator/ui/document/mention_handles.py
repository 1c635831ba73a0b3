"""Handles at the ends of a mention's parts: their positions, hit testing, and the result of a drag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from curator.domain.documents import Span
from curator.domain.spans import snapped
from curator.ui.document.document_layout import DocumentLayout
from curator.ui.kit.theme import Theme

REACH = 5.0
"""Pixels around an end in which the mouse grabs it."""
KNOB = 3.6


@dataclass(frozen=True, slots=True)
class Handle:
    """An end of the part `part`; `x` and the line's rectangle in the document's pixels."""

    part: int
    at_end: bool
    x: float
    line: QRectF


def handles(layout: DocumentLayout, spans: Sequence[Span]) -> list[Handle]:
    """Two for each part, in the order of the parts."""
    found = []
    for number, span in enumerate(spans):
        pieces = list(layout.pieces(span))
        if pieces:
            found.append(Handle(number, False, layout.edge(pieces[0], span.start), pieces[0].rect))
            found.append(Handle(number, True, layout.edge(pieces[-1], span.end), pieces[-1].rect))
    return found


def handle_at(found: Sequence[Handle], point: QPointF) -> Handle | None:
    """The nearest handle within reach."""
    near = [
        one for one in found if one.line.top() <= point.y() <= one.line.bottom() and abs(one.x - point.x()) <= REACH
    ]
    return min(near, key=lambda one: abs(one.x - point.x()), default=None)


def dragged(text: str, spans: Sequence[Span], handle: Handle, offset: int, *, snap: bool) -> tuple[Span, ...]:
    """The spans with one end at `offset`; a part keeps at least one character, or one word when snapping."""
    old = spans[handle.part]
    if handle.at_end:
        new = Span(old.start, max(offset, old.start + 1))
        new = Span(old.start, snapped(text, Span(new.end - 1, new.end)).end) if snap else new
    else:
        new = Span(min(offset, old.end - 1), old.end)
        new = Span(snapped(text, Span(new.start, new.start + 1)).start, old.end) if snap else new
    return (*spans[: handle.part], new, *spans[handle.part + 1 :])


def paint_handles(painter: QPainter, found: Sequence[Handle], theme: Theme) -> None:
    """A bar with a knob at each end: above the line where a part begins, below it where it ends."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.accent)
    for one in found:
        top, bottom = one.line.top() + 3, one.line.bottom() - 3
        painter.drawRect(QRectF(one.x - 1, top, 2, bottom - top))
        painter.drawEllipse(QPointF(one.x, bottom if one.at_end else top), KNOB, KNOB)

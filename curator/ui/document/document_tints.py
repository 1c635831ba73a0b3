"""Words of the document tinted by the side they speak for: for the contrast of two candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from curator.domain.documents import Span
from curator.ui.document.document_layout import Block, DocumentLayout
from curator.ui.kit.theme import Theme


@dataclass(frozen=True, slots=True)
class Tint:
    """A word in the colour of side 0 or 1; `words` say on hover why."""

    span: Span
    side: int
    words: str

    @property
    def tooltip(self) -> str:
        """Rich text, so that a long sentence is broken into lines."""
        return f"<qt>{escape(self.words)}</qt>"


def tint_at(tints: Sequence[Tint], offset: int) -> Tint | None:
    """The tint over a code point."""
    return next((one for one in tints if one.span.start <= offset < one.span.end), None)


def paint_tints(
    painter: QPainter, layout: DocumentLayout, block: Block, tints: Sequence[Tint], *, theme: Theme
) -> None:
    """Under the text of one block: a ground with a line beneath, thick for the first side and double for the second,
    so that the colours need not be told apart."""
    for tint in tints:
        if not (block.start <= tint.span.start and tint.span.end <= block.end):
            continue
        colours = theme.sides[tint.side]
        for piece in layout.pieces(tint.span):
            bottom = piece.baseline + 4.0
            top = piece.rect.top() + 2.0
            painter.fillRect(QRectF(piece.rect.left() - 1, top, piece.rect.width() + 2, bottom - top), colours.tint)
            painter.setPen(QPen(colours.line, 2.0 if tint.side == 0 else 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for y in (bottom,) if tint.side == 0 else (bottom - 1.5, bottom + 1.5):
                painter.drawLine(QLineF(piece.rect.left(), y, piece.rect.right(), y))

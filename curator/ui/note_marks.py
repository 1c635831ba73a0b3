"""Small marks for what is flagged and commented, in rows and in the text."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from curator.ui.theme import Theme

FLAG, BUBBLE, GAP = 0.6, 1.1, 4.0
"""Widths of the marks in heights, and pixels behind each."""


def flag_colour(theme: Theme) -> QColor:
    return theme.note_ink


def draw_flag(painter: QPainter, foot: QPointF, height: float, theme: Theme) -> None:
    """A pennant on a staff whose foot stands at the point."""
    colour = flag_colour(theme)
    top = QPointF(foot.x(), foot.y() - height)
    painter.setPen(QPen(colour, 1.3))
    painter.drawLine(foot, top)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    half = height * 0.3
    painter.drawPolygon(QPolygonF([top, top + QPointF(height * FLAG, half), top + QPointF(0, 2 * half)]))


def draw_bubble(painter: QPainter, foot: QPointF, height: float, theme: Theme) -> None:
    """A speech bubble above the point."""
    colour = theme.accent
    box = QRectF(foot.x(), foot.y() - height, height * BUBBLE, height * 0.72)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(box, height * 0.22, height * 0.22)
    tail = [
        QPointF(box.left() + height * 0.22, box.bottom() - 1),
        QPointF(box.left() + height * 0.55, box.bottom() - 1),
        foot + QPointF(height * 0.17, 0),
    ]
    painter.drawPolygon(QPolygonF(tail))


def notes_width(height: float, *, flagged: bool, commented: bool) -> float:
    """What `draw_notes` takes."""
    return (height * FLAG + GAP if flagged else 0.0) + (height * BUBBLE + GAP if commented else 0.0)


def draw_notes(
    painter: QPainter, foot: QPointF, height: float, theme: Theme, *, flagged: bool, commented: bool
) -> None:
    """The marks that apply, side by side from the point on."""
    if flagged:
        draw_flag(painter, foot, height, theme)
    if commented:
        draw_bubble(painter, foot + QPointF(notes_width(height, flagged=flagged, commented=False), 0), height, theme)

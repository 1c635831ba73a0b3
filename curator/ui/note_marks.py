"""Small marks for what is flagged and commented, in rows and in the text."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from curator.ui.theme import Theme

WIDTH = 9.0
"""Of one mark, in pixels at the usual size."""


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
    painter.drawPolygon(QPolygonF([top, top + QPointF(height * 0.6, half), top + QPointF(0, 2 * half)]))


def draw_bubble(painter: QPainter, foot: QPointF, height: float, theme: Theme) -> None:
    """A speech bubble above the point."""
    colour = theme.accent
    box = QRectF(foot.x(), foot.y() - height, height * 1.1, height * 0.72)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(box, 2.0, 2.0)
    tail = [
        QPointF(box.left() + 2, box.bottom() - 1),
        QPointF(box.left() + 5, box.bottom() - 1),
        foot + QPointF(1.5, 0),
    ]
    painter.drawPolygon(QPolygonF(tail))


def draw_notes(
    painter: QPainter, foot: QPointF, height: float, theme: Theme, *, flagged: bool, commented: bool
) -> float:
    """The marks that apply, side by side from the point on; returns their width."""
    width = 0.0
    if flagged:
        draw_flag(painter, foot, height, theme)
        width += height * 0.6 + 4
    if commented:
        draw_bubble(painter, foot + QPointF(width, 0), height, theme)
        width += height * 1.1 + 4
    return width

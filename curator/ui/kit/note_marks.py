"""Small marks for flags and comments, in rows and in the text."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPolygonF

from curator.ui.kit.theme import Theme

FLAG, BUBBLE, GAP = 0.6, 1.1, 4.0
"""Widths of the marks in heights, and pixels behind each."""


def flag_colour(theme: Theme) -> QColor:
    return theme.note_ink


def _flag(foot: QPointF, height: float) -> QPainterPath:
    """A pennant on a staff whose foot is at the point."""
    top, half = foot - QPointF(0, height), height * 0.3
    path = QPainterPath()
    path.addRect(QRectF(top, QSizeF(max(height * 0.13, 1.2), height)))
    path.addPolygon(QPolygonF([top, top + QPointF(height * FLAG, half), top + QPointF(0, 2 * half), top]))
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def _bubble(foot: QPointF, height: float) -> QPainterPath:
    """A speech bubble above the point."""
    box = QRectF(foot.x(), foot.y() - height, height * BUBBLE, height * 0.72)
    path = QPainterPath()
    path.addRoundedRect(box, height * 0.22, height * 0.22)
    tail = [box.bottomLeft() + QPointF(height * share, -1) for share in (0.22, 0.55)]
    path.addPolygon(QPolygonF([*tail, foot + QPointF(height * 0.17, 0), tail[0]]))
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def notes_width(height: float, *, flagged: bool, commented: bool) -> float:
    """What `draw_notes` takes."""
    return (height * FLAG + GAP if flagged else 0.0) + (height * BUBBLE + GAP if commented else 0.0)


def draw_notes(
    painter: QPainter,
    foot: QPointF,
    height: float,
    theme: Theme,
    *,
    flagged: bool,
    commented: bool,
) -> None:
    """The marks that apply, side by side from the point on."""
    place = QPointF(foot)
    shapes = []
    if flagged:
        shapes.append((_flag(place, height), flag_colour(theme)))
        place += QPointF(notes_width(height, flagged=True, commented=False), 0)
    if commented:
        shapes.append((_bubble(place, height), theme.accent))
    for path, colour in shapes:
        painter.fillPath(path, colour)

"""Small marks for flags, comments and attributes, in rows and in the text."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPolygonF

from curator.ui.kit.theme import Theme

FLAG, BUBBLE, TAG, GAP = 0.6, 1.1, 1.15, 4.0
"""Widths of the marks relative to their height, and pixels after each."""


def flag_colour(theme: Theme) -> QColor:
    return theme.note_ink


def _flag(foot: QPointF, height: float) -> QPainterPath:
    """Path of a flag whose pole ends at the point."""
    top, half = foot - QPointF(0, height), height * 0.3
    path = QPainterPath()
    path.addRect(QRectF(top, QSizeF(max(height * 0.13, 1.2), height)))
    path.addPolygon(QPolygonF([top, top + QPointF(height * FLAG, half), top + QPointF(0, 2 * half), top]))
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def _bubble(foot: QPointF, height: float) -> QPainterPath:
    """Path of a speech bubble above the point."""
    box = QRectF(foot.x(), foot.y() - height, height * BUBBLE, height * 0.72)
    path = QPainterPath()
    path.addRoundedRect(box, height * 0.22, height * 0.22)
    tail = [box.bottomLeft() + QPointF(height * share, -1) for share in (0.22, 0.55)]
    path.addPolygon(QPolygonF([*tail, foot + QPointF(height * 0.17, 0), tail[0]]))
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def _tag(foot: QPointF, height: float) -> QPainterPath:
    """Path of a tag with a hole, pointing left, above the point."""
    top, middle, right = foot.y() - height * 0.85, foot.y() - height * 0.42, foot.x() + height * TAG
    corner = foot.x() + height * 0.42
    path = QPainterPath()
    ends = [QPointF(foot.x(), middle), QPointF(corner, top), QPointF(right, top), QPointF(right, foot.y())]
    path.addPolygon(QPolygonF([*ends, QPointF(corner, foot.y()), ends[0]]))
    path.addEllipse(QPointF(corner, middle), height * 0.13, height * 0.13)
    path.setFillRule(Qt.FillRule.OddEvenFill)
    return path


def notes_width(height: float, *, flagged: bool, commented: bool, attributed: bool = False) -> float:
    """The width used by `draw_notes`."""
    marks = ((flagged, FLAG), (commented, BUBBLE), (attributed, TAG))
    return sum(height * width + GAP for there, width in marks if there)


def draw_notes(
    painter: QPainter,
    foot: QPointF,
    height: float,
    theme: Theme,
    *,
    flagged: bool,
    commented: bool,
    attributed: bool = False,
) -> None:
    """Draw the marks that apply, side by side to the right of the point."""
    place = QPointF(foot)
    shapes = []
    if flagged:
        shapes.append((_flag(place, height), flag_colour(theme)))
        place += QPointF(notes_width(height, flagged=True, commented=False), 0)
    if commented:
        shapes.append((_bubble(place, height), theme.accent))
        place += QPointF(notes_width(height, flagged=False, commented=True), 0)
    if attributed:
        shapes.append((_tag(place, height), theme.accent))
    for path, colour in shapes:
        painter.fillPath(path, colour)

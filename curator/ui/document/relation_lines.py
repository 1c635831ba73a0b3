"""Lines between related mentions, over the text: geometry and painting.

A line is an arc above the letters of one line of text, and a curve from line to line; its arrow shows the direction.
Geometry and pictures are made once for a layout, so that a key draws none of them again.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPalette, QPen, QPixmap, QPolygonF

from curator.ui.document.document_layout import LinePiece
from curator.ui.document.mention_marks import Marks
from curator.ui.kit.theme import Theme

THIN, THICK = 1.0, 1.8
ARROW = 5.0
"""Pixels of an arrow's head."""
RISE, LEAST_RISE = 0.42, 7.0
"""The height of an arc above the letters, in lines; and its least pixels."""
FAINT = 120
"""Opacity, of 255, of lines without the framed mention."""
MARGIN = 8.0
STRIP = 480
"""Pixels of the column's height in one picture, a whole number of the screen's pixels at every usual scale."""
KEPT_STRIPS = 8
PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9)
"""Where a label may be on its line, the best place first."""
Inked = Callable[[QRectF], bool]
"""Whether an area of the column has letters."""


@dataclass(frozen=True, slots=True)
class RelationPair:
    """From one mention to another; dashed if it is between their entities."""

    first: int
    second: int
    label: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class RelationLine:
    """A pair with its path in the document's pixels, the arrow at its end, and everything needed for painting."""

    pair: RelationPair
    path: QPainterPath
    head: QPolygonF
    bounds: QRectF


def relation_lines(pairs: Sequence[RelationPair], marks: Marks) -> tuple[RelationLine, ...]:
    """One for each pair whose mentions are in the text."""
    found = []
    for pair in pairs:
        first, second = marks.get(pair.first), marks.get(pair.second)
        if first is not None and second is not None and first.pieces and second.pieces:
            found.append(_line(pair, first.pieces[0], second.pieces[0]))
    return tuple(found)


def _line(pair: RelationPair, first: LinePiece, second: LinePiece) -> RelationLine:
    start, end = _top(first), _top(second)
    height = first.rect.height()
    rise = max(RISE * height, LEAST_RISE)
    if (first.block, first.line) == (second.block, second.line):
        lift = QPointF(0, -rise)
        a, b = start + lift, end + lift
    else:
        down = 1.0 if end.y() > start.y() else -1.0
        bend = max(min(abs(end.y() - start.y()) * 0.4, 3 * height), rise)
        a = start + QPointF(0, -rise) if down > 0 else start + QPointF(0, -bend)
        b = end + QPointF(0, -bend) if down > 0 else end + QPointF(0, -rise)
    path = QPainterPath(start)
    path.cubicTo(a, b, end)
    angle = math.atan2(end.y() - b.y(), end.x() - b.x())
    head = QPolygonF(
        [end, *(end - QPointF(math.cos(angle + turn), math.sin(angle + turn)) * ARROW for turn in (0.45, -0.45))]
    )
    bounds = path.boundingRect().adjusted(-MARGIN, -MARGIN - height * 0.6, MARGIN, MARGIN)
    return RelationLine(pair, path, head, bounds)


def _top(piece: LinePiece) -> QPointF:
    """The point above the middle of the letters."""
    return QPointF(piece.rect.center().x(), piece.baseline - (piece.baseline - piece.rect.top()) * 0.72 - 2.0)


class RelationLayers:
    """The lines of a document, drawn once on strips of its column: drawing 500 of them takes longer than a key may.

    One layer has all lines, faint. The other has those of the lit mention, in full colour and with their types. Which
    mention is lit changes shortly after the framed one, so that a key paints the mention first.
    """

    def __init__(self, pairs: Sequence[RelationPair], marks: Marks, inked: Inked) -> None:
        self._inked = inked
        self.lines = relation_lines(pairs, marks)
        self._of: dict[int, list[RelationLine]] = {}
        for one in self.lines:
            for mention_id in {one.pair.first, one.pair.second}:
                self._of.setdefault(mention_id, []).append(one)
        bounds = QRectF()
        for one in self.lines:
            bounds = bounds.united(one.bounds)
        self._left, self._width = math.floor(bounds.left()), math.ceil(bounds.width()) + 2
        self._lit: int | None = None
        self._look: tuple[object, ...] = ()
        self._faint: OrderedDict[int, QPixmap] = OrderedDict()
        self._bright: OrderedDict[int, QPixmap] = OrderedDict()

    def light(self, mention_id: int | None) -> list[QRectF]:
        """Show the lines of this mention in full colour; returns the area to repaint, in the column."""
        if mention_id == self._lit:
            return []
        changed = [one.bounds for id_ in (self._lit, mention_id) for one in self._of.get(id_ or 0, ())]
        self._lit = mention_id
        self._bright.clear()
        return changed

    def paint(self, painter: QPainter, band: QRectF, theme: Theme, font: QFont) -> None:
        """Paint the lines in `band` (pixels of the column)."""
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        look = (ratio, theme.muted.rgba(), theme.accent.rgba(), theme.palette.cacheKey(), font.key())
        if look != self._look:
            self._look = look
            self._faint.clear()
            self._bright.clear()
        ink = QColor(theme.muted)
        ink.setAlpha(FAINT)
        own = self._of.get(self._lit or 0, ())
        for strip in range(math.floor(band.top() / STRIP), math.floor(band.bottom() / STRIP) + 1):
            place = QPointF(self._left, strip * STRIP)
            area = QRectF(place.x(), place.y(), self._width, STRIP)
            if strip not in self._faint:
                near = [one for one in self.lines if one.bounds.intersects(area)]
                self._keep(self._faint, strip, [partial(_paint, one=one, ink=ink, width=THIN) for one in near], ratio)
            painter.drawPixmap(place, self._faint[strip])
            if own and strip not in self._bright:
                near = [one for one in own if one.bounds.intersects(area)]
                lines = [partial(_paint, one=one, ink=theme.accent, width=THICK) for one in near]
                labels = [partial(self._paint_label, one=one, theme=theme, font=font) for one in near]
                self._keep(self._bright, strip, [*lines, *labels], ratio)
            if own:
                painter.drawPixmap(place, self._bright[strip])

    def _keep(
        self, layer: OrderedDict[int, QPixmap], strip: int, drawn: Sequence[Callable[[QPainter], None]], ratio: float
    ) -> None:
        picture = QPixmap(math.ceil(self._width * ratio), math.ceil(STRIP * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self._left, -strip * STRIP)
        for draw in drawn:
            draw(painter)
        painter.end()
        layer[strip] = picture
        while len(layer) > KEPT_STRIPS:
            layer.popitem(last=False)

    def _paint_label(self, painter: QPainter, one: RelationLine, theme: Theme, font: QFont) -> None:
        """Paint the type on its own background."""
        font = QFont(font)
        font.setCapitalization(QFont.Capitalization.MixedCase)  # the case of a type is significant
        font.setWeight(QFont.Weight.Normal)
        box = label_box(one, QFontMetricsF(font).size(0, one.pair.label), self._inked)
        painter.setPen(QPen(theme.accent, 0.8))
        painter.setBrush(theme.palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(box, 3.0, 3.0)
        painter.setFont(font)
        painter.setPen(theme.palette.color(QPalette.ColorRole.Text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, one.pair.label)


def label_box(one: RelationLine, size: QSizeF, inked: Inked) -> QRectF:
    """The place of a label of this size on or just above its line where it covers no letters; over the middle of the
    line if there is none."""
    boxes = []
    for place in PLACES:
        at = one.path.pointAtPercent(place)
        for lift in (0.5, 1.0):
            left, top = at.x() - size.width() / 2 - 3, at.y() - size.height() * lift
            boxes.append(QRectF(left, top, size.width() + 6, size.height()))
    return next((box for box in boxes if one.bounds.contains(box) and not inked(box)), boxes[0])


def _paint(painter: QPainter, one: RelationLine, ink: QColor, width: float) -> None:
    pen = QPen(ink, width)
    if one.pair.dashed:
        pen.setDashPattern([4.0, 3.0])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(one.path)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawPolygon(one.head)

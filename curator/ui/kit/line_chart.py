"""Line charts without a plotting library: the base of all line plots, and a chart of growing curves.

The chart has axis, grid, legend, running mean, and the values under the mouse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.wording import localised, tr
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import scaled
from curator.ui.kit.theme import Theme, theme_of

SMOOTH = 0.9
"""Weight of the past in the running mean that is drawn over the raw figures."""
MOST = 2000
"""The most points drawn of a curve; more would be indistinguishable."""
FEW = 12
"""Up to this number of points, each has a mark."""
PAD = 10.0
GAP = 6.0
"""Pixels between an axis and its labels."""
Points = Sequence[tuple[float, float]]


class Tone(IntEnum):
    """Colours that are distinguishable for colour-blind people; the second line of a chart is also dashed."""

    FIRST = 0
    SECOND = 1
    THIRD = 2


@dataclass(frozen=True, slots=True)
class Curve:
    """`points` is not copied and may grow; `smooth` draws the running mean over the faint raw figures."""

    name: str
    points: Points
    tone: Tone = Tone.FIRST
    smooth: bool = False


@dataclass(frozen=True, slots=True)
class Axes:
    """The plot area: from `left` to `right`, and from the first to the last of `ticks` upwards."""

    area: QRectF
    left: float
    right: float
    ticks: tuple[float, ...]

    def across(self, x: float) -> float:
        return self.area.left() + (x - self.left) / ((self.right - self.left) or 1.0) * self.area.width()

    def up(self, y: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.area.bottom() - (y - low) / ((high - low) or 1.0) * self.area.height()

    def place(self, x: float, y: float) -> QPointF:
        return QPointF(self.across(x), self.up(y))

    def value_at(self, x: float) -> float:
        """The x value at a pixel."""
        return self.left + (x - self.area.left()) / (self.area.width() or 1.0) * (self.right - self.left)


@dataclass(frozen=True, slots=True)
class Stroke:
    """The style of a line; `marks` is the size of the marks at its points, 0 for none; `number` selects their shape."""

    colour: QColor
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    width: float = 2
    marks: float = 0.0
    number: int = 0


def paint_grid(
    painter: QPainter, axes: Axes, words: Sequence[str], font: QFont, *, gap: float, grid: QColor, ink: QColor
) -> None:
    """Paint a horizontal line at each tick, with its label on the left, `gap` pixels from the axis."""
    height = QFontMetricsF(font).height()
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for tick, label in zip(axes.ticks, words, strict=True):
        y = axes.up(tick)
        painter.setPen(QPen(grid, 1))
        painter.drawLine(QPointF(axes.area.left(), y), QPointF(axes.area.right(), y))
        painter.setPen(ink)
        painter.drawText(QRectF(0, y - height / 2, axes.area.left() - gap, height), int(right), label)


def paint_line(painter: QPainter, points: Sequence[QPointF], stroke: Stroke) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(stroke.colour, stroke.width, stroke.style))
    painter.drawPolyline(QPolygonF(points))
    for point in points if stroke.marks else ():
        paint_mark(painter, point, stroke, stroke.marks)


def paint_mark(painter: QPainter, point: QPointF, stroke: Stroke, size: float) -> None:
    """A circle, square or diamond: lines are distinguishable without colours."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(stroke.colour)
    if stroke.number % 3 == 0:
        painter.drawEllipse(point, size, size)
    elif stroke.number % 3 == 1:
        painter.drawRect(QRectF(point.x() - size, point.y() - size, 2 * size, 2 * size))
    else:
        corners = ((0, -1), (1, 0), (0, 1), (-1, 0))
        painter.drawPolygon(QPolygonF([point + QPointF(1.3 * size * x, 1.3 * size * y) for x, y in corners]))


def paint_cursor(painter: QPainter, axes: Axes, x: float, ink: QColor) -> None:
    """Paint a dotted vertical line at the current x value."""
    painter.setPen(QPen(ink, 1, Qt.PenStyle.DotLine))
    across = axes.across(x)
    painter.drawLine(QPointF(across, axes.area.top()), QPointF(across, axes.area.bottom()))


class LineChart(QWidget):
    """`show_curves` sets the curves; call `grown` after points were added."""

    def __init__(
        self,
        title: str,
        *,
        words: Callable[[float], str],
        tick: Callable[[float], str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`words` formats a value, `tick` a label of the axis."""
        super().__init__(parent)
        self._title, self._words, self._tick = title, words, tick or words
        self._curves: tuple[Curve, ...] = ()
        self._mouse: float | None = None
        self.setAccessibleName(title)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(200, 96)

    def show_curves(self, *curves: Curve) -> None:
        self._curves = curves
        self.grown()

    def grown(self) -> None:
        """Redraw after points were added, and update the accessible text."""
        last = [f"{one.name} {self._words(one.points[-1][1])}" for one in self._curves if one.points]
        self.setAccessibleDescription(", ".join(last) or tr("no figures yet"))
        self.update()

    @property
    def is_empty(self) -> bool:
        return not any(one.points for one in self._curves)

    def sizeHint(self) -> QSize:
        return QSize(320, 150)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mouse = event.position().x()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._mouse = None
        self.update()
        super().leaveEvent(event)

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        drawn = [replace(one, points=thinned(one.points, MOST)) for one in self._curves]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, font = theme_of(self.palette()), scaled(self.font(), 0.85)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(box, 6, 6)
        painter.setFont(font)
        if self.is_empty:
            painter.setPen(theme.muted)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, tr("{title}: no figures yet", title=self._title))
        else:
            axes = self._axes(drawn, box, font)
            self._paint_axes(painter, axes, theme, font)
            for curve in drawn:
                self._paint_curve(painter, curve, axes, theme)
            step = self._nearest(axes)
            if step is not None:
                paint_cursor(painter, axes, step, theme.muted)
            self._paint_head(painter, box, theme, step)
        painter.end()

    def _axes(self, drawn: Sequence[Curve], box: QRectF, font: QFont) -> Axes:
        every = [point for curve in drawn for point in curve.points]
        xs, ys = [x for x, _ in every], [y for _, y in every]
        ticks = nice_ticks(min(ys), max(ys))
        metrics = QFontMetricsF(font)
        labels = max(metrics.horizontalAdvance(self._tick(tick)) for tick in ticks)
        area = box.adjusted(
            PAD + labels + GAP, PAD + metrics.height() + GAP, -PAD - 2, -PAD - metrics.height() - GAP / 2
        )
        return Axes(area, min(xs), max(max(xs), min(xs) + 1), tuple(ticks))

    def _paint_axes(self, painter: QPainter, axes: Axes, theme: Theme, font: QFont) -> None:
        grid = QColor(theme.border)
        grid.setAlphaF(0.7)
        paint_grid(painter, axes, [self._tick(one) for one in axes.ticks], font, gap=GAP, grid=grid, ink=theme.muted)
        height = QFontMetricsF(font).height()
        below = QRectF(axes.area.left(), axes.area.bottom() + GAP / 2, axes.area.width(), height)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, tr("step {step:,.0f}", step=axes.left))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, localised(axes.right, ",.0f"))

    def _paint_curve(self, painter: QPainter, curve: Curve, axes: Axes, theme: Theme) -> None:
        points = list(curve.points)
        colour = tone_colour(theme, curve.tone)
        if curve.smooth and len(points) > 2:
            faint = QColor(colour)
            faint.setAlphaF(0.3)
            paint_line(painter, [axes.place(*one) for one in points], Stroke(faint, width=1))
            points = list(zip((x for x, _ in points), smoothed([y for _, y in points]), strict=True))
        style = Qt.PenStyle.DashLine if curve.tone is Tone.SECOND else Qt.PenStyle.SolidLine
        marks = 3.0 if len(points) <= FEW else 0.0
        paint_line(painter, [axes.place(*one) for one in points], Stroke(colour, style, marks=marks))

    def _nearest(self, axes: Axes) -> float | None:
        """The step under the mouse."""
        if self._mouse is None or not axes.area.left() <= self._mouse <= axes.area.right():
            return None
        wanted = axes.value_at(self._mouse)
        return min((x for curve in self._curves for x, _ in curve.points), key=lambda x: abs(x - wanted))

    def _paint_head(self, painter: QPainter, box: QRectF, theme: Theme, step: float | None) -> None:
        """Paint the newest values, or those under the mouse, at the right, and the title in the remaining space at the
        left."""
        line = QRectF(box.left() + PAD, box.top() + PAD - 3, box.width() - 2 * PAD, painter.fontMetrics().height())
        right = line.right()
        for curve in reversed(self._curves):
            value = _value_at(curve.points, step)
            if value is None:
                continue
            words = f"{curve.name} {self._words(value)}" if len(self._curves) > 1 else self._words(value)
            painter.setPen(_ink(theme, curve.tone))
            painter.drawText(QRectF(line.left(), line.top(), right - line.left(), line.height()), _RIGHT, words)
            right -= painter.fontMetrics().horizontalAdvance(words) + 14
        if step is not None:
            painter.setPen(theme.muted)
            words = tr("step {step:,.0f}", step=step)
            painter.drawText(QRectF(line.left(), line.top(), right - line.left(), line.height()), _RIGHT, words)
            right -= painter.fontMetrics().horizontalAdvance(words) + 14
        room = max(int(right - line.left()), 0)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        title = painter.fontMetrics().elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, title)


_RIGHT = Qt.AlignmentFlag.AlignRight


def smoothed(values: Sequence[float], *, weight: float = SMOOTH) -> list[float]:
    """Exponential running mean with bias correction (Kingma and Ba 2015, section 3)."""
    result, mean = [], 0.0
    for count, value in enumerate(values, start=1):
        mean = weight * mean + (1 - weight) * value
        result.append(mean / (1 - weight**count))
    return result


def nice_ticks(low: float, high: float, *, about: int = 3) -> list[float]:
    """A few round numbers that span the range."""
    span = high - low
    if span <= 0 or not math.isfinite(span):
        return [low]
    raw = span / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude >= raw * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def thinned(points: Points, limit: int) -> list[tuple[float, float]]:
    """At most about `limit` of the points, always including the last."""
    stride = max(1, len(points) // max(limit, 2))
    kept = list(points[::stride])
    return kept if not points or kept[-1] == points[-1] else [*kept, points[-1]]


def tone_colour(theme: Theme, tone: Tone) -> QColor:
    states = {Tone.SECOND: MentionState.LINKED, Tone.THIRD: MentionState.NIL}
    return theme.accent if tone is Tone.FIRST else theme.states[states[tone]].line


def _ink(theme: Theme, tone: Tone) -> QColor:
    states = {Tone.SECOND: MentionState.LINKED, Tone.THIRD: MentionState.NIL}
    return theme.accent if tone is Tone.FIRST else theme.states[states[tone]].ink


def _value_at(points: Points, step: float | None) -> float | None:
    """The newest value, or the last one up to `step`."""
    if not points:
        return None
    if step is None:
        return points[-1][1]
    return next((y for x, y in reversed(points) if x <= step), points[0][1])

"""Curves over steps, painted by hand: axis, grid, legend, running mean, and the values under the mouse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.wording import tr
from curator.ui.mention_state import MentionState
from curator.ui.row_painting import scaled
from curator.ui.theme import Theme, theme_of

SMOOTH = 0.9
"""Weight of the past in the running mean that is drawn over the raw figures."""
MOST = 2000
"""Points of a curve that are drawn; more of them cannot be told apart."""
PAD = 10.0
GAP = 6.0
Points = Sequence[tuple[float, float]]


class Tone(IntEnum):
    """Colours that are told apart by colour-blind eyes; the second line of a chart is dashed, too."""

    FIRST = 0
    SECOND = 1
    THIRD = 2


@dataclass(frozen=True, slots=True)
class Curve:
    """`points` is kept as it is and may grow; `smooth` draws the running mean over the faint raw figures."""

    name: str
    points: Points
    tone: Tone = Tone.FIRST
    smooth: bool = False


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where data is drawn, and the data's ranges."""

    area: QRectF
    left: float
    right: float
    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, x: float, y: float) -> QPointF:
        across = (x - self.left) / ((self.right - self.left) or 1.0)
        up = (y - self.low) / ((self.high - self.low) or 1.0)
        return QPointF(self.area.left() + across * self.area.width(), self.area.bottom() - up * self.area.height())

    def step_at(self, x: float) -> float:
        return self.left + (x - self.area.left()) / (self.area.width() or 1.0) * (self.right - self.left)


class LineChart(QWidget):
    """`show_curves` takes what is drawn; call `update` when the points have grown."""

    def __init__(
        self,
        title: str,
        *,
        words: Callable[[float], str],
        tick: Callable[[float], str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`words` writes a value, `tick` one at the axis."""
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
        """The points have grown: say and draw it."""
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
            frame = self._frame(drawn, box, font)
            self._paint_axes(painter, frame, theme, font)
            for curve in drawn:
                self._paint_curve(painter, curve, frame, theme)
            step = self._nearest(frame)
            if step is not None:
                across = frame.place(step, frame.low).x()
                painter.setPen(QPen(theme.muted, 1, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(across, frame.area.top()), QPointF(across, frame.area.bottom()))
            self._paint_head(painter, box, theme, step)
        painter.end()

    def _frame(self, drawn: Sequence[Curve], box: QRectF, font: QFont) -> _Frame:
        every = [point for curve in drawn for point in curve.points]
        xs, ys = [x for x, _ in every], [y for _, y in every]
        ticks = nice_ticks(min(ys), max(ys))
        metrics = QFontMetricsF(font)
        labels = max(metrics.horizontalAdvance(self._tick(tick)) for tick in ticks)
        area = box.adjusted(
            PAD + labels + GAP, PAD + metrics.height() + GAP, -PAD - 2, -PAD - metrics.height() - GAP / 2
        )
        return _Frame(area, min(xs), max(max(xs), min(xs) + 1), ticks[0], ticks[-1], tuple(ticks))

    def _paint_axes(self, painter: QPainter, frame: _Frame, theme: Theme, font: QFont) -> None:
        height = QFontMetricsF(font).height()
        grid = QColor(theme.border)
        grid.setAlphaF(0.7)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for tick in frame.ticks:
            y = frame.place(frame.left, tick).y()
            painter.setPen(QPen(grid, 1))
            painter.drawLine(QPointF(frame.area.left(), y), QPointF(frame.area.right(), y))
            painter.setPen(theme.muted)
            painter.drawText(QRectF(0, y - height / 2, frame.area.left() - GAP, height), right, self._tick(tick))
        below = QRectF(frame.area.left(), frame.area.bottom() + GAP / 2, frame.area.width(), height)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, tr("step {step:,.0f}", step=frame.left))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, f"{frame.right:,.0f}")

    def _paint_curve(self, painter: QPainter, curve: Curve, frame: _Frame, theme: Theme) -> None:
        points = list(curve.points)
        colour = tone_colour(theme, curve.tone)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if curve.smooth and len(points) > 2:
            faint = QColor(colour)
            faint.setAlphaF(0.3)
            painter.setPen(QPen(faint, 1))
            painter.drawPolyline(_polygon(points, frame))
            points = list(zip((x for x, _ in points), smoothed([y for _, y in points]), strict=True))
        style = Qt.PenStyle.DashLine if curve.tone is Tone.SECOND else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 2, style))
        painter.drawPolyline(_polygon(points, frame))
        if len(points) <= 12:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            for x, y in points:
                painter.drawEllipse(frame.place(x, y), 3, 3)

    def _nearest(self, frame: _Frame) -> float | None:
        """The step under the mouse."""
        if self._mouse is None or not frame.area.left() <= self._mouse <= frame.area.right():
            return None
        wanted = frame.step_at(self._mouse)
        return min((x for curve in self._curves for x, _ in curve.points), key=lambda x: abs(x - wanted))

    def _paint_head(self, painter: QPainter, box: QRectF, theme: Theme, step: float | None) -> None:
        """The title at the left; at the right the newest values, or those under the mouse."""
        line = QRectF(box.left() + PAD, box.top() + PAD - 3, box.width() - 2 * PAD, painter.fontMetrics().height())
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, self._title)
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


_RIGHT = Qt.AlignmentFlag.AlignRight


def smoothed(values: Sequence[float], *, weight: float = SMOOTH) -> list[float]:
    """Exponential running mean that begins unbiased (Kingma and Ba 2015, section 3)."""
    result, mean = [], 0.0
    for count, value in enumerate(values, start=1):
        mean = weight * mean + (1 - weight) * value
        result.append(mean / (1 - weight**count))
    return result


def nice_ticks(low: float, high: float, *, about: int = 3) -> list[float]:
    """Round numbers that span the range, a few of them."""
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
    """At most about `limit` of the points, the last one always among them."""
    stride = max(1, len(points) // max(limit, 2))
    kept = list(points[::stride])
    return kept if not points or kept[-1] == points[-1] else [*kept, points[-1]]


def tone_colour(theme: Theme, tone: Tone) -> QColor:
    states = {Tone.SECOND: MentionState.LINKED, Tone.THIRD: MentionState.NIL}
    return theme.accent if tone is Tone.FIRST else theme.states[states[tone]].line


def _ink(theme: Theme, tone: Tone) -> QColor:
    states = {Tone.SECOND: MentionState.LINKED, Tone.THIRD: MentionState.NIL}
    return theme.accent if tone is Tone.FIRST else theme.states[states[tone]].ink


def _polygon(points: Points, frame: _Frame) -> QPolygonF:
    return QPolygonF([frame.place(x, y) for x, y in points])


def _value_at(points: Points, step: float | None) -> float | None:
    """The newest value, or the last one not behind `step`."""
    if not points:
        return None
    if step is None:
        return points[-1][1]
    return next((y for x, y in reversed(points) if x <= step), points[0][1])

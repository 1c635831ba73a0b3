"""Draws a plot of `domain.plots` into a rectangle, on the screen and in SVG alike: lines over days, bars across."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from curator.domain.plots import Plot, Series, Shape, Unit
from curator.domain.wording import tr
from curator.ui.line_chart import nice_ticks
from curator.ui.plot_bars import bar_at, paint_bars
from curator.ui.plot_colours import Canvas, Ink, ink_of

PAD, GAP = 4.0, 8.0
MARKED = 60
"""Up to so many places each value has a mark."""
DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)


def paint_plot(canvas: Canvas, plot: Plot) -> None:
    """The plot without its title, in `canvas.box`."""
    canvas.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    canvas.painter.setFont(canvas.font)
    if plot.shape is Shape.BARS:
        paint_bars(canvas, plot)
    else:
        _paint_lines(canvas, plot)


def height_of(plot: Plot, font: QFont) -> float:
    """Pixels that the plot wants."""
    line = QFontMetricsF(font).height()
    if plot.shape is Shape.BARS:
        legend = 1.4 if len(plot.series) > 1 else 0.2
        return line * (legend + min(len(plot.places), 12) * (0.55 + 0.85 * len(plot.series)) + 0.6)
    return line * 12


def place_at(plot: Plot, canvas: Canvas, point: QPointF) -> int | None:
    """The place under a point."""
    if not plot.places:
        return None
    if plot.shape is Shape.BARS:
        return bar_at(canvas, plot, point)
    area = _frame(canvas, plot).area
    if not area.adjusted(-GAP, -GAP, GAP, GAP).contains(point):
        return None
    return min(range(len(plot.places)), key=lambda at: abs(_across(plot, area, at) - point.x()))


# --- lines ---


@dataclass(frozen=True, slots=True)
class _Frame:
    area: QRectF
    ticks: tuple[float, ...]

    def up(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.area.bottom() - (value - low) / ((high - low) or 1.0) * self.area.height()


def _frame(canvas: Canvas, plot: Plot) -> _Frame:
    ticks = _ticks(plot)
    metrics = canvas.metrics()
    left = max(metrics.horizontalAdvance(plot.unit.tick(one)) for one in ticks)
    area = canvas.box.adjusted(
        PAD + left + GAP, PAD + metrics.height() * 1.3 + GAP, -PAD - GAP, -PAD - metrics.height() - GAP / 2
    )
    return _Frame(area, ticks)


def _ticks(plot: Plot) -> tuple[float, ...]:
    """From zero, but for shares that lie in a narrow band."""
    values = [one for series in plot.series for one in (*series.values, *series.low, *series.high) if one is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if plot.unit is not Unit.SHARE or low < 0.5:
        low = min(low, 0.0)
    if plot.unit is Unit.SHARE:
        high = min(high * 1.02, 1.0)
    found = nice_ticks(low, high if high > low else low + 1.0, about=4)
    kept = [one for one in found if plot.unit is not Unit.SHARE or -1e-9 <= one <= 1 + 1e-9]
    return tuple(kept if len(kept) > 1 else found)


def _across(plot: Plot, area: QRectF, at: int) -> float:
    if len(plot.places) < 2:
        return area.center().x()
    if not plot.timed:
        return area.left() + at / (len(plot.places) - 1) * area.width()
    first, day, last = (date.fromisoformat(plot.places[one]).toordinal() for one in (0, at, -1))
    return area.left() + (day - first) / (last - first) * area.width()


def _paint_lines(canvas: Canvas, plot: Plot) -> None:
    frame = _frame(canvas, plot)
    _paint_grid(canvas, plot, frame)
    for number, series in enumerate(plot.series):
        _paint_band(canvas, plot, frame, series, ink_of(canvas.theme, series.role, number))
    for number, series in enumerate(plot.series):
        _paint_series(canvas, plot, frame, series, number)
    if canvas.cursor is not None:
        x = _across(plot, frame.area, canvas.cursor)
        canvas.painter.setPen(QPen(canvas.theme.muted, 1, Qt.PenStyle.DotLine))
        canvas.painter.drawLine(QPointF(x, frame.area.top()), QPointF(x, frame.area.bottom()))
    paint_legend(canvas, plot)


def _paint_grid(canvas: Canvas, plot: Plot, frame: _Frame) -> None:
    painter, height = canvas.painter, canvas.metrics().height()
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    for tick in frame.ticks:
        y = frame.up(tick)
        painter.setPen(QPen(canvas.theme.border, 1))
        painter.drawLine(QPointF(frame.area.left(), y), QPointF(frame.area.right(), y))
        painter.setPen(canvas.theme.muted)
        label = QRectF(canvas.box.left(), y - height / 2, frame.area.left() - GAP - canvas.box.left(), height)
        painter.drawText(label, int(right), plot.unit.tick(tick))
    _paint_days(canvas, plot, frame.area)


def _paint_days(canvas: Canvas, plot: Plot, area: QRectF) -> None:
    """The first and the last day, and one between where there is room."""
    metrics = canvas.metrics()
    height, width = metrics.height(), area.width() + 2 * GAP
    wanted = sorted(
        {0, len(plot.places) // 2, len(plot.places) - 1} if len(plot.places) > 4 else {0, len(plot.places) - 1}
    )
    taken = -1.0
    for at in wanted:
        words = place_words(plot, at)
        half = metrics.horizontalAdvance(words) / 2
        x = min(max(_across(plot, area, at), area.left() + half - GAP), area.left() + width - half - GAP)
        if x - half < taken:
            continue
        taken = x + half + GAP
        canvas.painter.setPen(canvas.theme.muted)
        rect = QRectF(x - half, area.bottom() + GAP / 2, 2 * half + 1, height)
        canvas.painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), words)


def _paint_band(canvas: Canvas, plot: Plot, frame: _Frame, series: Series, ink: Ink) -> None:
    """The interval around a line."""
    pairs = [
        (_across(plot, frame.area, at), low, high)
        for at, (low, high) in enumerate(zip(series.low, series.high, strict=True))
        if low is not None and high is not None
    ]
    canvas.painter.setPen(Qt.PenStyle.NoPen)
    canvas.painter.setBrush(ink.tint)
    ticks = frame.ticks

    def clamp(value: float) -> float:
        return frame.up(min(max(value, ticks[0]), ticks[-1]))

    if len(pairs) == 1:
        x, low, high = pairs[0]
        canvas.painter.drawRect(QRectF(x - 5, clamp(high), 10, clamp(low) - clamp(high)))
    elif pairs:
        top = [QPointF(x, clamp(high)) for x, _, high in pairs]
        bottom = [QPointF(x, clamp(low)) for x, low, _ in reversed(pairs)]
        canvas.painter.drawPolygon(QPolygonF([*top, *bottom]))


def _paint_series(canvas: Canvas, plot: Plot, frame: _Frame, series: Series, number: int) -> None:
    ink = ink_of(canvas.theme, series.role, number)
    points = [
        (at, QPointF(_across(plot, frame.area, at), frame.up(value)))
        for at, value in enumerate(series.values)
        if value is not None
    ]
    painter = canvas.painter
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(ink.line, 2, DASHES[number % len(DASHES)]))
    painter.drawPolyline(QPolygonF([point for _, point in points]))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.line)
    for at, point in points:
        if len(points) <= MARKED or at == canvas.cursor:
            paint_mark(painter, point, number, 4.5 if at == canvas.cursor else 3.0)


def paint_mark(painter: QPainter, point: QPointF, number: int, size: float) -> None:
    """A circle, square or diamond: lines are told apart without colours, too."""
    if number % 3 == 0:
        painter.drawEllipse(point, size, size)
    elif number % 3 == 1:
        painter.drawRect(QRectF(point.x() - size, point.y() - size, 2 * size, 2 * size))
    else:
        corners = ((0, -1), (1, 0), (0, 1), (-1, 0))
        painter.drawPolygon(QPolygonF([point + QPointF(1.3 * size * x, 1.3 * size * y) for x, y in corners]))


def paint_legend(canvas: Canvas, plot: Plot) -> None:
    """At the top: what each line is, and its value at the cursor or its last one."""
    painter, metrics = canvas.painter, canvas.metrics()
    place = QPointF(canvas.box.left() + PAD, canvas.box.top() + PAD)
    if canvas.cursor is not None:
        words = f"{place_words(plot, canvas.cursor)}:"
        painter.setPen(canvas.text)
        painter.drawText(QPointF(place.x(), place.y() + metrics.ascent()), words)
        place.setX(place.x() + metrics.horizontalAdvance(words) + GAP)
    for number, series in enumerate(plot.series):
        ink = ink_of(canvas.theme, series.role, number)
        value = series.values[canvas.cursor] if canvas.cursor is not None else series.last
        words = f"{series.name} {plot.unit.words(value)}"
        room = canvas.box.right() - PAD - place.x() - 26
        if room < 30:
            return
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        middle = place.y() + metrics.height() / 2
        painter.setPen(QPen(ink.line, 2, DASHES[number % len(DASHES)]))
        painter.drawLine(QPointF(place.x(), middle), QPointF(place.x() + 20, middle))
        painter.setPen(canvas.text)
        painter.drawText(QPointF(place.x() + 26, place.y() + metrics.ascent()), words)
        place.setX(place.x() + 26 + metrics.horizontalAdvance(words) + 2 * GAP)


def place_words(plot: Plot, at: int) -> str:
    """A day as people write it, or the place's name."""
    if not plot.timed:
        return plot.places[at]
    return f"{date.fromisoformat(plot.places[at]):%d %b %Y}".lstrip("0")


def reading(plot: Plot, at: int) -> str:
    """The values at a place in a sentence, as a screen reader says it."""
    parts = []
    for series in plot.series:
        words = f"{series.name} {plot.unit.words(series.values[at])}"
        if series.low and series.low[at] is not None:
            low, high = plot.unit.words(series.low[at]), plot.unit.words(series.high[at])
            words = tr("{words} ({low} to {high})", words=words, low=low, high=high)
        if series.counts:
            words = tr("{words} of {n:,}", words=words, n=series.counts[at])
        parts.append(words)
    return f"{place_words(plot, at)}: {'; '.join(parts)}"

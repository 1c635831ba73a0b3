"""Draws a plot of `domain.plots` into a rectangle, on screen and in SVG: lines over days, horizontal bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen, QPolygonF

from curator.domain.statistics import Plot, Series, Shape, Unit
from curator.domain.wording import localised, tr
from curator.ui.kit.line_chart import Axes, Stroke, nice_ticks, paint_cursor, paint_grid, paint_line, paint_mark
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import Theme, blend

# The area of a plot, and its series' colours: outcomes have the colours of the text, others are easy to distinguish.

ROLES = {
    "link": MentionState.LINKED,
    "nil": MentionState.NIL,
    "rejected": MentionState.REJECTED,
    "skipped": MentionState.SKIPPED,
}
OTHERS = (MentionState.UNDECIDED, MentionState.LINKED, MentionState.NIL, MentionState.SKIPPED)
BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Ink:
    """`line` has a contrast of at least 3:1 on Base, `tint` is a background for marks and bands."""

    line: QColor
    tint: QColor


@dataclass(frozen=True, slots=True)
class Canvas:
    """The area and style of a drawing. `cursor` is the place whose values are shown, None for none."""

    painter: QPainter
    box: QRectF
    font: QFont
    theme: Theme
    cursor: int | None = None

    @property
    def text(self) -> QColor:
        return self.theme.palette.color(QPalette.ColorRole.Text)

    def metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.font)


def ink_of(theme: Theme, role: str, number: int) -> Ink:
    """The colour of the series `number`; the first is the accent."""
    base = theme.palette.color(QPalette.ColorRole.Base)
    if role in ROLES:
        return Ink(theme.states[ROLES[role]].line, theme.states[ROLES[role]].tint)
    if role == BEFORE:
        return Ink(theme.muted, blend(theme.muted, base, 0.25))
    if number == 0 or role:
        return Ink(theme.accent, blend(theme.accent, base, 0.2))
    state = theme.states[OTHERS[(number - 1) % len(OTHERS)]]
    return Ink(state.line, state.tint)


# Horizontal bars, a row for each place: long names fit, and the value is at the bar's end.

BAR_GAP = 8.0
WIDEST = 0.42
"""The greatest share of the width for names."""


def shown_places(plot: Plot, canvas: Canvas) -> range:
    """The places that fit, preferring the last ones, since the newest bundles matter most."""
    room = canvas.box.height() - _top(canvas, plot)
    fit = max(int(room / (_row(canvas, plot) * 0.72)), 1)
    return range(max(len(plot.places) - fit, 0), len(plot.places))


def paint_bars(canvas: Canvas, plot: Plot) -> None:
    shown = shown_places(plot, canvas)
    left, right = _sides(canvas, plot)
    most = max(
        (one for series in plot.series for one in (*series.values, *series.high) if one is not None), default=0.0
    )
    for at, row in _rows(canvas, plot, shown):
        if at == canvas.cursor:
            canvas.painter.setPen(Qt.PenStyle.NoPen)
            canvas.painter.setBrush(canvas.theme.accent_tint)
            canvas.painter.drawRoundedRect(row.adjusted(0, 1, 0, -1), 3, 3)
        _paint_name(
            canvas, plot, at, QRectF(row.left() + BAR_GAP / 2, row.top(), left - row.left() - BAR_GAP, row.height())
        )
        height = row.height() / (len(plot.series) + 0.45)
        for number, series in enumerate(plot.series):
            top = row.top() + height * (number + 0.225)
            _paint_bar(canvas, plot, series, at, QRectF(left, top, right - left, height), number, most)
    if len(plot.series) > 1:
        _paint_legend(canvas, plot)


def bar_at(canvas: Canvas, plot: Plot, point: QPointF) -> int | None:
    return next((at for at, row in _rows(canvas, plot, shown_places(plot, canvas)) if row.contains(point)), None)


def _top(canvas: Canvas, plot: Plot) -> float:
    return canvas.metrics().height() * (1.5 if len(plot.series) > 1 else 0.0)


def _row(canvas: Canvas, plot: Plot) -> float:
    return canvas.metrics().height() * (0.55 + 0.85 * len(plot.series))


def _rows(canvas: Canvas, plot: Plot, shown: range) -> Iterator[tuple[int, QRectF]]:
    top = canvas.box.top() + _top(canvas, plot)
    height = min((canvas.box.bottom() - top) / len(shown), _row(canvas, plot) * 1.3)
    for number, at in enumerate(shown):
        yield at, QRectF(canvas.box.left(), top + number * height, canvas.box.width(), height)


def _sides(canvas: Canvas, plot: Plot) -> tuple[float, float]:
    """The start of the bars, and the end of the longest."""
    metrics = canvas.metrics()
    names = max((metrics.horizontalAdvance(one) for one in plot.places), default=0.0)
    values = (plot.unit.words(one) for series in plot.series for one in series.values)
    words = max((metrics.horizontalAdvance(one) for one in values), default=0.0)
    left = canvas.box.left() + min(names, canvas.box.width() * WIDEST) + 2 * BAR_GAP
    return left, max(canvas.box.right() - words - 2 * BAR_GAP, left + 10)


def _paint_name(canvas: Canvas, plot: Plot, at: int, room: QRectF) -> None:
    words = canvas.metrics().elidedText(plot.places[at], Qt.TextElideMode.ElideMiddle, room.width())
    canvas.painter.setPen(canvas.text)
    canvas.painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), words)


def _paint_bar(canvas: Canvas, plot: Plot, series: Series, at: int, room: QRectF, number: int, most: float) -> None:
    value = series.values[at]
    painter, ink = canvas.painter, ink_of(canvas.theme, series.role, number)
    width = 0.0 if value is None or most <= 0 else max(value, 0.0) / most * room.width()
    bar = QRectF(room.left(), room.top() + 1, width, room.height() - 2)
    if width > 0:
        painter.setPen(QPen(ink.line, 1))
        painter.setBrush(ink.line if _is_full(series, number) else ink.tint)
        painter.drawRect(bar)
    end = room.left() + width
    low, high = (bounds[at] if bounds else None for bounds in (series.low, series.high))
    if low is not None and high is not None and most > 0:
        end = max(end, _paint_interval(canvas, bar, room, (low / most, high / most)))
    painter.setPen(canvas.text)
    words = QRectF(end + BAR_GAP / 2, room.top(), canvas.box.right() - end, room.height())
    painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), plot.unit.words(value))


def _paint_interval(canvas: Canvas, bar: QRectF, room: QRectF, bounds: tuple[float, float]) -> float:
    """Paint a whisker; returns its end."""
    low, high = (room.left() + one * room.width() for one in bounds)
    middle, half = bar.center().y(), bar.height() / 5
    canvas.painter.setPen(QPen(canvas.text, 1))
    canvas.painter.drawLine(QPointF(low, middle), QPointF(high, middle))
    for x in (low, high):
        canvas.painter.drawLine(QPointF(x, middle - half), QPointF(x, middle + half))
    return high


def _is_full(series: Series, number: int) -> bool:
    """Whether a bar is filled: adjacent bars differ by their filling, too."""
    return series.role == "after" or (number == 0 and not series.role)


def _paint_legend(canvas: Canvas, plot: Plot) -> None:
    painter, metrics = canvas.painter, canvas.metrics()
    x, height = canvas.box.left() + BAR_GAP / 2, metrics.height()
    for number, series in enumerate(plot.series):
        ink: Ink = ink_of(canvas.theme, series.role, number)
        painter.setPen(QPen(ink.line, 1))
        painter.setBrush(ink.line if _is_full(series, number) else ink.tint)
        painter.drawRect(QRectF(x, canvas.box.top() + height * 0.25, height * 0.7, height * 0.6))
        painter.setPen(canvas.text)
        words = QRectF(x + height, canvas.box.top(), max(canvas.box.right() - x - height, 10), height * 1.1)
        text = metrics.elidedText(series.name, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), text)
        x += height + metrics.horizontalAdvance(text) + 2 * BAR_GAP


PAD, GAP = 4.0, 8.0
MARKED = 60
"""With at most this many places each value has a mark."""
DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)


def paint_plot(canvas: Canvas, plot: Plot) -> None:
    """Paint the plot without its title in `canvas.box`."""
    canvas.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    canvas.painter.setFont(canvas.font)
    if plot.shape is Shape.BARS:
        paint_bars(canvas, plot)
    else:
        _paint_lines(canvas, plot)


def height_of(plot: Plot, font: QFont) -> float:
    """The preferred height of the plot in pixels."""
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
    axes, xs = _axes(canvas, plot), _positions(plot)
    if not axes.area.adjusted(-GAP, -GAP, GAP, GAP).contains(point):
        return None
    return min(range(len(xs)), key=lambda at: abs(axes.across(xs[at]) - point.x()))


# --- lines ---


def _axes(canvas: Canvas, plot: Plot) -> Axes:
    ticks = _ticks(plot)
    metrics = canvas.metrics()
    left = max(metrics.horizontalAdvance(plot.unit.tick(one)) for one in ticks)
    area = canvas.box.adjusted(
        PAD + left + GAP, PAD + metrics.height() * 1.3 + GAP, -PAD - GAP, -PAD - metrics.height() - GAP / 2
    )
    xs = _positions(plot)
    room = 0.5 if len(xs) < 2 else 0.0  # a single place is drawn in the middle
    return Axes(area, xs[0] - room, xs[-1] + room, ticks)


def _ticks(plot: Plot) -> tuple[float, ...]:
    """Ticks from zero, except for shares in a narrow range."""
    values = [one for series in plot.series for one in (*series.values, *series.low, *series.high) if one is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if plot.unit is not Unit.SHARE or low < 0.5:
        low = min(low, 0.0)
    if plot.unit is Unit.SHARE:
        high = min(high * 1.02, 1.0)
    found = nice_ticks(low, high if high > low else low + 1.0, about=4)
    kept = [one for one in found if plot.unit is not Unit.SHARE or -1e-9 <= one <= 1 + 1e-9]
    return tuple(kept if len(kept) > 1 else found)


def _positions(plot: Plot) -> Sequence[float]:
    """Horizontal positions of the places: days by date, others evenly spaced."""
    if not plot.timed:
        return range(len(plot.places))
    return [date.fromisoformat(one).toordinal() for one in plot.places]


def _paint_lines(canvas: Canvas, plot: Plot) -> None:
    axes, xs, theme = _axes(canvas, plot), _positions(plot), canvas.theme
    words = [plot.unit.tick(one) for one in axes.ticks]
    paint_grid(canvas.painter, axes, words, canvas.font, gap=GAP, grid=theme.border, ink=theme.muted)
    _paint_days(canvas, plot, axes, xs)
    for number, series in enumerate(plot.series):
        _paint_band(canvas, axes, xs, series, ink_of(theme, series.role, number))
    for number, series in enumerate(plot.series):
        _paint_series(canvas, axes, xs, series, number)
    if canvas.cursor is not None:
        paint_cursor(canvas.painter, axes, xs[canvas.cursor], theme.muted)
    paint_legend(canvas, plot)


def _paint_days(canvas: Canvas, plot: Plot, axes: Axes, xs: Sequence[float]) -> None:
    """The first and the last day, and one between if there is room."""
    metrics, area = canvas.metrics(), axes.area
    height, width = metrics.height(), area.width() + 2 * GAP
    wanted = sorted(
        {0, len(plot.places) // 2, len(plot.places) - 1} if len(plot.places) > 4 else {0, len(plot.places) - 1}
    )
    taken = -1.0
    for at in wanted:
        words = place_words(plot, at)
        half = metrics.horizontalAdvance(words) / 2
        x = min(max(axes.across(xs[at]), area.left() + half - GAP), area.left() + width - half - GAP)
        if x - half < taken:
            continue
        taken = x + half + GAP
        canvas.painter.setPen(canvas.theme.muted)
        rect = QRectF(x - half, area.bottom() + GAP / 2, 2 * half + 1, height)
        canvas.painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), words)


def _paint_band(canvas: Canvas, axes: Axes, xs: Sequence[float], series: Series, ink: Ink) -> None:
    """Paint the interval around a line."""
    pairs = [
        (axes.across(xs[at]), low, high)
        for at, (low, high) in enumerate(zip(series.low, series.high, strict=True))
        if low is not None and high is not None
    ]
    canvas.painter.setPen(Qt.PenStyle.NoPen)
    canvas.painter.setBrush(ink.tint)
    ticks = axes.ticks

    def clamp(value: float) -> float:
        return axes.up(min(max(value, ticks[0]), ticks[-1]))

    if len(pairs) == 1:
        x, low, high = pairs[0]
        canvas.painter.drawRect(QRectF(x - 5, clamp(high), 10, clamp(low) - clamp(high)))
    elif pairs:
        top = [QPointF(x, clamp(high)) for x, _, high in pairs]
        bottom = [QPointF(x, clamp(low)) for x, low, _ in reversed(pairs)]
        canvas.painter.drawPolygon(QPolygonF([*top, *bottom]))


def _paint_series(canvas: Canvas, axes: Axes, xs: Sequence[float], series: Series, number: int) -> None:
    ink = ink_of(canvas.theme, series.role, number)
    points = [(at, axes.place(xs[at], value)) for at, value in enumerate(series.values) if value is not None]
    stroke = Stroke(ink.line, DASHES[number % len(DASHES)], number=number)
    paint_line(canvas.painter, [point for _, point in points], stroke)
    for at, point in points:
        if len(points) <= MARKED or at == canvas.cursor:
            paint_mark(canvas.painter, point, stroke, 4.5 if at == canvas.cursor else 3.0)


def paint_legend(canvas: Canvas, plot: Plot) -> None:
    """Paint the legend at the top: each line's name, and its value at the cursor or its last value."""
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
    """A day in the local format, or the place's name."""
    if not plot.timed:
        return plot.places[at]
    return localised(date.fromisoformat(plot.places[at]), "%d %b %Y").lstrip("0")


def reading(plot: Plot, at: int) -> str:
    """The values at a place in a sentence, for screen readers."""
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

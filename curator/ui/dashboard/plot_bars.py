"""Bars that lie across, a row for each place: names of any length fit, and the value stands at the bar's end."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPen

from curator.domain.plots import Plot, Series
from curator.ui.dashboard.plot_colours import Canvas, Ink, ink_of

GAP = 8.0
WIDEST = 0.42
"""Share of the width that names may take."""


def shown_places(plot: Plot, canvas: Canvas) -> range:
    """Those that fit, the last ones first to stay: of bundles the newest matter."""
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
        _paint_name(canvas, plot, at, QRectF(row.left() + GAP / 2, row.top(), left - row.left() - GAP, row.height()))
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
    """Where bars begin, and where the longest ends."""
    metrics = canvas.metrics()
    names = max((metrics.horizontalAdvance(one) for one in plot.places), default=0.0)
    values = (plot.unit.words(one) for series in plot.series for one in series.values)
    words = max((metrics.horizontalAdvance(one) for one in values), default=0.0)
    left = canvas.box.left() + min(names, canvas.box.width() * WIDEST) + 2 * GAP
    return left, max(canvas.box.right() - words - 2 * GAP, left + 10)


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
    words = QRectF(end + GAP / 2, room.top(), canvas.box.right() - end, room.height())
    painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), plot.unit.words(value))


def _paint_interval(canvas: Canvas, bar: QRectF, room: QRectF, bounds: tuple[float, float]) -> float:
    """A whisker; returns where it ends."""
    low, high = (room.left() + one * room.width() for one in bounds)
    middle, half = bar.center().y(), bar.height() / 5
    canvas.painter.setPen(QPen(canvas.text, 1))
    canvas.painter.drawLine(QPointF(low, middle), QPointF(high, middle))
    for x in (low, high):
        canvas.painter.drawLine(QPointF(x, middle - half), QPointF(x, middle + half))
    return high


def _is_full(series: Series, number: int) -> bool:
    """Bars beside each other are told apart by their filling, too."""
    return series.role == "after" or (number == 0 and not series.role)


def _paint_legend(canvas: Canvas, plot: Plot) -> None:
    painter, metrics = canvas.painter, canvas.metrics()
    x, height = canvas.box.left() + GAP / 2, metrics.height()
    for number, series in enumerate(plot.series):
        ink: Ink = ink_of(canvas.theme, series.role, number)
        painter.setPen(QPen(ink.line, 1))
        painter.setBrush(ink.line if _is_full(series, number) else ink.tint)
        painter.drawRect(QRectF(x, canvas.box.top() + height * 0.25, height * 0.7, height * 0.6))
        painter.setPen(canvas.text)
        words = QRectF(x + height, canvas.box.top(), max(canvas.box.right() - x - height, 10), height * 1.1)
        text = metrics.elidedText(series.name, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), text)
        x += height + metrics.horizontalAdvance(text) + 2 * GAP

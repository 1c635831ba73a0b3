"""A small line of figures as they come, such as the training loss."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.ui.row_painting import scaled
from curator.ui.theme import theme_of

SMOOTH = 0.9
"""Weight of the past in the running mean that is drawn over the raw figures."""
MARGIN = 10.0


def smoothed(values: Sequence[float], *, weight: float = SMOOTH) -> list[float]:
    """Exponential running mean that begins unbiased (Kingma and Ba 2015, section 3)."""
    result, mean = [], 0.0
    for count, value in enumerate(values, start=1):
        mean = weight * mean + (1 - weight) * value
        result.append(mean / (1 - weight**count))
    return result


class Sparkline(QWidget):
    """Raw figures faintly, their running mean strongly, the lowest and highest named at the left."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._values: Sequence[float] = ()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)

    def set_values(self, values: Sequence[float]) -> None:
        self._values = list(values)
        last = f"{self._values[-1]:.3f} after {len(self._values)} steps" if self._values else "no figures yet"
        self.setAccessibleDescription(f"{self._name}: {last}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(460, 160)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self.palette())
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(area, 6, 6)
        painter.setFont(scaled(self.font(), 0.85))
        painter.setPen(theme.muted)
        if len(self._values) < 2:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, f"The {self._name.lower()} appears here")
        else:
            self._paint_lines(painter, area.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        painter.end()

    def _paint_lines(self, painter: QPainter, area: QRectF) -> None:
        theme = theme_of(self.palette())
        mean = smoothed(self._values)
        low, high = min(self._values), max(self._values)
        metrics = painter.fontMetrics()
        labels = max(metrics.horizontalAdvance(f"{value:.2f}") for value in (low, high)) + 8
        painter.drawText(QRectF(area.left(), area.top(), labels, metrics.height()), f"{high:.2f}")
        bottom = QRectF(area.left(), area.bottom() - metrics.height(), labels, metrics.height())
        painter.drawText(bottom, f"{low:.2f}")
        plot = area.adjusted(labels, 4, 0, -4)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        faint = theme.muted
        faint.setAlphaF(0.45)
        painter.setPen(QPen(faint, 1))
        painter.drawPolyline(_points(self._values, plot, low, high))
        painter.setPen(QPen(theme.accent, 2))
        painter.drawPolyline(_points(mean, plot, low, high))


def _points(values: Sequence[float], area: QRectF, low: float, high: float) -> QPolygonF:
    span = (high - low) or 1.0
    step = area.width() / max(len(values) - 1, 1)
    return QPolygonF(
        [
            QPointF(area.left() + i * step, area.bottom() - (v - low) / span * area.height())
            for i, v in enumerate(values)
        ]
    )

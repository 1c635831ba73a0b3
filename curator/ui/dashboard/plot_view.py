"""A plot as a widget: arrows or the mouse go from place to place, and their values are told."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.plots import Plot, Shape
from curator.ui.dashboard.plot_colours import Canvas
from curator.ui.dashboard.plot_painter import height_of, paint_plot, place_at, reading
from curator.ui.kit.row_painting import scaled
from curator.ui.kit.theme import theme_of

SMALL = 0.88
WIDTH = 420


class PlotView(QWidget):
    """`show_plot` takes what is drawn. Left and right, Home and End move the cursor, Esc takes it away."""

    def __init__(self, plot: Plot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plot = plot
        self._cursor: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.show_plot(plot)

    @property
    def plot(self) -> Plot:
        return self._plot

    @property
    def cursor_at(self) -> int | None:
        """The place whose values are told."""
        return self._cursor

    def show_plot(self, plot: Plot) -> None:
        self._plot = plot
        if self._cursor is not None and self._cursor >= len(plot.places):
            self._cursor = None
        self.setAccessibleName(plot.title)
        self.setAccessibleDescription(plot.summary)
        self.setToolTip(plot.note)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, round(height_of(self._plot, scaled(self.font(), SMALL))))

    def minimumSizeHint(self) -> QSize:
        return QSize(WIDTH // 2, self.sizeHint().height())

    # --- the cursor ---

    def set_cursor(self, at: int | None) -> None:
        if at == self._cursor:
            return
        self._cursor = at
        words = self._plot.summary if at is None else reading(self._plot, at)
        self.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._plot.places) - 1
        at = -1 if self._cursor is None else self._cursor
        back, forward = (at - 1 if at > 0 else max(at, last if at < 0 else 0)), min(at + 1, last)
        upright = self._plot.shape is Shape.BARS
        keys = {
            Qt.Key.Key_Left: back,
            Qt.Key.Key_Right: forward,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
            **({Qt.Key.Key_Up: back, Qt.Key.Key_Down: forward} if upright else {}),
        }
        if event.key() in keys and last >= 0:
            self.set_cursor(keys[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Escape and self._cursor is not None:
            self.set_cursor(None)
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        painter = QPainter()  # measuring only: nothing is drawn
        self.set_cursor(place_at(self._plot, self._canvas(painter), event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self.set_cursor(None)
        super().leaveEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.set_cursor(None)
        super().focusOutEvent(event)

    # --- painting ---

    def _canvas(self, painter: QPainter) -> Canvas:
        box = QRectF(self.rect()).adjusted(4, 4, -4, -4)
        theme = theme_of(self.palette())
        return Canvas(painter, box, scaled(self.font(), SMALL), theme, self._cursor)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        if not self._plot.is_empty:
            paint_plot(self._canvas(painter), self._plot)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme_of(self.palette()).accent, 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()

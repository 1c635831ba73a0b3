"""One plot of the dashboard: its summary, the drawing or its table, and saving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHeaderView,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTableView,
    QWidget,
)

from curator.domain.statistics import Plot, Shape, Unit
from curator.domain.wording import UserError, tr
from curator.ui.dashboard.plot_files import save_plot
from curator.ui.dashboard.plot_painter import Canvas, height_of, paint_plot, place_at, place_words, reading
from curator.ui.kit.compose import button, column, row
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.form import ask_file, sentence
from curator.ui.kit.labels import ScaledLabel
from curator.ui.kit.record_tables import RecordColumn, RecordModel, set_up_table
from curator.ui.kit.row_list import scaled
from curator.ui.kit.theme import theme_of

# A plot as a widget: arrows or the mouse move between places, whose values are shown.

SMALL = 0.88
WIDTH = 420


class PlotView(QWidget):
    """`show_plot` sets the plot. Left, Right, Home and End move the cursor, Esc hides it."""

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
        """The place at the cursor, whose values are shown."""
        return self._cursor

    def show_plot(self, plot: Plot) -> None:
        self._plot = plot
        if self._cursor is not None and self._cursor >= len(plot.places):
            self._cursor = None
        self.setAccessibleName(plot.title)
        self.setAccessibleDescription(plot.summary)
        self.setToolTip(tip(plot.note))
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
        painter = QPainter()  # only measuring: nothing is drawn
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


# A plot as a table: the same figures for screen readers, and for reading and copying.


def plot_columns(plot: Plot) -> list[RecordColumn[int]]:
    """The place, then the values of each series there, with their bounds and counts."""
    rows, units = list(plot.rows()), []
    for one in plot.series:
        bounds = [plot.unit, plot.unit] if one.low else []
        units += [plot.unit, *bounds, *([Unit.COUNT] if one.counts else [])]

    def words(number: int, unit: Unit) -> Callable[[int], str]:
        return lambda at: unit.words(rows[at][number])  # type: ignore[arg-type]  # only the first is a string

    figures = zip(plot.head[1:], units, strict=True)
    return [
        RecordColumn(plot.head[0], lambda at: place_words(plot, at)),
        *(RecordColumn(head, words(at, unit), figure=True) for at, (head, unit) in enumerate(figures, start=1)),
    ]


KINDS = {
    "svg": ("Drawing (SVG)…", "Drawing (*.svg)"),
    "csv": ("Figures (CSV)…", "Comma-separated values (*.csv)"),
    "json": ("Figures (JSON)…", "JSON (*.json)"),
}
"""Suffix -> texts of the menu and of the file dialog."""


class PlotCard(QWidget):
    """`show_plot` shows a plot; `tell` is called with a message about saved files or errors."""

    def __init__(self, plot: Plot, *, tell: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tell = tell
        self.title = ScaledLabel(plot.title, scale=1.05, bold=True, parent=self)
        self.summary = sentence(plot.summary, selectable=True)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)  # next to a taller card
        self.note = sentence(plot.note)
        self.view = PlotView(plot, self)
        self.model: RecordModel[int] = RecordModel(plot_columns(plot), self)
        self.table = QTableView(self)
        self.table.setAccessibleName(tr("{title}: table", title=plot.title))
        self.table.setModel(self.model)
        set_up_table(self.table)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.switch = self._button(tr("Table"), tr("Show “{title}” as a table", title=plot.title))
        self.switch.setCheckable(True)
        self.save = self._button(tr("Save as"), tr("Save “{title}” as SVG, CSV or JSON", title=plot.title))
        self.save.setMenu(self._menu())
        self._compose()
        self.switch.toggled.connect(self._turn)
        self.show_plot(plot)

    def _button(self, words: str, name: str) -> QPushButton:
        found = button(words, name=name, parent=self)
        found.setFlat(True)
        return found

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        for ending, (words, _) in KINDS.items():
            menu.addAction(tr(words)).triggered.connect(lambda _=False, one=ending: self.ask_place(one))
        return menu

    def _compose(self) -> None:
        head = row((self.title, 1), self.switch, self.save)
        self.faces = QStackedWidget(self)
        self.faces.addWidget(self.view)
        self.faces.addWidget(self.table)
        column(head, self.summary, (self.faces, 1), self.note, of=self, margins=(14, 10, 14, 12), spacing=6)

    @property
    def plot(self) -> Plot:
        return self.view.plot

    def show_plot(self, plot: Plot) -> None:
        self.summary.setText(plot.summary)
        self.note.setText(plot.note)
        self.view.show_plot(plot)
        self.model.show_rows(range(len(plot.places)), columns=plot_columns(plot))
        for part in (self.switch, self.save):
            part.setEnabled(not plot.is_empty)
        self.faces.setVisible(not plot.is_empty)
        self._turn(self.switch.isChecked())

    def _turn(self, table: bool) -> None:
        self.faces.setCurrentWidget(self.table if table else self.view)
        self.note.setVisible(table and bool(self.plot.note) and not self.plot.is_empty)

    # --- saving ---

    def ask_place(self, ending: str) -> QFileDialog:
        title = tr("Save “{title}”", title=self.plot.title)
        name = f"{self.plot.id}.{ending}"
        return ask_file(self, title, self.save_to, filters=tr(KINDS[ending][1]), name=name)

    def save_to(self, path: Path) -> None:
        try:
            save_plot(self.plot, path, self.font())
        except UserError as error:
            self._tell(str(error))
        else:
            self._tell(tr("“{title}” is saved as {path}.", title=self.plot.title, path=path))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme_of(self.palette()).border, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.end()

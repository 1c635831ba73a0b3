"""The views that candidates, search, queue and history share: painted rows, and words where there are none.

`RowTable` is for the queue: QListView lays out every row when its model is reset (300 ms for 100,000), a QTableView
with rows of one height does not (8 ms).
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QListView,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from curator.ui.kit.theme import theme_of


class RowList(QListView):
    """Rows without a frame. `chosen(row)`: clicked, or Enter while it has the keyboard."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty_words = ""
        _set_up(self, name)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def set_empty_words(self, words: str) -> None:
        """What to say, and what to do next, while there are no rows."""
        if words != self.empty_words:  # said again with every key: the rows need no painting for it
            self.empty_words = words
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_empty(self, self.empty_words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            _choose(self.chosen, self, event)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key is the window's

    def go_to(self, row: int) -> None:
        """Highlight a row and bring it into sight."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.setCurrentIndex(model.index(row, self.modelColumn()))


class RowTable(QTableView):
    """A `RowList` for very many rows, all of the height that its delegate gives the first."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty_words = ""
        _set_up(self, name)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def setItemDelegate(self, delegate: QAbstractItemDelegate) -> None:
        super().setItemDelegate(delegate)
        self._fit_rows()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit_rows()

    def _fit_rows(self) -> None:
        option = QStyleOptionViewItem()
        option.font = self.font()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(self.itemDelegate().sizeHint(option, QModelIndex()).height())

    def set_empty_words(self, words: str) -> None:
        """What to say, and what to do next, while there are no rows."""
        if words != self.empty_words:  # said again with every key: the rows need no painting for it
            self.empty_words = words
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_empty(self, self.empty_words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, model = event.key(), self.model()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            _choose(self.chosen, self, event)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and model is not None:
            self.go_to(0 if key == Qt.Key.Key_Home else model.rowCount() - 1)
        else:
            event.ignore()  # every other key is the window's

    def go_to(self, row: int) -> None:
        """Highlight a row and bring it into sight."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.setCurrentIndex(model.index(row, 0))


def _choose(chosen: SignalInstance, view: QAbstractItemView, event: QKeyEvent) -> None:
    """Once for each press: Enter held down may come from a window that it has just closed."""
    if not event.isAutoRepeat():
        chosen.emit(view.currentIndex().row())


def _set_up(view: QAbstractItemView, name: str) -> None:
    view.setAccessibleName(name)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setMouseTracking(True)


def _paint_empty(view: QAbstractItemView, words: str) -> None:
    model = view.model()
    if not words or (model is not None and model.rowCount() > 0):
        return
    painter = QPainter(view.viewport())
    painter.setPen(theme_of(view.palette()).muted)
    flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
    painter.drawText(QRectF(view.viewport().rect()).adjusted(12, 14, -12, -12), int(flags), words)
    painter.end()

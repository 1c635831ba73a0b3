"""The list view that candidates, search, queue and history share: painted rows, and words where there are none."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from curator.ui.theme import theme_of


class RowList(QListView):
    """Rows without a frame. `chosen(row)`: clicked, or Enter while it has the keyboard."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._empty = ""
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def set_empty_words(self, words: str) -> None:
        """What to say, and what to do next, while there are no rows."""
        self._empty = words
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        model = self.model()
        if not self._empty or (model is not None and model.rowCount() > 0):
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme_of(self.palette()).muted)
        flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        painter.drawText(QRectF(self.viewport().rect()).adjusted(12, 14, -12, -12), int(flags), self._empty)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row())
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key is the window's

    def go_to(self, row: int) -> None:
        """Highlight a row and bring it into sight."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.setCurrentIndex(model.index(row, self.modelColumn()))

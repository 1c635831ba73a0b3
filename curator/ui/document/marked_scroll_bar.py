"""A scroll bar that shows where in the text undecided mentions and matches are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

Places = Callable[[], Iterable[tuple[QColor, Iterable[float]]]]


class MarkedScrollBar(QScrollBar):
    """`places` gives groups of marks as (colour, shares of the document's height from 0 to 1); asked when painted after
    `forget`, so that a decision in a long document costs nothing while the bar is not seen."""

    def __init__(self, places: Places, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._places = places
        self._rows: list[tuple[QColor, list[int]]] | None = None

    def forget(self) -> None:
        """The marks stand elsewhere now."""
        self._rows = None
        self.update()

    def rows(self) -> list[tuple[QColor, list[int]]]:
        """Pixel rows with a mark, each once."""
        if self._rows is None:
            height = max(self.height() - 3, 1)
            self._rows = [
                (colour, sorted({int(share * height) for share in shares})) for colour, shares in self._places()
            ]
        return self._rows

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        for number, (colour, rows) in enumerate(self.rows()):
            for row in rows:  # matches reach across, mentions stand at the right
                left = 2.0 if number else self.width() - 5.0
                painter.fillRect(QRectF(left, row, self.width() - 2 - left, 2.0), colour)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.forget()

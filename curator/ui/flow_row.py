"""A row of widgets that goes on in a further line where it is too wide."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

GAP = 8


class FlowRow(QLayout):
    """Widgets from left to right in their own sizes. It is no wider than its widest one needs."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        for one in widgets:
            self.addWidget(one)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places = self._places(width)
        return max((place.bottom() + 1 for place in places), default=0)

    def sizeHint(self) -> QSize:
        sizes = [one.sizeHint() for one in self._shown()]
        width = sum(one.width() for one in sizes) + GAP * max(len(sizes) - 1, 0)
        return QSize(width, max((one.height() for one in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [one.minimumSize() for one in self._shown()]
        return QSize(max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        for one, place in zip(self._shown(), self._places(rect.width()), strict=True):
            one.setGeometry(place.translated(rect.topLeft()))

    def _shown(self) -> list[QLayoutItem]:
        return [one for one in self._items if not one.isEmpty()]

    def _places(self, width: int) -> list[QRect]:
        """Where each stands in so much width, from 0, 0; those of a line have one height."""
        lines: list[list[QSize]] = []
        used = 0
        for one in self._shown():
            size = one.sizeHint().boundedTo(QSize(max(width, 1), 1 << 20))
            if not lines or used + GAP + size.width() > width:
                lines.append([])
                used = -GAP
            lines[-1].append(size)
            used += GAP + size.width()
        places, top = [], 0
        for line in lines:
            left, height = 0, max(size.height() for size in line)
            for size in line:
                places.append(QRect(QPoint(left, top), QSize(size.width(), height)))
                left += size.width() + GAP
            top += height + GAP
        return places

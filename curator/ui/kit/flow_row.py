"""A row of widgets that continues in a further line where it is too wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

Placed = tuple[QLayoutItem, QSize]


class FlowRow(QLayout):
    """Widgets from left to right, no wider than the widest one needs: a panel that would otherwise be wider than its
    column leaves the other columns their width. What expands takes the room that is left in its line."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(8)
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
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        width = self._width([(one, _size(one)) for one in self._shown()])
        return QSize(width + margins.left() + margins.right(), self.minimumSize().height())

    def minimumSize(self) -> QSize:
        margins, sizes = self.contentsMargins(), [one.minimumSize() for one in self._shown()]
        width, height = max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0)
        return QSize(width + margins.left() + margins.right(), height + margins.top() + margins.bottom())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Returns the height that all lines take."""
        room = rect.marginsRemoved(self.contentsMargins())
        y = room.top()
        for line in self._broken(room.width()):
            x, high = room.left(), max(size.height() for _, size in line)
            spare = room.width() - self._width(line)
            for item, size in line:
                if item.expandingDirections() & Qt.Orientation.Horizontal:
                    size, spare = size + QSize(spare, 0), 0
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (high - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += high + self.spacing() // 2
        return y - self.spacing() // 2 + self.contentsMargins().bottom() - rect.top()

    def _shown(self) -> list[QLayoutItem]:
        return [one for one in self._items if not one.isEmpty()]

    def _broken(self, width: int) -> Iterator[list[Placed]]:
        line: list[Placed] = []
        for one in self._shown():
            if line and self._width([*line, (one, _size(one))]) > width:
                yield line
                line = []
            line.append((one, _size(one)))
        if line:
            yield line

    def _width(self, line: Sequence[Placed]) -> int:
        return sum(size.width() + self.spacing() for _, size in line) - self.spacing()


def _size(item: QLayoutItem) -> QSize:
    return item.sizeHint().expandedTo(item.minimumSize())

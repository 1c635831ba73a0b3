"""Rows of records as a table that is sorted and chosen from with the keyboard: rounds, agreement, suspicions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
SORT_ROLE = ROW_ROLE + 1
R = TypeVar("R")


class RecordColumn(Generic[R]):
    """A heading, the words of a record under it, and what it is sorted by (by default its words). `figure`: right."""

    def __init__(
        self, heading: str, words: Callable[[R], str], *, by: Callable[[R], Any] | None = None, figure: bool = False
    ) -> None:
        self.heading = heading
        self.words = words
        self.by = by or words
        self.figure = figure


class RecordModel(QAbstractTableModel, Generic[R]):
    def __init__(self, columns: Sequence[RecordColumn[R]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = list(columns)
        self._rows: list[R] = []

    def show_rows(self, rows: Sequence[R]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self._columns[section].figure)
        return self._columns[section].heading if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return column.words(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column.figure)
        if role == SORT_ROLE:
            value = column.by(row)
            return -1.0 if value is None else value
        return row if role == ROW_ROLE else None


class RecordTable(QTableView, Generic[R]):
    """API: `show_rows`, `current`, `model_of_rows`. Rows are chosen with Enter or a double click (`activated`)."""

    def __init__(
        self, name: str, columns: Sequence[RecordColumn[R]], *, wide: int = 0, parent: QWidget | None = None
    ) -> None:
        """`wide`: the column that takes the room that is left."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.model_of_rows: RecordModel[R] = RecordModel(columns, self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSortRole(SORT_ROLE)
        self._sorted.setSourceModel(self.model_of_rows)
        self.setModel(self._sorted)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # in the order of the rows until a header is clicked
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)

    def show_rows(self, rows: Sequence[R]) -> None:
        """The chosen place stays where it can."""
        at = max(self.currentIndex().row(), 0)
        self.model_of_rows.show_rows(rows)
        if rows:
            self.setCurrentIndex(self._sorted.index(min(at, len(rows) - 1), 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses the row and is not handed on: a dialog's button must not take it besides."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
            event.accept()
        else:
            super().keyPressEvent(event)

    def go_to(self, row: int) -> None:
        """Choose the row of that number, as they were shown."""
        self.setCurrentIndex(self._sorted.mapFromSource(self.model_of_rows.index(row, 0)))

    @property
    def current(self) -> R | None:
        found: R | None = self.currentIndex().data(ROW_ROLE) if self.currentIndex().isValid() else None
        return found


def _alignment(figure: bool) -> int:
    side = Qt.AlignmentFlag.AlignRight if figure else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)

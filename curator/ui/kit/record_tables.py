"""Tables of records, sortable and usable by keyboard: rounds, agreement, suspicious gold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from curator.ui.kit.foreign_text import in_role, tip

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
SORT_ROLE = ROW_ROLE + 1
R = TypeVar("R")


class RecordColumn(Generic[R]):
    """A heading, the text of a record in this column, and its sort key (by default the text). `figure`:
    right-aligned."""

    def __init__(
        self, heading: str, words: Callable[[R], str], *, by: Callable[[R], Any] | None = None, figure: bool = False
    ) -> None:
        self.heading = heading
        self.words = words
        self.by = by or words
        self.figure = figure

    @property
    def gap(self) -> str:
        """Space after a number, separating it from the next column."""
        return "\u2002" if self.figure else ""


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
        column = self._columns[section]
        return column.heading + column.gap if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.words(row) + column.gap
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(column.words(row), role)
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
        """`wide`: the column that takes the remaining width."""
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
        """Show records; the selected position is kept if possible."""
        at = max(self.currentIndex().row(), 0)
        self.model_of_rows.show_rows(rows)
        if rows:
            self.setCurrentIndex(self._sorted.index(min(at, len(rows) - 1), 0))

    def sizeHintForColumn(self, column: int) -> int:
        """The width with space before the next column."""
        return super().sizeHintForColumn(column) + self.fontMetrics().averageCharWidth()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses the row and is not passed on, so that it presses no button of the dialog."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
            event.accept()
        else:
            super().keyPressEvent(event)

    def go_to(self, row: int) -> None:
        """Select a row by its number in the order given."""
        self.setCurrentIndex(self._sorted.mapFromSource(self.model_of_rows.index(row, 0)))

    @property
    def current(self) -> R | None:
        found: R | None = self.currentIndex().data(ROW_ROLE) if self.currentIndex().isValid() else None
        return found


def _alignment(figure: bool) -> int:
    side = Qt.AlignmentFlag.AlignRight if figure else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


# A table of records with check boxes: Space or a click on the box toggles, Enter acts on the ticked rows.

FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class TickModel(QAbstractTableModel, Generic[R]):
    """The box is in the first column. `tickable` says which records have one."""

    ticked_changed = Signal()

    def __init__(
        self, columns: Sequence[RecordColumn[R]], *, tickable: Callable[[R], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._columns = list(columns)
        self._tickable = tickable
        self._rows: list[R] = []
        self._ticked: set[int] = set()

    def show_rows(self, rows: Sequence[R], *, ticked: bool = False) -> None:
        """`ticked`: initially tick all tickable rows."""
        self.beginResetModel()
        self._rows = list(rows)
        self._ticked = {at for at, row in enumerate(rows) if ticked and self._tickable(row)}
        self.endResetModel()
        self.ticked_changed.emit()

    def replace_row(self, at: int, row: R, *, ticked: bool) -> None:
        """Replace the record of a row."""
        self._rows[at] = row
        self._ticked.discard(at)
        self.dataChanged.emit(self.index(at, 0), self.index(at, len(self._columns) - 1))
        self.set_ticked([at], ticked)

    @property
    def rows(self) -> Sequence[R]:
        return tuple(self._rows)

    @property
    def ticked(self) -> tuple[R, ...]:
        """The ticked records in the order of the rows."""
        return tuple(self._rows[at] for at in sorted(self._ticked))

    def is_ticked(self, at: int) -> bool:
        return at in self._ticked

    def set_ticked(self, places: Sequence[int], ticked: bool) -> None:
        for at in places:
            if ticked and self._tickable(self._rows[at]):
                self._ticked.add(at)
            elif not ticked:
                self._ticked.discard(at)
            self.dataChanged.emit(self.index(at, 0), self.index(at, 0), [int(Qt.ItemDataRole.CheckStateRole)])
        self.ticked_changed.emit()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        boxed = index.column() == 0 and self._tickable(self._rows[index.row()])
        return FLAGS | Qt.ItemFlag.ItemIsUserCheckable if boxed else FLAGS

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self._columns[section].figure)
        column = self._columns[section]
        return column.heading + column.gap if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.words(row) + column.gap
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(column.words(row), role)
        if role == Qt.ItemDataRole.CheckStateRole and self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return Qt.CheckState.Checked if index.row() in self._ticked else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column.figure)
        return row if role == ROW_ROLE else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        self.set_ticked([index.row()], Qt.CheckState(value) is Qt.CheckState.Checked)
        return True


class TickTable(QTableView, Generic[R]):
    """API: `show_rows`, `current`, `ticked`, `lines`. `chosen`: Enter or a double click; `moved`: the current row
    changed."""

    chosen = Signal()
    moved = Signal()

    def __init__(
        self,
        name: str,
        columns: Sequence[RecordColumn[R]],
        *,
        wide: int = 0,
        tickable: Callable[[R], bool] = lambda _: True,
        parent: QWidget | None = None,
    ) -> None:
        """`wide`: the column that takes the remaining width."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.lines: TickModel[R] = TickModel(columns, tickable=tickable, parent=self)
        self.setModel(self.lines)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setResizeContentsPrecision(50)
        header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        self.selectionModel().currentRowChanged.connect(self._moved)
        self.doubleClicked.connect(lambda _: self.chosen.emit())

    def _moved(self, index: QModelIndex) -> None:
        if index.isValid():
            self.moved.emit()

    def show_rows(self, rows: Sequence[R], *, ticked: bool = False) -> None:
        """Show records; the current position is kept if possible."""
        at = max(self.currentIndex().row(), 0)
        self.lines.show_rows(rows, ticked=ticked)
        if rows:
            self.setCurrentIndex(self.lines.index(min(at, len(rows) - 1), 0))

    @property
    def current(self) -> R | None:
        found: R | None = self.currentIndex().data(ROW_ROLE) if self.currentIndex().isValid() else None
        return found

    @property
    def ticked(self) -> tuple[R, ...]:
        return self.lines.ticked

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at = self.currentIndex().row()
        if event.key() == Qt.Key.Key_Space and at >= 0:
            self.lines.set_ticked([at], not self.lines.is_ticked(at))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and at >= 0:
            self.chosen.emit()
        else:
            super().keyPressEvent(event)


# A table with rows that open, for a window whose default button would take Enter.


class OpeningTable(QTableView):
    """Enter opens the row and does not close the window. Stretched columns show their full headings; if they do not
    fit, the table scrolls sideways."""

    def sizeHintForColumn(self, column: int) -> int:
        """The width with space before the next column."""
        return super().sizeHintForColumn(column) + self.fontMetrics().averageCharWidth()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()

    def updateGeometries(self) -> None:
        """Update the column widths; Qt calls it when font, columns or size change."""
        header = self.horizontalHeader()
        stretched = QHeaderView.ResizeMode.Stretch
        shared = [at for at in range(header.count()) if header.sectionResizeMode(at) is stretched]
        least = max((header.sectionSizeHint(at) for at in shared), default=-1)
        if least > 0 and least != header.minimumSectionSize():
            header.setMinimumSectionSize(least)
        super().updateGeometries()


# Headings with space between them.


class RoomyHeader(QHeaderView):
    """A header for columns as wide as their contents, whose headings stay apart in large fonts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)

    def sectionSizeFromContents(self, section: int) -> QSize:
        return super().sectionSizeFromContents(section) + QSize(self.fontMetrics().averageCharWidth() * 2, 0)


# A small read-only table of figures.


class FigureTable(QTableWidget):
    """`words` text columns, which share the remaining width, then right-aligned figures."""

    def __init__(self, name: str, headings: Sequence[str], parent: QWidget | None = None, *, words: int = 1) -> None:
        super().__init__(0, len(headings), parent)
        self._words = words
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels(list(headings))
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in range(words):
            self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.setRowCount(len(rows))
        for row, values in enumerate(rows):
            for column, words in enumerate(values):
                item = QTableWidgetItem(words)
                if column < self._words:
                    item.setToolTip(tip(words))
                else:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, column, item)
        height = self.horizontalHeader().sizeHint().height() + sum(self.rowHeight(i) for i in range(len(rows))) + 6
        self.setMinimumHeight(min(height, 420))

    def sizeHint(self) -> QSize:
        """The height of the rows, so that a low dialog keeps space for its sentences."""
        return QSize(super().sizeHint().width(), self.minimumHeight())

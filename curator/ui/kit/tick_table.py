"""Records as a table whose rows are ticked: Space or a click on the box ticks, Enter acts on what is ticked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from curator.ui.kit.record_tables import NO_PARENT, ROW_ROLE, Index, RecordColumn

R = TypeVar("R")
FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class TickModel(QAbstractTableModel, Generic[R]):
    """The box stands in the first column. `tickable` says which records have one."""

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
        """`ticked`: all that can be are, at first."""
        self.beginResetModel()
        self._rows = list(rows)
        self._ticked = {at for at, row in enumerate(rows) if ticked and self._tickable(row)}
        self.endResetModel()
        self.ticked_changed.emit()

    def replace_row(self, at: int, row: R, *, ticked: bool) -> None:
        """Another record in a row's place."""
        self._rows[at] = row
        self._ticked.discard(at)
        self.dataChanged.emit(self.index(at, 0), self.index(at, len(self._columns) - 1))
        self.set_ticked([at], ticked)

    @property
    def rows(self) -> Sequence[R]:
        return tuple(self._rows)

    @property
    def ticked(self) -> tuple[R, ...]:
        """In the order of the rows."""
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
        return self._columns[section].heading if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return column.words(row)
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
    """API: `show_rows`, `current`, `ticked`, `lines`. `chosen`: Enter or a double click on a row; `moved`: another row
    is the current one."""

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
        """`wide`: the column that takes the room that is left."""
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
        """The current place stays where it can."""
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


def _alignment(figure: bool) -> int:
    side = Qt.AlignmentFlag.AlignRight if figure else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)

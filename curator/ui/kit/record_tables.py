"""Tables of records, usable by keyboard: sortable, or with check boxes, or read page by page."""

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
from PySide6.QtGui import QColor, QFont, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from curator.domain.wording import localised
from curator.ui.kit.foreign_text import in_role, tip

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
DISPLAY, TIP = int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.ToolTipRole)
SPOKEN, TICK = int(Qt.ItemDataRole.AccessibleTextRole), int(Qt.ItemDataRole.CheckStateRole)
ALIGNMENT, FONT = int(Qt.ItemDataRole.TextAlignmentRole), int(Qt.ItemDataRole.FontRole)
INK = int(Qt.ItemDataRole.ForegroundRole)
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
SORT_ROLE = ROW_ROLE + 1
ASKED = frozenset((DISPLAY, TIP, SPOKEN, TICK, ALIGNMENT, FONT, INK, ROW_ROLE, SORT_ROLE))
"""The roles that a model answers; a table asks for ten of each cell."""
FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
R = TypeVar("R")


class RecordColumn(Generic[R]):
    """A heading, the text of a record in this column, and its sort key (by default the text). `figure`: right-aligned;
    `letters`: the initial width, else that of the contents; `spoken`: the text for screen readers if it differs."""

    def __init__(
        self,
        heading: str,
        words: Callable[[R], str],
        *,
        by: Callable[[R], Any] | None = None,
        figure: bool = False,
        letters: int = 0,
        tip: Callable[[R], str] | None = None,
        spoken: Callable[[R], str] | None = None,
        ink: Callable[[R], QColor | None] | None = None,
        font: Callable[[R], QFont | None] | None = None,
    ) -> None:
        self.heading = heading
        self.words = words
        self.by = by or words
        self.letters = letters
        self.tip, self.spoken = tip or words, spoken or words
        self.ink, self.font = ink, font
        side = Qt.AlignmentFlag.AlignRight if figure else Qt.AlignmentFlag.AlignLeft
        self.alignment = int(side | Qt.AlignmentFlag.AlignVCenter)
        self.gap = "\u2002" if figure else ""
        """Space after a number, separating it from the next column."""


def number_column(heading: str, of: Callable[[R], float], form: str = ",") -> RecordColumn[R]:
    """A column of numbers in this format, sorted as numbers."""
    return RecordColumn(heading, lambda row: localised(of(row), form), by=of, figure=True)


class RecordModel(QAbstractTableModel, Generic[R]):
    """With `tickable`, records have a box in the first column if it says so. With `more`, the rows after the last one
    are requested by `more_wanted` when they are needed."""

    ticked_changed = Signal()
    more_wanted = Signal()

    def __init__(
        self,
        columns: Sequence[RecordColumn[R]],
        parent: QObject | None = None,
        *,
        tickable: Callable[[R], bool] | None = None,
    ) -> None:
        super().__init__(parent)
        self.columns = list(columns)
        self._tickable = tickable
        self._rows: list[R] = []
        self._ticked: set[int] = set()
        self._more = False

    # --- rows ---

    def show_rows(
        self,
        rows: Sequence[R],
        *,
        ticked: bool = False,
        more: bool = False,
        columns: Sequence[RecordColumn[R]] | None = None,
    ) -> None:
        """`ticked`: initially tick all tickable rows; `columns`: others than before."""
        self.beginResetModel()
        self.columns = self.columns if columns is None else list(columns)
        self._rows, self._more = list(rows), more
        self._ticked = {at for at, row in enumerate(rows) if ticked and self.has_box(row)}
        self.endResetModel()
        self.ticked_changed.emit()

    def add_rows(self, rows: Sequence[R], *, at: int | None = None, more: bool = False) -> None:
        """Insert rows, by default at the end."""
        self._more = more
        first = len(self._rows) if at is None else at
        if rows:
            self.beginInsertRows(NO_PARENT, first, first + len(rows) - 1)
            self._rows[first:first] = rows
            self.endInsertRows()

    def replace_row(self, at: int, row: R, *, ticked: bool = False) -> None:
        self._rows[at] = row
        self._ticked.discard(at)
        self.dataChanged.emit(self.index(at, 0), self.index(at, len(self.columns) - 1))
        self.set_ticked([at], ticked)

    def refresh(self) -> None:
        """Show the rows again, whose texts have changed."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(self.columns) - 1))

    @property
    def rows(self) -> Sequence[R]:
        return tuple(self._rows)

    def row(self, at: int) -> R | None:
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def place(self, wanted: Callable[[R], bool]) -> int | None:
        """The number of the first row that is wanted."""
        return next((at for at, row in enumerate(self._rows) if wanted(row)), None)

    # --- boxes ---

    def has_box(self, row: R) -> bool:
        return self._tickable is not None and self._tickable(row)

    @property
    def ticked(self) -> tuple[R, ...]:
        """The ticked records in the order of the rows."""
        return tuple(self._rows[at] for at in sorted(self._ticked))

    def is_ticked(self, at: int) -> bool:
        return at in self._ticked

    def set_ticked(self, places: Sequence[int], ticked: bool) -> None:
        for at in places:
            if ticked and self.has_box(self._rows[at]):
                self._ticked.add(at)
            elif not ticked:
                self._ticked.discard(at)
            self.dataChanged.emit(self.index(at, 0), self.index(at, 0), [TICK])
        self.ticked_changed.emit()

    # --- Qt's questions ---

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._more

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._more = False  # until they arrive
            self.more_wanted.emit()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        boxed = index.column() == 0 and self.has_box(self._rows[index.row()])
        return FLAGS | Qt.ItemFlag.ItemIsUserCheckable if boxed else FLAGS

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == ALIGNMENT:
            return column.alignment
        return column.heading + column.gap if role == DISPLAY else None

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        if role not in ASKED or not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self.columns[index.column()]
        return self.cell(row, column, role) if role != TICK else self._box(index)

    def cell(self, row: R, column: RecordColumn[R], role: int) -> Any:
        """What a record shows in a column."""
        if role == DISPLAY:
            return column.words(row) + column.gap
        if role == ALIGNMENT:
            return column.alignment
        if role == TIP:
            return in_role(column.tip(row), role)
        if role == SPOKEN:
            return in_role(column.spoken(row), role)
        if role == INK:
            return column.ink(row) if column.ink is not None else None
        if role == FONT:
            return column.font(row) if column.font is not None else None
        if role == SORT_ROLE:
            value = column.by(row)
            return -1.0 if value is None else value
        return row

    def _box(self, index: Index) -> Any:
        if not self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return None
        return Qt.CheckState.Checked if index.row() in self._ticked else Qt.CheckState.Unchecked

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != TICK or not self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        self.set_ticked([index.row()], Qt.CheckState(value) is Qt.CheckState.Checked)
        return True


class RecordTable(QTableView, Generic[R]):
    """API: `show_rows`, `current`, `ticked`, `go_to`, `lines` (the model). `chosen`: Enter or a double click; `moved`:
    another row became the current one. Space ticks a row that has a box."""

    chosen = Signal()
    moved = Signal()

    def __init__(
        self,
        name: str,
        columns: Sequence[RecordColumn[R]] | RecordModel[R],
        *,
        wide: int | Sequence[int] = 0,
        least: int = 0,
        tickable: Callable[[R], bool] | None = None,
        sortable: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        """`wide`: the columns that share the remaining width; if it is less than `least` letters, the table scrolls
        sideways. A table with boxes is never sorted."""
        super().__init__(parent)
        self.setAccessibleName(name)
        given = columns if isinstance(columns, RecordModel) else RecordModel(columns, tickable=tickable)
        given.setParent(self)
        self.lines: RecordModel[R] = given
        self._wide, self._least = (wide,) if isinstance(wide, int) else tuple(wide), least
        self._sorted: QSortFilterProxyModel | None = None
        if sortable and tickable is None:
            self._sorted = QSortFilterProxyModel(self)
            self._sorted.setSortRole(SORT_ROLE)
            self._sorted.setSourceModel(self.lines)
        self.setModel(self._sorted or self.lines)
        set_up_table(self)
        if self._sorted is not None:
            self.setSortingEnabled(True)
            self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # in the order of the rows until a header is clicked
        header = self.horizontalHeader()
        header.setResizeContentsPrecision(50)
        for at, column in enumerate(self.lines.columns):
            fixed = QHeaderView.ResizeMode.Interactive if column.letters else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(at, QHeaderView.ResizeMode.Stretch if at in self._wide else fixed)
            if column.letters:
                header.resizeSection(at, column.letters * self.fontMetrics().averageCharWidth())
        self.selectionModel().currentRowChanged.connect(lambda new: self.moved.emit() if new.isValid() else None)
        self.doubleClicked.connect(lambda _: self.chosen.emit())

    def show_rows(self, rows: Sequence[R], *, ticked: bool = False, more: bool = False) -> None:
        """Show records; the current position is kept if possible."""
        at = max(self.currentIndex().row(), 0)
        self.lines.show_rows(rows, ticked=ticked, more=more)
        if rows:
            self.setCurrentIndex(self.model().index(min(at, len(rows) - 1), 0))

    def go_to(self, row: int) -> None:
        """Select a row by its number in the order given."""
        index = self.lines.index(row, 0)
        self.setCurrentIndex(index if self._sorted is None else self._sorted.mapFromSource(index))

    def begin(self) -> bool:
        """Take the keyboard focus, at the first row; False if there is none."""
        if not self.lines.rowCount():
            return False
        self.setCurrentIndex(self.model().index(0, 0))
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    @property
    def current(self) -> R | None:
        found: R | None = self.currentIndex().data(ROW_ROLE) if self.currentIndex().isValid() else None
        return found

    @property
    def ticked(self) -> tuple[R, ...]:
        return self.lines.ticked

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses the row and is not passed on, so that it presses no button of the dialog."""
        at, here = self.currentIndex().row(), self.current
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if here is not None and not event.isAutoRepeat():
                self.chosen.emit()
            event.accept()
        elif event.key() == Qt.Key.Key_Space and here is not None and self.lines.has_box(here):
            self.lines.set_ticked([at], not self.lines.is_ticked(at))
        else:
            super().keyPressEvent(event)

    def sizeHintForColumn(self, column: int) -> int:
        """The width with space before the next column."""
        return super().sizeHintForColumn(column) + self.fontMetrics().averageCharWidth()

    def updateGeometries(self) -> None:
        """Update the widths of columns; Qt calls it when font, columns or size change. Columns that share the width
        show their full headings."""
        header = self.horizontalHeader()
        if len(self._wide) > 1 and header.count():
            header.setMinimumSectionSize(max(header.sectionSizeHint(at) for at in self._wide))
        super().updateGeometries()
        if self._least and header.count():
            self._keep_least(self._wide[0], self._least * self.fontMetrics().averageCharWidth())

    def _keep_least(self, column: int, least: int) -> None:
        header = self.horizontalHeader()
        others = sum(header.sectionSize(at) for at in range(header.count()) if at != column)
        tight = self.viewport().width() - others < least
        mode = QHeaderView.ResizeMode.Interactive if tight else QHeaderView.ResizeMode.Stretch
        if header.sectionResizeMode(column) is not mode:
            header.setSectionResizeMode(column, mode)
        if tight and header.sectionSize(column) < least:
            header.resizeSection(column, least)


def set_up_table(table: QTableView) -> None:
    """The look of all tables: whole rows, one of which is current, without a grid or numbers."""
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


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

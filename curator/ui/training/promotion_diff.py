"""The promotion diff: every gold decision that flips between two bundles, and how the undecided queue changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import localised, tr
from curator.services.training.bundle_metrics import NIL, DiffKind, DiffRow, count, diff_words
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.form import sentence
from curator.ui.kit.labels import FindLine
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.record_tables import OpeningTable
from curator.ui.kit.theme import theme_of

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
HEADERS = ("", "Mention", "Decided", "Before", "After", "Document")
WORDS = {
    DiffKind.BETTER: "✓ becomes right",
    DiffKind.WORSE: "✗ becomes wrong",
    DiffKind.QUEUE: "… undecided",
}
STATES = {
    DiffKind.BETTER: MentionState.LINKED,
    DiffKind.WORSE: MentionState.REJECTED,
    DiffKind.QUEUE: MentionState.UNDECIDED,
}
FILTERS = {
    "Everything that changes": None,
    "Wrong → right": DiffKind.BETTER,
    "Right → wrong": DiffKind.WORSE,
    "Undecided mentions": DiffKind.QUEUE,
}
ANSWERS = ("Before", "After")
NOTHING = "No gold decision changes, and no suggestion for an undecided mention changes."
OPENS = "Enter or a double-click opens the mention."
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


class DiffModel(QAbstractTableModel):
    """`name_of` and `title_of` return an entity's name and a document's title; they are called for visible rows
    only."""

    def __init__(
        self,
        rows: Sequence[DiffRow],
        *,
        name_of: Callable[[str], str],
        title_of: Callable[[int], str],
        answers: tuple[str, str] = ANSWERS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._rows = list(rows)
        said = [tr(one) for one in (HEADERS[1], HEADERS[2], *answers, HEADERS[5])]
        self._headers = ("", *said)
        self._name_of = lru_cache(maxsize=4096)(name_of)
        self._title_of = lru_cache(maxsize=4096)(title_of)
        self.inks: dict[DiffKind, QColor] = {}

    def row(self, number: int) -> DiffRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return self._headers[section] if 0 <= section < len(HEADERS) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(self._words(row, index.column()), role)
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            return self.inks.get(row.kind)
        return row if role == ROW_ROLE else None

    def _words(self, row: DiffRow, column: int) -> str:
        gold = "" if row.kind is DiffKind.QUEUE else " + ".join(map(self._name_of, row.gold)) or NIL
        return (
            lambda: tr(WORDS[row.kind]),
            lambda: row.surface,
            lambda: gold,
            lambda: self._answer(row.before),
            lambda: self._answer(row.after),
            lambda: "" if row.document is None else self._title_of(row.document),
        )[column]()

    def _answer(self, answer: str) -> str:
        return answer if answer == NIL else self._name_of(answer)


class _Filter(QSortFilterProxyModel):
    """Filter by kind, and by words in any column."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kind: DiffKind | None = None
        self.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setFilterKeyColumn(-1)

    def set_kind(self, kind: DiffKind | None) -> None:
        self.beginFilterChange()
        self._kind = kind
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        model = self.sourceModel()
        assert isinstance(model, DiffModel)
        row = model.row(source_row)
        wanted = row is not None and self._kind in (None, row.kind)
        return wanted and super().filterAcceptsRow(source_row, source_parent)


class PromotionDiff(QWidget):
    """`mention_wanted` carries the ids of a document and a mention of it. `asked` is the number of undecided mentions
    examined."""

    mention_wanted = Signal(int, int)

    def __init__(
        self,
        rows: Sequence[DiffRow],
        *,
        name_of: Callable[[str], str],
        title_of: Callable[[int], str],
        asked: int = 0,
        answers: tuple[str, str] = ANSWERS,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.rows = list(rows)
        self.model = DiffModel(rows, name_of=name_of, title_of=title_of, answers=answers, parent=self)
        self.filtered = _Filter(self)
        self.filtered.setSourceModel(self.model)
        self.summary = sentence(f"{diff_words(self.rows, asked=asked)} {tr(OPENS)}" if self.rows else tr(NOTHING))
        self.kinds = QComboBox(self)
        self.kinds.setAccessibleName(tr("Which changes are shown"))
        for words, kind in FILTERS.items():
            number = len(self.rows) if kind is None else count(self.rows, kind)
            self.kinds.addItem(f"{tr(words)} ({localised(number, ',')})", kind)
        self.words = FindLine(tr("Filter the changes"), tr("Filter by mention, entity or document"), self)
        self.table = self._make_table()
        self._compose()
        self.kinds.currentIndexChanged.connect(lambda: self.filtered.set_kind(self.kinds.currentData()))
        self.words.textChanged.connect(self.filtered.setFilterFixedString)
        self.words.returnPressed.connect(self._to_table)
        self.table.activated.connect(self._open)

    def _make_table(self) -> QTableView:
        table = OpeningTable(self)
        table.setAccessibleName(tr("What changes"))
        table.setModel(self.filtered)
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setSortingEnabled(True)
        table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # in the order of the rows until a header is clicked
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column in range(1, len(HEADERS) - 1):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        return table

    def _compose(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.kinds)
        line.addWidget(self.words, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 8, 0, 0)
        whole.addWidget(self.summary)
        whole.addLayout(line)
        whole.addWidget(self.table, 1)
        self._colour()
        metrics = self.fontMetrics()
        self.table.setColumnWidth(0, max(metrics.horizontalAdvance(one) for one in WORDS.values()) + 24)

    def _colour(self) -> None:
        theme = theme_of(self.palette())
        self.model.inks = {kind: theme.states[state].ink for kind, state in STATES.items()}

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._colour()

    def _to_table(self) -> None:
        """Go from the search field to the first match; Enter again opens it."""
        if self.filtered.rowCount():
            self.table.setCurrentIndex(self.filtered.index(0, 0))
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, DiffRow) and row.document is not None and row.mention is not None:
            self.mention_wanted.emit(row.document, row.mention)

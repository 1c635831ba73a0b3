"""*View > Decisions*: who decided what and when, in the whole project; a row opens its mention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QComboBox, QHBoxLayout, QHeaderView, QWidget

from curator.domain.decisions import KEPT_BACK_SHOWN, RANK_UNKNOWN, OperationKind, Outcome
from curator.domain.statistics import TakenDecision
from curator.domain.wording import localised, tr
from curator.services.records.statistics import StatisticsService
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.form import EmptyPage, ShowDialog
from curator.ui.kit.labels import ElidedLabel, FindLine
from curator.ui.kit.record_tables import OpeningTable
from curator.ui.kit.worker import Worker

# The project's decisions as a table, newest first; older ones are loaded on scrolling.

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
HEADERS = ("When", "Who", "Mention", "Decision", "Rank", "How", "Document")
STEPS = {
    "": "from a file",
    OperationKind.DECIDE: "",
    OperationKind.UNDO: "undone",
    OperationKind.REDO: "redone",
    OperationKind.ADD_MENTION: "mention added",
    OperationKind.DELETE_MENTION: "mention deleted",
    OperationKind.CHANGE_MENTION: "mention changed",
    OperationKind.SET_STATE: "document state changed",
    OperationKind.FLAG: "flagged",
    OperationKind.COMMENT: "commented",
    OperationKind.DELETE_COMMENT: "comment deleted",
    OperationKind.SET_ATTRIBUTE: "attribute set",
    OperationKind.DEFINE_ATTRIBUTES: "attributes changed",
    OperationKind.ADD_RELATION: "relation added",
    OperationKind.DELETE_RELATION: "relation deleted",
    OperationKind.MAKE_ENTITY: "new entity",
    OperationKind.CHANGE_ENTITY: "new entity changed",
    OperationKind.DELETE_ENTITY: "new entity deleted",
    OperationKind.REMAP: "knowledge-base update",
    OperationKind.TAKE_TEXT: "newer text of the document",
    OperationKind.WITHDRAW_IMPORT: "import undone",
    OperationKind.INTEND: "marked as intended",
}
"""The origin of a decision, by the kind of its operation; '' means imported."""
OUTCOMES = {one.value: one.words for one in Outcome if one is not Outcome.LINK} | {"cleared": "undecided again"}
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


class DecisionsModel(QAbstractTableModel):
    """`more_wanted` requests the rows after the last one; `add` appends them, `begin` starts again."""

    more_wanted = Signal()

    def __init__(self, name_of: Callable[[str], str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name_of = lru_cache(maxsize=4096)(name_of)
        self._rows: list[TakenDecision] = []
        self._more = False

    def begin(self, rows: Sequence[TakenDecision], *, more: bool) -> None:
        self.beginResetModel()
        self._rows, self._more = list(rows), more
        self.endResetModel()

    def add(self, rows: Sequence[TakenDecision], *, more: bool) -> None:
        self._more = more
        if rows:
            self.beginInsertRows(NO_PARENT, len(self._rows), len(self._rows) + len(rows) - 1)
            self._rows += rows
            self.endInsertRows()

    @property
    def last(self) -> int | None:
        return self._rows[-1].id if self._rows else None

    def row(self, number: int) -> TakenDecision | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._more

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._more = False  # until they arrive
            self.more_wanted.emit()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return tr(HEADERS[section]) if 0 <= section < len(HEADERS) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(self._words(row)[index.column()], role)
        return row if role == ROW_ROLE else None

    def _words(self, row: TakenDecision) -> tuple[str, ...]:
        names = " + ".join(self._name_of(one) for one in row.entity_ids)
        what = tr(OUTCOMES[row.outcome]) if row.outcome in OUTCOMES else names
        who = row.curator
        if row.actor != row.curator:
            who = tr("{actor} for {curator}", actor=row.actor, curator=row.curator)
        how = [
            tr(STEPS[row.step]) if STEPS[row.step] else "",
            row.note,
            "" if row.stands else tr("no longer current"),
        ]
        return (
            localised(row.at.astimezone(), "%d %b %Y, %H:%M:%S"),
            who,
            row.text,
            what,
            rank_words(row),
            " · ".join(one for one in how if one),
            row.document,
        )


def rank_words(row: TakenDecision) -> str:
    """The number of the chosen candidates in the list, as in the history of the mention; for NIL whether it was
    suggested. '' without a list."""
    if row.rank is None or row.rank == RANK_UNKNOWN:
        return ""
    if row.rank == KEPT_BACK_SHOWN:
        return tr("shown on request")
    if row.rank < RANK_UNKNOWN:
        return tr("not shown")
    if row.outcome == Outcome.NIL:
        return tr("suggested") if row.rank else tr("not suggested")
    return " + ".join(str(place) for place in row.places) or tr("not listed")


PAGE = 300
TYPING_MS = 250
EVERYBODY = "Everybody"
NONE, LESS = "No decision matches", "Change the search words or the curator above, or include decisions from files."
NOTHING, LISTED = "Nothing has been decided yet", "Every decision is listed here, newest first."
OPENS = "Enter or a double-click opens the mention; F4 returns here."


class DecisionsWindow(ShowDialog):
    """`mention_wanted` carries the ids of a document and a mention."""

    mention_wanted = Signal(int, int)

    def __init__(
        self, service: StatisticsService, *, name_of: Callable[[str], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Decisions of the project"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._service = service
        self.worker = Worker(self)
        self.words = FindLine(tr("Find decisions"), tr("Find by mention, entity identifier or document"), self)
        self.curators = QComboBox(self)
        self.curators.setAccessibleName(tr("Curator"))
        self.curators.addItem(tr(EVERYBODY), "")
        for name in service.curators():
            self.curators.addItem(name, name)
        self.imported = QCheckBox(tr("Include decisions from &files"), self)
        self.model = DecisionsModel(name_of, self)
        self.table = self._make_table()
        self.empty = EmptyPage("", parent=self)
        self.empty.hide()
        self.state = ElidedLabel(muted=True, parent=self)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._compose()
        self._connect()
        self.load()
        self.resize(1000, 620)

    def _make_table(self) -> OpeningTable:
        table = OpeningTable(self)
        table.setAccessibleName(tr("Decisions of the project"))
        table.setModel(self.model)
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, stretched in enumerate((False, False, True, True, False, True, False)):
            mode = QHeaderView.ResizeMode.Stretch if stretched else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
        assert len(HEADERS) == header.count()
        return table

    def _compose(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.words, 1)
        line.addWidget(self.curators)
        line.addWidget(self.imported)
        self.body.addLayout(line)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.body.addWidget(self.state)

    def _connect(self) -> None:
        self._typing.timeout.connect(self.load)
        self.words.textChanged.connect(lambda: self._typing.start())
        self.words.returnPressed.connect(self._to_table)
        self.curators.currentIndexChanged.connect(self.load)
        self.imported.toggled.connect(self.load)
        self.model.more_wanted.connect(self._load_more)
        self.table.activated.connect(self._open)
        self.finished.connect(self.worker.close)

    # --- rows ---

    def load(self) -> None:
        """Load decisions, newest first, in a worker thread; only the last request is shown."""
        self.worker.ask(self._page(None), self._begin)

    def _load_more(self) -> None:
        self.worker.ask(self._page(self.model.last), lambda rows: self.model.add(rows, more=len(rows) == PAGE))

    def _page(self, before: int | None) -> Callable[[], list[TakenDecision]]:
        curator, words, imported = self.curators.currentData(), self.words.text().strip(), self.imported.isChecked()
        taken = self._service.taken
        return lambda: taken(limit=PAGE, before=before, curator=curator, words=words, imported=imported)

    def _begin(self, rows: list[TakenDecision]) -> None:
        self.model.begin(rows, more=len(rows) == PAGE)
        if rows:
            self.table.setCurrentIndex(self.model.index(0, 0))  # Enter opens it
        self.state.set_words(tr(OPENS) if rows else "")
        narrowed = bool(self.words.text().strip() or self.curators.currentData())
        self.empty.say(*((tr(NONE), tr(LESS)) if narrowed else (tr(NOTHING), tr(LISTED))))
        leaves = not rows and self.focusWidget() is self.table  # checked first: Qt may give the focus to any button
        self.empty.stand_in(self.table, empty=not rows)
        if leaves:
            self.words.setFocus(Qt.FocusReason.OtherFocusReason)

    def _to_table(self) -> None:
        if self.model.rowCount():
            self.table.setCurrentIndex(self.model.index(0, 0))
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, TakenDecision):
            self.mention_wanted.emit(row.document_id, row.mention_id)

"""The project's decisions as a table, the newest first; older ones come when somebody scrolls to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from curator.domain.changes import OperationKind
from curator.domain.decisions import KEPT_BACK_SHOWN, RANK_UNKNOWN, Outcome
from curator.domain.statistics import TakenDecision
from curator.domain.wording import tr

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
HEADERS = ("When", "Who", "Mention", "Decision", "Rank", "How", "Document")
STEPS = {
    "": "with a file",
    OperationKind.DECIDE: "",
    OperationKind.UNDO: "undone",
    OperationKind.REDO: "done again",
    OperationKind.ADD_MENTION: "mention added",
    OperationKind.DELETE_MENTION: "mention deleted",
    OperationKind.CHANGE_MENTION: "mention changed",
    OperationKind.SET_STATE: "document marked",
    OperationKind.FLAG: "flagged",
    OperationKind.COMMENT: "commented",
    OperationKind.DELETE_COMMENT: "comment deleted",
    OperationKind.MAKE_ENTITY: "new entity",
    OperationKind.CHANGE_ENTITY: "new entity changed",
    OperationKind.DELETE_ENTITY: "new entity deleted",
    OperationKind.REMAP: "knowledge-base update",
    OperationKind.TAKE_TEXT: "newer text of the document",
    OperationKind.WITHDRAW_IMPORT: "import undone",
}
"""How a decision came about, by the operation that it belongs to; '' came with a file."""
OUTCOMES = {"nil": "NIL", "rejected": "rejected", "skipped": "skipped", "cleared": "undecided again"}
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


class DecisionsModel(QAbstractTableModel):
    """`more_wanted` asks for the rows behind the last one; `add` takes them, `begin` starts anew."""

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
            self._more = False  # until they are here
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
            return self._words(row)[index.column()]
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
            "" if row.stands else tr("no longer stands"),
        ]
        return (
            f"{row.at.astimezone():%d %b %Y, %H:%M:%S}",
            who,
            row.text,
            what,
            rank_words(row),
            " · ".join(one for one in how if one),
            row.document,
        )


def rank_words(row: TakenDecision) -> str:
    """The number that the chosen candidates had in the list, as the history of the mention says it; of NIL whether it
    was suggested. '' where there was no list."""
    if row.rank is None or row.rank == RANK_UNKNOWN:
        return ""
    if row.rank == KEPT_BACK_SHOWN:
        return tr("shown when asked for")
    if row.rank < RANK_UNKNOWN:
        return tr("not shown")
    if row.outcome == Outcome.NIL:
        return tr("suggested") if row.rank else tr("not suggested")
    return " + ".join(str(place) for place in row.places) or tr("not listed")

"""The rows of a work list: the mentions in the order in which they are most useful to decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from curator.domain.decisions import Outcome
from curator.domain.wording import tr
from curator.services.ports.documents import QueueRow
from curator.services.ports.queue import WorkRow
from curator.ui.kit.foreign_text import in_role
from curator.ui.queue.queue_model import CURRENT_ROLE, ROW_ROLE

OUTCOME_ROLE = CURRENT_ROLE + 1
DOCUMENT_ROLE = CURRENT_ROLE + 2
AHEAD = 60
"""Document titles are read for this number of rows at once."""

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class WorkModel(QAbstractListModel):
    """Decided rows keep their position, so that the list never moves."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._names: dict[int, str] = {}
        self._rows_of: Callable[[Sequence[int]], Sequence[QueueRow]] = lambda _: ()
        self._outcomes: dict[int, Outcome] = {}
        self._at: dict[int, int] = {}
        self.rows: tuple[WorkRow, ...] = ()
        self.current: int | None = None

    def set_source(self, rows_of: Callable[[Sequence[int]], Sequence[QueueRow]]) -> None:
        self._rows_of = rows_of
        self.show_work(())

    def show_work(self, rows: Iterable[WorkRow]) -> None:
        """Show a new list with nothing decided yet."""
        self.beginResetModel()
        self.rows = tuple(rows)
        self._at = {row.mention_id: at for at, row in enumerate(self.rows)}
        self._outcomes.clear()
        self._names.clear()
        self.endResetModel()

    def place(self, mention_id: int | None) -> int | None:
        return None if mention_id is None else self._at.get(mention_id)

    def set_current(self, mention_id: int | None) -> None:
        old, self.current = self.current, mention_id
        self._touch(old, mention_id)

    def set_outcome(self, mention_id: int, outcome: Outcome | None) -> None:
        """Set what a mention of the list was decided as; None while it is undecided."""
        if mention_id in self._at and self._outcomes.get(mention_id) is not outcome:
            if outcome is None:
                del self._outcomes[mention_id]
            else:
                self._outcomes[mention_id] = outcome
            self._touch(mention_id)

    @property
    def left(self) -> int:
        """The number of rows neither decided nor skipped since the list was built."""
        return len(self.rows) - len(self._outcomes)

    def _touch(self, *mention_ids: int | None) -> None:
        for one in mention_ids:
            at = self.place(one)
            if at is not None:
                self.dataChanged.emit(self.index(at), self.index(at))

    def _name(self, at: int) -> str:
        document = self.rows[at].document_id
        if document not in self._names:
            wanted = [row.document_id for row in self.rows[at : at + AHEAD]]
            self._names |= {row.document_id: row.external_id for row in self._rows_of(list(dict.fromkeys(wanted)))}
        return self._names.get(document, "")

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text
        if role == ROW_ROLE:
            return row
        if role == CURRENT_ROLE:
            return row.mention_id == self.current
        if role == OUTCOME_ROLE:
            return self._outcomes.get(row.mention_id)
        if role == DOCUMENT_ROLE:
            return self._name(index.row())
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            outcome = self._outcomes.get(row.mention_id)
            state = chance_words(row) if outcome is None else tr("decided") if outcome.decides else tr("skipped")
            return in_role(f"{row.text}, {row.type}, {self._name(index.row())}: {state}", role)
        return None


def chance_words(row: WorkRow) -> str:
    """The confidence of the first suggestion in words."""
    if row.probability is None:
        return tr("no suggestion")
    return tr("first suggestion {probability:.2f}", probability=row.probability)

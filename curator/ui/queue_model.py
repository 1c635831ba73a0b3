"""The queue of documents as a lazy model: rows are read a page at a time, when the view asks for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from curator.domain.documents import DocumentState
from curator.services.ports import QueueFilter, QueueRow

PAGE = 200
PAGES = 50
"""Pages kept; 10,000 rows, a few megabytes."""
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
CURRENT_ROLE = ROW_ROLE + 1

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

STATE_WORDS = {
    DocumentState.TODO: "todo",
    DocumentState.IN_PROGRESS: "in progress",
    DocumentState.DONE: "done",
}


class QueueSource(Protocol):
    """What the model reads from; `services.queue.QueueService` is one."""

    def rows(self, where: QueueFilter, *, offset: int = ..., limit: int = ...) -> Sequence[QueueRow]: ...

    def count(self, where: QueueFilter) -> int: ...


class QueueModel(QAbstractListModel):
    """One row for each document of the filter. A hundred thousand of them cost one count and the pages looked at."""

    def __init__(self, source: QueueSource | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._where = QueueFilter()
        self._count = 0
        self._pages: OrderedDict[int, Sequence[QueueRow]] = OrderedDict()
        self._current: int | None = None

    @property
    def where(self) -> QueueFilter:
        return self._where

    def set_source(self, source: QueueSource | None) -> None:
        """Another project's queue, or none."""
        self._source = source
        self._current = None
        self.load(QueueFilter())

    def load(self, where: QueueFilter) -> None:
        """Read anew under a filter."""
        self.beginResetModel()
        self._where = where
        self._pages.clear()
        self._count = self._source.count(where) if self._source is not None else 0
        self.endResetModel()

    def refresh(self, document_ids: Collection[int] = ()) -> None:
        """Rows have changed: those of the given documents (none given: any). Where the number of rows changed with
        them, everything is read anew; otherwise only the pages in hand that hold one of them."""
        if self._source is None:
            return
        if self._source.count(self._where) != self._count:
            self.load(self._where)
            return
        wanted = set(document_ids)
        for number, page in list(self._pages.items()):
            if not wanted or any(row.document_id in wanted for row in page):
                del self._pages[number]
                first = number * PAGE
                self.dataChanged.emit(self.index(first), self.index(min(first + PAGE, self._count) - 1))

    def set_current(self, document_id: int | None) -> None:
        """Mark the document that is open."""
        old, self._current = self._current, document_id
        for one in (old, document_id):
            row = self.row_of(one) if one is not None else None
            if row is not None:
                self.dataChanged.emit(self.index(row), self.index(row), [CURRENT_ROLE])

    @property
    def current(self) -> int | None:
        return self._current

    def row_of(self, document_id: int) -> int | None:
        """The row of a document among the pages in hand."""
        for number, page in self._pages.items():
            for i, row in enumerate(page):
                if row.document_id == document_id:
                    return number * PAGE + i
        return None

    def find(self, document_id: int) -> int | None:
        """The row of a document; reads pages by bisection where rows come in the order of ids, as the queue's do."""
        known = self.row_of(document_id)
        low, high = 0, self._count
        while known is None and low < high:
            middle = (low + high) // 2
            row = self.row(middle)
            if row is None:
                return None
            if row.document_id == document_id:
                return middle
            low, high = (middle + 1, high) if row.document_id < document_id else (low, middle)
        return known

    def row(self, number: int) -> QueueRow | None:
        """One row, reading its page where it is not in hand."""
        if self._source is None or not 0 <= number < self._count:
            return None
        page = self._page(number // PAGE)
        at = number % PAGE
        return page[at] if at < len(page) else None

    def _page(self, number: int) -> Sequence[QueueRow]:
        assert self._source is not None
        if number not in self._pages:
            self._pages[number] = self._source.rows(self._where, offset=number * PAGE, limit=PAGE)
            while len(self._pages) > PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(number)
        return self._pages[number]

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        wanted = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
        if role not in (*wanted, ROW_ROLE, CURRENT_ROLE) or not index.isValid():
            return None
        row = self.row(index.row())
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == CURRENT_ROLE:
            return row.document_id == self._current
        if role == Qt.ItemDataRole.DisplayRole:
            return row.external_id
        state = f"{STATE_WORDS[row.state]}, {row.decided} of {row.mentions} decided, {row.split.value}"
        return f"{row.external_id}: {row.title}\n{state}"

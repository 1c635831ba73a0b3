"""The queue of documents as a lazy model: rows are read page by page, when the view needs them."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState, Split
from curator.domain.wording import AwayError, ntr, tr
from curator.services.ports.documents import QueueRow
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.services.queue.seat import DocumentList, Lists
from curator.ui.kit.foreign_text import in_role

PAGE = 200
PAGES = 50
"""The most pages kept; 10,000 rows, a few megabytes."""
FEW = 20
"""Up to this number of changed documents are read one by one; more are read by page."""
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
CURRENT_ROLE = ROW_ROLE + 1

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()

STATE_WORDS = {state: state.words for state in DocumentState}
SPLIT_WORDS = {Split.TRAIN: "train", Split.VALIDATION: "validation", Split.TEST: "test"}


class QueueModel(QAbstractListModel):
    """One row for each document of the filter. A hundred thousand of them cost one count and the viewed pages.

    While facets are set, the documents with matching mentions are passed in (`load`) and updated one by one
    (`update_matching`), so that the list does not jump; the open document stays until it is left.
    """

    def __init__(self, lists: Lists | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lists = lists
        self._where = QueueFilter()
        self._source: DocumentList | None = lists(self._where) if lists is not None else None
        self._count = 0
        self._pages: OrderedDict[int, Sequence[QueueRow]] = OrderedDict()
        self._current: int | None = None
        self._ids: list[int] | None = None
        self._matching: dict[int, int] = {}

    @property
    def ids(self) -> Sequence[int] | None:
        """The documents of a filter with facets, including the open one whose last match was just decided; None without
        facets."""
        return self._ids

    @property
    def matching(self) -> int:
        """The number of matching mentions, while facets are set."""
        return sum(self._matching.values())

    def matching_of(self, document_id: int) -> int | None:
        """The number of matching mentions of a document; None if no facet is set."""
        return None if self._ids is None else self._matching.get(document_id, 0)

    @property
    def where(self) -> QueueFilter:
        return self._where

    def set_source(self, lists: Lists | None) -> None:
        """Show another project's queue, or none."""
        self._lists = lists
        self._current = None
        self.load(QueueFilter())

    def load(self, where: QueueFilter, matching: Mapping[int, int] | None = None) -> None:
        """Reload with a filter; with facets, `matching` holds the documents in order, and their numbers of matches.
        Raises AwayError, and changes nothing, if a server does not answer."""
        source = self._lists(where) if self._lists is not None else None
        count = len(matching) if matching is not None else source.count() if source is not None else 0
        self.beginResetModel()
        self._where, self._source, self._count = where, source, count
        self._pages.clear()
        self._matching = dict(matching or {})
        self._ids = None if matching is None else list(matching)
        self.endResetModel()

    def update_matching(self, document_ids: Collection[int], found: Mapping[int, int]) -> None:
        """Update the numbers of some documents to `found`; missing means 0."""
        assert self._ids is not None
        for one in document_ids:
            self._matching.pop(one, None)
            if one in found:
                self._matching[one] = found[one]
            at = bisect_left(self._ids, one)
            there = at < len(self._ids) and self._ids[at] == one
            if one in found and not there:
                self.beginInsertRows(NO_PARENT, at, at)
                self._ids.insert(at, one)
                self._recount()
                self.endInsertRows()
            elif there and one not in found and one != self._current:
                self._remove(at)
        self._forget_pages(document_ids)

    def _remove(self, at: int) -> None:
        assert self._ids is not None
        self.beginRemoveRows(NO_PARENT, at, at)
        del self._ids[at]
        self._recount()
        self.endRemoveRows()

    def _recount(self) -> None:
        assert self._ids is not None
        self._count = len(self._ids)
        self._pages.clear()

    def refresh(self, document_ids: Collection[int] = ()) -> None:
        """Update the rows of the given documents (none given: all). If the number of rows changed, everything is
        reloaded; otherwise only the loaded pages with one of them."""
        if self._source is None:
            return
        if self._ids is None and self._few(document_ids) and self._replace_rows(document_ids):
            return
        if self._ids is None and self._source.count() != self._count:
            self.load(self._where)
            return
        self._forget_pages(document_ids)

    def _forget_pages(self, document_ids: Collection[int]) -> None:
        """Reload the rows of a few documents into the loaded pages, or drop those pages."""
        if self._few(document_ids):
            self._replace_rows(document_ids)
            return
        wanted = set(document_ids)
        for number, page in list(self._pages.items()):
            if not wanted or any(row.document_id in wanted for row in page):
                self._forget(number)

    def _few(self, document_ids: Collection[int]) -> bool:
        """Whether rows are read one by one: few documents, and a filter from which a decision removes none."""
        return 0 < len(document_ids) <= FEW and self._where.state is None

    def _replace_rows(self, document_ids: Collection[int]) -> bool:
        """Reload and repaint single rows. Returns whether all were loaded and still exist, so that the number of rows
        is unchanged."""
        assert self._source is not None
        held = {row.document_id for page in self._pages.values() for row in page} & set(document_ids)
        fresh = {row.document_id: row for row in self._source.rows_of(sorted(held))} if held else {}
        for number, page in list(self._pages.items()):
            places = [at for at, row in enumerate(page) if row.document_id in held]
            if any(page[at].document_id not in fresh for at in places):
                self._forget(number)
            elif places:
                self._pages[number] = [fresh.get(row.document_id, row) for row in page]
                for at in places:
                    changed = self.index(number * PAGE + at)
                    self.dataChanged.emit(changed, changed)
        return len(fresh) == len(set(document_ids))

    def _forget(self, number: int) -> None:
        del self._pages[number]
        first = number * PAGE
        self.dataChanged.emit(self.index(first), self.index(min(first + PAGE, self._count) - 1))

    def set_current(self, document_id: int | None) -> None:
        """Mark the open document."""
        old, self._current = self._current, document_id
        for one in (old, document_id):
            row = self.row_of(one) if one is not None else None
            if row is not None:
                self.dataChanged.emit(self.index(row), self.index(row), [CURRENT_ROLE])
        if self._ids is not None and old is not None and old != document_id and not self._matching.get(old):
            at = bisect_left(self._ids, old)
            if at < len(self._ids) and self._ids[at] == old:
                self._remove(at)

    @property
    def current(self) -> int | None:
        return self._current

    def row_of(self, document_id: int) -> int | None:
        """The row of a document in the loaded pages."""
        for number, page in self._pages.items():
            for i, row in enumerate(page):
                if row.document_id == document_id:
                    return number * PAGE + i
        return None

    def find(self, document_id: int) -> int | None:
        """The row of a document; reads pages by bisection if rows are ordered by id, as in the queue."""
        if self._ids is not None:
            at = bisect_left(self._ids, document_id)
            return at if at < len(self._ids) and self._ids[at] == document_id else None
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
        """A row; its page is read if not loaded."""
        if self._source is None or not 0 <= number < self._count:
            return None
        page = self._page(number // PAGE)
        at = number % PAGE
        return page[at] if at < len(page) else None

    def _page(self, number: int) -> Sequence[QueueRow]:
        assert self._source is not None
        if number not in self._pages:
            first = number * PAGE
            try:
                self._pages[number] = (
                    self._source.rows(offset=first, limit=PAGE)
                    if self._ids is None
                    else self._source.rows_of(self._ids[first : first + PAGE])
                )
            except AwayError:  # these rows stay empty until the server is back
                return ()
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
        decided = tr("{decided} of {mentions} decided", decided=row.decided, mentions=row.mentions)
        if row.skipped:
            decided += ", " + tr("{n:,} skipped", n=row.skipped)
        state = f"{tr(STATE_WORDS[row.state])}, {decided}, {tr(SPLIT_WORDS[row.split])}"
        noted = [state]
        noted += [tr("flagged")] if row.flagged else []
        noted += [ntr("{n} comment", "{n} comments", row.comments)] if row.comments else []
        if (matching := self.matching_of(row.document_id)) is not None:
            noted.append(tr("{matching} matching the filter", matching=matching))
        return in_role(f"{row.external_id}: {row.title}\n{', '.join(noted)}", role)


# The rows of a work list: the mentions in the order in which they are most useful to decide.

OUTCOME_ROLE = CURRENT_ROLE + 1
DOCUMENT_ROLE = CURRENT_ROLE + 2
AHEAD = 60
"""Document titles are read for this number of rows at once."""


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

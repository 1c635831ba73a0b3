"""Documents of a shared project on this computer, to read and to decide while the server is away.

A thread copies the documents that were opened, and the next ones that are not done, with their mentions, suggestions,
decisions and comments, into a project of SQLite's in a folder of this process. While the server is away, units of work
read this project, with the local copies of the knowledge bases. Rounds, steps of others and the history of changes are
not copied.

The copies may be up to a minute old. What this curator did meanwhile is taken again in the copy when the server goes
away (`enter`). Only steps taken in the copy have operations, with numbers of their own: when the server is back, they
are deleted, and their documents are copied again.
"""

from __future__ import annotations

import logging
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, func, insert, null, select, text

from curator.domain.documents import DocumentState
from curator.domain.wording import ProjectLockedError, UserError
from curator.storage.db.lock import ProjectLock
from curator.storage.db.rows import AnyRow, visible
from curator.storage.db.schema import (
    Base,
    CommentRow,
    DecisionRow,
    DocumentRow,
    DocumentTextRow,
    FragmentRow,
    KbVersionRow,
    MentionAttributeRow,
    MentionRow,
    MetaRow,
    OperationRow,
    OpinionRow,
    PassageRow,
    ProvisionalEntityRow,
    RelationRow,
    RetiredEntityRow,
    SourceFileRow,
    SuggestionFactsRow,
    SuggestionRow,
)
from curator.storage.project import SUFFIX, create_project
from curator.storage.store import SqlStore, SqlUnitOfWork
from curator.storage.team.local_copy import LocalCopy, with_shelf

AHEAD = 40
"""Documents that are copied after the one that is open."""
PART = 10
"""Documents copied at once, some 30 ms of the server's time."""
EVERY = 60.0
"""Seconds after which changed documents are copied again."""
BEGINNING = ".reserve-"
WHOLE = (MetaRow, KbVersionRow, ProvisionalEntityRow, RetiredEntityRow)
OF_DOCUMENT = (SourceFileRow, DocumentRow, DocumentTextRow, PassageRow, MentionRow, CommentRow, RelationRow)
OF_MENTION = (FragmentRow, DecisionRow, SuggestionRow, SuggestionFactsRow, OpinionRow, MentionAttributeRow)
IN_PARTS = (*OF_DOCUMENT, *OF_MENTION)
Reading = Callable[[], Any]
_Recent = tuple[int, tuple[int, ...], Callable[[SqlUnitOfWork], object]]
log = logging.getLogger(__name__)


class Reserve:
    """`reading` opens a reading unit on the server. Thread-safe."""

    def __init__(self, folder: Path, reading: Reading, copy_of_kb: LocalCopy) -> None:
        self._folder = folder
        self._reading = reading
        self._copy_of_kb = copy_of_kb
        self._guard = threading.RLock()  # of the copy
        self._store: SqlStore | None = None
        self._held: dict[int, int] = {}  # documents, and the last operation that their copies contain
        self._stale: set[int] = set()
        self._current = 0
        self._recent: list[_Recent] = []  # own steps that copies may lack
        self._touched: set[int] = set()  # documents of steps that were taken in the copy
        self._entered = False
        self._closed = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    # --- online ---

    def opened(self, document_id: int) -> None:
        """Copy this document and those after it, soon."""
        if document_id != self._current:
            self._current = document_id
            self._begin()

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="reserve", daemon=True)
            self._thread.start()
        self._wake.set()

    def changed(self, document_ids: Sequence[int]) -> None:
        """Copy these again, within a minute."""
        self._stale.update(self._held.keys() & set(document_ids))

    def did(self, operation: int, document_ids: Sequence[int], again: Callable[[SqlUnitOfWork], object]) -> None:
        """Note a step of this curator, which `again` takes in another unit. Does not wait for a copy being made."""
        step = operation, tuple(document_ids), again
        if self._thread is None:  # nothing is copied, and what is copied later contains it
            return
        self._recent.append(step)
        self.changed(document_ids)
        if self._entered and self._store is not None:  # the server answered, and was away before this call
            with self._guard, self.write() as unit:
                self._take(unit, step)

    @property
    def current(self) -> tuple[int, ...]:
        return (self._current,) if self._current else ()

    # --- offline ---

    @property
    def ready(self) -> bool:
        return bool(self._held)

    def enter(self) -> None:
        """Bring the copies up to date with this curator's steps, once, before units are opened."""
        with self._guard:
            if self._entered:
                return
            self._entered = True  # before the steps are looked at: see `did`; nothing is copied from now on
            if self._store is None:
                return
            with self.write() as unit:
                for step in tuple(self._recent):
                    self._take(unit, step)

    def _take(self, unit: SqlUnitOfWork, step: _Recent) -> None:
        operation, documents, again = step
        if any(operation > self._held.get(one, operation) for one in documents):
            with suppress(UserError):
                again(unit)
                self._touched.update(documents)

    def holds(self, step: Mapping[str, Any]) -> bool:
        """Whether everything that a step is about was copied."""
        wanted = set(step.get("mentions", ()))
        if not wanted:
            return step["document"] in self._held
        with self.read() as unit:
            query = select(func.count()).select_from(MentionRow).where(MentionRow.id.in_(wanted))
            return unit.connection.execute(query).scalar_one() == len(wanted)

    @contextmanager
    def read(self) -> Iterator[SqlUnitOfWork]:
        assert self._store is not None
        with self._copy_of_kb.shelf() as shelf, self._store.read() as unit:
            with_shelf(unit.connection, shelf)
            yield unit

    @contextmanager
    def write(self) -> Iterator[SqlUnitOfWork]:
        assert self._store is not None
        with self._copy_of_kb.shelf() as shelf, self._store.write() as unit:
            with_shelf(unit.connection, shelf)
            yield unit

    def touched(self, document_ids: Sequence[int]) -> None:
        """Note the documents of a step that was taken here."""
        self._touched.update(document_ids)

    def leave(self) -> None:
        """The server is back: forget the steps that were taken here, and copy their documents again."""
        with self._guard:
            if not self._entered:
                return
            self._entered = False
            for one in self._touched:
                self._held.pop(one, None)
            self._stale.update(self._held)
            if self._store is not None:
                with self._store.write() as unit:
                    unit.connection.execute(delete(DecisionRow).where(DecisionRow.operation_id.is_not(None)))
                    unit.connection.execute(delete(OperationRow))
                    _delete(unit.connection, list(self._touched))  # or they would look undecided until then
            self._touched.clear()
        if self._current:
            self._begin()

    def close(self) -> None:
        self._closed = True
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._guard:
            if self._store is not None:
                self._store.close()
                shutil.rmtree(self._store.folder, ignore_errors=True)
                self._store = None

    # --- copying ---

    def _work(self) -> None:
        while not self._closed:
            woken = self._wake.wait(EVERY)
            self._wake.clear()
            try:
                self._copy_due(again=not woken)
            except UserError as error:  # the server is away, or the disk is full
                log.info("Documents are not copied: %s", error)
            except Exception:
                log.exception("Documents are not copied")

    def _copy_due(self, *, again: bool) -> None:
        with self._reading() as unit:
            due = [self._current, *unit.connection.execute(_AFTER, {"current": self._current}).scalars()]
        due += sorted(self._stale.difference(due)) if again else []  # or the steps in them would never be forgotten
        due = [one for one in due if one not in self._held or (again and one in self._stale)]
        for start in range(0, len(due), PART):
            if self._closed or self._entered:
                return
            part = due[start : start + PART]
            self._stale.difference_update(part)  # those changed from now on are copied once more
            try:
                self._copy(part)
            except BaseException:
                self.changed(part)
                raise

    def _copy(self, ids: Sequence[int]) -> None:
        with self._reading() as unit:
            there = unit.connection
            last = there.execute(_LAST).scalar_one()
            whole = [(table, _all(there, table)) for table in _tables(WHOLE)] if not self._held else []
            parts = [(table, _rows(there, table, ids)) for table in _tables(IN_PARTS)]
        with self._guard:
            if self._entered or self._closed:
                return
            with self._opened().write() as unit:
                here = unit.connection
                _delete(here, ids)
                for table, rows in [*whole, *parts]:
                    if rows:
                        here.execute(insert(table).prefix_with("OR REPLACE"), rows)
            self._held.update(dict.fromkeys(ids, last))
            for step in tuple(self._recent):
                if not any(one in self._held and self._held[one] < step[0] for one in step[1]):
                    self._recent.remove(step)

    def _opened(self) -> SqlStore:
        if self._store is None:
            for left in self._folder.glob(f"{BEGINNING}*{SUFFIX}"):  # of killed processes
                with suppress(ProjectLockedError, UserError, OSError):
                    lock = ProjectLock(left)
                    lock.acquire()
                    lock.release()
                    shutil.rmtree(left, ignore_errors=True)
            place = self._folder / f"{BEGINNING}{uuid.uuid4().hex[:8]}{SUFFIX}"
            self._store = create_project(place, name="reserve")
            with self._store.write() as unit:  # these copies are replaced
                for name in unit.connection.execute(text(_TRIGGERS)).scalars().all():
                    unit.connection.execute(text(f"DROP TRIGGER {name}"))
                unit.connection.execute(delete(MetaRow))
        return self._store


_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
_LAST = select(func.coalesce(func.max(OperationRow.id), 0))
_AFTER = (
    select(DocumentRow.id)
    .where(DocumentRow.state != DocumentState.DONE.value, visible(), DocumentRow.id > bindparam("current"))
    .order_by(DocumentRow.id)
    .limit(AHEAD)
)


def _tables(rows: Sequence[type[Base]]) -> list[Table]:
    """Their tables, in an order in which they can be filled."""
    wanted = {one.__tablename__ for one in rows}
    return [one for one in Base.metadata.sorted_tables if one.name in wanted]


def _delete(conn: Connection, ids: Sequence[int]) -> None:
    for table in reversed(_tables(IN_PARTS)):
        if table.name != SourceFileRow.__tablename__:
            conn.execute(delete(table).where(_of_documents(table, ids)))


def _of_documents(table: Table, ids: Sequence[int]) -> Any:
    if table.name == DocumentRow.__tablename__:
        return table.c.id.in_(ids)
    if table.name == SourceFileRow.__tablename__:
        return table.c.id.in_(select(DocumentRow.file_id).where(DocumentRow.id.in_(ids)))
    if "document_id" in table.c:
        return table.c.document_id.in_(ids)
    return table.c.mention_id.in_(select(MentionRow.id).where(MentionRow.document_id.in_(ids)))


def _rows(conn: Connection, table: Table, ids: Sequence[int]) -> list[AnyRow]:
    """The rows, without references to operations and rounds, which are not copied."""
    columns = [null().label(one.name) if one.name == "operation_id" else one for one in table.columns]
    query = select(*columns).where(_of_documents(table, ids))
    if "round_id" in table.c:
        query = query.where(table.c.round_id.is_(None))
    return [dict(row) for row in conn.execute(query).mappings()]


def _all(conn: Connection, table: Table) -> list[AnyRow]:
    return [dict(row) for row in conn.execute(select(table)).mappings()]

"""The open project database: reading and writing units of work."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from curator.domain.decisions import Listener, Saving
from curator.domain.wording import ProjectClosedError, UserError, tr
from curator.services.ports.storage import Role
from curator.storage.curation.decisions import SqlDecisions
from curator.storage.curation.documents import SqlDocuments
from curator.storage.curation.files import SqlFiles
from curator.storage.curation.imports import SqlImports
from curator.storage.curation.links import SqlLinks
from curator.storage.curation.mentions import SqlMentions
from curator.storage.curation.mentions_in_context import SqlQueue
from curator.storage.curation.notes import SqlAttributes, SqlComments
from curator.storage.curation.operations import SqlOperations
from curator.storage.curation.records import SqlRecords
from curator.storage.curation.relations import SqlRelations
from curator.storage.curation.rounds import SqlRounds
from curator.storage.curation.suggestions import SqlSuggestions
from curator.storage.db.engine import ReadSource, reading_engine, writing_engine
from curator.storage.db.errors import as_user_errors
from curator.storage.db.lock import ProjectLock
from curator.storage.db.mark import WriteCount
from curator.storage.db.meta import SqlMeta
from curator.storage.db.syncing import Syncer
from curator.storage.db.turns import Turns
from curator.storage.kb.kb import SqlKnowledgeBase
from curator.storage.wrong_values import damage_behind, damage_of, is_of_reading


class SqlUnitOfWork:
    """The repositories over one connection inside one transaction; see `ports.UnitOfWork`.

    `pause` is called between the steps of a bulk load, see `SqlStore.write`. `connection` is for other SQL, such as
    inspecting the database; its changes are part of the same transaction.
    """

    def __init__(self, conn: Connection, *, pause: Callable[[], None] | None = None) -> None:
        self.connection = conn
        self.files = SqlFiles(conn)
        self.imports = SqlImports(conn)
        self.documents = SqlDocuments(conn)
        self.mentions = SqlMentions(conn)
        self.comments = SqlComments(conn)
        self.attributes = SqlAttributes(conn)
        self.relations = SqlRelations(conn)
        self.operations = SqlOperations(conn)
        self.decisions = SqlDecisions(conn)
        self.links = SqlLinks(conn)
        self.kb = SqlKnowledgeBase(conn, pause=pause)
        self.suggestions = SqlSuggestions(conn)
        self.queue = SqlQueue(conn)
        self.rounds = SqlRounds(conn)
        self.records = SqlRecords(conn)
        self.meta = SqlMeta(conn)


class SqlStore:
    """See `ports.Store`. `lock` is the held write lock; None makes the store read-only. `unclean`: which end
    without closing the project has behind it, see `unclean_end`."""

    team = None

    def __init__(
        self,
        folder: Path,
        database: Path,
        source: ReadSource,
        *,
        lock: ProjectLock | None,
        unclean: str = "",
    ) -> None:
        self._folder = folder
        self._database = database
        self._source = source
        self._lock = lock
        self.unclean = unclean
        self._turns = Turns()
        self._reader = reading_engine(source)
        self._writer: Engine | None = writing_engine(database) if lock else None
        self.refuge: Callable[[Callable[[Path], None]], Path] | None = None
        """Makes a backup with a function that copies the open database to a file, see `Backups.rescue`."""
        self._syncer = Syncer(database, self._turns, unclean=unclean, keep=self._keep)
        self._closed = False
        self._written = 0

    @property
    def written(self) -> int:
        return self._written

    @property
    def read_only(self) -> bool:
        return self._lock is None

    @property
    def sole(self) -> bool:
        return self._lock is not None

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def place(self) -> Path:
        return self._folder

    @property
    def role(self) -> Role:
        return Role.OWNER

    @property
    def person(self) -> str:
        """A folder asks for no login."""
        return ""

    @property
    def contended(self) -> bool:
        """Whether a writer is waiting for its turn."""
        return self._turns.contended

    @contextmanager
    def read(self) -> Iterator[SqlUnitOfWork]:
        """A unit with a snapshot of the database; its iterators end with it."""
        self._check_open()
        with as_user_errors(self._database), self._reader.connect() as conn, damage_behind(conn):
            yield SqlUnitOfWork(conn)

    @contextmanager
    def write(self) -> Iterator[SqlUnitOfWork]:
        """A unit that survives the program's end once the block has ended, and is on disk moments later; `settle` waits
        for that. Writers take turns in order of arrival.

        Raises UserError, before anything is written, while earlier writes cannot be synced.

        Only `kb.add`, whose rows are invisible before `kb.activate`, commits in between if another thread is waiting,
        so that a bulk load does not delay decisions.
        """
        if self._writer is None:
            raise UserError(tr("{folder} is open read-only. Open it for writing to change it.", folder=self._folder))
        self._syncer.check()
        with self._turns.turn():
            self._check_open()
            with as_user_errors(self._database), self._writer.connect() as conn, damage_behind(conn):
                conn.begin()
                count = _count_of(conn)
                try:
                    yield SqlUnitOfWork(conn, pause=partial(self._pause, conn, count))
                    count.add()
                    conn.commit()
                except BaseException:
                    with suppress(SQLAlchemyError):
                        conn.rollback()
                    raise
                self._written += 1
            self._syncer.ask()

    def settle(self) -> None:
        """Wait until all writes are on disk. Raises UserError if the disk fails."""
        self._syncer.settle()

    @property
    def saving(self) -> Saving:
        return self._syncer.saving

    def on_saving(self, listener: Listener) -> Callable[[], None]:
        return self._syncer.listen(listener)

    def damage(self, error: BaseException) -> UserError | None:
        if self._closed or not is_of_reading(error):
            return None
        with self._reader.connect() as conn:
            return damage_of(error, conn)

    def close(self) -> None:
        """Wait for a writing unit and the disk, then close the files and release the lock; idempotent.

        Raises UserError, after everything is closed, if the last writes failed.
        """
        with self._turns.turn():
            if self._closed:
                return
            self._closed = True
            self._syncer.close()
            self._reader.dispose()
            if self._writer is not None:
                self._writer.dispose()  # last, so that SQLite checkpoints the WAL
            if self._writer is not None:
                self._syncer.finish()
        if self._source.copy is not None:
            self._source.copy.cleanup()
        if self._lock is not None:
            self._lock.release()
        self._syncer.check()

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pause(self, conn: Connection, count: WriteCount) -> None:
        if self.contended:
            count.add()
            conn.commit()
            self._syncer.ask()
            self._turns.give_way()
            conn.begin()

    def _keep(self) -> Path | None:
        """Make a backup through a connection that has the database open; None if there is no place for it. Raises
        OSError and UserError."""
        return None if self.refuge is None else self.refuge(self._copy)

    def _copy(self, copy: Path) -> None:
        assert self._writer is not None
        with as_user_errors(copy), closing(sqlite3.connect(copy)) as target:
            conn = self._writer.raw_connection()
            try:
                assert isinstance(conn.driver_connection, sqlite3.Connection)
                conn.driver_connection.backup(target)
            finally:
                conn.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ProjectClosedError(f"{self._folder} has been closed")


def _count_of(conn: Connection) -> WriteCount:
    raw = conn.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return WriteCount(raw)

"""SQLite connections: one for writing, and any number for reading, which never block."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import Compiled
from sqlalchemy.pool import QueuePool
from sqlalchemy.util import LRUCache

from curator.domain.wording import DamagedProjectError, tr
from curator.storage.db.errors import UNREAD, as_user_errors, disk_failed, is_unread
from curator.storage.db.lock import is_locked
from curator.storage.db.sqlite_files import before_opening, check_room
from curator.temporary import prefix_of

BUSY_MS = 5000  # another program (a backup, a viewer) may hold the file for a moment
FULL_CHECK_BYTES = 32 * 2**20  # checked completely at opening up to this size, beyond it only the curation records
FOLD_BYTES = 4 * 2**20
"""A log of this size is checkpointed and truncated by `syncing` when nobody writes for a moment."""
WAL_PAGES = 16_384  # of 4 KB: done by the writer if there was no such moment, as in a bulk load
_NO_SHARED_MEMORY = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}
"""SQLite's errors if the `-shm` file cannot be created: no permission, a read-only disk, a full one."""
_RECORD_TABLES = ("meta", "source_files", "documents", "operations", "decisions", "kb_versions")


@dataclass(frozen=True, slots=True)
class ReadSource:
    """How readers reach the database; `copy` is a temporary copy that is deleted when the store is closed."""

    uri: str
    copy: TemporaryDirectory[str] | None = None


class _Statements(LRUCache[object, Compiled]):
    """The compiled statements of all connections. SQLAlchemy's own keys begin with the engine's dialect, so they would
    not be shared; all databases here have the same one."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, statement: Compiled) -> None:
        super().__setitem__(key[1:], statement)


_STATEMENTS = _Statements(1000)


def connect(uri: str, *, writable: bool) -> sqlite3.Connection:
    """A connection without implicit transactions, usable by one thread at a time."""
    conn = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    try:
        conn.execute("PRAGMA trusted_schema = OFF")  # a project may come from an untrusted source
        conn.execute("PRAGMA foreign_keys = ON")
        conn.execute("PRAGMA temp_store = MEMORY")
        conn.execute("PRAGMA cache_size = -32000")
        if writable:
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute("PRAGMA synchronous = NORMAL")  # the log is synced after each commit by `syncing`
            conn.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            conn.execute(f"PRAGMA journal_size_limit = {FOLD_BYTES}")  # the size to which a restarted log is truncated
        else:
            conn.execute("PRAGMA query_only = ON")
    except BaseException:
        conn.close()  # Windows neither renames nor removes a file that is open
        raise
    return conn


def writing_engine(path: Path) -> Engine:
    """An engine whose transactions take SQLite's write lock at their beginning; the store gives turns."""
    uri = f"{path.absolute().as_uri()}?mode=rw"

    def opened() -> sqlite3.Connection:
        before_opening(path)
        return connect(uri, writable=True)

    return _engine(opened, begin="BEGIN IMMEDIATE", size=2)


def reading_engine(source: ReadSource) -> Engine:
    """An engine whose transactions each see one state of the database, regardless of concurrent writes."""
    return _engine(lambda: connect(source.uri, writable=False), begin="BEGIN", size=4)


def _engine(creator: Callable[[], sqlite3.Connection], *, begin: str, size: int) -> Engine:
    engine = create_engine("sqlite+pysqlite://", creator=creator, poolclass=QueuePool, pool_size=size, max_overflow=-1)
    engine = engine.execution_options(compiled_cache=_STATEMENTS)

    def start_transaction(conn: Connection) -> None:
        conn.exec_driver_sql(begin)

    event.listen(engine, "begin", start_transaction)
    return engine


def find_read_source(path: Path) -> ReadSource:
    """The way to read `path` without writing, even if the folder is not writable.

    Reading in WAL mode needs the `-shm` file next to the database. If it neither exists nor can be created (an
    unwritable folder, a full disk), the database is read as immutable, or from a copy if decisions are still in its
    WAL.
    """
    plain = ReadSource(f"{path.absolute().as_uri()}?mode=ro")
    before_opening(path)
    try:
        if _has_room(path.parent) and _is_readable(plain.uri):
            return plain
    except UnicodeDecodeError as error:  # SQLite's message quotes the unreadable part of the schema
        raise DamagedProjectError(tr("{path} is damaged ({found}).", path=path, found=error.reason)) from error
    wal = path.with_name(f"{path.name}-wal")
    with as_user_errors(path):
        if wal.exists() and wal.stat().st_size > 0:
            return _copy_of(path, wal)
    return ReadSource(f"{path.absolute().as_uri()}?immutable=1")


def _has_room(folder: Path) -> bool:
    """Whether the `-shm` file can be written: it is there if somebody writes, which is asked last, because asking takes
    the lock for a moment."""
    try:
        check_room(folder)
    except OSError:
        return is_locked(folder)
    return True


def _is_readable(uri: str) -> bool:
    try:
        conn = sqlite3.connect(uri, uri=True, isolation_level=None)
    except sqlite3.OperationalError:
        return False
    try:
        conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in _NO_SHARED_MEMORY:
            return False
        raise
    finally:
        conn.close()
    return True


def _copy_of(path: Path, wal: Path) -> ReadSource:
    folder = TemporaryDirectory(prefix=prefix_of("read"))
    copy = Path(folder.name) / path.name
    shutil.copyfile(path, copy)
    shutil.copyfile(wal, copy.with_name(wal.name))
    return ReadSource(f"{copy.as_uri()}?mode=ro", folder)


def check_health(conn: sqlite3.Connection, path: Path) -> None:
    """Check the whole database, or, for a large one, the curation records. Raises DamagedProjectError."""
    with as_user_errors(path):
        small = path.stat().st_size <= FULL_CHECK_BYTES
        pragmas = ["PRAGMA quick_check(1)"] if small else [f"PRAGMA quick_check('{name}')" for name in _RECORD_TABLES]
        for pragma in pragmas:
            found = str(conn.execute(pragma).fetchone()[0])
            if found != "ok":
                if is_unread(found):
                    raise disk_failed(path, UNREAD)
                lines = [one for one in found.splitlines() if not one.startswith("***")]  # which name the database
                raise DamagedProjectError(
                    tr("{path} is damaged ({found}).", path=path, found="; ".join(lines) or found)
                )

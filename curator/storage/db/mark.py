"""The high-water mark: a small file next to the database that records the last saved step.

A database whose write-ahead log was deleted or truncated, or that was replaced by an older copy, is consistent in
itself: only an external record shows that later steps are missing. The mark is written in place, in one piece, after
each sync of the log; only the first time in a session is it synced itself. A power failure may leave an older mark,
never one that claims more than is on disk. An unreadable or unwritable mark does not stop the program.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import stat
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import blake2b, file_digest
from pathlib import Path

from curator.domain.wording import MissingStepsError, ntr, tr
from curator.foreign_files import read_small
from curator.storage.db.hash_chain import broken_decisions, broken_operations

log = logging.getLogger(__name__)
NAME = "project.mark"
LENGTH = 1024  # bytes, padded with spaces
MOST_BYTES = 16 * 2**20  # a database of up to this size is hashed when it is closed: some 30 ms at its next opening
LAST = 50  # steps are compared with their hashes at every opening
_TOP = """SELECT (SELECT max(id) FROM operations), (SELECT hash FROM operations ORDER BY id DESC LIMIT 1),
    (SELECT max(CAST(value AS INTEGER), 0) FROM meta WHERE key = 'storage.writes')"""
WRITES = "storage.writes"
"""The key in `meta` of the number of committed transactions, see `WriteCount`."""
_COUNT = """INSERT INTO meta (key, value) VALUES ('storage.writes', '1') ON CONFLICT (key)
    DO UPDATE SET value = min(max(CAST(value AS INTEGER), 0), 4611686018427387904) + 1"""


@dataclass(frozen=True, slots=True)
class Top:
    """The last step with its hash, in hexadecimal, and the number of committed transactions with a change, which shows
    that changes without steps are lost with a log."""

    operation: int = 0
    hash: str = ""
    written: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """The state on disk `at` a time (ISO 8601, local). `digest` is the SHA-256 of a small database when the project was
    closed properly, else ''. `unclean` is the `at` of the last mark that an end without closing left; it stays when the
    project is closed properly later, since that repairs nothing."""

    top: Top
    at: str
    closed: bool
    digest: str = ""
    unclean: str = ""


LONGEST = 32  # characters of a time; a stranger's could be so long that the mark has no room for it
UNMARKED = "unmarked "
"""Before the time at which a project with contents was opened without a mark, in the place of its unclean end."""


def unclean_end(mark: Mark | None) -> str:
    """Which end without closing the project has behind it, as the time of its mark; '' if there was none. For a mark
    that was read before the project is opened."""
    if mark is None:
        return ""
    return (mark.unclean if mark.closed else mark.at)[:LONGEST]


class WriteCount:
    """Counts the transactions of a writing connection in the database itself, as a part of each. Only the number shows
    that changes without rows of their own, such as those of guidelines or of a filter, are lost with a log."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._before = conn.total_changes

    def add(self) -> None:
        """Call it before each commit; a transaction without changes is not counted. Raises sqlite3.Error."""
        if self._conn.total_changes != self._before:
            self._conn.execute(_COUNT)
            self._before = self._conn.total_changes


def top_of(conn: sqlite3.Connection) -> Top:
    """Raises sqlite3.Error if the database cannot be read."""
    step, step_hash, written = conn.execute(_TOP).fetchone()
    return Top(step or 0, _hex(step_hash), written or 0)


def end_without_mark(conn: sqlite3.Connection) -> str:
    """The unclean end of a project without a mark; '' if nothing was saved in it. Raises sqlite3.Error."""
    return "" if top_of(conn) == Top() else f"{UNMARKED}{datetime.now().isoformat(timespec='seconds')}"


def _hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else ""


def read_mark(folder: Path) -> Mark | None:
    """The mark of the project in `folder`; None if there is none, or if it is unreadable or impossible: it may come
    from a stranger. A failed read is tried again: without the mark, missing steps are not noticed, now or later."""
    for _ in range(2):
        try:
            data = json.loads(read_small(folder / NAME, LENGTH))
            if data.pop("sum") != _sum(data):
                return None
            top = Top(**data["top"])
            if not all(type(one) is int and 0 <= one < 2**63 for one in (top.operation, top.written)):
                return None
            return Mark(top, str(data["at"]), bool(data["closed"]), str(data["digest"]), str(data["unclean"]))
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("the mark of what is saved could not be read: %s", error)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
    return None


def write_mark(database: Path, top: Top, *, closed: bool = True, unclean: str = "", sync: bool = True) -> None:
    """Write the mark in place, never through a link; a file with another hard link, as in a hard-linked copy of the
    folder, is replaced. Raises OSError."""
    path = database.with_name(NAME)
    with suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            path.unlink()
    at = datetime.now().astimezone().isoformat(timespec="milliseconds")
    digest = digest_of(database) if closed else ""
    data = {"top": asdict(top), "at": at, "closed": closed, "digest": digest, "unclean": unclean[:LONGEST]}
    text = json.dumps({**data, "sum": _sum(data)}, separators=(",", ":")).encode()
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):  # if the system has them
        flags |= getattr(os, name, 0)
    file = os.open(path, flags, 0o666)
    try:
        os.write(file, text.ljust(LENGTH - 1) + b"\n")
        if sync:
            os.fsync(file)
    finally:
        os.close(file)


class Marker:
    """Writes the mark of `database` while it is open. `look` and `note` are called by the thread that syncs. `unclean`:
    see `unclean_end`."""

    def __init__(self, database: Path, unclean: str = "") -> None:
        self._database = database
        self._unclean = unclean
        self._conn: sqlite3.Connection | None = None
        self._noted: Top | None = None

    def look(self) -> Top | None:
        """The committed state; call it before the sync."""
        try:
            if self._conn is None:
                uri = f"{self._database.absolute().as_uri()}?mode=ro"
                self._conn = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
            return top_of(self._conn)
        except sqlite3.Error:
            log.warning("the end of the steps could not be read", exc_info=True)
            return None

    def note(self, top: Top | None) -> None:
        """Record that `top` is on disk."""
        if top is not None and top != self._noted:
            self._write(top, closed=False, sync=self._noted is None)

    def rest(self) -> None:
        """Close the connection; close the last of the database's connections after this."""
        with suppress(sqlite3.Error):
            if self._conn is not None:
                self._conn.close()
        self._conn = None

    def finish(self) -> None:
        """The database was closed properly."""
        if self._noted is not None:
            self._write(self._noted, closed=True, sync=True)

    def _write(self, top: Top, *, closed: bool, sync: bool) -> None:
        """`sync`: a failure of the power must not leave the mark of an earlier, closed session."""
        try:
            write_mark(self._database, top, closed=closed, unclean=self._unclean, sync=sync)
            self._noted = top
        except OSError as error:
            log.warning("the mark of what is saved could not be written: %s", error)


def digest_of(database: Path) -> str:
    """The digest of a database that this process does not write; '' if it is large, or if a part is still in its log.
    Raises OSError."""
    log_file = database.with_name(f"{database.name}-wal")
    if (log_file.exists() and log_file.stat().st_size) or database.stat().st_size > MOST_BYTES:
        return ""
    with database.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def is_altered(database: Path, mark: Mark | None) -> bool:
    """Whether the file differs from the one that was closed; False if unknown. Call it only while nobody has the
    project's lock, or before the database is opened."""
    if mark is None or not mark.digest:
        return False
    try:
        same = digest_of(database) in ("", mark.digest)
    except OSError:
        return False
    return not same and read_mark(database.parent) == mark  # another process may have opened it meanwhile


def _sum(data: dict[str, object]) -> str:
    return blake2b(json.dumps(data, sort_keys=True).encode(), digest_size=8).hexdigest()


# Finding missing steps.

MISSING = (
    "{path} lacks {steps}, saved until {until}; the last one that is left is of {since}. The write-ahead log was "
    "deleted or cut, or the file was replaced by an older copy."
)
NONE_LEFT = (
    "{path} lacks everything that was saved until {until}: {steps}. The write-ahead log was deleted or cut, or the "
    "file was replaced by an older copy."
)
CHANGED = "{path} does not hold the steps that were saved until {until}: the last ones are others, or were changed."
LESS = (
    "{path} lacks changes that were saved until {until}, for example imports, comments, relations, rounds or "
    "guidelines. The write-ahead log was deleted or cut, or the file was replaced by an older copy."
)
REWRITTEN = (
    "{path} was changed by something other than Curator since it was closed on {until}, or the disk has damaged it. "
    "If you did not change it, restore a backup."
)
ALTERED = "{path} is damaged: the last steps are not as they were saved."


def check_mark(conn: sqlite3.Connection, path: Path, mark: Mark | None, *, altered: bool = False) -> None:
    """Compare the open database `path` with its mark, and its last steps with their hashes. `altered`: see
    `is_altered`.

    Raises MissingStepsError, with the missing steps and the time, and sqlite3.Error.
    """
    if mark is not None:
        _compare(conn, path, mark)
        if altered:
            raise MissingStepsError(tr(REWRITTEN, path=path, until=local_time(mark.at)))
    broken = (*broken_operations(conn, last=LAST), *broken_decisions(conn, last=LAST))
    if any(one is not None for one in broken):
        raise MissingStepsError(tr(ALTERED, path=path))


def _compare(conn: sqlite3.Connection, path: Path, mark: Mark) -> None:
    top, now, until = mark.top, top_of(conn), local_time(mark.at)
    if now.operation < top.operation:
        steps = ntr("{n} step", "{n:,} steps", top.operation - now.operation)
        row = conn.execute("SELECT at FROM operations ORDER BY id DESC LIMIT 1").fetchone()
        since = local_time(row[0]) if row else ""
        raise MissingStepsError(tr(MISSING if row else NONE_LEFT, path=path, steps=steps, until=until, since=since))
    found = conn.execute("SELECT hash FROM operations WHERE id = ?", (top.operation,)).fetchone()
    if top.operation and (found is None or _hex(found[0]) != top.hash):
        raise MissingStepsError(tr(CHANGED, path=path, until=until))
    if now.written < top.written:
        raise MissingStepsError(tr(LESS, path=path, until=until))


def local_time(text: str) -> str:
    """An ISO time for display, in the computer's time zone; other text unchanged."""
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return text


def mark_as_it_is(database: Path) -> None:
    """Update the mark to the database. It keeps its unclean end, except that it was missing. Raises OSError,
    sqlite3.Error."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as conn:
        top = top_of(conn)
    unclean = unclean_end(read_mark(database.parent))
    write_mark(database, top, unclean="" if unclean.startswith(UNMARKED) else unclean)

"""The high-water mark: a small file next to the database that records the last saved step.

A database whose write-ahead log was deleted or truncated, or that was replaced by an older copy, is consistent in
itself: only an external record shows that later steps are missing. The mark is written in place, in one piece, after
each sync of the log and without a sync of its own. A power failure may leave an older mark, never one that claims more
than is on disk. An unreadable or unwritable mark does not stop the program.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import stat
import threading
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import blake2b, file_digest
from pathlib import Path

from curator.domain.wording import MissingStepsError, ntr, tr
from curator.storage.db.hash_chain import broken_decisions, broken_operations
from curator.storage.db.sqlite_files import opened_beside_sqlite

log = logging.getLogger(__name__)
NAME = "project.mark"
LENGTH = 1024  # bytes, padded with spaces; earlier versions read 512, enough for all but very large projects
MOST_BYTES = 512 * 2**20  # a database of up to this size is hashed when it is closed: 0.2 s for 100 MB
SMALL_BYTES = 4 * 2**20  # up to this size the hash is compared at every opening, otherwise in the background
LAST = 50  # steps are compared with their hashes at every opening
OF_STEPS = "SELECT hash FROM operations WHERE id = ?"
OF_DECISIONS = "SELECT hash FROM decisions WHERE id = ?"
_TOP = """SELECT (SELECT max(id) FROM operations), (SELECT hash FROM operations ORDER BY id DESC LIMIT 1),
    (SELECT id FROM decisions WHERE operation_id IS NOT NULL ORDER BY operation_id DESC, id DESC LIMIT 1),
    (SELECT hash FROM decisions WHERE operation_id IS NOT NULL ORDER BY operation_id DESC, id DESC LIMIT 1),
    (SELECT max(id) FROM judgements), (SELECT max(id) FROM mention_attributes), (SELECT max(id) FROM imports),
    (SELECT max(id) FROM comments), (SELECT max(id) FROM relations),
    (SELECT max(CAST(value AS INTEGER), 0) FROM meta WHERE key = 'storage.writes')"""
WRITES = "storage.writes"
"""The key in `meta` of the number of committed transactions, see `WriteCount`."""
_COUNT = """INSERT INTO meta (key, value) VALUES ('storage.writes', '1') ON CONFLICT (key)
    DO UPDATE SET value = min(max(CAST(value AS INTEGER), 0), 4611686018427387904) + 1"""
COUNTED = ("judgement", "attribute", "imported", "comment", "relation", "written")
"""The fields of `Top` without hashes. If a log was lost, a chain would show no more than these numbers."""


@dataclass(frozen=True, slots=True)
class Top:
    """The ids of the last rows of append-only tables, 0 for none; hashes are hexadecimal. `written` is the number of
    committed transactions with a change; 0 if only versions that do not count them wrote the database."""

    operation: int = 0
    operation_hash: str = ""
    decision: int = 0
    decision_hash: str = ""
    judgement: int = 0
    attribute: int = 0
    imported: int = 0
    comment: int = 0
    relation: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """The state on disk `at` a time (ISO 8601, local). `digest` is the SHA-256 of the database file when the project
    was closed properly; '' if it was not, or if it is larger than `MOST_BYTES`. `unclean` is the `at` of the last mark
    that an end without closing left; it stays when the project is closed properly later, since that repairs nothing."""

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
    """The last rows. Raises sqlite3.Error if the database cannot be read, or is of a version without hashes."""
    step, step_hash, decision, decision_hash, *others = conn.execute(_TOP).fetchone()
    return Top(step or 0, _hex(step_hash), decision or 0, _hex(decision_hash), *(one or 0 for one in others))


def end_without_mark(conn: sqlite3.Connection) -> str:
    """The unclean end of a project without a mark; '' if nothing was saved in it. Raises sqlite3.Error."""
    return "" if top_of(conn) == Top() else f"{UNMARKED}{datetime.now().isoformat(timespec='seconds')}"


def _hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else ""


def read_mark(folder: Path) -> Mark | None:
    """The mark of the project in `folder`; None if there is none, or if it is unreadable or impossible."""
    path = folder / NAME
    try:
        data = json.loads(_content(path))
        given = data.pop("sum")
        if given != _sum(data):
            return None
        top = Top(**data["top"], written=data.get("written", 0))
        if not _is_possible(top):
            return None
        return Mark(top, str(data["at"]), bool(data["closed"]), str(data["digest"]), str(data.get("unclean", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _content(path: Path) -> bytes:
    """Read once more where a read failed: without the mark, missing steps are not noticed, now or later. Nothing for
    anything but a file. Raises OSError."""
    for last in (False, True):
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return b""
            with path.open("rb") as file:
                return file.read(LENGTH)
        except FileNotFoundError:
            raise
        except OSError as error:
            log.warning("the mark of what is saved could not be read: %s", error)
            if last:
                raise
    raise AssertionError


def _is_possible(top: Top) -> bool:
    """Whether a database can have these rows: the mark may come from a stranger."""
    values = asdict(top).items()
    return all(
        isinstance(one, str) if name.endswith("hash") else type(one) is int and 0 <= one < 2**63 for name, one in values
    )


def write_mark(database: Path, top: Top, *, digest: str = "", unclean: str = "") -> None:
    """Write `top` to the mark of a closed database, and sync it. Raises OSError."""
    file = _open(database.with_name(NAME))
    try:
        _put(file, top, closed=True, digest=digest or digest_of(database), unclean=unclean)
        os.fsync(file)
    finally:
        os.close(file)


def reopen_mark(database: Path, mark: Mark | None) -> None:
    """Call it before the file changes: from now on the mark records only the last step. None: it records nothing, since
    after a restoration it would belong to another version of the file. Raises OSError."""
    if mark is None:
        database.with_name(NAME).unlink(missing_ok=True)
        return
    file = _open(database.with_name(NAME))
    try:
        _put(file, mark.top, closed=False, unclean=mark.unclean[:LONGEST])
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
        self._file: int | None = None
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
        if top is None or top == self._noted:
            return
        try:
            if self._file is None:
                self._file = _open(self._database.with_name(NAME))
            _put(self._file, top, closed=False, unclean=self._unclean)
            self._noted = top
        except OSError as error:
            log.warning("the mark of what is saved could not be written: %s", error)

    def sync(self) -> None:
        """Sync the mark before the database is written: after a power failure, the mark of the last closing next to a
        newer database would look like a change by another program."""
        with suppress(OSError):
            if self._file is not None:
                os.fsync(self._file)

    def rest(self) -> None:
        """Close the files; close the last of the database's connections after this."""
        with suppress(sqlite3.Error):
            if self._conn is not None:
                self._conn.close()
        self._conn = None
        self.sync()
        with suppress(OSError):
            if self._file is not None:
                os.close(self._file)
        self._file = None

    def finish(self, *, digest: str = "") -> None:
        """The database was closed properly. `digest`: the expected digest of the file when it was opened."""
        if self._noted is not None:
            try:
                write_mark(self._database, self._noted, digest=digest, unclean=self._unclean)
            except OSError as error:
                log.warning("the mark of what is saved could not be written: %s", error)


def _open(path: Path) -> int:
    """Open the mark, never through a link; a file with another hard link, as in a hard-linked copy of the folder, is
    replaced."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            path.unlink()
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):  # if the system has them
        flags |= getattr(os, name, 0)
    return os.open(path, flags, 0o666)


def digest_of(database: Path, *, whole: bool = False) -> str:
    """The digest of the file; '' if it is large, or if a part of the database is still in its log and `whole` is not
    set. Raises OSError."""
    log_file = database.with_name(f"{database.name}-wal")
    logged = not whole and log_file.exists() and log_file.stat().st_size > 0
    if logged or database.stat().st_size > MOST_BYTES:
        return ""
    with opened_beside_sqlite(database) as file:
        return file_digest(file, "sha256").hexdigest()


def _put(file: int, top: Top, *, closed: bool, digest: str = "", unclean: str = "") -> None:
    at = datetime.now().astimezone().isoformat(timespec="milliseconds")
    rows = asdict(top)
    written = rows.pop("written")  # earlier versions refuse an unknown field of `top`, and ignore others
    data: dict[str, object] = {"top": rows, "written": written, "at": at, "closed": closed, "digest": digest}
    if unclean:
        data["unclean"] = unclean
    text = json.dumps({**data, "sum": _sum(data)}, separators=(",", ":")).encode()
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, text.ljust(LENGTH - 1) + b"\n")


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


def check_mark(conn: sqlite3.Connection, path: Path, mark: Mark | None) -> None:
    """Compare the open database `path` with its mark, and its last steps with their hashes.

    Raises MissingStepsError, with the missing steps and the time, and sqlite3.Error.
    """
    if mark is not None:
        _compare(conn, path, mark)
        if path.stat().st_size <= SMALL_BYTES and is_altered(path, mark):
            raise MissingStepsError(tr(REWRITTEN, path=path, until=local_time(mark.at)))
    broken = (*broken_operations(conn, last=LAST), *broken_decisions(conn, last=LAST))
    if any(one is not None for one in broken):
        raise MissingStepsError(tr(ALTERED, path=path))


def is_altered(database: Path, mark: Mark) -> bool:
    """Whether the file differs from the one that was closed; False if unknown."""
    if not (mark.closed and mark.digest):
        return False
    try:
        same = digest_of(database) in ("", mark.digest)
    except OSError:
        return False
    return not same and read_mark(database.parent) == mark  # another process may have opened it meanwhile


def _compare(conn: sqlite3.Connection, path: Path, mark: Mark) -> None:
    top, now, until = mark.top, top_of(conn), local_time(mark.at)
    if now.operation < top.operation:
        steps = ntr("{n} step", "{n:,} steps", top.operation - now.operation)
        row = conn.execute("SELECT at FROM operations ORDER BY id DESC LIMIT 1").fetchone()
        since = local_time(row[0]) if row else ""
        raise MissingStepsError(tr(MISSING if row else NONE_LEFT, path=path, steps=steps, until=until, since=since))
    for query, row_id, wanted in (
        (OF_STEPS, top.operation, top.operation_hash),
        (OF_DECISIONS, top.decision, top.decision_hash),
    ):
        found = conn.execute(query, (row_id,)).fetchone()
        if row_id and (found is None or not isinstance(found[0], bytes) or found[0].hex() != wanted):
            raise MissingStepsError(tr(CHANGED, path=path, until=until))
    if any(getattr(now, name) < getattr(top, name) for name in COUNTED):
        raise MissingStepsError(tr(LESS, path=path, until=until))


def local_time(text: str) -> str:
    """An ISO time for display, in the computer's time zone; other text unchanged."""
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return text


class Watch:
    """Compares a large database file with its mark in a thread, while the project is already in use. Nothing may be
    written to the file, only to its log, until `wait` has returned."""

    def __init__(self, database: Path, mark: Mark | None) -> None:
        self.sentence = ""
        self.digest = ""
        self._thread: threading.Thread | None = None
        if mark is not None and mark.closed and mark.digest and database.stat().st_size > SMALL_BYTES:
            self._thread = threading.Thread(target=self._look, args=(database, mark), name="digest", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait for the end. Afterwards `sentence` and `digest` (the mark's) are empty if nothing was altered."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def accept(self) -> None:
        """Accept the changed file: it is not reported again."""
        self.wait()
        self.sentence = self.digest = ""

    def _look(self, database: Path, mark: Mark) -> None:
        with suppress(OSError):
            if digest_of(database, whole=True) not in ("", mark.digest):
                log.warning("the database was changed since it was closed")
                self.sentence, self.digest = tr(REWRITTEN, path=database, until=local_time(mark.at)), mark.digest


def mark_as_it_is(database: Path) -> None:
    """Update the mark to the database. It keeps its unclean end, except that it was missing. Raises OSError,
    sqlite3.Error."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as conn:
        top = top_of(conn)
    unclean = unclean_end(read_mark(database.parent))
    write_mark(database, top, unclean="" if unclean.startswith(UNMARKED) else unclean)

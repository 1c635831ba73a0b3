"""Copies the database while it is in use, and thins out old copies.

A copy is a snapshot, read in one transaction that blocks no writer. It is written in steps of a megabyte with pauses,
synced in parts so that no sync of a decision waits for a hundred megabytes, and checked before it gets its name.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

from curator.domain.wording import DamagedProjectError, UserError, tr
from curator.services.ports.safety import Backup, Checked
from curator.storage.db.errors import UNREAD, disk_error, disk_failed, is_unread
from curator.storage.db.hash_chain import broken_decisions, broken_operations
from curator.storage.db.mark import NAME as MARK_NAME
from curator.storage.db.mark import WRITES, top_of
from curator.storage.db.syncing import sync_file, sync_folder
from curator.storage.safety.backup_places import (
    SUFFIX,
    TIME,
    Place,
    backup_in,
    every,
    facts_of,
    made_at,
    place_of,
    set_facts,
    times,
    together,
)
from curator.storage.safety.checking import check_steps

log = logging.getLogger(__name__)
PAGES = 256
"""Pages copied in one step: a megabyte."""
SYNCED_PAGES = 2048
LAST = 10
DAYS = 30
"""The `LAST` backups are kept, and the newest one of each of the last `DAYS` days."""
SPARE = 200 * 2**20
"""Bytes that a backup leaves free on its disk."""
STALE = 3600
"""Age in seconds at which an incomplete copy counts as left by a killed program."""
DAY = timedelta(days=1)
CHECKED = "checked"
AFTER = "sound_after"
"""Facts next to the backups: the time of the last check, and the last unclean end after which one found nothing."""
_ONE_AT_A_TIME = threading.Lock()
"""For this process: the last backup of a session may coincide with the first of the next."""
DAMAGED = "{path} is damaged, so no backup was made of it; earlier ones are kept."
FAILED = (
    "No backup could be written to {folder}: {why}. Your work is not affected. Check the folder and its free space, or "
    "choose another folder in the settings."
)
NEWEST = (
    "The newest backup is of {when}: `curator restore` or opening the project in the window offers it. `curator "
    "salvage` writes the decisions that can still be read to a file."
)
ELSEWHERE = (
    "There is no backup of it that was made in this folder. The newest backup of a project with its identifier is of "
    "{when} and was made in {place}: `curator restore` or opening the project in the window offers it. `curator "
    "salvage` writes the decisions that can still be read to a file."
)
_CHANGING = (
    "SELECT max(id) FROM decisions",
    "SELECT max(id) FROM judgements",
    "SELECT max(id) FROM mention_attributes",
    "SELECT max(id) FROM imports",
    "SELECT max(id), sum(deleted) FROM comments",
    "SELECT count(*), sum(closed) FROM rounds",
    "SELECT count(*) FROM round_documents",
    "SELECT max(rowid), sum(deleted), group_concat(successor) FROM provisional_entities",
    "SELECT max(id), sum(deleted) FROM relations",
    "SELECT max(id), sum(active * id) FROM kb_versions",
    "SELECT count(*), sum(withdrawn) FROM source_files",
    "SELECT count(*), sum(revision) FROM documents",
    f"SELECT group_concat(key || '=' || value) FROM (SELECT * FROM meta WHERE key != '{WRITES}' ORDER BY key)",  # noqa: S608
)
"""Queries that show changes by curators other than steps. Suggestions can be recomputed, so the number of transactions,
which counts those that store them, is left out."""


def backups_of(folder: Path, root: Path) -> list[Backup]:
    """The backups of the project in `folder`, in any state: those of this location first, newest first. Raises
    UserError."""
    return every(place_of(folder, root))


def way_out(folder: Path, root: Path) -> str:
    """Sentences about the backups of a damaged project. Those of other copies are named if it has none of its own."""
    try:
        found = [one for one in backups_of(folder, root) if one.decisions is not None]
    except UserError as error:
        return str(error)
    if not found:
        return tr("There is no backup of it. `curator salvage` writes the decisions that can still be read to a file.")
    own = [one for one in found if one.is_of(folder)]
    newest = max(own or found, key=lambda one: one.at)
    return tr(NEWEST, when=newest.when) if own else tr(ELSEWHERE, when=newest.when, place=newest.place)


class Backups:
    """See `ports.BackupStore`. `root` and `most` (bytes; 0: no backups) are read from the settings each time. `unclean`
    says which end without closing the project has behind it, see `unclean_end`: until a check without findings has
    followed it, a check is due."""

    def __init__(self, folder: Path, *, root: Callable[[], Path], most: Callable[[], int], unclean: str = "") -> None:
        self._folder = folder
        self._opened = place_of(folder, root())  # while it is certain that the folder says which project it is
        self._root = root
        self._most = most
        self._unclean = unclean

    @property
    def wanted(self) -> bool:
        return self._most() > 0

    @property
    def place_warning(self) -> str:
        return together(self._place)

    def all(self) -> list[Backup]:
        return every(self._place)

    def newest(self) -> datetime | None:
        with suppress(OSError):
            found = times(self._place.own)
            return made_at(found[-1][1], found[-1][0]) if found else None
        return None

    def make(self, rest: Callable[[], None]) -> Backup | None:
        with _ONE_AT_A_TIME:
            return self._make(rest)

    def _make(self, rest: Callable[[], None]) -> Backup | None:
        most, place, database = self._most(), self._place, self._folder / "project.sqlite"
        if most == 0 or not self._folder.is_dir():  # the store says what happened to the folder
            return None
        part = place.own / f"{os.getpid()}.part"
        try:
            set_facts(place)
            _remove_stale(place.own)
            if not _copy(database, part, times(place.own), rest):
                return None
            _check(part, database)
            final = _finished(part, place.own)
        except (OSError, sqlite3.Error) as error:
            raise _failure(error, database, place.own) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        with suppress(OSError):  # removed next time
            thin_out(place.own, most=most, now=datetime.now(UTC))
        log.info("a backup was written to %s", final)
        named = datetime.strptime(final.stem, TIME).replace(tzinfo=UTC)
        with suppress(FileNotFoundError):
            return backup_in(final, named, place.folder)
        return None

    def check_due(self, now: datetime) -> bool:
        facts = facts_of(self._place.own)
        if self._unclean and facts.get(AFTER) != self._unclean:
            return True
        try:
            since = now - datetime.fromisoformat(str(facts.get(CHECKED)))
            return abs(since) > DAY  # in the future: the clock was set back
        except (ValueError, TypeError):
            return True

    def check(self, rest: Callable[[], None]) -> Checked:
        steps = check_steps(self._folder)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: Checked = end.value
                break
            rest()
        facts = {CHECKED: datetime.now(UTC).isoformat()}
        if self._unclean and all(one.where == MARK_NAME for one in found.findings):  # which is said once
            facts[AFTER] = self._unclean
        with suppress(OSError):
            set_facts(self._place, **facts)
        return found

    def rescue(self, copy: Callable[[Path], None]) -> Path:
        """Make a backup of a database whose folder is gone, also where the settings ask for none. `copy` copies it to a
        file. Returns the backup's path, or that of the newest if it is equal. Raises OSError and UserError, also if the
        copy is damaged."""
        place = self._place
        part = place.own / f"{os.getpid()}.part"
        with _ONE_AT_A_TIME:
            try:
                set_facts(place)
                part.unlink(missing_ok=True)
                copy(part)
                with closing(sqlite3.connect(part, isolation_level=None)) as conn:
                    conn.execute("PRAGMA journal_mode = DELETE")  # a single complete file
                _check(part, self._folder)
                earlier = times(place.own)
                if earlier and _signature_of(part) == _signature_of(earlier[-1][1]):
                    return earlier[-1][1]
                return _finished(part, place.own)
            except sqlite3.Error as error:
                raise _failure(error, self._folder, place.own) from error
            finally:
                with suppress(OSError):
                    part.unlink(missing_ok=True)

    @property
    def _place(self) -> Place:
        return replace(self._opened, root=self._root())


def _failure(error: OSError | sqlite3.Error, database: Path, folder: Path) -> UserError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return disk_error(error, database) or DamagedProjectError(tr(DAMAGED, path=database))
    why = error.strerror if isinstance(error, OSError) and error.strerror else error
    return UserError(tr(FAILED, folder=folder, why=why))


def _copy(database: Path, part: Path, earlier: list[tuple[datetime, Path]], rest: Callable[[], None]) -> bool:
    """Write a copy; False, with nothing written, if the newest backup is equal. Raises UserError without space."""
    part.unlink(missing_ok=True)
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as source:
        source.execute("BEGIN")
        now = _signature(source)  # this read starts the snapshot; otherwise each commit would restart the copy
        if earlier and now == _signature_of(earlier[-1][1]):
            return False
        _check_space(database, part.parent)
        with closing(sqlite3.connect(part, isolation_level=None)) as target:
            target.execute("PRAGMA synchronous = OFF")
            synced = 0

            def progress(_status: int, remaining: int, total: int) -> None:
                nonlocal synced
                if total - remaining - synced >= SYNCED_PAGES:
                    synced = total - remaining
                    sync_file(part)
                rest()

            source.backup(target, pages=PAGES, progress=progress)
            target.execute("PRAGMA journal_mode = DELETE")  # a single complete file
    return True


def _signature(conn: sqlite3.Connection) -> str:
    facts = [repr(replace(top_of(conn), written=0)), *(repr(conn.execute(query).fetchone()) for query in _CHANGING)]
    return blake2b(json.dumps(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _signature_of(backup: Path) -> str:
    """The signature of a database; '' if it cannot be read."""
    try:
        uri = f"{backup.absolute().as_uri()}?immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as conn:
            return _signature(conn)
    except sqlite3.Error:
        return ""


def _check(part: Path, database: Path) -> None:
    """Check a copy, since a damaged one must not replace a sound one. Raises DamagedProjectError."""
    damaged = tr(DAMAGED, path=database)
    try:
        with closing(sqlite3.connect(f"{part.absolute().as_uri()}?immutable=1", uri=True)) as conn:
            found = str(conn.execute("PRAGMA quick_check(1)").fetchone()[0])
            if is_unread(found):
                raise disk_failed(part, UNREAD)
            sound = found == "ok"
            broken = (*broken_operations(conn, last=1000), *broken_decisions(conn, last=1000))
            sound = sound and all(one is None for one in broken)
    except (sqlite3.Error, TypeError, ValueError) as error:
        raise disk_error(error, part) or DamagedProjectError(damaged) from error
    if not sound:
        raise DamagedProjectError(damaged)


def _check_space(database: Path, folder: Path) -> None:
    needed = database.stat().st_size
    if shutil.disk_usage(folder).free < needed + SPARE:
        raise UserError(
            tr(
                "No backup was made: {folder} has less free space than the {size} MB that it needs. Your work is not "
                "affected. Free some space, or choose another folder in the settings.",
                folder=folder,
                size=f"{(needed + SPARE) / 1e6:,.0f}",
            )
        )


def _finished(part: Path, folder: Path) -> Path:
    """Give a complete copy its name, on disk. Raises OSError."""
    sync_file(part)
    final = _free_name(folder)
    part.replace(final)
    sync_folder(folder)
    return final


def _remove_stale(folder: Path) -> None:
    for path in folder.glob("*.part*"):
        with suppress(OSError):
            if abs(time.time() - path.stat().st_mtime) > STALE:
                path.unlink()


def thin_out(folder: Path, *, most: int, now: datetime) -> None:
    """Remove backups that are neither among the `LAST` nor the newest of one of the last `DAYS` days; then the oldest,
    until at most `most` bytes are left. The newest is always kept. Raises OSError."""
    found = times(folder)
    kept = {path for _, path in found[-LAST:]}
    newest = {at.date(): path for at, path in ((made_at(path, named), path) for named, path in found)}
    kept |= {path for day, path in newest.items() if now.date() - day <= DAYS * DAY}
    sizes = {path: path.stat().st_size for path in kept}
    for _, path in found[:-1]:
        if path in kept and sum(sizes.values()) > most:
            del sizes[path]
    for _, path in found:
        if path not in sizes:
            path.unlink(missing_ok=True)


def _free_name(folder: Path) -> Path:
    """The name for the current second, or for the one after the newest backup's, so that none is replaced and names are
    in order even if the clock is set back."""
    at, found = datetime.now(UTC), times(folder)
    if found:
        at = max(at, found[-1][0] + timedelta(seconds=1))
    return folder / f"{at.strftime(TIME)}{SUFFIX}"

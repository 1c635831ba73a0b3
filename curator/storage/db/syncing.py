"""Syncs commits to disk, in its own thread, so that no key waits for the disk.

A commit appends to SQLite's write-ahead log. From then on no end of the program can lose it, but a power failure can,
until the log is on disk. `fsync` takes a millisecond, or seconds if another program (a training that writes a
checkpoint) keeps the disk busy.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from datetime import datetime
from pathlib import Path

from curator.boundary import logged
from curator.domain.decisions import Listener, Saving
from curator.domain.wording import UserError, tr
from curator.storage.db.engine import FOLD_BYTES, connect
from curator.storage.db.errors import as_user_errors
from curator.storage.db.mark import Marker
from curator.storage.db.sqlite_files import identity, is_another
from curator.storage.db.turns import Turns

log = logging.getLogger(__name__)
QUIET = 0.25
"""Seconds without a commit after which a long log is checkpointed, between two key presses."""
SLOW = 0.1
"""If a sync takes at least this many seconds, the disk is busy: a key during a checkpoint would wait as long."""
RETRY = 2.0
"""Seconds between two attempts while the disk fails."""
FAILED = (
    "{path} could not be saved to disk: {why}. Your last decisions are in memory but not yet on disk, "
    "and no more are accepted until they are. Check the disk and its free space; saving is tried again "
    "every few seconds."
)
GONE = (
    "{path} was moved, deleted or replaced while the project was open, and no more decisions are accepted. {where} "
    "Move it back to continue, or close the project and open it at its new place. If it was deleted or replaced, close "
    "the project and open it again, or restore a backup."
)
KEPT = "Everything up to now is in the backup {copy}."
NOT_KEPT = "The last decisions may not yet be on disk."
PATROL = 60.0
"""Seconds without a commit after which the database is checked to be still the file of its name."""


class Syncer:
    """Syncs the log of `database` soon after each `ask`; `settle` waits for all requests.

    A long log is checkpointed and truncated in the writer's turn: SQLite up to 3.51.2 can lose commits if a checkpoint
    of one connection coincides with a commit of another (its "WAL-reset" bug).
    """

    def __init__(
        self,
        database: Path,
        turns: Turns,
        *,
        unclean: str = "",
        keep: Callable[[], Path | None] = lambda: None,
    ) -> None:
        """`unclean`: see `unclean_end`. `keep` makes a backup of the open database, even if it has no name any more; it
        returns the backup's path, or None if there is no place for it, and raises OSError and UserError."""
        self._database = database
        self._keep = keep
        self._file = identity(database)
        self._kept: tuple[int, UserError] | None = None
        self._turns = turns
        self._log = database.with_name(f"{database.name}-wal")
        self._log_file: tuple[int, int] | None = None
        self._marker = Marker(database, unclean)
        self._changed = threading.Condition()
        self._saving = Saving()
        self._failure: UserError | None = None
        self._begun = self._ended = 0  # attempts
        self._due = self._long = self._closed = self._stopped = False
        self._thread: threading.Thread | None = None
        self._listeners: list[Listener] = []

    @property
    def saving(self) -> Saving:
        return self._saving

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener`, in this object's thread, after every sync; returns the function that ends this."""
        self._listeners.append(listener)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def ask(self) -> None:
        """Request a sync of all commits; returns at once. The caller has the writer's turn."""
        if self._log_file is None:
            self._log_file = identity(self._log)
        with self._changed:
            now = self._saving
            self._saving = Saving(now.asked + 1, now.done, now.at, now.why)
            self._due = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sync", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def check(self) -> None:
        """Raises UserError if the last sync failed, until one succeeds."""
        if self._failure is not None:
            raise self._failure

    def settle(self) -> None:
        """Wait until all requested data are on disk. Raises UserError if the disk fails."""
        with self._changed:
            upto, begun = self._saving.asked, self._begun
            if not self._saving.holds(upto):
                self._due = True
                self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._saving.holds(upto) or self._stopped or (self._failure is not None and self._ended > begun)
            )
        self.check()

    def close(self) -> None:
        """Sync the rest and end the thread; the caller has the writer's turn."""
        with self._changed:
            self._closed = True
            self._due = self._due or not self._saving.holds(self._saving.asked) or self._is_gone()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._marker.rest()

    def finish(self) -> None:
        """The database was closed properly, after `close`."""
        if self._failure is None:
            self._marker.finish()

    def fold(self) -> bool:
        """Copy the log into the database, sync it and truncate the log, in the writer's turn.

        Returns at once, without doing so, while somebody writes. True if the whole log is in the database; it keeps its
        length while a reader uses it. If folding fails nothing is lost, and the writer tries again.
        """
        with self._turns.turn_if_free() as mine:
            return mine and self._folded()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._due or self._closed, self._patience())
                if self._closed and not self._due:
                    self._stopped = True
                    self._changed.notify_all()
                    return
                attempt = self._due or self._failure is not None
                self._due, upto = False, self._saving.asked
                self._begun += attempt
            if attempt or self._is_gone():
                self._attempt(upto)
            elif self._long:  # nothing was committed for a while
                self._long = False
                with logged(log, "The log of the database was not folded"):
                    self.fold()

    def _patience(self) -> float:
        """How long to wait for the next commit."""
        return RETRY if self._failure is not None else QUIET if self._long else PATROL

    def _attempt(self, upto: int) -> None:
        try:
            top = self._marker.look()  # first, so that the mark never claims data that are not on disk
            failure = self._synced()
            if failure is None:
                self._marker.note(top)
        except Exception as error:  # the boundary of the thread, for whose next sync others wait
            log.exception("The database could not be synced")
            failure = UserError(tr(FAILED, path=self._database, why=repr(error)))
        with self._changed:
            asked, done, at = self._saving.asked, self._saving.done, self._saving.at
            if failure is None:
                done, at = upto, datetime.now().astimezone()
            self._saving = Saving(asked, done, at, str(failure or ""))
            self._failure, self._ended = failure, self._begun
            self._changed.notify_all()
        for listener in tuple(self._listeners):
            with logged(log, "A listener of the disk failed"):
                listener(self._saving)

    def _synced(self) -> UserError | None:
        if self._is_gone():
            return self._kept_apart()
        try:
            begun = time.perf_counter()
            sync_file(self._log)
            quick = time.perf_counter() - begun < SLOW
            self._long = quick and self._log.stat().st_size >= FOLD_BYTES
        except FileNotFoundError:  # nothing was committed yet, or all of it was folded
            return None
        except OSError as error:
            log.warning("the log of the database could not be synced: %s", error)
            return UserError(tr(FAILED, path=self._database, why=error.strerror or str(error)))
        return None if self._failure is None else self._recovered()

    def _is_gone(self) -> bool:
        """Whether the database or the log in use is no longer the file of its name."""
        return is_another(self._database, self._file) or is_another(self._log, self._log_file)

    def _kept_apart(self) -> UserError:
        """Make a backup through a connection that has the files open: there may be none of their names, and a new
        connection would open others."""
        asked, copy = self._saving.asked, None
        if self._kept is not None and self._kept[0] == asked:
            return self._kept[1]
        log.warning("%s, or its log, was moved, deleted or replaced", self._database)
        try:
            with nullcontext(True) if self._closed else self._turns.turn_if_free() as mine:  # the closing thread has it
                copy = self._keep() if mine else None
            if copy is not None and self._database.exists() and not is_another(self._log, self._log_file):
                for side in ("-wal", "-shm"):  # this log must never be combined with another database
                    self._database.with_name(f"{self._database.name}{side}").unlink(missing_ok=True)
                sync_folder(self._database.parent)
        except (OSError, UserError) as error:
            log.warning("no backup could be made: %s", error)
        where = tr(NOT_KEPT) if copy is None else tr(KEPT, copy=copy)
        failure = UserError(tr(GONE, path=self._database, where=where))
        self._kept = (asked, failure) if copy is not None else None
        return failure

    def _recovered(self) -> UserError | None:
        """After a failed sync, the next one may succeed without writing the data that the first did not write. So
        nothing counts as saved until the whole log is copied into the database and synced."""
        whole = self._folded() if self._closed else self.fold()  # the closing thread has the turn
        return None if whole else self._failure

    def _folded(self) -> bool:
        if self._is_gone():
            return False
        uri = f"{self._database.absolute().as_uri()}?mode=rw"
        with suppress(UserError), as_user_errors(self._database), closing(connect(uri, writable=True)) as conn:
            conn.execute("PRAGMA busy_timeout = 0")  # never wait for a reader
            kept, pages, folded = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not kept:  # SQLite syncs the header of a new log at its first commit: here, not during a key
                version = conn.execute("PRAGMA user_version").fetchone()[0]
                conn.execute(f"PRAGMA user_version = {version}")
            return bool(pages == folded)
        return False


def sync_file(path: Path) -> None:
    """Sync the file. Raises OSError."""
    handle = os.open(path, os.O_RDWR)
    try:
        getattr(os, "fdatasync", os.fsync)(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Sync the entries of the folder `path`. Does nothing on systems without folder handles.

    Raises OSError.
    """
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unshare(database: Path) -> None:
    """Replace a database and a log that have other hard links, as in a copy of the folder that was made with them, by
    files of their own: SQLite would change the other copy without its log. The caller has the lock. Raises OSError."""
    for path in (database, database.with_name(f"{database.name}-wal")):
        if path.is_file() and path.stat().st_nlink > 1:
            part = path.with_name(f"{path.name}.part")
            part.unlink(missing_ok=True)
            try:
                shutil.copy2(path, part)
                sync_file(part)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
            sync_folder(path.parent)

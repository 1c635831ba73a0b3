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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from curator.boundary import logged
from curator.domain.decisions import Listener, Saving
from curator.domain.wording import UserError, tr
from curator.storage.db.engine import FOLD_BYTES, connect
from curator.storage.db.errors import as_user_errors
from curator.storage.db.mark import Mark, Marker, Watch
from curator.storage.db.sqlite_files import RoomWatch, identity, is_another, needs_room
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
TAKEN = (
    "Another program deleted or replaced {path} while the project was open. Everything up to now is saved. Close the "
    "project and open it again to continue."
)
REPLACED = (
    "Another program deleted or replaced {path} while the project was open. Everything up to now is in {copy}, and no "
    "more decisions are accepted. Close the project, and give the file that you want to keep the name {name}."
)
MOVED = (
    "{folder} was moved, renamed or deleted while the project was open, and no more decisions are accepted. Move it "
    "back to continue, or close the project and open it at its new place. The last decisions are in its files, but may "
    "not yet be on disk."
)
COPIED = (
    "{folder} was moved, renamed or deleted while the project was open, and no more decisions are accepted. Everything "
    "up to now is in the backup {copy}. If the folder was moved, move it back to continue, or close the project and "
    "open it at its new place. If it was deleted, close the project and restore the backup."
)
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
        mark: Mark | None = None,
        *,
        unclean: str = "",
        rescue: Callable[[], bool] = lambda: False,
        keep: Callable[[Path], None] = lambda _: None,
        elsewhere: Callable[[], Path | None] = lambda: None,
    ) -> None:
        """`mark`: the mark before the database was opened; `unclean`: see `unclean_end`. `rescue` copies the log into
        the database and syncs it, even if the log has no name any more; it returns whether all of it was copied. `keep`
        copies the open database to a file, even if it has no name any more; it raises OSError and UserError.
        `elsewhere` makes a backup of it in the same way, and returns the backup's path; None if there is no place for
        it."""
        self._database = database
        self._rescue = rescue
        self._keep = keep
        self._elsewhere = elsewhere
        self._file = identity(database)
        self._needs_room = needs_room(database)
        self._kept: tuple[int, UserError] | None = None
        self._watch = Watch(database, mark)
        self._as_it_was = mark.digest if mark is not None and mark.closed else ""
        self._turns = turns
        self._log = database.with_name(f"{database.name}-wal")
        self._log_file: tuple[int, int] | None = None
        self._taken = ""
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

    @property
    def altered(self) -> str:
        """A sentence if the file was changed while it was closed and this is already known; else ''."""
        return self._watch.sentence

    def accept(self) -> None:
        """Accept the changed file."""
        self._watch.accept()
        self._as_it_was = ""

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

    def check_writable(self) -> None:
        """The same, and raises UserError if another program has taken the log away."""
        self.check()
        if self._taken:
            raise UserError(self._taken)

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
            self._due = self._due or not self._saving.holds(self._saving.asked) or self._is_elsewhere()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._watch.wait()
        self._marker.rest()
        with suppress(OSError):
            if self._log.stat().st_size > 0:
                self._as_it_was = ""

    def finish(self) -> None:
        """The database was closed properly, after `close`."""
        if self._failure is None:
            self._marker.finish(digest=self._watch.digest or self._as_it_was)

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
            if attempt or self._is_elsewhere():
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
        if self._is_elsewhere():
            return self._kept_aside()
        if self._is_taken():
            return self._rescued()
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

    def _is_elsewhere(self) -> bool:
        """Whether the database in use is no longer the file of its name."""
        return is_another(self._database, self._file)

    def _is_taken(self) -> bool:
        """Whether the log in use is no longer the file of its name."""
        return is_another(self._log, self._log_file)

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether nobody else uses the connection for writing. A second one would open the other files."""
        if self._closed:  # the closing thread has the turn
            yield True
        else:
            with self._turns.turn_if_free() as mine:
                yield mine

    def _kept_aside(self) -> UserError:
        """Copy the open database, which is no longer the file of its name, next to that file."""
        asked = self._saving.asked
        if self._kept is not None and self._kept[0] == asked:
            return self._kept[1]
        if not self._database.parent.is_dir():
            return self._kept_elsewhere(asked)
        log.warning("another program deleted or replaced %s", self._database)
        copy = self._database.with_name(f"{self._database.name}.kept-{datetime.now():%Y%m%d-%H%M%S}")
        try:
            with self._alone() as alone:
                if not alone:
                    return UserError(tr(FAILED, path=self._database, why=tr("another program deleted or replaced it")))
                self._keep(copy)
            sync_file(copy)
            sync_folder(copy.parent)
            if not self._is_taken():  # its log must never be combined with another database
                for side in ("-wal", "-shm"):
                    self._database.with_name(f"{self._database.name}{side}").unlink(missing_ok=True)
                sync_folder(copy.parent)
        except (OSError, UserError) as error:
            with suppress(OSError):
                copy.unlink(missing_ok=True)
            return UserError(tr(FAILED, path=self._database, why=str(error)))
        failure = UserError(tr(REPLACED, path=self._database, copy=copy, name=self._database.name))
        self._kept = asked, failure
        return failure

    def _kept_elsewhere(self, asked: int) -> UserError:
        """Make a backup of the open database: if its folder was deleted, it is in no file with a name."""
        folder, copy = self._database.parent, None
        try:
            with self._alone() as alone:
                copy = self._elsewhere() if alone else None
        except (OSError, UserError) as error:
            log.warning("no backup of the moved or deleted %s could be made: %s", folder, error)
        if copy is None:
            return UserError(tr(MOVED, folder=folder))
        failure = UserError(tr(COPIED, folder=folder, copy=copy))
        self._kept = asked, failure
        return failure

    def _rescued(self) -> UserError | None:
        """Save what only the connections that have the log open can read."""
        if not self._taken:
            log.warning("another program deleted or replaced %s", self._log)
        self._taken, self._long = tr(TAKEN, path=self._log), False
        self._watch.wait()
        self._as_it_was = ""
        self._marker.sync()
        with self._alone() as alone:
            if alone and self._rescue():
                return None
        return UserError(
            tr(FAILED, path=self._database, why=tr("another program deleted or replaced its write-ahead log"))
        )

    def _recovered(self) -> UserError | None:
        """After a failed sync, the next one may succeed without writing the data that the first did not write. So
        nothing counts as saved until the whole log is copied into the database and synced."""
        whole = self._folded() if self._closed else self.fold()  # the closing thread has the turn
        return None if whole else self._failure

    def _folded(self) -> bool:
        if self._is_taken() or self._is_elsewhere():  # a new connection would open other files
            return False
        if self._needs_room and RoomWatch(self._database).is_full():
            return False
        self._watch.wait()
        self._as_it_was = ""
        self._marker.sync()
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

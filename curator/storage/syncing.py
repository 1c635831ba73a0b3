"""Puts what was committed on the disk, in a thread of its own, so that no key waits for the disk.

A commit appends to SQLite's write-ahead log. From then on the end of the program, however it comes, loses nothing; a
failure of the power would, until the log is on the disk. `fsync` takes a millisecond, or seconds where another program
(a training that writes a checkpoint) has the disk to itself.
"""

from __future__ import annotations

import os
import threading
from contextlib import closing, suppress
from pathlib import Path

from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.storage.engine import connect
from curator.storage.errors import told_to_user

FOLD_BYTES = 16 * 2**20
"""A log of this size is folded into the database here; one of four times the size by the writer itself, so that a bulk
load which is quicker than the disk waits for it."""


class Syncer:
    """Syncs the log of `database` soon after each `ask`; `settle` waits for all that was asked."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._log = database.with_name(f"{database.name}-wal")
        self._changed = threading.Condition()
        self._asked = self._done = 0
        self._failure: UserError | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Have what was committed until now put on the disk; returns at once."""
        with self._changed:
            self._asked += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sync", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def check(self) -> None:
        """Raises UserError, once, where the disk failed since the last call."""
        with self._changed:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def settle(self) -> None:
        """Wait until all that was asked for is on the disk. Raises UserError where the disk failed."""
        with self._changed:
            upto = self._asked
            self._changed.wait_for(lambda: self._done >= upto)
        self.check()

    def close(self) -> None:
        """Sync what is left and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked > self._done or self._closed)
                upto = self._asked
                if upto == self._done:
                    return
            failure = self._synced()
            with self._changed:
                self._done, self._failure = upto, failure or self._failure
                self._changed.notify_all()

    def _synced(self) -> UserError | None:
        try:
            sync_file(self._log)
            if self._log.stat().st_size >= FOLD_BYTES:
                self._fold()
        except FileNotFoundError:  # nothing was committed yet, or all of it was folded
            return None
        except OSError as error:
            return UserError(
                tr(
                    "{path} could not be put on the disk: {why}. What was just decided is kept while the computer "
                    "runs. Check the disk and save a copy of the project.",
                    path=self._database,
                    why=error.strerror or str(error),
                )
            )
        return None

    def _fold(self) -> None:
        """Copy the log's pages into the database as far as no reader needs the older ones; writers go on meanwhile.

        Where that fails, nothing is lost: the log is on the disk, and the writer tries again.
        """
        uri = f"{self._database.absolute().as_uri()}?mode=rw"
        with suppress(UserError), told_to_user(self._database), closing(connect(uri, writable=True)) as conn:
            conn.execute("PRAGMA wal_checkpoint(PASSIVE)")


def sync_file(path: Path) -> None:
    """Raises OSError."""
    handle = os.open(path, os.O_RDWR)
    try:
        getattr(os, "fdatasync", os.fsync)(handle)
    finally:
        os.close(handle)

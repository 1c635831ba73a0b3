"""Work on chosen or dropped files beside the window's thread: counted, stopped when its window goes, never lost."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

from PySide6.QtCore import QObject, Signal

from curator.domain.wording import ntr, tr
from curator.services.importing.looking import Counted
from curator.ui.kit.worker import Deliver, Worker

EVERY = 0.2
"""Seconds between two counts that are shown."""
Work = Callable[[Counted, Event], Any]


class FileScan(QObject):
    """Looks at every batch of files that is asked for, in turn. `changed` when it began, counted on or ended."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker(self, in_turn=True)
        self._worker.changed.connect(self.changed)
        self._number = 0

    @property
    def busy(self) -> bool:
        return self._worker.busy

    @property
    def words(self) -> str:
        """How far it is; '' when there is nothing to look at."""
        if not self.busy:
            return ""
        if not self._number:
            return tr("Looking at the files…")
        return ntr("Looking at the files… {n:,} so far", "Looking at the files… {n:,} so far", self._number)

    def ask(self, work: Work, done: Deliver) -> None:
        """`work` gets what counts and what stops it; `done` gets its result, in the window's thread, or None where it
        failed: the log says why."""

        def ended(result: Any = None) -> None:
            self._number = 0
            done(result)

        count, stop = self._worker.reporter(self._count, every=EVERY), self._worker.stop
        self._worker.ask(lambda: work(count, stop), ended, failed=ended)

    def close(self) -> None:
        """Stop at the next file; nothing is delivered any more."""
        self._worker.close()

    def _count(self, number: int) -> None:
        self._number = number
        self.changed.emit()

"""Work on chosen or dropped files beside the window's thread: counted, stopped when its window goes, never lost."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from weakref import WeakMethod

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from curator.domain.errors import CancelledError
from curator.domain.wording import ntr, tr
from curator.services.looking import Counted
from curator.ui.latest import Latest
from curator.ui.post import in_the_window

log = logging.getLogger(__name__)
EVERY = 0.2
"""Seconds between two counts that are told."""
Work = Callable[[Counted, Event], Any]
Done = Callable[[Any], None]


@dataclass(slots=True)
class _Counter:
    """Lives in the other thread, where it holds nothing of the window, and tells now and then."""

    tell: WeakMethod[Callable[[int], None]]
    told: float = field(default_factory=time.monotonic)

    def __call__(self, number: int) -> None:
        now = time.monotonic()
        if now - self.told >= EVERY:
            self.told = now
            in_the_window(lambda: _count(self.tell, number))


class Looking(QObject):
    """`ask(work, done)` in turn: unlike `Latest`, everything that is asked is done. `changed` when it began, counted on
    or ended."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(self)
        self._latest.here = False
        self._stop = Event()
        self._waiting: deque[tuple[Work, Done]] = deque()
        self._number = 0

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    @property
    def words(self) -> str:
        """What it is about; '' when it is about nothing."""
        if not self.busy:
            return ""
        if not self._number:
            return tr("Looking at the files…")
        return ntr("Looking at the files… {n:,} so far", "Looking at the files… {n:,} so far", self._number)

    def ask(self, work: Work, done: Done) -> None:
        """`work` gets what counts and what stops it; `done` gets its result, in the window's thread, or None where it
        failed: the log says why."""
        if self._stop.is_set():
            return
        self._waiting.append((work, done))
        if len(self._waiting) == 1:
            self._next()
        self.changed.emit()

    def close(self) -> None:
        """Stop at the next file; nothing is told any more."""
        self._stop.set()
        self._waiting.clear()
        self._latest.close()

    def _next(self) -> None:
        work, _ = self._waiting[0]
        self._number = 0
        counter, stop = _Counter(WeakMethod(self._count)), self._stop
        self._latest.ask(lambda: _outcome(work, counter, stop), self._ended)

    def _count(self, number: int) -> None:
        if isValid(self) and self.busy:
            self._number = number
            self.changed.emit()

    def _ended(self, result: Any) -> None:
        _, done = self._waiting.popleft()
        if self._waiting:
            self._next()
        done(result)
        self.changed.emit()


def _count(tell: WeakMethod[Callable[[int], None]], number: int) -> None:
    told = tell()
    if told is not None:
        told(number)


def _outcome(work: Work, counter: Counted, stop: Event) -> Any:
    try:
        return work(counter, stop)
    except CancelledError:
        return None  # nobody hears of it
    except Exception:  # thread boundary
        log.exception("Files could not be looked at")
        return None

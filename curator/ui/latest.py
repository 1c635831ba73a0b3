"""Work beside the window's thread of which only the latest result counts."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from PySide6.QtCore import QObject
from shiboken6 import isValid

from curator.ui.post import in_the_window

Work = Callable[[], Any]
Done = Callable[[Any], None]
End = WeakMethod[Callable[[Any, bool, float], None]]
log = logging.getLogger(__name__)


class Latest(QObject):
    """`ask(work, done)` runs `work` in a thread of its own and `done` with its result in the window's thread.

    One runs at a time; of those asked meanwhile only the last runs next, and a result that something was asked after is
    dropped. With `here` set, work runs at once in the caller's thread: right for what takes less than a frame.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.here = True
        self.took = 0.0  # seconds, of the last work done
        self._thread: threading.Thread | None = None
        self._waiting: tuple[Work, Done] | None = None
        self._done: Done | None = None
        self._open = True

    @property
    def busy(self) -> bool:
        return self._thread is not None

    def ask(self, work: Work, done: Done) -> None:
        if not self._open:
            return
        if self.here and self._thread is None:
            begun = time.perf_counter()
            result = work()
            self.took = time.perf_counter() - begun
            done(result)
        elif self._thread is None:
            self._start(work, done)
        else:
            self._waiting = (work, done)

    def close(self, *, wait: bool = True) -> None:
        """Nothing is told any more. `wait` for what is under way, unless it holds nothing that is closed next."""
        self._open, self._waiting = False, None
        if wait and self._thread is not None:
            self._thread.join()
            self._thread = None

    def _start(self, work: Work, done: Done) -> None:
        self._done = done
        self._thread = threading.Thread(target=_run, args=(work, WeakMethod(self._end)), name="beside", daemon=True)
        self._thread.start()

    def _end(self, result: Any, worked: bool, took: float) -> None:
        if not isValid(self):  # the window is gone
            return
        self.took = took
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if not self._open:
            return
        done, waiting, self._waiting = self._done, self._waiting, None
        if waiting is not None:
            self._start(*waiting)
        elif worked and done is not None:
            done(result)


def _run(work: Work, end: End) -> None:
    """In the other thread, which holds nothing of the window."""
    begun = time.perf_counter()
    try:
        result, worked = work(), True
    except Exception:  # thread boundary: what is shown stays as it is, the log says why
        log.exception("Work beside the window failed.")
        result, worked = None, False
    took = time.perf_counter() - begun
    in_the_window(lambda: _tell(end, result, worked, took))


def _tell(end: End, result: Any, worked: bool, took: float) -> None:
    ended = end()
    if ended is not None:
        ended(result, worked, took)

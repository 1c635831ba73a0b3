"""Work in a background thread, and the delivery of its result to the window's thread."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from weakref import WeakMethod

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from curator.domain.wording import CancelledError, ProjectClosedError, ntr, tr
from curator.services.importing.import_sources import Counted
from curator.ui.kit.window_calls import call_in_window

Work = Callable[[], Any]
Deliver = Callable[[Any], None]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Task:
    work: Work
    done: Deliver
    failed: Callable[[], None] | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """`worked`: there is a `result`; `error`: the work failed without one."""

    result: Any = None
    worked: bool = False
    error: Exception | None = None
    took: float = 0.0


_left: set[threading.Thread] = set()


def join_left() -> None:
    """Wait for running work of closed windows."""
    while _left:
        _left.pop().join()


class Worker(QObject):
    """`ask(work, done)` runs `work` in a background thread and `done` with its result in the window's thread.

    One task runs at a time. Of the tasks requested meanwhile, only the last one runs next, and outdated results are
    dropped; with `in_turn` every task runs and is delivered in order. `work` should not refer to the window, which may
    be closed before it ends. With `here`, it runs at once in the caller's thread, for tasks shorter than a frame.
    """

    changed = Signal()  # a task began or ended

    def __init__(self, parent: QObject | None = None, *, in_turn: bool = False, here: bool = False) -> None:
        super().__init__(parent)
        self.here = here
        self.took = 0.0  # seconds, of the last task
        self.stop = threading.Event()  # set by `close`: long work checks it and raises CancelledError
        self._in_turn = in_turn
        self._thread: threading.Thread | None = None
        self._task: _Task | None = None
        self._waiting: deque[_Task] = deque()

    @property
    def busy(self) -> bool:
        return self._thread is not None and not self.stop.is_set()

    def ask(self, work: Work, done: Deliver, *, failed: Callable[[], None] | None = None) -> None:
        """Run `work`. If it raises anything except CancelledError and ProjectClosedError, this is logged, and in the
        window's thread `failed` is called, or, without it, the error is handled like one of that thread: it is said.
        """
        if self.stop.is_set():
            return
        task = _Task(work, done, failed)
        if self._thread is not None:
            if not self._in_turn:
                self._waiting.clear()
            self._waiting.append(task)
        elif self.here:
            begun = time.perf_counter()
            result = work()
            self.took = time.perf_counter() - begun
            done(result)
        else:
            self._start(task)
            self.changed.emit()

    def reporter(self, hear: Deliver, *, every: float = 0.0) -> Deliver:
        """A function that any thread may call with a value: the method `hear` gets it in the window's thread, at most
        once in `every` seconds, and not after `close`."""
        return _Reporter(WeakMethod(self._report), WeakMethod(hear), every)

    def drop(self) -> None:
        """Drop the results of pending tasks."""
        self._waiting.clear()
        if self._task is not None:
            self._task = _Task(self._task.work, _ignore, _nothing)

    def close(self) -> None:
        """Deliver nothing from now on, without waiting for running work: closing a window must not wait for what it
        reads. Before what the work uses is closed, `join_left` waits for it."""
        if self._thread is not None:
            _left.add(self._thread)
        self.stop.set()
        self._waiting.clear()

    def _start(self, task: _Task) -> None:
        self._task = task
        args = (task.work, WeakMethod(self._end))
        self._thread = threading.Thread(target=_run, args=args, name="beside the window", daemon=True)
        self._thread.start()

    def _end(self, outcome: _Outcome) -> None:
        if not isValid(self):  # the window is gone
            return
        self.took = outcome.took
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self.stop.is_set() or self._task is None:
            return
        ended, overtaken = self._task, bool(self._waiting) and not self._in_turn
        if self._waiting:
            self._start(self._waiting.popleft())
        try:
            if outcome.worked and not overtaken:
                ended.done(outcome.result)
            elif outcome.error is not None and not overtaken:
                if ended.failed is not None:
                    ended.failed()
                else:
                    sys.excepthook(type(outcome.error), outcome.error, outcome.error.__traceback__)
        finally:
            if isValid(self):
                self.changed.emit()

    def _report(self, hear: WeakMethod[Deliver], value: Any) -> None:
        if isValid(self) and not self.stop.is_set():
            _deliver(hear, value)


def _ignore(_: Any) -> None:
    """Discard the result."""


def _nothing() -> None:
    """Discard a failure."""


@dataclass(slots=True)
class _Reporter:
    """Passes values to the window's thread without a reference to the window."""

    report: WeakMethod[Callable[[WeakMethod[Deliver], Any], None]]
    hear: WeakMethod[Deliver]
    every: float
    last: float = field(default_factory=time.monotonic)

    def __call__(self, value: Any) -> None:
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            call_in_window(lambda: _deliver(self.report, self.hear, value))


def _run(work: Work, end: WeakMethod[Callable[[_Outcome], None]]) -> None:
    """Run in the background thread, without a reference to the window."""
    begun = time.perf_counter()
    result, worked, failure = None, False, None
    try:
        result, worked = work(), True
    except (CancelledError, ProjectClosedError):
        pass  # the result is not needed
    except Exception as error:  # thread boundary: the view stays unchanged, the error is logged
        log.exception("Work beside the window failed.")
        failure = error
    outcome = _Outcome(result, worked, failure, time.perf_counter() - begun)
    call_in_window(lambda: _deliver(end, outcome))


def _deliver(method: WeakMethod[Callable[..., None]], *values: Any) -> None:
    """Call a method whose owner may no longer exist."""
    found = method()
    if found is not None:
        found(*values)


# Checks chosen or dropped files in a background thread, with a counter; stopped when its window closes.

EVERY = 0.2
"""Seconds between updates of the counter."""
ScanWork = Callable[[Counted, Event], Any]


class FileScan(QObject):
    """Checks the requested batches of files in turn. `changed` at start, end and counter updates."""

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
        """Progress in words; '' if idle."""
        if not self.busy:
            return ""
        if not self._number:
            return tr("Reading the files…")
        return ntr("Reading the files… {n:,} so far", "Reading the files… {n:,} so far", self._number)

    def ask(self, work: ScanWork, done: Deliver) -> None:
        """`work` gets a counter and a stop event; `done` gets its result in the window's thread, or None if it failed
        (see the log)."""

        def ended(result: Any = None) -> None:
            self._number = 0
            done(result)

        count, stop = self._worker.reporter(self._count, every=EVERY), self._worker.stop
        self._worker.ask(lambda: work(count, stop), ended, failed=ended)

    def close(self) -> None:
        """Stop at the next file and deliver nothing."""
        self._worker.close()

    def _count(self, number: int) -> None:
        self._number = number
        self.changed.emit()

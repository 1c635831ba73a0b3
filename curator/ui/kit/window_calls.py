"""Calls from other threads into the window's thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from shiboken6 import isValid

from curator.domain.decisions import STEPS, Change, Saving
from curator.domain.jobs import JobOutcome, LinkerStatus, Progress
from curator.services.core.events import EventBus
from curator.services.linking.suggestions import SuggestionService
from curator.services.ports.storage import Disk

_CALL = QEvent.Type(QEvent.registerEventType())
_AFTER_PAINTING = Qt.EventPriority.LowEventPriority.value - 1
"""Qt repaints with the low priority. So what a key changed is painted first, and then comes what others changed."""


class _WindowCalls(QObject):
    """Exists as long as the process: a thread emitting a signal of a widget while its window is destroyed would crash
    the program."""

    def __init__(self) -> None:
        super().__init__()
        app = QCoreApplication.instance()
        assert app is not None, "windows need an application"
        self.moveToThread(app.thread())
        self._calls: deque[Callable[[], None]] = deque()

    def ask(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        QCoreApplication.postEvent(self, QEvent(_CALL), _AFTER_PAINTING)

    def event(self, event: QEvent) -> bool:
        if event.type() != _CALL:
            return super().event(event)
        self._calls.popleft()()
        return True


@cache
def _window_calls() -> _WindowCalls:
    return _WindowCalls()


def call_in_window(call: Callable[[], None]) -> None:
    """Run `call` from any thread through the application's event loop, in order, after pending repaints; never
    immediately, even from the window's own thread. `call` must check that the objects it uses still exist."""
    _window_calls().ask(call)


LATE_MS = 40
"""After the frame painted for a key press, but before anybody notices."""


class Later(QTimer):
    """Delays work that a key press need not wait for: `act` is called once, some milliseconds after the last `start`.
    Call `settle` to run it earlier."""

    def __init__(self, parent: QObject, act: Callable[[], None], *, ms: int = LATE_MS) -> None:
        super().__init__(parent, singleShot=True, interval=ms)
        self._act = act
        self.timeout.connect(act)

    def settle(self) -> None:
        """Run it now if it is pending."""
        if self.isActive():
            self.stop()
            self._act()


# From worker threads to the window's thread: callbacks in, signals out.


def _nothing() -> None:
    return


class Bridge(QObject):
    """Emits events of services and jobs in the window's thread.

    Every change is emitted once. A step from the window's own thread emits `stepped` at once, so that it is shown
    within the key press. All other events go through the event loop, even from the window's own thread, so that
    listeners never run during the action that caused them. Nothing is emitted after `close`.
    """

    stepped = Signal(object)  # Change: stored, and on the disk moments later
    changed = Signal(object)  # Change from elsewhere, or not a curator's step
    linker = Signal(object)  # LinkerStatus
    progressed = Signal(int, object)  # job number, Progress
    saved = Signal(object)  # Saving
    ended = Signal(int, object)  # job number, JobOutcome

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        self._thread = threading.get_ident()
        self._unsubscribe: Callable[[], None] = _nothing
        self._unhear: Callable[[], None] = _nothing
        self._unfollow: Callable[[], None] = _nothing

    def listen(self, events: EventBus, suggestions: SuggestionService) -> None:
        self._unsubscribe = events.subscribe(self.tell_change)
        self._unhear = suggestions.on_status(self.tell_status)

    def follow(self, disk: Disk) -> None:
        """Emit `saved` after every sync of the disk."""
        self._unfollow = disk.on_saving(self.tell_saving)

    def close(self) -> None:
        """Stop emitting events."""
        self._open = False
        self._unsubscribe()
        self._unhear()
        self._unfollow()

    # --- called from any thread ---

    def tell_change(self, change: Change) -> None:
        if change.kind in STEPS and threading.get_ident() == self._thread:
            self._emit("stepped", change)
        else:
            call_in_window(lambda: self._emit("changed", change))

    def tell_status(self, status: LinkerStatus) -> None:
        call_in_window(lambda: self._emit("linker", status))

    def tell_saving(self, saving: Saving) -> None:
        call_in_window(lambda: self._emit("saved", saving))

    def tell_progress(self, job: int, progress: Progress) -> None:
        call_in_window(lambda: self._emit("progressed", job, progress))

    def tell_end(self, job: int, outcome: JobOutcome) -> None:
        call_in_window(lambda: self._emit("ended", job, outcome))

    # --- in the window's thread ---

    def _emit(self, signal: str, *values: object) -> None:
        if self._open and isValid(self):
            getattr(self, signal).emit(*values)

"""One signal for all changes: services emit a `Change`, and each view decides what to do with it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from curator.boundary import logged
from curator.domain.decisions import Change

Listener = Callable[[Change], None]
log = logging.getLogger(__name__)


class EventBus:
    """Calls listeners in the order of their subscription, in the emitting thread (which may be any thread).

    An exception in a listener is logged with its traceback; the other listeners are still called.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Returns the function that unsubscribes; calling it twice is harmless."""
        with self._lock:
            self._listeners.append(listener)
        return lambda: self._remove(listener)

    def emit(self, change: Change) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            with logged(log, "A listener failed on %s", change.kind.value):
                listener(change)  # one view's bug must not undo what was already saved

    def _remove(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = [one for one in self._listeners if one is not listener]

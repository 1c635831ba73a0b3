"""What is done while the user is idle: full garbage collections, and preparing windows that would open slowly.

Python's garbage collections: only in the window's thread, full ones only while the user is idle.

Widgets must be deleted in the thread that created them, but Python collects in any thread that allocates, and searches
allocate in background threads. With a document of 2,000 mentions open, a full collection takes 100 ms. It would run at
every second opening of a document, and sometimes during a key press. The young generations take a few milliseconds at
most.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from curator.tracing import span

YOUNG_MS = 250
QUIET_MS = 4_000
"""Without a step of the curator for so long, nobody waits."""
BETWEEN_MS = 500
"""Between two steps of what is prepared."""
LATER_MS = 30_000
DUE = 10
"""Collections of the middle generation after which Python would begin a full one."""


def collect_in_quiet_times(app: QCoreApplication) -> None:
    """From now on nothing is collected but by `app`'s thread: the young generations by a timer, all by `QuietTime`. For
    the window's process, once, at its start."""
    gc.disable()  # Python's own collections may come in any thread, where widgets must not end
    timer = QTimer(app, interval=YOUNG_MS)
    timer.timeout.connect(collect_young)
    timer.start()


def collect_young() -> None:
    """The young generations where Python would have collected them."""
    (young, middle, _), (limit, often, _) = gc.get_count(), gc.get_threshold()
    if young >= limit:
        with span("collect garbage", generation=int(middle >= often)):
            gc.collect(1 if middle >= often else 0)


def keep_loaded() -> None:
    """What is loaded now, mostly modules, lives as long as the process: no collection examines it again.

    Once: what a second project leaves behind is collected.
    """
    if not gc.isenabled() and not gc.get_freeze_count():
        gc.freeze()


class QuietTime(QObject):
    """`busy` puts off the next full collection and what is prepared; without `collect_in_quiet_times` it never begins
    a collection."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._idle)
        self._steps: list[Callable[[], None]] = []

    def prepare(self, *steps: Callable[[], None]) -> None:
        """Do these once, one after the other, each in a quiet moment; each takes no longer than a collection."""
        self._steps += steps
        self.busy()

    def busy(self) -> None:
        self._timer.start(QUIET_MS)

    def _idle(self) -> None:
        if self._steps:
            self._steps.pop(0)()
            self._timer.start(BETWEEN_MS)
        else:
            self.collect()

    def collect(self) -> None:
        """A full collection where one is due."""
        if gc.isenabled():
            return
        if gc.get_count()[2] >= DUE:
            gc.collect()
        self._timer.start(LATER_MS)

"""Work done while the user is idle: full garbage collections, returning memory, and preparing windows that open slowly.

Garbage is collected only in the window's thread, and full collections run only while the user is idle.

Widgets must be deleted in the thread that created them, but Python collects in any thread that allocates, and searches
allocate in background threads. With a document of 2,000 mentions open, a full collection takes 100 ms. It would run at
every second opening of a document, and sometimes during a key press. The young generations take a few milliseconds at
most.
"""

from __future__ import annotations

import contextlib
import gc
import sys

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from curator.tracing import span

YOUNG_MS = 250
QUIET_MS = 4_000
"""Milliseconds without a step after which the curator counts as idle."""
LATER_MS = 30_000
DUE = 10
"""Number of middle-generation collections after which Python would start a full one."""


def collect_in_quiet_times(app: QCoreApplication) -> None:
    """Collect only in `app`'s thread: young generations by a timer, all by `QuietTime`. Called once at the start of the
    window's process."""
    gc.disable()  # automatic collections run in any thread, where widgets must not be deleted
    timer = QTimer(app, interval=YOUNG_MS)
    timer.timeout.connect(collect_young)
    timer.start()


def collect_young() -> None:
    """Collect the young generations if Python would have collected them."""
    (young, middle, _), (limit, often, _) = gc.get_count(), gc.get_threshold()
    if young >= limit:
        with span("collect garbage", generation=int(middle >= often)):
            gc.collect(1 if middle >= often else 0)


def keep_loaded() -> None:
    """Exclude the objects loaded so far, mostly modules, from all later collections.

    Only once, so that objects left by a closed project are collected.
    """
    if not gc.isenabled() and not gc.get_freeze_count():
        gc.freeze()


def return_memory() -> None:
    """Return to the system what the GNU C library keeps of what was freed: 10 to 15 MiB after a hundred decisions.

    18 ms after long work, else 1 ms.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # another C library keeps less
            ctypes.CDLL(None).malloc_trim(0)


class QuietTime(QObject):
    """`busy` postpones the next full collection; without `collect_in_quiet_times` it never collects."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self.collect)

    def busy(self) -> None:
        self._timer.start(QUIET_MS)

    def collect(self) -> None:
        """Run a full collection if due, and return memory."""
        if gc.isenabled():
            return
        if gc.get_count()[2] >= DUE:
            gc.collect()
        return_memory()
        self._timer.start(LATER_MS)

"""Python's full garbage collections in the moments in which nobody waits for the window.

With a document of 2,000 mentions open a full collection takes 100 ms and would come with every second opening, and with
a key press now and then. The young generations are collected as ever; they take well under a millisecond.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

QUIET_MS = 4_000
"""Without a step of the curator for so long, nobody waits."""
LATER_MS = 30_000
DUE = 10
"""Collections of the middle generation after which Python would begin a full one."""
NEVER = 1_000_000


def collect_in_quiet_times() -> None:
    """From now on full collections are `QuietTime`'s alone. For the window's process, once, at its start."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)


class QuietTime(QObject):
    """`busy` puts the next full collection off; without `collect_in_quiet_times` it never begins one."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self.collect)

    def busy(self) -> None:
        self._timer.start(QUIET_MS)

    def collect(self) -> None:
        """A full collection where one is due."""
        if gc.get_threshold()[2] < NEVER:
            return
        if gc.get_count()[2] >= DUE:
            gc.collect()
        self._timer.start(LATER_MS)

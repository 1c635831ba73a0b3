"""Heartbeats: a child sends one every second, and a silent child is ended, so that it can be restarted.

A child's thread sends `alive` (`child_side.Channel.beat`) with the processor time that it has used and whether it is
answering a request. The parent's thread counts its own checks since the last one, so a suspended computer or a stopped
parent is not mistaken for a silent child. A child is ended

* after `SILENT` checks without a heartbeat in which it used neither processor nor disk: it is stopped (SIGSTOP) or
  hangs;
* after `SILENT_BUSY` checks without a heartbeat although it computes: a library may hold the interpreter lock, for
  seconds while torch is imported, but not longer. This limit also applies if the system does not report a process's
  usage;
* after `STUCK` checks during one request in which it did nothing: its threads are in a deadlock.

A long computation sends heartbeats, since libraries release the lock while they compute, and it uses the processor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from curator.jobs.wire import Alive

TICK = 1.0
"""Seconds between two checks of the parent, and between two heartbeats."""
SILENT = 10
SILENT_BUSY = 120
STUCK = 120
IDLE = 0.02
"""The most seconds of processor time per tick that an idle process uses, for its heartbeats."""


class Watch:
    """Counts the checks of one child and determines when it must be ended; independent of processes and clocks."""

    def __init__(self, used: Callable[[], float | None]) -> None:
        """`used`: a number that grows while the child uses processor or disk; None if that is unknown."""
        self._used = used
        self._last_use = used()
        self._silent = 0
        self._idle = 0
        self._stuck = 0
        self._last: Alive | None = None
        self._lock = threading.Lock()

    def heard(self, sign: Alive) -> None:
        with self._lock:
            self._silent = self._idle = 0
            last, self._last = self._last, sign
            works = last is None or sign["cpu"] - last["cpu"] > IDLE
            self._stuck = self._stuck + 1 if sign["request"] and not works else 0

    def must_end(self) -> bool:
        """Whether the child must be ended; call it once per tick."""
        use = self._used()
        with self._lock:
            self._silent += 1
            rested = use is not None and use == self._last_use
            self._idle = self._idle + 1 if rested else 0
            self._last_use = use
            return self._idle >= SILENT or self._silent >= SILENT_BUSY or self._stuck >= STUCK


class Heartbeat:
    """The thread that watches one child from its start to `stop`, and ends it with `end`."""

    def __init__(self, pid: int, end: Callable[[], None], *, tick: float = TICK) -> None:
        self.watch = Watch(lambda: use_of(pid))
        self.unresponsive = False
        """Whether the child was ended because it sent no heartbeat."""
        self._end = end
        self._tick = tick
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name=f"heartbeat of {pid}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Called from any thread when the child has ended."""
        self._over.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self._tick):
            if self.watch.must_end():
                self.unresponsive = True
                self._end()
                return


def use_of(pid: int) -> float | None:
    """A number that grows while process `pid` uses the processor or reads from disk; None if it is unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return float(sum(int(fields[at]) for at in (9, 11, 12)))  # major faults, user and system ticks
    except (OSError, ValueError, IndexError):
        return None

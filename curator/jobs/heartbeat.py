"""Whether a child is alive: it says so every second, and one that is silent is ended, so that it can be started again.

A child's thread sends `alive` (`child_side.Channel.beat`) with the seconds of processor time that it has used and
whether it answers a request. The parent's thread counts its own looks since the last one, so a computer that slept or
a parent that was stopped mistakes nothing for silence. A child is ended

* after `SILENT` looks without a sign in which it used neither processor nor disk: it is stopped (SIGSTOP) or hangs;
* after `SILENT_BUSY` looks without a sign although it computes: a library may hold the interpreter lock, for seconds
  while torch is loaded, but not without limit. Where the system does not say what a process used, this is the limit;
* after `STUCK` looks in which it answered one request, and did nothing: its threads wait for each other.

A long computation gives signs, since libraries release the lock while they compute, and uses the processor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from curator.jobs.wire import Alive

TICK = 1.0
"""Seconds between two looks of the parent, and between two signs of the child."""
SILENT = 10
SILENT_BUSY = 120
STUCK = 120
IDLE = 0.02
"""Seconds of processor time in a tick that a process without work uses at most, for its signs."""


class Watch:
    """Counts the looks at one child and says when it must be ended; knows no process and no clock."""

    def __init__(self, used: Callable[[], float | None]) -> None:
        """`used`: a number that grows while the child uses processor or disk; None where that cannot be known."""
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
        """To be asked once a tick."""
        use = self._used()
        with self._lock:
            self._silent += 1
            rested = use is not None and use == self._last_use
            self._idle = self._idle + 1 if rested else 0
            self._last_use = use
            return self._idle >= SILENT or self._silent >= SILENT_BUSY or self._stuck >= STUCK


class Heartbeat:
    """The thread that looks after one child from its start to `stop`, and ends it with `end`."""

    def __init__(self, pid: int, end: Callable[[], None], *, tick: float = TICK) -> None:
        self.watch = Watch(lambda: use_of(pid))
        self.unresponsive = False
        """Whether the child was ended because it gave no sign."""
        self._end = end
        self._tick = tick
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name=f"heartbeat of {pid}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The child has ended. From any thread."""
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
    """A number that grows while process `pid` uses the processor or reads from disk; None where it is not known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return float(sum(int(fields[at]) for at in (9, 11, 12)))  # major faults, user and system ticks
    except (OSError, ValueError, IndexError):
        return None

"""Heartbeats: a child sends one every second, and a silent child is ended, so that nobody waits for it.

A child's thread sends `alive` (`child_side.Channel.beat`) from the start of its process, before it imports anything
that takes long (`start`), with the processor time that it has used and whether it is answering a request. The parent's
thread counts its own checks since the last message, so a suspended computer or a stopped parent is not mistaken for a
silent child; while the parent handles a message, it reads no other and counts nothing. A child is ended after so many
checks (`Limits`):

* `stopped`: without a message, while the system has stopped all its threads (SIGSTOP);
* `asleep`: without a message, while it uses neither processor nor disk: a thread that waits for something holds the
  interpreter lock. To wait for that lock takes a little processor time (`IDLE`). A thread that can run or waits for a
  disk is not asleep, however slow the computer is. It is a minute, since the driver of a GPU may let a thread wait that
  long if another program starts to use the GPU;
* `busy`: without a message, although it computes or waits for a disk: a library holds the interpreter lock. This limit
  also applies if the system does not report what a process does;
* `stuck`: with heartbeats, but it did nothing during one request: its threads are in a deadlock.

A long computation sends heartbeats, since libraries release the lock while they compute, and it uses the processor.
What waits for a network, another process or Ray sends heartbeats too.

A linker that was ended is started again at once. A job that was ended wrongly costs hours, so its limits are higher:

* `busy` is an hour: sorting millions of names or collecting the garbage of a large heap keeps the lock, and takes ten
  times as long beside other programs, to which jobs give way;
* `stuck` does not exist: a job may wait for a GPU, a node of Ray or the processes that it trains with, whose work is
  not counted as its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from curator.boundary import logged
from curator.jobs.wire import Alive

log = logging.getLogger(__name__)

TICK = 1.0
"""Seconds between two checks of the parent, and between two heartbeats."""
IDLE = 0.02
"""The most seconds of processor time per tick that an idle process uses, for its heartbeats, or for waiting for the
interpreter lock: that takes 0.003."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Checks after which a child is ended, as above; None: never."""

    stopped: int
    asleep: int
    busy: int
    stuck: int | None


FOR_LINKER = Limits(stopped=10, asleep=60, busy=120, stuck=120)
FOR_JOBS = Limits(stopped=10, asleep=60, busy=3600, stuck=None)


@dataclass(frozen=True, slots=True)
class Look:
    """What the system says of a process: seconds of processor time and reads from disk so far, and the states of its
    threads now, as in Linux's /proc: R can run, D waits for a disk, T is stopped, others sleep."""

    cpu: float
    reads: int
    states: frozenset[str]


class Watch:
    """Counts the checks of one child and determines when it must be ended; independent of processes and clocks."""

    def __init__(self, look: Callable[[], Look | None], limits: Limits) -> None:
        """`look`: what the child does now; None if that is unknown."""
        self._look = look
        self._limits = limits
        self._silent = self._idle = self._stopped = self._stuck = 0
        self._last_look: Look | None = None
        self._last: Alive | None = None
        self._away = False
        self._lock = threading.Lock()

    def heard(self, sign: Alive) -> None:
        with self._lock:
            self._silent = 0
            last, self._last = self._last, sign
            works = last is None or sign["cpu"] - last["cpu"] > IDLE
            self._stuck = self._stuck + 1 if sign["request"] and not works else 0

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """While the parent handles another message, which is a sign of life too: it reads none meanwhile."""
        with self._lock:
            self._away = True
        try:
            yield
        finally:
            with self._lock:
                self._away, self._silent = False, 0

    def must_end(self) -> bool:
        """Whether the child must be ended; call it once per tick."""
        with self._lock:
            if self._away:
                return False
            self._silent += 1
            if self._silent == 1:  # a look is not needed yet
                self._idle = self._stopped = 1
                self._last_look = None
            else:
                self._judge(self._look())
            limits = self._limits
            return (
                self._stopped >= limits.stopped
                or self._idle >= limits.asleep
                or self._silent >= limits.busy
                or (limits.stuck is not None and self._stuck >= limits.stuck)
            )

    def _judge(self, now: Look | None) -> None:
        last, self._last_look = self._last_look, now
        works = last is not None and now is not None and (_used(last, now) > IDLE or now.reads > last.reads)
        if now is None or works:
            self._idle = self._stopped = 0
        elif now.states & {"R", "D"}:
            self._stopped = 0  # it neither works nor rests
        else:
            self._idle += 1
            self._stopped = self._stopped + 1 if now.states == {"T"} else 0


def _used(last: Look, now: Look) -> float:
    return round(now.cpu - last.cpu, 3)


class Heartbeat:
    """The thread that watches one child from its start to `stop`, and ends it with `end`."""

    def __init__(self, pid: int, end: Callable[[], None], limits: Limits, *, tick: float = TICK) -> None:
        self.watch = Watch(lambda: look_at(pid), limits)
        self.unresponsive = False
        """Whether the child was ended because it sent no heartbeat."""
        self._end = end
        self._tick = tick
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._check, name=f"heartbeat of {pid}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Called from any thread when the child has ended."""
        self._over.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _check(self) -> None:
        while not self._over.wait(self._tick):
            with logged(log, "A child was not watched"):  # it is at the next tick
                if self.watch.must_end():
                    self.unresponsive = True
                    self._end()
                    return


def look_at(pid: int) -> Look | None:
    """What process `pid` does; None if the system does not say so."""
    try:
        place = Path(f"/proc/{pid}")
        fields = _fields(place)
        ticks = int(fields[11]) + int(fields[12])  # as user and as system
        states = frozenset(_states(place))
        ended = states <= {"Z"}  # another process holds its output; its end is not for the watch to judge
        return None if ended else Look(ticks / os.sysconf("SC_CLK_TCK"), int(fields[9]), states)
    except (OSError, ValueError, IndexError):
        return None


def _states(process: Path) -> Iterator[str]:
    for thread in (process / "task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            yield _fields(thread)[0]


def _fields(place: Path) -> list[str]:
    """The fields of a process or thread after its name, which may contain spaces."""
    return (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()

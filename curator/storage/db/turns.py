"""A lock that serves waiting threads in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Serialises the writers of one process, first come, first served.

    `threading.Lock` would let an import that writes batch after batch take the lock again before the window's thread
    wakes up; here a decision waits for one batch at most.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._line: deque[_Ticket] = deque()  # the first one has the turn

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the lock. Raises RuntimeError (a bug) if the thread already holds it."""
        ticket = _Ticket()
        with self._changed:
            if self._line and self._line[0].thread == ticket.thread:
                raise RuntimeError("a writing unit was opened inside another one of the same thread")
            self._line.append(ticket)
        try:
            self._wait(ticket)
            yield
        finally:
            self._leave(ticket)

    @contextmanager
    def turn_if_free(self) -> Iterator[bool]:
        """Hold the lock if nobody holds it or waits for it; yields at once whether it is held."""
        ticket = _Ticket()
        with self._changed:
            free = not self._line
            if free:
                self._line.append(ticket)
        try:
            yield free
        finally:
            self._leave(ticket)

    def give_way(self) -> None:
        """Let the threads that are waiting have their turns first; call it while holding the lock."""
        with self._changed:
            mine = self._line[0]
            self._line.rotate(-1)
            self._changed.notify_all()
        self._wait(mine)

    @property
    def waiting(self) -> int:
        """The number of waiting threads."""
        return max(len(self._line) - 1, 0)

    @property
    def contended(self) -> bool:
        """Whether a thread is waiting."""
        return self.waiting > 0

    def _wait(self, ticket: _Ticket) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._line[0] is ticket)

    def _leave(self, ticket: _Ticket) -> None:
        """Hand the turn on, or leave the line, for example after Ctrl+C."""
        with self._changed:
            if ticket in self._line:
                self._line.remove(ticket)
                self._changed.notify_all()


class _Ticket:
    """A place in the line."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

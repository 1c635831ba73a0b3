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
        self._guard = threading.Lock()
        self._taken = False
        self._holder: int | None = None  # whose turn it is, from the moment of handing over
        self._waiting: deque[_Ticket] = deque()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the lock. Raises RuntimeError (a bug) if the thread already holds it."""
        self._acquire()
        try:
            yield
        finally:
            if self._holder == threading.get_ident():  # false if Ctrl+C came during `give_way`
                self._pass_on()

    @contextmanager
    def turn_if_free(self) -> Iterator[bool]:
        """Hold the lock if nobody holds it or waits for it; yields at once whether it is held."""
        with self._guard:
            free = not self._taken
            if free:
                self._taken, self._holder = True, threading.get_ident()
        try:
            yield free
        finally:
            if free:
                self._pass_on()

    def give_way(self) -> None:
        """Let the threads that are waiting have their turns first; call it while holding the lock."""
        with self._guard:
            if not self._waiting:
                return
            ticket = self._queue_up()
            self._hand_over()
        self._wait(ticket)

    @property
    def waiting(self) -> int:
        """The number of waiting threads."""
        return len(self._waiting)

    @property
    def contended(self) -> bool:
        """Whether a thread is waiting."""
        return self.waiting > 0

    def _acquire(self) -> None:
        me = threading.get_ident()
        with self._guard:
            if self._taken and self._holder == me:
                raise RuntimeError("a writing unit was opened inside another one of the same thread")
            if not self._taken:
                self._taken, self._holder = True, me
                return
            ticket = self._queue_up()
        self._wait(ticket)

    def _queue_up(self) -> _Ticket:
        ticket = _Ticket(threading.get_ident())
        self._waiting.append(ticket)
        return ticket

    def _hand_over(self) -> None:
        """Hand over to the longest waiting thread; the caller holds the guard."""
        ticket = self._waiting.popleft()
        self._holder = ticket.thread
        ticket.lock.release()

    def _wait(self, ticket: _Ticket) -> None:
        try:
            ticket.lock.acquire()
        except BaseException:  # Ctrl+C while waiting: leave the queue, or hand on the turn that has just come
            with self._guard:
                mine = ticket not in self._waiting
                if not mine:
                    self._waiting.remove(ticket)
            if mine:
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        with self._guard:
            self._holder = None
            if self._waiting:
                self._hand_over()
            else:
                self._taken = False


class _Ticket:
    """A place in the queue: `lock` is released when its thread's turn comes."""

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.lock = threading.Lock()
        self.lock.acquire()

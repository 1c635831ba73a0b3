"""A run's time: what it has spent, before an interruption too, and what it was allowed."""

from __future__ import annotations

from collections.abc import Callable

Clock = Callable[[], float]


class Timer:
    """Seconds of `clock`. `allowed` bounds the whole run (None: no bound)."""

    def __init__(self, clock: Clock, *, allowed: float | None) -> None:
        self.now, self.allowed = clock, allowed
        self._started = self._interval = clock()
        self._before = 0.0

    def resume(self, *, spent: float, allowed: float | None) -> None:
        """Go on as a run that had spent so much of what it was allowed when it was saved."""
        self._before, self.allowed = spent - (self.now() - self._started), allowed

    def spent(self) -> float:
        return self._before + self.now() - self._started

    def left(self) -> float | None:
        return None if self.allowed is None else self.allowed - self.spent()

    def is_late(self) -> bool:
        left = self.left()
        return left is not None and left < 0

    def begin_interval(self) -> None:
        """What `since_interval` counts from."""
        self._interval = self.now()

    def since_interval(self) -> float:
        return self.now() - self._interval

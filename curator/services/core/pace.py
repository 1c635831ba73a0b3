"""The remaining time of a job's step, as a range, from its speed during the last minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

SLICE = 1.0
"""The least seconds of work that are measured together."""
WINDOW = 60.0
"""Older slices are ignored, since other programs may have started or ended."""
LEAST = 4.0
"""Seconds of work before an estimate is given; after `SURE` seconds the range is no longer widened."""
SURE = 20.0
NARROW, WIDE = 1.1, 1.6
JUMP = 4.0
"""A slice this many times faster than the median is not work but cached results."""
Slice = tuple[float, float]  # seconds, units


class Pace:
    """The pace of one step. Units that were cached do not count, and a long time between two reports counts as slow."""

    def __init__(self) -> None:
        self._slices: deque[Slice] = deque()
        self._mark: tuple[float, float] | None = None

    def take(self, at: float, done: float) -> None:
        """Record the number of units done at this time."""
        if self._mark is None or done < self._mark[1]:
            self._mark = (at, done)
            return
        seconds = at - self._mark[0]
        if seconds >= SLICE:
            self._slices.append((seconds, done - self._mark[1]))
            self._mark = (at, done)
            while sum(one for one, _ in self._slices) - self._slices[0][0] >= WINDOW:
                self._slices.popleft()

    def pause(self) -> None:
        """Exclude the time of other work in between."""
        self._mark = None

    def left(self, at: float, units: float) -> tuple[float, float] | None:
        """The least and most seconds for this many more units, at the current pace; None before a measurement."""
        slices = list(self._slices)
        waited = at - self._mark[0] if self._mark is not None else 0.0
        if slices and waited > 2 * max(seconds for seconds, _ in slices):
            slices.append((waited, 0.0))
        measured = sum(seconds for seconds, _ in slices)
        if measured < LEAST or not any(units for _, units in slices):
            return None
        slices = _without_jumps(slices)
        mean = sum(units for _, units in slices) / sum(seconds for seconds, _ in slices)
        fast, slow = max(_quantile(slices, 0.75), mean), min(_quantile(slices, 0.25), mean)
        spread = NARROW + (WIDE - NARROW) * max(0.0, 1.0 - measured / SURE)
        return units / fast / spread, units / max(slow, mean / JUMP) * spread


def _without_jumps(slices: Sequence[Slice]) -> list[Slice]:
    median = _quantile(slices, 0.5)
    kept = [one for one in slices if not median or one[1] / one[0] <= JUMP * median]
    return kept if any(units for _, units in kept) else list(slices)


def _quantile(slices: Sequence[Slice], share: float) -> float:
    """The rate below which this share of the time was spent."""
    ordered = sorted(slices, key=lambda one: one[1] / one[0])
    left = share * sum(seconds for seconds, _ in ordered)
    for seconds, units in ordered:
        left -= seconds
        if left <= 0:
            return units / seconds
    return ordered[-1][1] / ordered[-1][0]

"""The remaining time of a job's step, as a range, from its speed during the last minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

SLICE = 1.0
"""Seconds of work at least that are measured together."""
WINDOW = 60.0
"""Older slices say nothing about now: another program may have come or gone."""
LEAST = 4.0
"""Seconds of work before anything is said, and `SURE` those after which the range is no longer widened."""
SURE = 20.0
NARROW, WIDE = 1.1, 1.6
JUMP = 4.0
"""So many times faster than the median: no work, but something that was kept from before."""
Slice = tuple[float, float]  # seconds, units


class Pace:
    """Of one step. Units that were there at once (a cache holds them) are not taken for speed, and the time between
    two reports counts as slow once it is long."""

    def __init__(self) -> None:
        self._slices: deque[Slice] = deque()
        self._mark: tuple[float, float] | None = None

    def take(self, at: float, done: float) -> None:
        """At this time so many units are done."""
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
        """Other work comes between: that time belongs to it."""
        self._mark = None

    def left(self, at: float, units: float) -> tuple[float, float] | None:
        """Seconds for so many more units, at least and at most as it looks now; None before it was measured."""
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

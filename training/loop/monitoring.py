"""Monitoring of a running training: figures of each step, validation, throughput, time left."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

Validate = Callable[[], Mapping[str, float]]
"""Figures of the networks as they are now: `recall_at_1`, `recall_at_64`, `nil_aupr`; figures that do not apply are
left out. It is called without gradients and with dropout off."""

LATEST = 20


class Meter:
    """The throughput of the latest steps and the estimated time left; validation and mining are excluded."""

    def __init__(self, *, epoch_overhead: float) -> None:
        self._overhead = epoch_overhead
        self._latest: deque[tuple[float, int, int]] = deque(maxlen=LATEST)

    def add(self, seconds: float, *, batches: int, examples: int) -> None:
        self._latest.append((seconds, batches, examples))

    def figures(self, *, batches_left: int, epochs_left: int, most: float | None) -> dict[str, float]:
        """`throughput` (examples per second) and `seconds_left`, at most `most`; empty before the first measurement."""
        seconds = sum(one[0] for one in self._latest)
        if seconds <= 0:
            return {}
        batches, examples = (sum(one[place] for one in self._latest) for place in (1, 2))
        left = batches_left * seconds / batches + epochs_left * self._overhead
        return {
            "throughput": round(examples / seconds, 3),
            "seconds_left": round(left if most is None else max(0.0, min(left, most)), 1),
        }


def validated(validate: Validate, modules: Sequence[nn.Module]) -> dict[str, float]:
    """The figures; the networks stay unchanged."""
    modes = [(part, part.training) for module in modules for part in module.modules()]
    with torch.no_grad():
        for module in modules:
            module.eval()
        try:
            return {name: float(value) for name, value in validate().items()}
        finally:
            for part, training in modes:
                part.training = training


# A run's time: spent (including before an interruption) and allowed.

Clock = Callable[[], float]


class Timer:
    """Seconds of `clock`. `allowed` bounds the whole run (None: no bound)."""

    def __init__(self, clock: Clock, *, allowed: float | None) -> None:
        self.now, self.allowed = clock, allowed
        self._started = self._interval = clock()
        self._before = 0.0

    def resume(self, *, spent: float, allowed: float | None) -> None:
        """Resume a run that had used this much of its budget when it was saved."""
        self._before, self.allowed = spent - (self.now() - self._started), allowed

    def spent(self) -> float:
        return self._before + self.now() - self._started

    def left(self) -> float | None:
        return None if self.allowed is None else self.allowed - self.spent()

    def is_late(self) -> bool:
        left = self.left()
        return left is not None and left < 0

    def begin_interval(self) -> None:
        """Set the start of `since_interval`."""
        self._interval = self.now()

    def since_interval(self) -> float:
        return self.now() - self._interval

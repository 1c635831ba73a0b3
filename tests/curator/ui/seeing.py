"""A clock that tests turn, and the rule of the keys by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import shiboken6
from PySide6.QtWidgets import QApplication

from curator.ui.kit.sight import PressClock, Sight


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


class _Present(PressClock):
    """Every key is pressed now."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._now = clock

    def seconds(self, stamp_ms: int) -> float:
        return self._now()


@contextmanager
def seeing(app: QApplication, clock: Clock) -> Iterator[Sight]:
    """The rule of the keys while the context lasts, for windows that are made in it."""
    made = Sight(app, clock=clock, times=_Present(clock))
    yield made
    shiboken6.delete(made)

"""Stores the effort of decisions, for the dashboard and for queue orders by expected gain per second."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from curator.domain.wording import UserError
from curator.services.core.context import Context, Service
from curator.services.ports.curation import Effort, SpentEffort

TOGETHER = 20
"""The number of efforts written at once, so that a decision never waits for the record of its cost."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EffortFigures:
    """Means over decisions; 0 if there are none."""

    operations: int
    decisions: int
    keys_per_decision: float
    seconds_per_decision: float


class EffortService(Service):
    """`record` only remembers; `flush` writes, as does every twentieth record. A crash can lose efforts, but no
    decision."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._waiting: list[Effort] = []
        self._lock = threading.Lock()

    def record(self, operation_id: int, *, keys: int, milliseconds: int) -> None:
        """Negative time, from a clock that was set back, counts as zero."""
        with self._lock:
            self._waiting.append(Effort(operation_id, max(keys, 0), max(milliseconds, 0)))
            full = len(self._waiting) >= TOGETHER
        if full:
            self.flush()

    def flush(self) -> None:
        """Write pending efforts; those that cannot be written (full disk) stay pending."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if not waiting or self._store.read_only:
            return
        try:
            with self._store.write() as unit:
                unit.operations.add_efforts(waiting)
        except UserError as error:
            log.warning("What decisions cost could not be kept: %s", error)
            with self._lock:
                self._waiting = [*waiting, *self._waiting]

    def spent(self, *, curator: str | None = None) -> list[SpentEffort]:
        """The written efforts, oldest first."""
        with self._store.read() as unit:
            return unit.operations.efforts(curator=curator)

    def figures(self, *, curator: str | None = None) -> EffortFigures:
        return figures_of(self.spent(curator=curator))


def figures_of(spent: Sequence[SpentEffort]) -> EffortFigures:
    decisions = sum(one.decisions for one in spent)
    if not decisions:
        return EffortFigures(0, 0, 0.0, 0.0)
    keys, milliseconds = sum(one.keys for one in spent), sum(one.milliseconds for one in spent)
    return EffortFigures(len(spent), decisions, keys / decisions, milliseconds / 1000 / decisions)

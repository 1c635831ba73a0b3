"""Port of what decisions cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Effort:
    """What an operation cost since the one before: keys pressed and clicks, and milliseconds at work."""

    operation_id: int
    keys: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class SpentEffort:
    """An effort with what it was spent on: `decisions` of the operation, who took them, when."""

    operation_id: int
    keys: int
    milliseconds: int
    decisions: int
    curator: str
    at: datetime


class EffortRepository(Protocol):
    def add(self, efforts: Sequence[Effort]) -> None:
        """An operation's first record stays. Raises IntegrityError for an unknown operation."""
        ...

    def spent(self, *, curator: str | None = None) -> list[SpentEffort]:
        """Oldest first, of operations that decided something and were not undone later; of one curator where given."""
        ...

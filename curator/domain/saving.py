"""How far what was committed is on the disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Saving:
    """`done` of the `asked` commits are on the disk, since `at`; `why` is the sentence of the last sync where it
    failed, '' where it did not."""

    asked: int = 0
    done: int = 0
    at: datetime | None = None
    why: str = ""

    def holds(self, number: int) -> bool:
        """Whether the first `number` commits are on the disk."""
        return self.done >= number


Listener = Callable[[Saving], None]

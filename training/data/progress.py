"""Progress events of a long job, which can be cancelled between two events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """The phases of a training or evaluation job, in order."""

    LOAD = "open the linker"
    PREPARE = "prepare"
    TRAIN = "train"
    ENCODE = "encode"
    JUDGE = "evaluate the component"
    INDEX = "write the component"
    REFIT = "fit the weights"
    EVALUATE = "evaluate"
    WRITE = "save the linker"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a job: `done` of `total` units of `phase` (total 0: unknown), an optional sentence for the log, and
    live figures: `loss`, `learning_rate`, `step`, `epoch`, `seconds`, `throughput` (examples a second) and
    `seconds_left` of training; `recall_at_1`, `recall_at_64` and `nil_aupr` after a validation; `untrained`, once: the
    recall@1 before training; `checkpoint`: the step at which one was written; `result`: in the last event."""

    phase: Phase
    done: int = 0
    total: int = 0
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fraction(self) -> float | None:
        """Completed share of the phase; None if unknown."""
        return self.done / self.total if self.total else None

    @property
    def is_note(self) -> bool:
        """Whether the sentence belongs in the bundle's manifest."""
        return bool(self.data.get("note"))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def note(phase: Phase, text: str) -> Event:
    """An event whose sentence is kept in the bundle's manifest."""
    return Event(phase, text=text, data={"note": True})

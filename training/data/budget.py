"""The time budget of a job: what is left, what the steps after training need, and whether the entity tower can be
trained."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from models.errors import say

TRAINING_FACTOR = 3.5
"""A step forward and backward takes about this many times as long as the forward pass alone (measured on two cores)."""
FIXED_RESERVE = 15.0
CAUTION = 1.15


AS_ASKED_TRAINED = "The entity tower is trained, as requested."
AS_ASKED_FROZEN = "The entity tower is frozen, as requested."


@dataclass(frozen=True, slots=True)
class Rates:
    """Measured on this machine: texts encoded per second, and seconds per document for the linker."""

    mentions: float
    entities: float
    seconds_per_document: float


@dataclass(frozen=True, slots=True)
class Workload:
    """The work of a job: examples, entities, documents to link at the end, batch and negatives."""

    examples: int
    entities: int
    documents: int
    batch_size: int
    negatives: int


class Budget:
    """The minutes of the whole job; None sets no bound."""

    def __init__(self, minutes: float | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self.minutes = minutes

    @property
    def elapsed(self) -> float:
        return self._clock() - self._started

    def left(self) -> float | None:
        """Seconds left, negative when the time is over; None without a bound."""
        return None if self.minutes is None else 60 * self.minutes - self.elapsed


def reserve(work: Workload, rates: Rates, *, trained: bool) -> float:
    """Seconds to reserve for the steps after training: encoding the entities again, linking, writing."""
    encoding = work.entities / rates.entities if trained else 0.0
    return CAUTION * (encoding + work.documents * rates.seconds_per_document) + FIXED_RESERVE


def epoch_seconds(work: Workload, rates: Rates, *, trained: bool) -> float:
    """Seconds for one pass over the examples."""
    batches = -(-work.examples // work.batch_size)
    per_batch = (work.batch_size + work.negatives) / rates.entities if trained else 0.0
    return TRAINING_FACTOR * (work.examples / rates.mentions + batches * per_batch)


def trains_entities(wanted: str, work: Workload, rates: Rates, left: float | None) -> tuple[bool, str]:
    """Whether the entity tower is trained, and why, in a sentence. `wanted` is "auto", "train" or "frozen"."""
    if wanted != "auto":
        return wanted == "train", say(AS_ASKED_TRAINED if wanted == "train" else AS_ASKED_FROZEN)
    if left is None:
        return True, say("The entity tower is trained: there is no time budget.")
    needed = reserve(work, rates, trained=True) + epoch_seconds(work, rates, trained=True)
    if needed <= left:
        return True, (
            say(
                "The entity tower is trained: one pass and encoding {entities:,} entities again take about "
                "{needed:.0f} s of the {left:.0f} s left.",
                entities=work.entities,
                needed=needed,
                left=left,
            )
        )
    return False, (
        say(
            "The entity tower is frozen: one pass that trains it and encoding {entities:,} entities "
            "again would take about {needed:.0f} s, but only {left:.0f} s are left. Allow more minutes "
            "to train it.",
            entities=work.entities,
            needed=needed,
            left=max(0.0, left),
        )
    )

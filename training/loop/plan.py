"""How many batches a budget of time allows, and how batches make steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.errors import ModelError
from models.wording import say
from training.loop.task import Batch, TrainSettings


@dataclass(frozen=True, slots=True)
class Plan:
    """`batches` in all, `per_epoch` of them in a whole epoch; `accumulation` make a step, never across epochs."""

    batches: int
    per_epoch: int
    accumulation: int

    @property
    def steps(self) -> int:
        whole, rest = divmod(self.batches, self.per_epoch)
        return whole * -(-self.per_epoch // self.accumulation) + -(-rest // self.accumulation)

    @property
    def epochs(self) -> int:
        """Whole and begun ones."""
        return -(-self.batches // self.per_epoch)

    def groups(self, epoch: int, batches: Sequence[Batch], *, skip: int) -> list[Sequence[Batch]]:
        """The batches of each step of an epoch, but for the first `skip` batches."""
        own = batches[: self.batches - epoch * self.per_epoch]
        return [own[start : start + self.accumulation] for start in range(skip, len(own), self.accumulation)]


def plan_batches(per_epoch: int, settings: TrainSettings, *, seconds_per_batch: float, seconds: float | None) -> int:
    """How many batches the budget allows: whole epochs if at least one fits, a part of one otherwise; no more than
    `max_steps` take.

    Raises ModelError where not even one batch fits.
    """
    wanted = per_epoch * settings.epochs
    if settings.max_steps is not None:
        whole, rest = divmod(settings.max_steps, -(-per_epoch // settings.accumulation))
        wanted = min(wanted, whole * per_epoch + rest * settings.accumulation)
    if seconds is None:
        return wanted
    epoch = per_epoch * seconds_per_batch + settings.epoch_overhead
    if settings.epochs * epoch <= seconds:
        return wanted
    if epoch <= seconds:
        return min(wanted, per_epoch * int(seconds // epoch))
    affordable = int((seconds - settings.epoch_overhead) // max(seconds_per_batch, 1e-9))
    if affordable < 1:
        raise ModelError(
            say(
                "The time budget is too short: after preparation {left:.0f} s are left for training, and one "
                "step takes {seconds_per_batch:.1f} s. Allow more minutes.",
                left=max(0.0, seconds),
                seconds_per_batch=seconds_per_batch,
            )
        )
    return min(wanted, affordable)

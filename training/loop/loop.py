"""Epochs and steps. Between two steps a run is validated, saved, or ended by its deadline."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from models.errors import ModelError, say
from training.data.progress import Event, Phase, note
from training.loop.learner import Learner
from training.loop.monitoring import Meter, Timer, Validate, validated
from training.loop.optimising import Optimising
from training.loop.saving import Saver
from training.loop.task import Batch, Task, TrainResult, TrainSettings
from training.loop.tensorboard import Log

OF_STEPS = 9
"""Distinguishes the draws of steps from a task's draws by the same seed."""


def seed_all(*numbers: int) -> None:
    """Seed torch's generators, which dropout uses, and for libraries numpy's and Python's global ones."""
    one = int(np.random.SeedSequence(numbers).generate_state(1)[0])
    torch.manual_seed(one)
    np.random.seed(one)
    random.seed(one)


# How many batches a time budget allows, and how batches form steps.


@dataclass(frozen=True, slots=True)
class Plan:
    """`batches` in all, `per_epoch` of them in a whole epoch; `accumulation` batches make a step, never across
    epochs."""

    batches: int
    per_epoch: int
    accumulation: int

    @property
    def steps(self) -> int:
        whole, rest = divmod(self.batches, self.per_epoch)
        return whole * -(-self.per_epoch // self.accumulation) + -(-rest // self.accumulation)

    @property
    def epochs(self) -> int:
        """The number of epochs, including a partial one."""
        return -(-self.batches // self.per_epoch)

    def groups(self, epoch: int, batches: Sequence[Batch], *, skip: int) -> list[Sequence[Batch]]:
        """The batches of each step of an epoch, except the first `skip` batches."""
        own = batches[: self.batches - epoch * self.per_epoch]
        return [own[start : start + self.accumulation] for start in range(skip, len(own), self.accumulation)]


def plan_batches(per_epoch: int, settings: TrainSettings, *, seconds_per_batch: float, seconds: float | None) -> int:
    """How many batches the budget allows: whole epochs if at least one fits, otherwise a partial epoch; no more than
    `max_steps` need.

    Raises ModelError if not even one batch fits.
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
                "The time budget is too short: after preparation, {left:.0f} s are left for training, "
                "and one step takes {seconds_per_batch:.1f} s. Allow more minutes.",
                left=max(0.0, seconds),
                seconds_per_batch=seconds_per_batch,
            )
        )
    return min(wanted, affordable)


@dataclass(slots=True)
class Position:
    """The progress of a run: `done` batches, the losses of each epoch's batches, validation figures, and notes."""

    done: int = 0
    losses: list[list[float]] = field(default_factory=list)
    validation: list[dict[str, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Loop:
    """One run from `position` to the end of the plan."""

    def __init__(
        self,
        task: Task,
        settings: TrainSettings,
        plan: Plan,
        *,
        learner: Learner,
        optimising: Optimising,
        timer: Timer,
        position: Position,
        saver: Saver | None,
        validate: Validate | None,
        log: Log,
    ) -> None:
        self.task, self.settings, self.plan = task, settings, plan
        self.learner, self.optimising, self.engine = learner, optimising, learner.engine
        self.timer, self.position, self.saver = timer, position, saver
        self.validate, self.log = validate, log
        self.meter = Meter(epoch_overhead=settings.epoch_overhead)

    def run(self) -> Iterator[Event]:
        """An event after every batch, and one for each validation."""
        self.timer.begin_interval()
        for epoch in range(self.position.done // self.plan.per_epoch, self.plan.epochs):
            begun = self.position.done - epoch * self.plan.per_epoch
            if not begun:
                if epoch:
                    yield from self.task.before_epoch(epoch)
                self.position.losses.append([])
            for module in self.task.modules():
                module.train()
            for group in self.plan.groups(epoch, self.task.batches(epoch), skip=begun):
                if self.position.done and self.timer.is_late():
                    return
                yield from self._step(group, epoch)
                yield from self._between(epoch)

    def _step(self, group: Sequence[Batch], epoch: int) -> Iterator[Event]:
        """One step of the optimiser; it is retried in smaller parts while memory runs out."""
        rate, before = self.optimising.rate, self.timer.now()
        while (losses := (yield from self._gradients(group, epoch, rate))) is None:
            self.learner.clear()
            sentence = self.learner.make_smaller(max(len(batch) for batch in group))
            self.position.notes.append(sentence)
            yield note(Phase.TRAIN, sentence)
        self.optimising.take_step()
        self.position.losses[-1].extend(losses)
        self.position.done += len(group)
        self.meter.add(self.timer.now() - before, batches=len(group), examples=sum(len(batch) for batch in group))
        event = self._event(losses[-1], rate, epoch, ahead=0)
        self.log(self.optimising.step, event.data)
        yield event

    def _gradients(self, group: Sequence[Batch], epoch: int, rate: float) -> Generator[Event, None, list[float] | None]:
        """The losses of the group's batches, whose gradients are added up; None if memory ran out."""
        step = self.optimising.step
        seed_all(self.settings.seed, step)
        self.task.random = np.random.default_rng([self.settings.seed, OF_STEPS, step])
        losses: list[float] = []
        for number, batch in enumerate(group, start=1):
            own = self.learner.learn(batch, share=1 / len(group))
            if own is None:
                return None
            losses.append(self._checked(own))
            if number < len(group):
                yield self._event(losses[-1], rate, epoch, ahead=number)
        return losses

    def _checked(self, loss: float) -> float:
        if not math.isfinite(loss):
            raise ModelError(
                say(
                    "The loss is no longer a number (step {step}: {loss}). Train again with a learning "
                    "rate below {learning_rate:g}. The linker in use is not changed.",
                    step=self.optimising.step + 1,
                    loss=loss,
                    learning_rate=self.settings.learning_rate,
                )
            )
        return loss

    def _between(self, epoch: int) -> Iterator[Event]:
        """Checkpoint and validation, if they are due."""
        epoch_ends = self.position.done % self.plan.per_epoch == 0 or self.position.done == self.plan.batches
        if self.saver is not None and (epoch_ends or self.saver.is_due(self.timer)):
            yield from self.saver.save(self)
        every = self.settings.validate_every
        due = self.optimising.step % every == 0 if every else epoch_ends
        if self.validate is not None and due:
            yield self._validated(self.validate, epoch)

    def _validated(self, validate: Validate, epoch: int) -> Event:
        figures = validated(validate, self.task.modules())
        step = self.optimising.step
        self.position.validation.append({"step": float(step), **figures})
        self.log(step, figures)
        data = {"step": step, "epoch": epoch + 1, "seconds": round(self.timer.spent(), 2), **figures}
        return Event(Phase.TRAIN, self.position.done, self.plan.batches, data=data)

    def _event(self, loss: float, rate: float, epoch: int, *, ahead: int) -> Event:
        """The event after a batch; `ahead` of the group's batches are not yet in a step."""
        done = self.position.done + ahead
        data: dict[str, Any] = {
            "loss": loss,
            "learning_rate": rate,
            "step": self.optimising.step,
            "epoch": epoch + 1,
            "seconds": round(self.timer.spent(), 2),
        }
        left = self.plan.batches - done
        epochs_left = self.plan.epochs - epoch - 1
        data |= self.meter.figures(batches_left=left, epochs_left=epochs_left, most=self.timer.left())
        return Event(Phase.TRAIN, done, self.plan.batches, data=data)

    def result(self) -> TrainResult:
        position = self.position
        return TrainResult(
            steps=self.optimising.step,
            planned_steps=self.plan.steps,
            epochs=position.done / self.plan.per_epoch,
            losses=tuple(sum(part) / len(part) for part in position.losses if part),
            seconds=self.timer.spent(),
            cut_short=position.done < self.plan.batches,
            micro_batch=self.learner.micro,
            precision=self.engine.precision.value,
            validation=tuple(position.validation),
            notes=tuple(position.notes),
        )

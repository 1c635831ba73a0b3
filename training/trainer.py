"""The one training loop of all recipes: AdamW, warm-up, linear decay, clipping, accumulation, a time budget.

Equal task, settings, seed, device and threads give equal weights bit for bit, as long as the time budget leaves the
same number of steps: it cuts at whole epochs where it can, so that small differences in speed change nothing.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from models.errors import ModelError
from training.events import Event, Phase
from training.gradient_cache import CachedBatch

MEASURED_BATCHES = 2
Batch = Sequence[int]
Clock = Callable[[], float]


class Task(ABC):
    """What a recipe trains: networks, batches of example numbers, and the loss of one batch."""

    @abstractmethod
    def modules(self) -> Sequence[nn.Module]:
        """The networks that are trained; parameters with `requires_grad` off stay as they are."""

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch; equally many in each, reproducible from seed and epoch."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """Scalar loss of a batch, with a graph."""

    def before_epoch(self, epoch: int) -> Iterator[Event]:  # noqa: ARG002 the default does nothing
        """Work between epochs, such as mining negatives."""
        yield from ()

    def after_step(self) -> None:  # noqa: B027 the default does nothing
        """What follows each step of the optimiser, such as a projection onto a norm's ball."""

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:  # noqa: ARG002 the default asks nothing
        """AdamW's groups: `params`, and `lr` or `weight_decay` where they differ from the settings'.

        Each group's rate follows the same schedule. Default: one group of all parameters that are trained.
        """
        return [{"params": [p for module in self.modules() for p in module.parameters() if p.requires_grad]}]

    def state(self) -> dict[str, Any]:
        """What a resumed run needs besides the networks' weights, as JSON: generator states, mined rows."""
        return {}

    def load_state(self, raw: Mapping[str, Any]) -> None:  # noqa: B027 the default has no state
        """Go on from what `state` returned, read back from JSON."""

    def pieces(self, batch: Batch, *, chunk: int) -> CachedBatch | None:  # noqa: ARG002 the default cannot
        """The batch for gradient caching, at most `chunk` texts a piece (see `training.gradient_cache.CachedBatch`).

        None where the task has no such form, before anything is drawn; its loss is then taken in one go.
        """
        return None


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """`epochs` is the most; `seconds` bounds measuring and training together (None: no bound).

    `accumulation` batches make one step of the optimiser. `epoch_overhead` is what `before_epoch` takes, in seconds.
    """

    epochs: int
    learning_rate: float
    warmup: float = 0.1
    weight_decay: float = 0.01
    eps: float = 1e-6
    clip: float = 1.0
    accumulation: int = 1
    seed: int = 0
    seconds: float | None = None
    epoch_overhead: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What happened. `losses` are the means of each epoch; `cut_short` tells that the clock ended it."""

    steps: int
    planned_steps: int
    epochs: float
    losses: tuple[float, ...]
    seconds: float
    cut_short: bool


def train(task: Task, settings: TrainSettings, *, clock: Clock = time.monotonic) -> Generator[Event, None, TrainResult]:
    """Train and yield an event after every step; the generator may be closed between two events.

    Raises ModelError where there is nothing to train on, the budget allows not a single step, or the loss is not a
    number.
    """
    started = clock()
    torch.manual_seed(settings.seed)
    first = task.batches(0)
    if not first:
        raise ModelError("There is nothing to train on: no decision of a training document can be used.")
    yield from task.before_epoch(0)
    per_batch = 0.0 if settings.seconds is None else _measure(task, first, clock)
    left = None if settings.seconds is None else settings.seconds - (clock() - started)
    batches = plan_batches(len(first), settings, seconds_per_batch=per_batch, seconds=left)
    torch.manual_seed(settings.seed)
    for module in task.modules():
        module.train()
    loop = _Loop(task, settings, batches=batches, per_epoch=len(first))
    deadline = None if settings.seconds is None else started + settings.seconds
    yield from loop.run(clock, started=started, deadline=deadline)
    for module in task.modules():
        module.eval()
    return loop.result(clock() - started)


def plan_batches(per_epoch: int, settings: TrainSettings, *, seconds_per_batch: float, seconds: float | None) -> int:
    """How many batches the budget allows: whole epochs if at least one fits, a part of one otherwise.

    Raises ModelError where not even one batch fits.
    """
    wanted = per_epoch * settings.epochs
    if seconds is None:
        return wanted
    epoch = per_epoch * seconds_per_batch + settings.epoch_overhead
    if settings.epochs * epoch <= seconds:
        return wanted
    if epoch <= seconds:
        return per_epoch * int(seconds // epoch)
    affordable = int((seconds - settings.epoch_overhead) // max(seconds_per_batch, 1e-9))
    if affordable < 1:
        raise ModelError(
            f"The time budget is too short: after preparation {max(0.0, seconds):.0f} s are left for training, and one "
            f"step takes {seconds_per_batch:.1f} s. Allow more minutes."
        )
    return min(wanted, affordable)


def _measure(task: Task, batches: Sequence[Batch], clock: Clock) -> float:
    """Seconds for one batch, forward and backward; the first one warms up and is not counted."""
    times = []
    for number in range(MEASURED_BATCHES + 1):
        begun = clock()
        torch.autograd.backward(task.loss(batches[number % len(batches)]))
        times.append(clock() - begun)
    for module in task.modules():
        module.zero_grad(set_to_none=True)
    return sum(times[1:]) / MEASURED_BATCHES


class _Loop:
    """The state of one run: optimiser, schedule, epoch means."""

    def __init__(self, task: Task, settings: TrainSettings, *, batches: int, per_epoch: int) -> None:
        self.task, self.settings = task, settings
        self.batches, self.per_epoch = batches, per_epoch
        self.steps = -(-batches // settings.accumulation)
        groups = task.parameter_groups(settings)
        self.parameters = [p for group in groups for p in group["params"]]
        self.optimizer = AdamW(groups, lr=settings.learning_rate, eps=settings.eps, weight_decay=settings.weight_decay)
        self.schedule = LambdaLR(self.optimizer, self._factor)
        self.step = self.done = 0
        self.losses: list[list[float]] = []

    def _factor(self, step: int) -> float:
        """Linear warm-up over the first share of the steps, then linear decay to zero."""
        warm = max(1, round(self.settings.warmup * self.steps))
        return (step + 1) / warm if step < warm else max(0.0, (self.steps - step) / max(1, self.steps - warm))

    def run(self, clock: Clock, *, started: float, deadline: float | None) -> Iterator[Event]:
        for epoch in range(-(-self.batches // self.per_epoch)):
            if epoch:
                yield from self.task.before_epoch(epoch)
            self.losses.append([])
            for batch in self.task.batches(epoch)[: self.batches - self.done]:
                if deadline is not None and self.done and clock() > deadline:
                    return
                rate = float(self.schedule.get_last_lr()[0])
                self._learn(batch)
                yield self._event(rate, epoch, clock() - started)

    def _learn(self, batch: Batch) -> None:
        loss = self.task.loss(batch)
        value = float(loss.detach())
        if not bool(torch.isfinite(loss.detach())):
            raise ModelError(
                f"The loss is not a number any more (step {self.step + 1}: {value}). Train again with a lower learning "
                f"rate than {self.settings.learning_rate:g}. The bundle in use is unchanged."
            )
        self.losses[-1].append(value)
        torch.autograd.backward(loss / self.settings.accumulation)
        self.done += 1
        if self.done % self.settings.accumulation == 0 or self.done == self.batches:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.task.after_step()
            self.step += 1
            if self.step < self.steps:
                self.schedule.step()

    def _event(self, rate: float, epoch: int, seconds: float) -> Event:
        data = {
            "loss": self.losses[-1][-1],
            "learning_rate": rate,
            "step": self.step,
            "epoch": epoch + 1,
            "seconds": round(seconds, 2),
        }
        return Event(Phase.TRAIN, self.done, self.batches, data=data)

    def result(self, seconds: float) -> TrainResult:
        return TrainResult(
            steps=self.step,
            planned_steps=self.steps,
            epochs=self.done / self.per_epoch,
            losses=tuple(sum(part) / len(part) for part in self.losses if part),
            seconds=seconds,
            cut_short=self.done < self.batches,
        )

"""The interface between a recipe and the trainer: the task, the settings, and the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from torch import Tensor, nn

from training.data.progress import Event

Batch = Sequence[int]


class Task(ABC):
    """A training task: networks, batches of example numbers, and the loss of one batch.

    Only the first three methods are needed; the others have defaults.

    `at_once`: the most examples with a graph at the same time; 0: a whole batch. It is for tasks with independent
    examples, for which parts change only the rounding. `random` is what `loss` draws from: the trainer sets it at the
    start of each step, by seed and step, so that a step that is repeated draws the same.
    """

    at_once: int = 0
    random: np.random.Generator

    @abstractmethod
    def modules(self) -> Sequence[nn.Module]:
        """The networks that are trained; parameters with `requires_grad` off are not trained."""

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch; the same number in each epoch, determined by seed and epoch alone."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """Scalar loss of a batch (a mean over its examples), with a graph."""

    def before_epoch(self, epoch: int) -> Iterator[Event]:  # noqa: ARG002 the default does nothing
        """Work between epochs, such as mining negatives. A run resumed within an epoch does not repeat it."""
        yield from ()

    def after_step(self) -> None:  # noqa: B027 the default does nothing
        """What follows each step of the optimiser, such as a projection onto a ball."""

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:  # noqa: ARG002 the default asks nothing
        """AdamW's groups: `params`, and `lr` or `weight_decay` if they differ from the settings.

        Each group's rate follows the same schedule. Default: one group of all parameters that are trained.
        """
        parameters = (p for module in self.modules() for p in module.parameters() if p.requires_grad)
        return [{"params": list(dict.fromkeys(parameters))}]

    def state(self) -> dict[str, Any]:
        """State of a resumed run in addition to the networks' weights, as JSON, such as mined rows."""
        return {}

    def load_state(self, raw: Mapping[str, Any]) -> None:  # noqa: B027 the default has no state
        """Resume from the result of `state`, read from JSON."""

    def split(self, batch: Batch, size: int) -> Sequence[Batch]:
        """Parts of a batch that did not fit into memory, of at most `size` examples and nearly equal length.

        A task whose examples belong together (clusters) may split elsewhere; a part is never empty.
        """
        count = -(-len(batch) // size)
        bounds = [len(batch) * number // count for number in range(count + 1)]
        return [batch[start:stop] for start, stop in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """`epochs` and `max_steps` (None: no bound) are upper limits; `seconds` limits measurement and training together
    (None: no limit).

    `accumulation` batches make one step of the optimiser. `epoch_overhead` is the time for `before_epoch` and a
    validation, in seconds. `precision` is "fp32", "bf16", "fp16" or "auto"
    (`training.loop.engine.training_precision`). A validation runs every `validate_every` steps (0: at each epoch's
    end).
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
    max_steps: int | None = None
    epoch_overhead: float = 0.0
    precision: str = "auto"
    validate_every: int = 0


@dataclass(frozen=True, slots=True)
class TrainResult:
    """The result. `losses` are the means of each epoch; `cut_short`: the time budget ended the run.

    `seconds` includes training before an interruption. `micro_batch` is the final number of examples processed at once
    (0: whole batches), reduced if memory ran out. `validation` holds the figures of each validation, `notes` the
    sentences for the manifest.
    """

    steps: int
    planned_steps: int
    epochs: float
    losses: tuple[float, ...]
    seconds: float
    cut_short: bool
    micro_batch: int = 0
    precision: str = "fp32"
    validation: tuple[dict[str, float], ...] = ()
    notes: tuple[str, ...] = ()

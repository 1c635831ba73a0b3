"""The interface between a recipe and the trainer: the task, the settings, and the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from torch import Tensor, nn

from training.data import Event
from training.loop.gradient_cache import CachedBatch

Batch = Sequence[int]


class Task(ABC):
    """What a recipe trains: networks, batches of example numbers, and the loss of one batch.

    Only the first three methods are needed; the others have defaults.

    `at_once`: most examples whose graph is built at a time; 0: a whole batch. For tasks whose examples do not touch
    each other, so that parts change nothing but the rounding.
    """

    at_once: int = 0

    @abstractmethod
    def modules(self) -> Sequence[nn.Module]:
        """The networks that are trained; parameters with `requires_grad` off stay as they are."""

    @abstractmethod
    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch; equally many in each, reproducible from seed and epoch alone."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """Scalar loss of a batch (a mean over its examples), with a graph."""

    def before_epoch(self, epoch: int) -> Iterator[Event]:  # noqa: ARG002 the default does nothing
        """Work between epochs, such as mining negatives. A run resumed amid an epoch does not repeat it."""
        yield from ()

    def after_step(self) -> None:  # noqa: B027 the default does nothing
        """What follows each step of the optimiser, such as a projection onto a norm's ball."""

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:  # noqa: ARG002 the default asks nothing
        """AdamW's groups: `params`, and `lr` or `weight_decay` where they differ from the settings'.

        Each group's rate follows the same schedule. Default: one group of all parameters that are trained.
        """
        parameters = (p for module in self.modules() for p in module.parameters() if p.requires_grad)
        return [{"params": list(dict.fromkeys(parameters))}]

    def state(self) -> dict[str, Any]:
        """What a resumed run needs besides the networks' weights, as JSON: generator states, mined rows."""
        return {}

    def load_state(self, raw: Mapping[str, Any]) -> None:  # noqa: B027 the default has no state
        """Go on from what `state` returned, read back from JSON."""

    def generators(self) -> Sequence[np.random.Generator]:
        """The generators that `loss` draws from: they are set back when a step is tried again in smaller parts."""
        return ()

    def pieces(self, batch: Batch, *, chunk: int) -> CachedBatch | None:  # noqa: ARG002 the default cannot
        """The batch for gradient caching, at most `chunk` texts a piece (see
        `training.loop.gradient_cache.CachedBatch`).

        None where the task has no such form, before anything is drawn; its loss is then taken in one go.
        """
        return None

    def split(self, batch: Batch, size: int) -> Sequence[Batch]:
        """Parts of a batch that did not fit into memory, of at most `size` examples and nearly equal length.

        A task whose examples belong together (clusters) may cut elsewhere; a part is never empty.
        """
        count = -(-len(batch) // size)
        bounds = [len(batch) * number // count for number in range(count + 1)]
        return [batch[start:stop] for start, stop in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """`epochs` and `max_steps` (None: no bound) are the most; `seconds` bounds measuring and training together (None:
    no bound).

    `accumulation` batches make one step of the optimiser. `epoch_overhead` is what `before_epoch` and a validation
    take, in seconds. `precision` is "fp32", "bf16", "fp16" or "auto" (`training.loop.accelerator.training_precision`).
    `gradient_chunk` texts are encoded at once by gradient caching (0: off); `validate_every` steps there is a
    validation (0: at each epoch's end).
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
    gradient_chunk: int = 0
    validate_every: int = 0


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What happened. `losses` are the means of each epoch; `cut_short`: the time budget ended it.

    `seconds` counts the training before an interruption too. `micro_batch` is the most examples that were taken at
    once at the end (0: whole batches), less where memory ran out; `gradient_chunk` likewise. `validation` holds the
    figures of each validation, `notes` what the manifest should say.
    """

    steps: int
    planned_steps: int
    epochs: float
    losses: tuple[float, ...]
    seconds: float
    cut_short: bool
    micro_batch: int = 0
    gradient_chunk: int = 0
    precision: str = "fp32"
    processes: int = 1
    validation: tuple[dict[str, float], ...] = ()
    notes: tuple[str, ...] = ()

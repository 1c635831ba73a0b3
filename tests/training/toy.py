"""A retriever in small: an encoder with dropout, negatives drawn by a generator of its own, rows mined each epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from training.data.progress import Event, Phase
from training.loop.task import Batch, Task, TrainResult, TrainSettings

ENTITIES, WIDTH = 40, 6


@dataclass(eq=False)
class ToyTask(Task):
    """`limit`: more texts than these at once do not fit into memory (0: any number does). `broken_at`: the call in
    which the loss is no number."""

    examples: int = 20
    size: int = 4
    dropout: float = 0.3
    limit: int = 0
    broken_at: int = 0
    seed: int = 7
    calls: int = 0
    mined: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        torch.manual_seed(11)
        self.network = nn.Sequential(
            nn.Embedding(100, 8), nn.Linear(8, 16), nn.Dropout(self.dropout), nn.Tanh(), nn.Linear(16, WIDTH)
        )
        self.radius = nn.Parameter(torch.tensor(1.0))
        self.random = np.random.default_rng(self.seed)

    def modules(self) -> Sequence[nn.Module]:
        return [self.network]

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:
        return [{"params": list(self.network.parameters())}, {"params": [self.radius], "lr": 0.05, "weight_decay": 0.0}]

    def before_epoch(self, epoch: int) -> Iterator[Event]:
        self.mined = np.random.default_rng([self.seed, 1, epoch]).permutation(ENTITIES)[:10].tolist()
        yield Event(Phase.PREPARE, text="mined")

    def batches(self, epoch: int) -> Sequence[Batch]:
        order = np.random.default_rng([self.seed, epoch]).permutation(self.examples).tolist()
        return [order[start : start + self.size] for start in range(0, len(order), self.size)]

    def state(self) -> dict[str, Any]:
        return {"mined": self.mined}

    def load_state(self, raw: Mapping[str, Any]) -> None:
        self.mined = list(raw["mined"])

    def draw(self, batch: Batch) -> list[int]:
        """Gold entities of the batch, and one negative of each kind for it."""
        negatives = [int(self.random.choice(self.mined or [0])), int(self.random.integers(ENTITIES))]
        return [number % ENTITIES for number in batch] + negatives

    def encode(self, ids: Sequence[int]) -> Tensor:
        if self.limit and len(ids) > self.limit and torch.is_grad_enabled():
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return self.network(torch.tensor(ids))

    def loss(self, batch: Batch) -> Tensor:
        self.calls += 1
        entities = self.draw(batch)
        return self.loss_of(self.encode([50 + number for number in batch]), self.encode(entities))

    def loss_of(self, mentions: Tensor, entities: Tensor) -> Tensor:
        scores = self.radius * mentions @ entities.T
        value = cross_entropy(scores, torch.arange(len(mentions)))
        return value * float("nan") if self.broken_at and self.calls >= self.broken_at else value

    def weights(self) -> Tensor:
        return torch.cat([p.detach().flatten() for p in (*self.network.parameters(), self.radius)])


def finish(work: Iterator[Event]) -> tuple[list[Event], TrainResult]:
    """All events of a training, and its result."""
    events = []
    while True:
        try:
            events.append(next(work))
        except StopIteration as end:
            return events, end.value

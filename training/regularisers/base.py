"""What a regulariser is given and what it gives back.

A task draws a batch once: gold entities, negatives, who may be a negative of whom. A regulariser adds a term to the
loss of that very batch, so nothing is drawn again; what it needs encoded besides it asks for as pieces, so that the
same code serves a batch in one go and a batch by gradient caching.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from training.loop import Piece, Side
from training.losses import Loss, LossInputs, Similarity, Texts, take
from training.negatives import Rows

if TYPE_CHECKING:
    from training.data import Example
    from training.loop import Towers, TrainSettings


@dataclass(frozen=True, slots=True, eq=False)
class DrawnBatch:
    """A batch of a bi-encoder, once drawn.

    `rows` [N] are the distinct entity rows to encode, at least one; `place` [B] int64 says where each mention's gold
    entity stands among them (0 for NIL), `linked` [B] bool that it has one, `eligible` [B, N] bool whom it is pushed
    away from. `mentions` and `entities` are the two sides to encode, at most `chunk` texts at once.
    """

    towers: Towers
    examples: tuple[Example, ...]
    rows: Rows
    place: Tensor
    linked: Tensor
    eligible: Tensor
    similarity: Similarity
    mentions: Side
    entities: Side
    chunk: int

    @property
    def device(self) -> torch.device:
        return self.towers.device

    def entity_side(self, rows: Rows) -> Side:
        """A side of the given entity rows, encoded as the batch's own are."""
        return self.towers.entity_side(rows, tokens=self.similarity is Similarity.SOM, chunk=self.chunk)

    def inputs(self, mentions: Texts, entities: Texts) -> LossInputs:
        """What the loss sees where `entities` are those of `rows`, as candidates of all mentions."""
        return LossInputs(
            mentions=mentions,
            positives=take(entities, self.place),
            candidates=entities,
            eligible=self.eligible,
            linked=self.linked,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LossTerm:
    """What is added to a batch's loss: `loss(clean, outputs)` of the clean texts and of the outputs of `pieces`.

    The pieces are called after those of the clean mentions and entities, and under the contract of
    `training.loop.gradient_cache.CachedBatch`.
    """

    pieces: Sequence[Piece]
    loss: Callable[[LossInputs, Sequence[Tensor]], Tensor]


class Regulariser(nn.Module, ABC):
    """Base of the regularisers. What it trains itself are its parameters; encoders never hold anything of it."""

    @property
    def cacheable(self) -> bool:
        """Whether its term can be had by gradient caching."""
        return True

    def bind(self, towers: Towers) -> None:
        """Called once by the task; raises ModelError where it cannot work with these towers, saying why."""

    @abstractmethod
    def term(self, drawn: DrawnBatch, loss: Loss) -> LossTerm:
        """The term for a batch whose clean loss is `loss`."""

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:  # noqa: ARG002 nothing by default
        """Groups for the optimiser, as in `Task.parameter_groups`."""
        return []

    def after_step(self) -> None:
        """What follows each step of the optimiser."""

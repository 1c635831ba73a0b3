"""The input and output of a regulariser.

A task draws a batch once: gold entities, negatives, and the allowed pairs of mentions and negatives. A regulariser adds
a term to the loss of the same batch, so nothing is drawn again. Texts that it needs encoded in addition are pieces, so
that the same code serves whole batches and gradient caching.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from training.loop.gradient_cache import Piece
from training.loop.towers import Side
from training.losses.base import Loss, LossInputs, Similarity, Texts, take
from training.negatives.kinship import Rows

if TYPE_CHECKING:
    from training.data.examples import Example
    from training.loop.task import TrainSettings
    from training.loop.towers import Towers


@dataclass(frozen=True, slots=True, eq=False)
class DrawnBatch:
    """A drawn batch of a bi-encoder.

    `rows` [N] are the distinct entity rows to encode, at least one; `place` [B] int64 is the position of each mention's
    gold entity among them (0 for NIL), `linked` [B] bool whether it has one, `eligible` [B, N] bool which rows it is
    pushed away from. `mentions` and `entities` are the two sides to encode, at most `chunk` texts at once.
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
        """A side of the given entity rows, encoded like the batch's own."""
        return self.towers.entity_side(rows, tokens=self.similarity is Similarity.SOM, chunk=self.chunk)

    def inputs(self, mentions: Texts, entities: Texts) -> LossInputs:
        """The loss's input, with `entities` (encoded `rows`) as candidates of all mentions."""
        return LossInputs(
            mentions=mentions,
            positives=take(entities, self.place),
            candidates=entities,
            eligible=self.eligible,
            linked=self.linked,
        )


@dataclass(frozen=True, slots=True, eq=False)
class LossTerm:
    """A term added to a batch's loss: `loss(clean, outputs)` of the clean texts and the outputs of `pieces`.

    The pieces are called after those of the clean mentions and entities, and follow the contract of
    `training.loop.gradient_cache.CachedBatch`.
    """

    pieces: Sequence[Piece]
    loss: Callable[[LossInputs, Sequence[Tensor]], Tensor]


class Regulariser(nn.Module, ABC):
    """Base of the regularisers. Its parameters are trained with the encoders, but are never stored in them."""

    @property
    def cacheable(self) -> bool:
        """Whether its term supports gradient caching."""
        return True

    def bind(self, towers: Towers) -> None:
        """Called once by the task; raises ModelError with the reason if it does not support these towers."""

    @abstractmethod
    def term(self, drawn: DrawnBatch, loss: Loss) -> LossTerm:
        """The term for a batch whose clean loss is `loss`."""

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:  # noqa: ARG002 nothing by default
        """Groups for the optimiser, as in `Task.parameter_groups`."""
        return []

    def after_step(self) -> None:
        """What follows each step of the optimiser."""

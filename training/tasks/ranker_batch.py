"""A batch of the dual-encoder re-ranker, drawn and not yet encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.data.examples import Example
from training.loop.gradient_cache import Piece
from training.loop.sides import Side
from training.losses import Loss, LossInputs
from training.losses.base import vectors_of
from training.negatives import Rows
from training.tasks.clustering import SoftRadius


@dataclass(frozen=True, slots=True, eq=False)
class DrawnMentions:
    """Examples by `batch` number, each one's cluster within the batch (`numbers` [B]) and its `gold` row [B]."""

    batch: tuple[int, ...]
    examples: tuple[Example, ...]
    numbers: Rows
    gold: Rows


@dataclass(frozen=True, slots=True, eq=False)
class RankerBatch:
    """A drawn batch in the form that gradient caching takes (`training.loop.gradient_cache.CachedBatch`).

    `place` [B] is the gold entity's place among the entities, `eligible` [B, N] says who rivals whom.
    """

    drawn: DrawnMentions
    mentions: Side
    entities: Side
    place: Tensor
    eligible: Tensor
    soft: SoftRadius | None
    loss_of: Loss

    @property
    def pieces(self) -> list[Piece]:
        return [*self.mentions.pieces, *self.entities.pieces]

    def loss(self, outputs: Sequence[Tensor]) -> Tensor:
        count = len(self.mentions.pieces)
        mentions, entities = self.mentions.join(outputs[:count]), self.entities.join(outputs[count:])
        return self.value(vectors_of(mentions), vectors_of(entities))

    def value(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """The loss of `mentions` [B, d] and `entities` [N, d]."""
        result: Tensor = self.loss_of(
            LossInputs(
                mentions=mentions,
                positives=entities[self.place],
                candidates=entities,
                eligible=self.eligible,
                linked=torch.ones(len(mentions), dtype=torch.bool, device=mentions.device),
                clusters=self._clusters(mentions),
            )
        )
        return result

    def _clusters(self, mentions: Tensor) -> Tensor:
        """The clusters whose means are learnt: with SRN a mention outside of the radius is in none."""
        clusters = torch.from_numpy(self.drawn.numbers).to(mentions.device)
        if self.soft is None:
            return clusters
        return self.soft.select(mentions, clusters, names=[example.cluster for example in self.drawn.examples])

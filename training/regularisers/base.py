"""The input and output of a regulariser.

A task draws a batch once: gold entities, negatives, and the allowed pairs of mentions and negatives. A regulariser adds
a term to the loss of the same batch, so nothing is drawn again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

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
    pushed away from. `mentions` and `entities` are the two sides to encode.
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

    @property
    def device(self) -> torch.device:
        return self.towers.device

    def entity_side(self, rows: Rows) -> Side:
        """A side of the given entity rows, encoded like the batch's own."""
        return self.towers.entity_side(rows, tokens=self.similarity is Similarity.SOM)

    def inputs(self, mentions: Texts, entities: Texts) -> LossInputs:
        """The loss's input, with `entities` (encoded `rows`) as candidates of all mentions."""
        return LossInputs(
            mentions=mentions,
            positives=take(entities, self.place),
            candidates=entities,
            eligible=self.eligible,
            linked=self.linked,
        )


class Regulariser(nn.Module, ABC):
    """Base of the regularisers. Its parameters are trained with the encoders, but are never stored in them."""

    def bind(self, towers: Towers) -> None:
        """Called once by the task; raises ModelError with the reason if it does not support these towers."""

    @abstractmethod
    def term(self, drawn: DrawnBatch, loss: Loss, clean: LossInputs) -> Tensor:
        """The scalar term for a batch whose `clean` texts, encoded, have been given to `loss`."""

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:  # noqa: ARG002 nothing by default
        """Groups for the optimiser, as in `Task.parameter_groups`."""
        return []

    def after_step(self) -> None:
        """What follows each step of the optimiser."""

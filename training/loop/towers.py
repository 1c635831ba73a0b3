"""The two networks that recipes train: one reads mentions, the other entities.

The entity tower may be frozen; then its vectors are looked up instead of computed, which saves more than half of
every step and all re-encoding afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.encoders.encoders import EncoderModule
from models.encoders.pooling import MentionVector, marked_vector
from models.errors import ModelError
from models.retrievers.scorers import TokenStates
from models.wording import say
from training.data.examples import EntityTexts, Example
from training.loop.projection import project
from training.loop.sides import GivenSide, Side, TextSubset, parts_of
from training.losses.base import tokens_of, vectors_of
from training.negatives import Rows

CHUNK, GPU_CHUNK = 32, 256
"""Texts encoded at once: on a processor padding costs more than larger matrices save, a GPU wants to be filled."""
FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Towers:
    """The two networks. `entity_vectors` [E, d], not normalised, stand in for a frozen entity tower, and
    `entity_projection` [d, d], where there is one, maps them (see `training.loop.projection`).

    `of_mention` is what becomes a mention's vector: the tower's own pooling, or what lies at or between its markers.
    """

    mention: EncoderModule
    entity: EncoderModule
    texts: EntityTexts
    pad_id: int
    device: torch.device
    entity_vectors: FloatArray | None = None
    of_mention: MentionVector = MentionVector.TEXT
    entity_projection: nn.Linear | None = None

    def __post_init__(self) -> None:
        if self.entity_projection is not None and self.entity_vectors is None:
            raise ModelError(say("A projection maps the vectors of a frozen entity tower; this one is trained itself."))

    @property
    def chunk(self) -> int:
        """How many texts are encoded at once unless something else is asked for."""
        return CHUNK if self.device.type == "cpu" else GPU_CHUNK

    def trained(self) -> list[nn.Module]:
        """The networks that learn: the mention tower, and the entity tower or the projection of its vectors."""
        if self.entity_vectors is None:
            return [self.mention, self.entity]
        return [self.mention] if self.entity_projection is None else [self.mention, self.entity_projection]

    def projected(self, vectors: FloatArray) -> FloatArray:
        """`vectors` [n, d] of frozen entities as the projection maps them now; as they are where there is none."""
        return vectors if self.entity_projection is None else project(self.entity_projection, vectors)

    def encode_mentions(self, examples: Sequence[Example]) -> Tensor:
        """Vectors [B, d], not normalised."""
        return vectors_of(self.mention_side(examples).whole())

    def encode_entities(self, rows: Rows) -> Tensor:
        """Vectors [N, d], not normalised; encoded in chunks of like length, so padding costs little."""
        return vectors_of(self.entity_side(rows).whole())

    def mention_states(self, examples: Sequence[Example]) -> TokenStates:
        """States [B, tokens, d] of all tokens of the mentions in context, for SOM."""
        return tokens_of(self.mention_side(examples, tokens=True).whole())

    def entity_states(self, rows: Rows) -> TokenStates:
        """States [N, tokens, d] of all tokens of the entities, for SOM; without a graph where their tower is frozen."""
        return tokens_of(self.entity_side(rows, tokens=True).whole())

    def mention_side(self, examples: Sequence[Example], *, tokens: bool = False, chunk: int | None = None) -> Side:
        """The mentions, to be encoded at most `chunk` at once."""
        ids = [example.tokens.ids for example in examples]
        parts = parts_of(ids, chunk=chunk or self.chunk, pad_id=self.pad_id, device=self.device)
        if tokens:
            encode = _states(self.mention)
        elif self.of_mention is MentionVector.TEXT:
            encode = _vectors(self.mention)
        else:
            encode = partial(self._marked, examples)
        return Side(parts, encode, tokens=tokens)

    def entity_side(self, rows: Rows, *, tokens: bool = False, chunk: int | None = None) -> Side:
        """The entities, to be encoded at most `chunk` at once; those of a frozen tower are not encoded by training."""
        if self.entity_vectors is not None and not tokens:
            return GivenSide(partial(self._looked_up, self.entity_vectors, rows))
        ids = self.texts.of(rows.tolist())
        parts = parts_of(ids, chunk=chunk or self.chunk, pad_id=self.pad_id, device=self.device)
        side = Side(parts, _states(self.entity) if tokens else _vectors(self.entity), tokens=tokens)
        return side if self.entity_vectors is None else GivenSide(torch.no_grad()(side.whole))

    def _marked(self, examples: Sequence[Example], part: TextSubset) -> Tensor:
        tokens = [examples[place].tokens for place in part.places.tolist()]
        starts, ends = (
            torch.tensor([getattr(own, side) for own in tokens], device=self.device) for side in ("start", "end")
        )
        return marked_vector(self.mention.token_states(part.ids, part.mask), starts, ends, self.of_mention)

    def _looked_up(self, vectors: FloatArray, rows: Rows) -> Tensor:
        found = torch.from_numpy(np.asarray(vectors[rows], dtype=np.float32)).to(self.device)
        projected: Tensor = found if self.entity_projection is None else self.entity_projection(found)
        return projected


def _vectors(module: EncoderModule) -> Callable[[TextSubset], Tensor]:
    def encode(part: TextSubset) -> Tensor:
        vectors: Tensor = module(part.ids, part.mask)
        return vectors

    return encode


def _states(module: EncoderModule) -> Callable[[TextSubset], Tensor]:
    return lambda part: module.token_states(part.ids, part.mask)

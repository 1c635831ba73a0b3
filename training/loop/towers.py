"""The two networks that recipes train: one reads mentions, the other entities.

The entity tower may be frozen; then its vectors are looked up, which saves more than half of every step and the
encoding afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from models.encoders.encoders import EncoderModule, pad_ids
from models.encoders.pooling import MentionVector, marked_vector
from models.errors import ModelError, say
from models.retrievers.scorers import TokenStates
from training.data.examples import EntityTexts, Example
from training.losses.base import Texts, tokens_of, vectors_of
from training.negatives.kinship import Rows

# A small trainable map of frozen entity vectors: e → W e, W starting as the identity. If the entity encoder is frozen,
# its vectors come from a file, and the entity side could not learn. W adds d² parameters at the cost of one matrix
# product: after training, all vectors are mapped within a second, and no entity is encoded again. Entities that are
# added later are mapped by the same W, so a bundle has to keep it.

FloatArray = NDArray[np.float32]
MAPPED_AT_ONCE = 8192


def identity_projection(dimension: int, *, device: torch.device) -> nn.Linear:
    """W [d, d] as a layer without bias, the identity before training; draws no random numbers. Raises ModelError for d
    < 1."""
    if dimension < 1:
        raise ModelError(say("A projection needs vectors of at least 1 number, not {dimension}.", dimension=dimension))
    projection = nn.Linear(dimension, dimension, bias=False, device="meta").to_empty(device=device)
    with torch.no_grad():
        nn.init.eye_(projection.weight)
    return projection


def project(projection: nn.Linear, vectors: FloatArray, *, chunk: int = MAPPED_AT_ONCE) -> FloatArray:
    """W v for all `vectors` [n, d] → [n, d] float32, without a graph, `chunk` at a time.

    Raises ModelError if the vectors' width differs from W's.
    """
    if vectors.ndim != 2 or vectors.shape[1] != projection.in_features:
        raise ModelError(
            say(
                "A projection of {in_features} numbers cannot map vectors of shape {shape}. The vectors "
                "belong to another encoder. Prepare them again.",
                in_features=projection.in_features,
                shape=vectors.shape,
            )
        )
    weight = projection.weight
    mapped = np.empty((len(vectors), projection.out_features), dtype=np.float32)
    with torch.inference_mode():
        for start in range(0, len(vectors), chunk):
            part = torch.from_numpy(np.array(vectors[start : start + chunk], dtype=np.float32))
            mapped[start : start + chunk] = projection(part.to(weight)).float().cpu().numpy()
    return mapped


# One side of a batch, its mentions or its entities, encoded part by part. A part holds texts of similar length, so
# padding costs little. A regulariser uses `through` to encode the same texts in another way.


@dataclass(frozen=True, slots=True, eq=False)
class TextSubset:
    """Some texts of a side: `places` [n] int64 are their positions among all texts, `ids` and `mask` are [n, t]."""

    places: Tensor
    ids: Tensor
    mask: Tensor


Encode = Callable[[TextSubset], Tensor]


def parts_of(texts: Sequence[Sequence[int]], *, chunk: int, pad_id: int, device: torch.device) -> list[TextSubset]:
    """Token ids as parts of at most `chunk` texts, shortest first."""
    order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), number))
    parts = []
    for start in range(0, len(order), chunk):
        numbers = order[start : start + chunk]
        ids, mask = pad_ids([texts[number] for number in numbers], pad_id=pad_id, device=device)
        parts.append(TextSubset(torch.tensor(numbers, device=device), ids, mask))
    return parts


class Side:
    """`encode` gives a part's vectors [n, d] or, if `tokens` is set, its token states [n, t, d]."""

    def __init__(self, parts: Sequence[TextSubset], encode: Encode, *, tokens: bool) -> None:
        self.parts, self.encode, self.tokens = tuple(parts), encode, tokens

    def texts(self, part: TextSubset) -> Texts:
        """A part's texts, freshly encoded, in the part's order."""
        output = self.encode(part)
        return TokenStates(output, part.mask) if self.tokens else output

    def whole(self) -> Texts:
        """All texts, freshly encoded, in their original order; at least one part."""
        outputs = [self.encode(part) for part in self.parts]
        back = torch.argsort(torch.cat([part.places for part in self.parts]))
        if not self.tokens:
            return torch.cat(outputs)[back]
        width = max(part.mask.shape[1] for part in self.parts)
        states = [pad(output, (0, 0, 0, width - output.shape[1])) for output in outputs]
        masks = [pad(part.mask, (0, width - part.mask.shape[1])) for part in self.parts]
        return TokenStates(torch.cat(states)[back], torch.cat(masks)[back])

    def through(self, encode: Encode) -> Side:
        """A side with the same texts, encoded in another way."""
        return Side(self.parts, encode, tokens=self.tokens)


class GivenSide(Side):
    """A side that is looked up instead of encoded, such as that of a frozen tower."""

    def __init__(self, give: Callable[[], Texts]) -> None:
        super().__init__((), _never, tokens=False)
        self._give = give

    def whole(self) -> Texts:
        return self._give()

    def through(self, encode: Encode) -> Side:  # noqa: ARG002 what is looked up stays as it is
        return self


def _never(part: TextSubset) -> Tensor:
    raise AssertionError(f"A side that is looked up has no parts, but was asked to encode {len(part.places)} texts.")


CHUNK, GPU_CHUNK = 32, 256
"""Texts encoded at once: on a CPU, padding costs more than larger matrices save; a GPU needs large batches."""


@dataclass(frozen=True, slots=True, eq=False)
class Towers:
    """The two networks. `entity_vectors` [E, d], not normalised, replace a frozen entity tower, and `entity_projection`
    [d, d], if given, maps them (see `training.loop.projection`).

    `of_mention` is the pooling of a mention's vector: the tower's own, or the states at or between its markers.
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
            raise ModelError(
                say("A projection maps the vectors of a frozen entity tower, but this tower is trained itself.")
            )

    @property
    def chunk(self) -> int:
        """The number of texts encoded at once."""
        return CHUNK if self.device.type == "cpu" else GPU_CHUNK

    def trained(self) -> list[nn.Module]:
        """The trained networks: the mention tower, and the entity tower or the projection of its vectors."""
        if self.entity_vectors is None:
            return [self.mention, self.entity]
        return [self.mention] if self.entity_projection is None else [self.mention, self.entity_projection]

    def projected(self, vectors: FloatArray) -> FloatArray:
        """`vectors` [n, d] of frozen entities mapped by the current projection; unchanged without one."""
        return vectors if self.entity_projection is None else project(self.entity_projection, vectors)

    def encode_mentions(self, examples: Sequence[Example]) -> Tensor:
        """Vectors [B, d], not normalised."""
        return vectors_of(self.mention_side(examples).whole())

    def encode_entities(self, rows: Rows) -> Tensor:
        """Vectors [N, d], not normalised; encoded in chunks of similar length, so padding costs little."""
        return vectors_of(self.entity_side(rows).whole())

    def mention_states(self, examples: Sequence[Example]) -> TokenStates:
        """States [B, tokens, d] of all tokens of the mentions in context, for SOM."""
        return tokens_of(self.mention_side(examples, tokens=True).whole())

    def entity_states(self, rows: Rows) -> TokenStates:
        """States [N, tokens, d] of all tokens of the entities, for SOM; without a graph if their tower is frozen."""
        return tokens_of(self.entity_side(rows, tokens=True).whole())

    def mention_side(self, examples: Sequence[Example], *, tokens: bool = False) -> Side:
        """The mentions' side, encoded at most `chunk` texts at once."""
        ids = [example.tokens.ids for example in examples]
        parts = parts_of(ids, chunk=self.chunk, pad_id=self.pad_id, device=self.device)
        if tokens:
            encode = _states(self.mention)
        elif self.of_mention is MentionVector.TEXT:
            encode = _vectors(self.mention)
        else:
            encode = partial(self._marked, examples)
        return Side(parts, encode, tokens=tokens)

    def entity_side(self, rows: Rows, *, tokens: bool = False) -> Side:
        """The entities' side, encoded at most `chunk` texts at once; a frozen tower's entities are not encoded in
        training."""
        if self.entity_vectors is not None and not tokens:
            return GivenSide(partial(self._looked_up, self.entity_vectors, rows))
        ids = self.texts.of(rows.tolist())
        parts = parts_of(ids, chunk=self.chunk, pad_id=self.pad_id, device=self.device)
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

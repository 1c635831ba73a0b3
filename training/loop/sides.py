"""One side of a batch, its mentions or its entities, encoded part by part.

A part holds texts of like length, so padding costs little, and is what gradient caching encodes at once
(`training.loop.gradient_cache`). Whoever wants the same texts encoded otherwise (a regulariser) takes the side
`through` another way of encoding a part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from models.encoders.encoders import pad_ids
from models.retrievers.scorers import TokenStates
from training.loop.gradient_cache import Piece
from training.losses import Texts


@dataclass(frozen=True, slots=True, eq=False)
class TextSubset:
    """Some texts of a side: `places` [n] int64 says where they stand among all, `ids` and `mask` are [n, t]."""

    places: Tensor
    ids: Tensor
    mask: Tensor


Encode = Callable[[TextSubset], Tensor]


def parts_of(texts: Sequence[Sequence[int]], *, chunk: int, pad_id: int, device: torch.device) -> list[TextSubset]:
    """Token ids as parts of at most `chunk` texts, short ones first."""
    order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), number))
    parts = []
    for start in range(0, len(order), chunk):
        numbers = order[start : start + chunk]
        ids, mask = pad_ids([texts[number] for number in numbers], pad_id=pad_id, device=device)
        parts.append(TextSubset(torch.tensor(numbers, device=device), ids, mask))
    return parts


class Side:
    """`encode` gives a part's vectors [n, d] or, where `tokens` is set, the states of its tokens [n, t, d]."""

    def __init__(self, parts: Sequence[TextSubset], encode: Encode, *, tokens: bool) -> None:
        self.parts, self.encode, self.tokens = tuple(parts), encode, tokens
        self._last: dict[int, Tensor] = {}

    @property
    def pieces(self) -> list[Piece]:
        """One call for each part, in order; what it gave last is remembered without its graph."""
        return [partial(self._piece, number) for number in range(len(self.parts))]

    def _piece(self, number: int) -> Tensor:
        output = self.encode(self.parts[number])
        self._last[number] = output.detach()
        return output

    def texts(self, part: TextSubset) -> Texts:
        """A part's texts, encoded now, in the part's order."""
        output = self.encode(part)
        return TokenStates(output, part.mask) if self.tokens else output

    def join(self, outputs: Sequence[Tensor]) -> Texts:
        """The outputs of all pieces as texts in the order in which they were asked for; at least one part."""
        back = torch.argsort(torch.cat([part.places for part in self.parts]))
        if not self.tokens:
            return torch.cat(list(outputs))[back]
        width = max(part.mask.shape[1] for part in self.parts)
        states = [pad(output, (0, 0, 0, width - output.shape[1])) for output in outputs]
        masks = [pad(part.mask, (0, width - part.mask.shape[1])) for part in self.parts]
        return TokenStates(torch.cat(states)[back], torch.cat(masks)[back])

    def now(self) -> Texts:
        """What the pieces gave when they were last called, without a graph."""
        return self.join([self._last[number] for number in range(len(self.parts))])

    def whole(self) -> Texts:
        """All texts, encoded now."""
        return self.join([piece() for piece in self.pieces])

    def through(self, encode: Encode) -> Side:
        """The same texts, encoded in another way."""
        return Side(self.parts, encode, tokens=self.tokens)


class GivenSide(Side):
    """A side that is not encoded but looked up, as that of a frozen tower: it has no pieces."""

    def __init__(self, give: Callable[[], Texts]) -> None:
        super().__init__((), _never, tokens=False)
        self._give = give

    def join(self, outputs: Sequence[Tensor]) -> Texts:  # noqa: ARG002 there are none
        return self._give()

    def through(self, encode: Encode) -> Side:  # noqa: ARG002 what is looked up stays as it is
        return self


def _never(part: TextSubset) -> Tensor:
    raise AssertionError(f"A side that is looked up has no parts, but was asked to encode {len(part.places)} texts.")

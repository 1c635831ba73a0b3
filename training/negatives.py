"""Which entities a mention is pushed away from: random, mined, and never its own.

Entities are rows (positions in the knowledge base). The gold entity is never a negative, nor is any entity that shares
an id with it, primary or alternate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError
from models.types import EntityRecord

Rows = NDArray[np.int64]


class Kinship:
    """For each entity the rows that share an id with it, itself included."""

    def __init__(self, entities: Sequence[EntityRecord]) -> None:
        holders: dict[str, list[int]] = {}
        for row, entity in enumerate(entities):
            for name in dict.fromkeys((entity.id, *entity.alt_ids)):
                holders.setdefault(name, []).append(row)
        self._kin: dict[int, set[int]] = {}
        for rows in holders.values():
            for row in rows if len(rows) > 1 else ():
                self._kin.setdefault(row, set()).update(rows)

    def of(self, rows: Iterable[int]) -> frozenset[int]:
        """All rows that are, or are aliases of, the given ones."""
        return frozenset(kin for row in rows for kin in self._kin.get(row, {row}))


def eligible(gold: Sequence[Iterable[int]], candidates: Rows, kinship: Kinship) -> NDArray[np.bool_]:
    """Mask [B, N]: whether candidate row n may be a negative of mention b, whose gold rows are `gold[b]`.

    A NIL mention has no gold rows: every candidate is eligible.
    """
    mask = np.ones((len(gold), len(candidates)), dtype=bool)
    for number, rows in enumerate(gold):
        forbidden = kinship.of(rows)
        if forbidden:
            mask[number] = ~np.isin(candidates, np.fromiter(forbidden, dtype=np.int64))
    return mask


class NegativeSampler(ABC):
    """Draws entity rows for a batch, one set shared by its mentions (the CPU reading of "N per mention").

    `size` is the number of rows for a batch, `entities` the number of rows in all. A sampler holds its own
    generator: equal seeds draw equal rows.
    """

    def __init__(self, *, size: int, entities: int, seed: int) -> None:
        if size < 0:
            raise ModelError(f"The number of negatives must not be below 0, it is {size}. Change the recipe.")
        self.size = min(size, entities)
        self.entities = entities
        self.random = np.random.default_rng(seed)

    @abstractmethod
    def draw(self, mentions: Sequence[int]) -> Rows:
        """Distinct rows for a batch of mention numbers, at most `size`. Some may be gold: mask with `eligible`."""

    def _random(self, count: int, *, without: Rows) -> Rows:
        """`count` distinct rows, uniform over those not in `without`."""
        count = min(count, self.entities - len(without))
        chosen: list[int] = []
        taken = {int(row) for row in without}
        while len(chosen) < count:
            for row in self.random.integers(0, self.entities, size=2 * (count - len(chosen))).tolist():
                if row not in taken and len(chosen) < count:
                    taken.add(row)
                    chosen.append(row)
        return np.array(chosen, dtype=np.int64)


class RandomNegatives(NegativeSampler):
    """Uniform over the knowledge base (PEL §5.3.1 "Random")."""

    def draw(self, mentions: Sequence[int]) -> Rows:  # noqa: ARG002 the same for all mentions
        return self._random(self.size, without=np.empty(0, dtype=np.int64))


class MixedNegatives(NegativeSampler):
    """Mixed-p (PEL §5.3.1): the `share` p of the rows is mined, the rest is random.

    `mined` maps a mention number to its hard rows, hardest first; `refresh` replaces it, once an epoch. The mined
    part takes turns over the batch's mentions so that each has its hardest in the set first.
    """

    def __init__(
        self, *, size: int, entities: int, seed: int, mined: Mapping[int, Sequence[int]], share: float = 0.5
    ) -> None:
        super().__init__(size=size, entities=entities, seed=seed)
        if not 0 <= share <= 1:
            raise ModelError(f"The share of mined negatives must lie in [0, 1], it is {share}. Change the recipe.")
        self.share = share
        self.mined = mined

    def refresh(self, mined: Mapping[int, Sequence[int]]) -> None:
        """Use newly mined rows from now on."""
        self.mined = mined

    def draw(self, mentions: Sequence[int]) -> Rows:
        hard = np.array(self._take_turns(mentions, round(self.share * self.size)), dtype=np.int64)
        return np.concatenate([hard, self._random(self.size - len(hard), without=hard)])

    def _take_turns(self, mentions: Sequence[int], count: int) -> list[int]:
        lists = [self.mined.get(mention, ()) for mention in mentions]
        chosen: dict[int, None] = {}
        for depth in range(max((len(rows) for rows in lists), default=0)):
            for rows in lists:
                if len(chosen) >= count:
                    return list(chosen)
                if depth < len(rows):
                    chosen[int(rows[depth])] = None
        return list(chosen)


def hard_rows(
    ranked: Sequence[int], gold: Iterable[int], kinship: Kinship, *, limit: int, shown: Sequence[int] = ()
) -> list[int]:
    """At most `limit` hard negatives of a mention, hardest first: what the curator saw and passed over (`shown`),
    then what an index `ranked` high; never its gold rows or their aliases."""
    forbidden = kinship.of(gold)
    passed_over = list(dict.fromkeys((*shown, *ranked)))
    return [row for row in passed_over if row not in forbidden][:limit]


def nearest(queries: NDArray[np.float32], vectors: NDArray[np.float32], *, k: int, threads_chunk: int = 256) -> Rows:
    """Rows [Q, k] of the `vectors` [N, d] with the largest inner products with `queries` [Q, d]; ties to lower rows."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    parts = [
        index.search(np.ascontiguousarray(queries[start : start + threads_chunk], dtype=np.float32), k)[1]
        for start in range(0, len(queries), threads_chunk)
    ]
    found: Rows = np.concatenate(parts) if parts else np.empty((0, k), dtype=np.int64)
    return found

"""Searching entities with the towers in training: by pooled vectors, or by sum of max over a shortlist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from models.core.kb import Ranges
from models.encoders.encoders import length_batches, normalized
from models.retrievers.scorers import TokenStates, sum_of_max
from models.vectors.index import VectorIndex
from training.data.examples import Example
from training.loop.towers import FloatArray, Towers
from training.negatives.kinship import Rows
from training.tasks.vectors import at_rest, mention_vectors, pool_vectors

SHORTLIST = 128
MENTIONS_AT_ONCE, TOKENS_AT_ONCE = 64, 4096
Found = list[list[int]]


class MiningSearch(Protocol):
    """Finds entities with the current towers."""

    def nearest(self, examples: Sequence[Example], allowed: Sequence[Ranges], *, k: int) -> Found:
        """For each example, at most `k` of its `allowed` rows, best first."""


class VectorSearch:
    """By dot product or cosine of vectors; over all entities, or over the ascending rows of a `pool`.

    The index is kept while its vectors do not change: with a frozen entity tower without projection.
    """

    def __init__(self, towers: Towers, pool: Rows | None, *, cosine: bool) -> None:
        self.towers, self.pool, self.cosine = towers, pool, cosine
        self._kept: VectorIndex | None = None

    def nearest(self, examples: Sequence[Example], allowed: Sequence[Ranges], *, k: int) -> Found:
        if self.pool is not None and not len(self.pool):
            return [[] for _ in examples]
        queries = self._scaled(mention_vectors(self.towers, examples))
        return search_allowed(self._index(), queries, allowed, self.pool, k=k)

    def _index(self) -> VectorIndex:
        if self._kept is not None:
            return self._kept
        index = placed(VectorIndex.build(self._scaled(self._entities())), self.towers.device)
        if self.towers.entity_vectors is not None and self.towers.entity_projection is None:
            self._kept = index
        return index

    def _entities(self) -> FloatArray:
        if self.pool is not None:
            return pool_vectors(self.towers, self.pool.tolist())
        assert self.towers.entity_vectors is not None, "without a pool the entity tower is frozen"
        return self.towers.projected(self.towers.entity_vectors)

    def _scaled(self, vectors: FloatArray) -> FloatArray:
        return normalized(vectors) if self.cosine else vectors


class SomSearch:
    """By sum of max over the ascending rows of a `pool`.

    The SHORTLIST rows whose mean token vectors have the largest cosine with the mention's (see `models.retrievers.som`
    for the recall of this step) are scored exactly. The entities' token states are kept if their tower is frozen.
    """

    def __init__(self, towers: Towers, pool: Rows) -> None:
        self.towers, self.pool = towers, pool
        self._kept: tuple[TokenStates, VectorIndex] | None = None

    def nearest(self, examples: Sequence[Example], allowed: Sequence[Ranges], *, k: int) -> Found:
        found: Found = [[] for _ in examples]
        if not len(self.pool):
            return found
        lengths = [len(example.tokens.ids) for example in examples]
        with at_rest(self.towers.mention, self.towers.entity):
            entities, index = self._entities()
            for numbers in length_batches(lengths, limit=MENTIONS_AT_ONCE, tokens=TOKENS_AT_ONCE):
                states = self.towers.mention_states([examples[number] for number in numbers])
                listed = search_allowed(
                    index, means(states), [allowed[number] for number in numbers], self.pool, k=max(k, SHORTLIST)
                )
                for place, number in enumerate(numbers):
                    found[number] = self._exact(_one(states, place), entities, listed[place])[:k]
        return found

    def _entities(self) -> tuple[TokenStates, VectorIndex]:
        if self._kept is not None:
            return self._kept
        states = self.towers.entity_states(self.pool)
        made = states, placed(VectorIndex.build(means(states)), self.towers.device)
        if self.towers.entity_vectors is not None:
            self._kept = made
        return made

    def _exact(self, mention: TokenStates, entities: TokenStates, rows: Sequence[int]) -> list[int]:
        if not rows:
            return []
        places = torch.from_numpy(np.searchsorted(self.pool, rows)).to(entities.states.device)
        scores = sum_of_max(mention, TokenStates(entities.states[places], entities.mask[places]))[0]
        order = torch.argsort(scores, descending=True, stable=True).tolist()
        return [rows[place] for place in order]


def search_allowed(
    index: VectorIndex, queries: FloatArray, allowed: Sequence[Ranges], pool: Rows | None, *, k: int
) -> Found:
    """For each of `queries` [n, d] at most `k` of its `allowed` rows, best first.

    `index` holds all entities, or the ascending rows of `pool`. Queries of equal ranges are searched together.
    """
    found: Found = [[] for _ in allowed]
    groups: dict[int, list[int]] = {}
    for number, ranges in enumerate(allowed):
        groups.setdefault(id(ranges), []).append(number)
    for numbers in groups.values():
        ranges = allowed[numbers[0]]
        places = index.search(queries[numbers], k, ranges=ranges if pool is None else _places(ranges, pool))[1]
        for number, line in zip(numbers, places, strict=True):
            kept = line[line >= 0]
            found[number] = (kept if pool is None else pool[kept]).tolist()
    return found


def placed(index: VectorIndex, device: torch.device) -> VectorIndex:
    """The index, moved to the GPU if the towers are on one."""
    index.to_gpu(wanted=device.type == "cuda")
    return index


def means(texts: TokenStates) -> FloatArray:
    """Means [n, d] of each text's token states, scaled to length 1."""
    mask = texts.mask.to(texts.states.dtype).unsqueeze(-1)
    mean = (texts.states * mask).sum(-2) / mask.sum(-2).clamp(min=1)
    return normalized(mean.float().cpu().numpy())


def _places(ranges: Ranges, pool: Rows) -> Ranges:
    """The positions in the ascending `pool` of the rows in `ranges`."""
    ends = np.searchsorted(pool, np.array(ranges, dtype=np.int64).reshape(-1, 2)).tolist()
    return tuple((start, stop) for start, stop in ends if start < stop)


def _one(texts: TokenStates, place: int) -> TokenStates:
    """A single text without its padding."""
    count = int(texts.mask[place].sum())
    return TokenStates(texts.states[place : place + 1, :count], texts.mask[place : place + 1, :count])

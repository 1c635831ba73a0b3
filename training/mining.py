"""Hard negatives: from the linker in use before the first epoch, from the towers in training before every other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from models.encoders import normalized
from models.kb import KnowledgeBase
from training.alone import retrieve
from training.events import Event, Phase
from training.examples import Example
from training.losses import Similarity
from training.negatives import Kinship, MixedNegatives, hard_rows, nearest
from training.towers import FloatArray, Towers
from training.vectors import mention_vectors, pool_vectors

PER_MENTION = 16
POOL = 2000


class Miner:
    """Refreshes a sampler's mined rows.

    Epoch 0 takes what the linker in use ranked high (`ranked`, rows for each example). Later epochs search with the
    present towers: over all entities where the entity tower is frozen, otherwise over a pool of at most POOL entities
    that the linker found for these mentions, since encoding all of them anew would take longer than the epoch.
    """

    def __init__(
        self,
        towers: Towers,
        examples: Sequence[Example],
        *,
        kb: KnowledgeBase,
        kinship: Kinship,
        ranked: Sequence[Sequence[int]],
        sampler: MixedNegatives,
        similarity: Similarity,
    ) -> None:
        self.towers, self.examples, self.kb, self.kinship = towers, examples, kb, kinship
        self.ranked, self.sampler, self.similarity = ranked, sampler, similarity
        self.pool = _pool(ranked, examples)

    def __call__(self, epoch: int) -> Iterator[Event]:
        yield Event(Phase.TRAIN, text="Looking for entities that are easily confused")
        found = self.ranked if epoch == 0 else self._search()
        self.sampler.refresh(
            {
                number: hard_rows(rows, example.gold, self.kinship, limit=PER_MENTION, shown=example.shown)
                for number, (rows, example) in enumerate(zip(found, self.examples, strict=True))
            }
        )

    def _search(self) -> list[list[int]]:
        mentions = mention_vectors(self.towers, self.examples)
        k = 2 * PER_MENTION
        if self.towers.entity_vectors is not None:
            rows = retrieve(
                mentions, self.towers.entity_vectors, self.examples, self.kb, similarity=self.similarity, k=k
            )
            return [[row for row in line if row >= 0] for line in rows.tolist()]
        entities = pool_vectors(self.towers, self.pool)
        if self.similarity is Similarity.COSINE:
            mentions, entities = normalized(mentions), normalized(entities)
        found = self._near(mentions, entities)
        return [self._allowed(line, example) for line, example in zip(found, self.examples, strict=True)]

    def _near(self, mentions: FloatArray, entities: FloatArray) -> list[list[int]]:
        places = nearest(mentions, entities, k=min(2 * PER_MENTION, len(self.pool)))
        return np.asarray(self.pool)[places].tolist() if self.pool else [[] for _ in mentions]

    def _allowed(self, rows: Sequence[int], example: Example) -> list[int]:
        """Only rows that the mention's types allow: the others are never its rivals."""
        spans = self.kb.ranges(example.types)
        return [row for row in rows if any(start <= row < stop for start, stop in spans)]


def _pool(ranked: Sequence[Sequence[int]], examples: Sequence[Example]) -> list[int]:
    """Gold rows, then the best ranked rows of all mentions in turn, at most POOL."""
    chosen = dict.fromkeys(row for example in examples for row in example.gold)
    for depth in range(PER_MENTION):
        for rows in ranked:
            if depth < len(rows) and len(chosen) < POOL:
                chosen[rows[depth]] = None
    return sorted(chosen)

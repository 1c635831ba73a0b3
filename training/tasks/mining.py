"""Hard negatives: from the linker in use before the first epoch, from the towers in training before every later
epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from models.core.kb import KnowledgeBase, Ranges
from models.errors import ModelError, say
from training.data.domains import Domain, common
from training.data.examples import Example
from training.data.progress import Event, Phase
from training.loop.towers import Towers
from training.losses.base import Similarity
from training.negatives.kinship import Kinship, Rows
from training.negatives.mined import MinedNegatives, gold_and_best, hard_rows
from training.negatives.sampling import Sharing
from training.tasks.mining_search import MiningSearch, SomSearch, VectorSearch

PER_MENTION = 16
POOL, GPU_POOL = 2000, 1_000_000
"""The most entities that are encoded again for mining, on a CPU and on a GPU."""


def pool_size(device: torch.device) -> int:
    """The number of entities that are encoded again for mining in each epoch."""
    return GPU_POOL if device.type == "cuda" else POOL


class Miner:
    """Refreshes a sampler's mined rows, which are part of the sampler's state: a resumed run has the same rows.

    Epoch 0 takes the rows that the linker in use ranked high (`ranked`, rows for each example). Later epochs search
    with the current towers. With a frozen entity tower they search all entities, in one index over the cached vectors
    (rebuilt only if a projection of them is trained). Otherwise all entities are encoded if `pool` is large enough. If
    not, only the best `pool` entities that the linker found for these mentions are encoded, since encoding all would
    take longer than the epoch (`pool_size`). The same applies to SOM, frozen or not, since the token states of all
    entities would take hundreds of gigabytes.

    Only rows that the mention's types allow are mined, and, if the sampler's reach has domains, only rows in its
    domain. Rows that the curator saw and did not choose come first, regardless of their types. Raises ModelError for
    Euclidean similarity.
    """

    def __init__(
        self,
        towers: Towers,
        examples: Sequence[Example],
        *,
        kb: KnowledgeBase,
        kinship: Kinship,
        ranked: Sequence[Sequence[int]],
        sampler: MinedNegatives,
        similarity: Similarity,
        pool: int | None = None,
    ) -> None:
        if similarity is Similarity.EUCLIDEAN:
            raise ModelError(say("Negatives can be mined by dot product, cosine or sum of max, but not by distance."))
        self.examples, self.kinship, self.sampler = examples, kinship, sampler
        pool = pool_size(towers.device) if pool is None else pool
        self.limit = max(PER_MENTION, sampler.hard if sampler.reach.sharing is Sharing.MENTION else 0)
        self.allowed = _allowed(examples, kb, sampler.reach.domains)
        self.ranked = [_within(rows, ranges) for rows, ranges in zip(ranked, self.allowed, strict=True)]
        whole = pool >= len(kb.entities) and similarity is not Similarity.SOM
        self.pool = list(range(len(kb.entities))) if whole else gold_and_best(examples, self.ranked, limit=pool)
        self.search: MiningSearch
        if similarity is Similarity.SOM:
            self.search = SomSearch(towers, np.array(self.pool, dtype=np.int64))
        else:
            entities = None if towers.entity_vectors is not None else np.array(self.pool, dtype=np.int64)
            self.search = VectorSearch(towers, entities, cosine=similarity is Similarity.COSINE)

    def __call__(self, epoch: int) -> Iterator[Event]:
        yield Event(Phase.TRAIN, text=say("Looking for entities that are easily confused"))
        found = self.ranked if epoch == 0 else self.search.nearest(self.examples, self.allowed, k=2 * self.limit)
        self.sampler.refresh({number: self._hard(number, rows) for number, rows in enumerate(found)})

    def _hard(self, number: int, found: Sequence[int]) -> list[int]:
        example, domains = self.examples[number], self.sampler.reach.domains
        shown = list(example.shown) if domains is None else _within(example.shown, domains[number].ranges)
        return hard_rows(found, example.gold, self.kinship, limit=self.limit, shown=shown)


def _allowed(examples: Sequence[Example], kb: KnowledgeBase, domains: Sequence[Domain] | None) -> list[Ranges]:
    """For each example, the rows that may be mined; equal sets are the same object."""
    known: dict[tuple[tuple[str, ...], Domain | None], Ranges] = {}
    allowed = []
    for number, example in enumerate(examples):
        domain = None if domains is None else domains[number]
        key = (example.types, domain)
        if key not in known:
            by_type = kb.ranges(example.types)
            known[key] = by_type if domain is None else common(by_type, domain.ranges)
        allowed.append(known[key])
    return allowed


def _within(rows: Sequence[int], ranges: Ranges) -> list[int]:
    given: Rows = np.array(rows, dtype=np.int64)
    kept: list[int] = given[Domain(ranges).holds(given)].tolist()
    return kept

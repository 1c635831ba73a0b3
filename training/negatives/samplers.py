"""Samplers of negatives: random, mined, mixed; one set for a batch, or one for each mention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from models.errors import ModelError
from training.negatives.batch import Drawn
from training.negatives.kinship import Rows

NOTHING: Rows = np.empty(0, dtype=np.int64)


class Sharing(StrEnum):
    """BATCH: `size` rows for the whole batch, which saves encoding (our reading of "N per mention" on a CPU).
    MENTION: `size` rows for each mention, as the papers have it."""

    BATCH = "batch"
    MENTION = "mention"


class NegativeSampler(ABC):
    """Draws entity rows for a batch.

    `size` is the number of rows for a batch or a mention, `entities` the number of rows in all. A sampler holds its
    own generator: equal seeds draw equal rows.
    """

    def __init__(self, *, size: int, entities: int, seed: int, sharing: Sharing = Sharing.BATCH) -> None:
        if size < 0:
            raise ModelError(f"The number of negatives must not be below 0, it is {size}. Change the recipe.")
        self.size = min(size, entities)
        self.entities = entities
        self.sharing = Sharing(sharing)
        self.random = np.random.default_rng(seed)

    def draw(self, mentions: Sequence[int]) -> Drawn:
        """Negatives of a batch of mention numbers. Some may be gold: mask with `candidate_set`."""
        if self.sharing is Sharing.BATCH:
            return Drawn(self.rows(mentions))
        each = [self.rows([mention]) for mention in mentions]
        rows = np.unique(np.concatenate([NOTHING, *each]))
        return Drawn(rows, np.stack([np.isin(rows, own) for own in each]) if each else None)

    @abstractmethod
    def rows(self, mentions: Sequence[int]) -> Rows:
        """Distinct rows, at most `size`, to be shared by `mentions`."""

    def state(self) -> dict[str, Any]:
        """What the next draws depend on, for JSON."""
        return {"random": self.random.bit_generator.state}

    def load_state(self, raw: Mapping[str, Any]) -> None:
        """Go on drawing as the sampler would have whose `state` this is."""
        self.random.bit_generator.state = raw["random"]

    def _random(self, count: int, *, without: Rows) -> Rows:
        """`count` distinct rows, uniform over those not in `without`."""
        found = self.random.choice(self.entities, min(count + len(without), self.entities), replace=False)
        fresh: Rows = found[~np.isin(found, without)][:count]
        return fresh


class RandomNegatives(NegativeSampler):
    """Uniform over the knowledge base (PEL §5.3.1 "Random")."""

    def rows(self, mentions: Sequence[int]) -> Rows:  # noqa: ARG002 the same for all mentions
        return self._random(self.size, without=NOTHING)


class MinedNegatives(NegativeSampler):
    """What samplers of mined rows share.

    `mined` maps a mention number to its hard rows, hardest first; `refresh` replaces it, once an epoch. The mentions
    take turns, so that each has its hardest in the set first.
    """

    def __init__(
        self,
        *,
        size: int,
        entities: int,
        seed: int,
        mined: Mapping[int, Sequence[int]],
        sharing: Sharing = Sharing.BATCH,
    ) -> None:
        super().__init__(size=size, entities=entities, seed=seed, sharing=sharing)
        self.mined = mined

    def refresh(self, mined: Mapping[int, Sequence[int]]) -> None:
        """Use newly mined rows from now on."""
        self.mined = mined

    def state(self) -> dict[str, Any]:
        return super().state() | {"mined": {str(key): [int(row) for row in rows] for key, rows in self.mined.items()}}

    def load_state(self, raw: Mapping[str, Any]) -> None:
        super().load_state(raw)
        self.mined = {int(key): rows for key, rows in raw["mined"].items()}

    def _take_turns(self, mentions: Sequence[int], count: int) -> Rows:
        lists = [self.mined.get(mention, ()) for mention in mentions]
        chosen: dict[int, None] = {}
        for depth in range(max((len(rows) for rows in lists), default=0)):
            for rows in lists:
                if len(chosen) < count and depth < len(rows):
                    chosen[int(rows[depth])] = None
        return np.fromiter(chosen, dtype=np.int64)


class HardNegatives(MinedNegatives):
    """Mined rows only; fewer than `size` where fewer were mined (T-Biencoder §3.4 "Hard")."""

    def rows(self, mentions: Sequence[int]) -> Rows:
        return self._take_turns(mentions, self.size)


class MixedNegatives(MinedNegatives):
    """Mixed-p (PEL §5.3.1): the `share` p of the rows is mined, the rest is random."""

    def __init__(
        self,
        *,
        size: int,
        entities: int,
        seed: int,
        mined: Mapping[int, Sequence[int]],
        share: float = 0.5,
        sharing: Sharing = Sharing.BATCH,
    ) -> None:
        super().__init__(size=size, entities=entities, seed=seed, mined=mined, sharing=sharing)
        if not 0 <= share <= 1:
            raise ModelError(f"The share of mined negatives must lie in [0, 1], it is {share}. Change the recipe.")
        self.share = share

    def rows(self, mentions: Sequence[int]) -> Rows:
        hard = self._take_turns(mentions, round(self.share * self.size))
        return np.concatenate([hard, self._random(self.size - len(hard), without=hard)])

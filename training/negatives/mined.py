"""Mined negatives, alone and mixed with random ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from models.errors import ModelError, say
from training.data.examples import Example
from training.negatives.kinship import Kinship, Rows
from training.negatives.sampling import NegativeSampler, Reach


class MinedNegatives(NegativeSampler):
    """Base of the samplers of mined rows; `training.tasks.mining` mines them.

    `mined` maps a mention number to its hard rows, hardest first, all from its domain if negatives are in-domain;
    `refresh` replaces it once per epoch. `hard` is the number of mined rows in a set. The mentions of a batch take
    turns, each adding its hardest row first.
    """

    def __init__(
        self,
        *,
        size: int,
        entities: int,
        mined: Mapping[int, Sequence[int]],
        hard: int,
        reach: Reach | None = None,
    ) -> None:
        super().__init__(size=size, entities=entities, reach=reach)
        self.mined = mined
        self.hard = min(hard, self.size)

    def refresh(self, mined: Mapping[int, Sequence[int]]) -> None:
        """Use newly mined rows from now on."""
        self.mined = mined

    def state(self) -> dict[str, Any]:
        return {"mined": {str(key): [int(row) for row in rows] for key, rows in self.mined.items()}}

    def load_state(self, raw: Mapping[str, Any]) -> None:
        self.mined = {int(key): tuple(rows) for key, rows in raw["mined"].items()}

    def hardest(self, mentions: Sequence[int], *, without: Rows) -> Rows:
        """At most `hard` distinct rows, none `without`: the first of each mention's list, then the second, ..."""
        lists = [self.mined.get(mention, ()) for mention in mentions]
        forbidden = set(without.tolist())
        chosen: dict[int, None] = {}
        for depth in range(max((len(rows) for rows in lists), default=0)):
            for rows in lists:
                if len(chosen) == self.hard:
                    return np.fromiter(chosen, dtype=np.int64)
                if depth < len(rows) and int(rows[depth]) not in forbidden:
                    chosen[int(rows[depth])] = None
        return np.fromiter(chosen, dtype=np.int64)


class HardNegatives(MinedNegatives):
    """Mined rows only: the top of the ranking of all entities ("Hard-CD", T-Biencoder §3.2), or of the gold entity's
    domain ("Hard-ID", §3.4). Fewer than `size` if fewer were mined."""

    def __init__(
        self, *, size: int, entities: int, mined: Mapping[int, Sequence[int]], reach: Reach | None = None
    ) -> None:
        super().__init__(size=size, entities=entities, mined=mined, hard=size, reach=reach)

    def rows(self, mentions: Sequence[int], random: np.random.Generator, *, without: Rows) -> Rows:  # noqa: ARG002
        return self.hardest(mentions, without=without)


class MixedNegatives(MinedNegatives):
    """Mixed-p (PEL §5.3.1): the `share` p of the rows is mined, the rest is random. If the mined lists are too short,
    random rows fill the gap. Raises ModelError if `share` is not in [0, 1]."""

    def __init__(
        self,
        *,
        size: int,
        entities: int,
        mined: Mapping[int, Sequence[int]],
        share: float = 0.5,
        reach: Reach | None = None,
    ) -> None:
        if not 0 <= share <= 1:
            raise ModelError(
                say("The share of mined negatives must be in [0, 1], but is {share}. Change the recipe.", share=share)
            )
        hard = round(share * min(size, entities))
        super().__init__(size=size, entities=entities, mined=mined, hard=hard, reach=reach)

    def rows(self, mentions: Sequence[int], random: np.random.Generator, *, without: Rows) -> Rows:
        hard = self.hardest(mentions, without=without)
        rest = self.uniform(mentions, random, self.size - len(hard), without=np.concatenate([without, hard]))
        return np.concatenate([hard, rest])


# From ranked entities to hard negatives, and to the pool that is searched for them.


def hard_rows(
    ranked: Sequence[int], gold: Iterable[int], kinship: Kinship, *, limit: int, shown: Sequence[int] = ()
) -> list[int]:
    """At most `limit` hard negatives of a mention, hardest first: entities that the curator saw and did not choose
    (`shown`), then entities that an index `ranked` high; never its gold rows or their aliases."""
    forbidden = kinship.of(gold)
    passed_over = list(dict.fromkeys((*shown, *ranked)))
    return [row for row in passed_over if row not in forbidden][:limit]


def gold_and_best(examples: Sequence[Example], ranked: Sequence[Sequence[int]], *, limit: int) -> list[int]:
    """All gold rows of the examples, then the best ranked rows of all of them in turn, up to `limit`; ascending."""
    chosen = dict.fromkeys(row for example in examples for row in example.gold)
    for depth in range(max((len(rows) for rows in ranked), default=0)):
        for rows in ranked:
            if len(chosen) >= limit:
                return sorted(chosen)
            if depth < len(rows):
                chosen[rows[depth]] = None
    return sorted(chosen)

"""One of each sampler over the same small world, for tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.inputs import MentionTokens
from models.types import EntityRecord
from training.data.examples import Example
from training.negatives.choice import make_reach
from training.negatives.kinship import Kinship
from training.negatives.mined import HardNegatives, MixedNegatives, hard_rows
from training.negatives.sampling import NegativeSampler, RandomNegatives, Reach

SIZE = 6


def world() -> KnowledgeBase:
    """60 entities of two worlds, some of both, three of none; some share an alternate id with another."""
    of_both, of_none = ("Ash", "Birch"), ()
    made = [
        EntityRecord(
            f"E{n:02}",
            f"name {n}",
            types=of_none if n % 20 == 19 else of_both if n % 8 == 2 else (of_both[n % 2],),
            alt_ids=(f"A{n // 5}",) if n % 5 > 2 else (),
        )
        for n in range(60)
    ]
    return order_entities(made)


KB = world()
KINSHIP = Kinship(KB.entities)


def example(number: int, gold: Sequence[int], types: tuple[str, ...] = ()) -> Example:
    return Example(f"m{number}", MentionTokens((1, 2), 0, 1), tuple(gold), types, number)


GOLD = [(3,), (17,), (28, 40), (5,), (50,), ()]
EXAMPLES = [example(number, gold, () if gold else ("Birch",)) for number, gold in enumerate(GOLD)]
MENTIONS = range(len(EXAMPLES))


def reach(sharing: str, scope: str) -> Reach:
    return make_reach(EXAMPLES, KB, KINSHIP, sharing=sharing, scope=scope)


def mined(given: Reach) -> dict[int, list[int]]:
    """For each mention the ten rows of its domain that are next to its gold row: what a miner could have found."""
    lists = {}
    for number, gold in enumerate(GOLD):
        centre = (*gold, 30)[0]
        near = np.argsort(np.abs(np.arange(len(KB.entities)) - centre), kind="stable").tolist()
        own = near if given.domains is None else np.array(near)[given.domains[number].holds(np.array(near))].tolist()
        lists[number] = hard_rows(own, gold, KINSHIP, limit=10)
    return lists


def _random(given: Reach) -> NegativeSampler:
    return RandomNegatives(size=SIZE, entities=len(KB.entities), reach=given)


def _hard(given: Reach) -> NegativeSampler:
    return HardNegatives(size=SIZE, entities=len(KB.entities), mined=mined(given), reach=given)


def _mixed(given: Reach) -> NegativeSampler:
    return MixedNegatives(size=SIZE, entities=len(KB.entities), mined=mined(given), reach=given)


MAKERS: Mapping[type[NegativeSampler], Callable[[Reach], NegativeSampler]] = {
    RandomNegatives: _random,
    HardNegatives: _hard,
    MixedNegatives: _mixed,
}


def build(kind: type[NegativeSampler], sharing: str = "batch", scope: str = "cross") -> Any:
    return MAKERS[kind](reach(sharing, scope))

"""The sampler that a recipe names."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from models.core.kb import KnowledgeBase
from models.errors import ModelError, say
from training.data.domains import Domains, Untyped
from training.data.examples import Example
from training.negatives.kinship import Kinship
from training.negatives.mined import HardNegatives, MixedNegatives
from training.negatives.sampling import NegativeSampler, RandomNegatives, Reach, Sharing

KINDS = ("random", "hard", "mixed")


class NegativeScope(StrEnum):
    """CROSS: negatives from all domains. IN: from the domain of the mention's gold entity."""

    CROSS = "cross"
    IN = "in"


def make_reach(
    examples: Sequence[Example],
    kb: KnowledgeBase,
    kinship: Kinship,
    *,
    sharing: str = Sharing.BATCH,
    scope: str = NegativeScope.CROSS,
    untyped: str = Untyped.ALONE,
) -> Reach:
    """The reach of the negatives of `examples`, which are numbered in order."""
    domains = None
    if NegativeScope(scope) is NegativeScope.IN:
        known = Domains(kb, untyped=Untyped(untyped))
        domains = [known.of(example.gold, example.types) for example in examples]
    return Reach(Sharing(sharing), domains, [kinship.of(example.gold) for example in examples])


def make_sampler(
    kind: str, *, size: int, entities: int, share: float = 0.5, reach: Reach | None = None
) -> NegativeSampler:
    """ "random", "hard" or "mixed"; samplers of mined rows have no rows until `training.tasks.mining.Miner` sets them.
    Raises ModelError for another kind."""
    if kind == "random":
        return RandomNegatives(size=size, entities=entities, reach=reach)
    if kind == "hard":
        return HardNegatives(size=size, entities=entities, mined={}, reach=reach)
    if kind == "mixed":
        return MixedNegatives(size=size, entities=entities, mined={}, share=share, reach=reach)
    raise ModelError(
        say(
            "Unknown kind of negatives '{kind}'. Change it in the recipe to one of: {kinds}.",
            kind=kind,
            kinds=", ".join(KINDS),
        )
    )

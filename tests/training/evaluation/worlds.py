"""Answers and gold by hand."""

from __future__ import annotations

from collections.abc import Sequence

from models.types import LinkedMention, NilEstimate, ScoredCandidate
from training.data.gold import GoldMention, GoldSet, fold


def answer(key: str, *ids: str, nil: float = 0.1, is_nil: bool = False, sure: float = 0.5) -> LinkedMention:
    """`sure` is the probability of the first candidate."""
    candidates = tuple(
        ScoredCandidate(i, i, (), i, -float(rank), probability=sure / (1 + rank)) for rank, i in enumerate(ids)
    )
    return LinkedMention(key, "s", "", candidates, NilEstimate(nil, is_nil, calibrated=False))


def gold(
    key: str,
    *ids: str,
    document: str = "d",
    surface: str = "s",
    types: Sequence[str] = (),
    composite: bool | None = None,
) -> GoldMention:
    several = len(ids) > 1 if composite is None else composite
    return GoldMention(key, document, fold(surface), tuple(types), ids, composite=several, raw=surface)


def gold_set(*mentions: GoldMention) -> GoldSet:
    return GoldSet(mentions)

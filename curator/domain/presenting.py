"""How the candidates of a mention are laid before a curator: best first, or shuffled for an evaluation."""

from __future__ import annotations

import random
from dataclasses import replace
from enum import StrEnum

from curator.domain.suggestions import Suggestion


class CandidateOrder(StrEnum):
    """SHUFFLED hides the scores too: where the first place and the numbers say nothing, the text alone does."""

    RANKED = "ranked"
    SHUFFLED = "shuffled"


def presented(suggestion: Suggestion, *, limit: int, order: CandidateOrder) -> Suggestion:
    """The first `limit` candidates in the order to be shown; scores stay with their candidates.

    The shuffle depends on the mention alone: whoever comes back to it, today or in another session, sees the same.
    """
    candidates = list(suggestion.candidates[:limit])
    if order is CandidateOrder.SHUFFLED:
        candidates.sort(key=lambda one: one.entity_id)  # so that another ranking gives no other order
        random.Random(f"candidates of {suggestion.mention_id}").shuffle(candidates)  # noqa: S311
    return replace(suggestion, candidates=tuple(candidates))

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


NAME_CLASSES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Heart Failure", ("Heart failure", "CHF"), "same_name"),
    ("  heart\n FAILURE", ("Heart failure",), "same_name"),
    ("chf", ("Heart failure", "CHF"), "another_name"),
    ("Old Luke", ("Luke (hero)", "Luke", "Old Luke"), "another_name"),
    ("Luke", ("Luke (hero)", "Luke"), "name_without_brackets"),
    ("mistfall", ("Mistfall ( audio story )",), "name_without_brackets"),
    ("A (b)", ("A (b) (c)",), "name_without_brackets"),
    ("A", ("A (b) (c)",), "part_of_a_name"),
    ("Luke (hero)", ("Luke (hero)",), "same_name"),
    ("Luke", ("Skywalker", "Luke (hero)"), "part_of_a_name"),
    ("the failure", ("Heart failure",), "other_words"),
    ("failure", ("Heart failure",), "part_of_a_name"),
    ("Failure, heart", ("Heart failure",), "other_words"),
    ("Heart failures", ("Heart failure",), "other_words"),
    ("hero", ("Luke (hero)",), "part_of_a_name"),
    ("STRASSE", ("Straße",), "same_name"),
    ("x", (), "other_words"),
)
"""A mention, the names of its entity with the preferred one first, and the class of the mention's words."""

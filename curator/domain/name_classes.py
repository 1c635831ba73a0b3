"""How the words of a mention resemble the names of its entity: the classes of evaluations, errors and recommendations.

The rule is that of `training.evaluation.name_class`, which this process must not import.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum


class NameClass(StrEnum):
    """From easy to hard. NO_BRACKETS is the preferred name without what is in brackets at its end."""

    SAME = "same_name"
    OTHER_NAME = "another_name"
    NO_BRACKETS = "name_without_brackets"
    PART = "part_of_a_name"
    OTHER = "other_words"


NAME_CLASS_WORDS = {
    NameClass.SAME: "same name",
    NameClass.OTHER_NAME: "another name",
    NameClass.NO_BRACKETS: "name without brackets",
    NameClass.PART: "part of a name",
    NameClass.OTHER: "other words",
}
_EASY_FIRST = tuple(NameClass)
HARD = frozenset({NameClass.PART, NameClass.OTHER})
"""The classes for which names do not decide, so that the context has to."""


def folded(text: str) -> str:
    """The text without the differences of case and spacing."""
    return " ".join(text.casefold().split())


def name_class(surface: str, names: Sequence[str]) -> NameClass:
    """The class of a surface; it and `names`, which begin with the preferred name, are `folded`. The name without
    brackets counts as such even if it is also listed as a synonym, as readers of wikis do."""
    first = names[0] if names else ""
    if surface == first:
        return NameClass.SAME
    if first.endswith(")") and surface == first.rpartition("(")[0].strip():
        return NameClass.NO_BRACKETS
    if surface in names:
        return NameClass.OTHER_NAME
    return NameClass.PART if any(surface in name for name in names) else NameClass.OTHER


def easiest(classes: Iterable[NameClass]) -> NameClass | None:
    """The class that counts for a mention of several entities."""
    return min(classes, key=_EASY_FIRST.index, default=None)

"""How the words of a mention resemble the names of its entity: the classes that evaluations calculate
(`training.evaluation.name_class`), and whether names decide."""

from __future__ import annotations

from collections.abc import Sequence
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


def folded(text: str) -> str:
    """The text without the differences of case and spacing."""
    return " ".join(text.casefold().split())


def names_decide(surface: str, names: Sequence[str]) -> bool:
    """Whether a surface is one of the names, or the preferred one without brackets; all are `folded`, the preferred
    name first. Otherwise (PART and OTHER) the context has to decide."""
    first = names[0] if names else ""
    return surface in names or (first.endswith(")") and surface == first.rpartition("(")[0].strip())

"""When two mentions have the same string: a key that ignores case, accents, dashes, plurals and spelling.

A short form of the normalisation of names (`models.text.normalise`), which this process must not import. Keys are
stored with the mentions: a new rule needs a migration that recalculates them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

_POSSESSIVE = re.compile(r"['’`´]s?\b")
_SEPARATORS = re.compile(r"[^\w+]+|_")
_SPELLINGS = (
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"(?<=[a-z]{2})our(?=s?$|al|ed|ing)"), "or"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"^leuc(?=[aeo])"), "leuk"),
    (re.compile(r"isation"), "ization"),
)
_PLURALS = (
    (re.compile(r"(?<=[a-z]{2})ies$"), "y"),
    (re.compile(r"(ss|sh|ch|x)es$"), r"\1"),
    (re.compile(r"(?<![sui])s$"), ""),
)


@lru_cache(maxsize=100_000)
def string_key(text: str) -> str:
    """Lower-case words separated by single spaces; a text without letters or digits is only lower-cased."""
    lowered = _plain(text.replace("´", "'")).lower()
    words = _SEPARATORS.sub(" ", _POSSESSIVE.sub("", lowered)).split()
    return " ".join(_word(word) for word in words) or lowered.strip()


def _plain(text: str) -> str:
    """The text in compatibility form, with Latin letters without diacritics."""
    composed = unicodedata.normalize("NFKC", text)
    if composed.isascii():
        return composed
    apart = unicodedata.normalize("NFD", composed)
    kept = "".join(
        mark for at, mark in enumerate(apart) if not (at and unicodedata.combining(mark) and _latin_before(apart, at))
    )
    return unicodedata.normalize("NFC", kept)


def _latin_before(text: str, at: int) -> bool:
    base = next((one for one in reversed(text[:at]) if not unicodedata.combining(one)), "")
    return base.isascii() and base.isalpha()


def _word(word: str) -> str:
    """The normalised word; words of three letters and strings with other characters than plain letters are symbols and
    do not change."""
    if len(word) < 4 or not (word.isalpha() and word.isascii()):
        return word
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    for pattern, replacement in _PLURALS:
        changed, count = pattern.subn(replacement, word)
        if count:
            return changed
    return word


# How the words of a mention resemble the names of its entity: the classes that evaluations calculate
# (`training.evaluation.name_class`), and whether names decide.


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

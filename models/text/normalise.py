"""One form for what is the same name: case, Greek letters, accents, dashes, possessives, plurals, numerals, spelling.

Names and mentions pass through the same function, so a rule that is too eager costs little. The original
strings are kept by the callers; nothing normalised is ever shown.
"""

from __future__ import annotations

import re
from functools import lru_cache

from models.text.spelling import american, arabic, plain_letters, singular

STOP_WORDS = frozenset(["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "nos"])
_POSSESSIVE = re.compile(r"['’`]s?\b")
_SEPARATORS = re.compile(r"[^\w+]+|_")


@lru_cache(maxsize=200_000)
def normalise(text: str) -> str:
    """Lower-case words separated by single blanks; a text of marks only comes back lower-cased."""
    lowered = plain_letters(text.lower())
    plain = _SEPARATORS.sub(" ", _POSSESSIVE.sub("", lowered)).split()
    return " ".join(arabic([_word(word) for word in plain])) or lowered.strip()


@lru_cache(maxsize=200_000)
def sorted_key(text: str) -> str:
    """The normalised words without stop words in alphabetical order: "Cancer, Breast" is "breast cancer"."""
    words = normalise(text).split()
    kept = [word for word in words if word not in STOP_WORDS] or words
    return " ".join(sorted(kept))


@lru_cache(maxsize=200_000)
def _word(word: str) -> str:
    """Words of three letters and what is not made of letters alone are symbols: they stay."""
    if len(word) < 4 or not word.isalpha():
        return word
    return singular(american(word)) if word.isascii() else word

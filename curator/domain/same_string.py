"""When two mentions have the same string: a key that ignores case, accents, dashes, plurals and spelling.

A short form of the normalisation of names (`models.text.normalise`), which this process must not import. Keys are
stored with the mentions: a new rule needs a migration that recalculates them.
"""

from __future__ import annotations

import re
import unicodedata
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

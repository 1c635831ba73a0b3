"""The words of a text with their places, normalised one by one: what dictionary matching runs over.

Han, Kana and Thai are written without blanks, so each of their characters is a word of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from models.text.normalise import normalise

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:[^\W{_UNSPACED}]|(?<=[\w])\+)+")
_APOSTROPHES = "'’`´"
_POSSESSIVE = re.compile(rf"(?<=[{_APOSTROPHES}])s(?!\w)")


@dataclass(frozen=True, slots=True)
class Word:
    """``start`` and ``end`` are code points of the text; ``normal`` has no blank at its ends."""

    normal: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Words in text order; the "s" of a possessive belongs to none."""
    found = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if end - start == 1 and match.group() == "s" and start > 1 and text[start - 1] in _APOSTROPHES:
            continue
        normal = _normal(match.group())
        if normal:
            found.append(Word(normal, start, end))
    return found


@lru_cache(maxsize=100_000)
def _normal(word: str) -> str:
    return normalise(word)


def key_of(name: str) -> str:
    """The words of a name between single blanks, with one at either end; empty for a name without words."""
    words = [_normal(word) for word in _WORD.findall(_POSSESSIVE.sub("", name))]
    return f" {' '.join(words)} " if words else ""

"""Relations that definitions state: on the page of *Lily Buffay*, "Frank" is the Frank whose definition names her.

Three facts about a candidate, for the combiner: whether the document is the candidate's own page, whether its
definition names the document's subject, and how many likely entities of the document's other mentions it names. The
subject is the document's first line: a page's title. Abstracts have a sentence there, which no definition contains.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.text.normalise import normalise

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
_BRACKETS = re.compile(r"\s*\([^()]*\)")
SHORTEST, LONGEST = 3, 100
"""Characters of a name that is looked for in definitions."""
READ = 1000
"""Characters of a definition."""


class Relations:
    """For one document. ``likely`` holds entities that are probable for a mention, with the wordings of these."""

    def __init__(self, kb: KnowledgeBase, text: str, likely: Mapping[int, Set[int]]) -> None:
        self._kb, self._likely = kb, likely
        title = text.split("\n", 1)[0][: LONGEST + 1]
        self._page, self._subject = normalise(title), plain_name(title)
        self._by_word: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in likely:
            if name := plain_name(kb.entities[row].name):
                self._by_word[name.split(maxsplit=1)[0]].append((row, f" {name} "))
        self._named: dict[int, frozenset[int]] = {}

    def of(self, wording: int, rows: INTS) -> FLOATS:
        """(3, c): whether it is the candidate's own page; whether its definition names the subject; the logarithm of 1
        plus the number of other entities that it names and that are likely at mentions of another wording."""
        found = np.zeros((3, len(rows)), dtype=np.float32)
        for at, row in enumerate(rows.tolist()):
            entity = self._kb.entities[row]
            found[0, at] = normalise(entity.name) == self._page
            if not entity.definition:
                continue
            if self._subject and not found[0, at]:
                found[1, at] = f" {self._subject} " in _read(entity.definition)[0]
            others = sum(one != row and bool(self._likely[one] - {wording}) for one in self._names_in(row))
            found[2, at] = np.log1p(others)
        return found

    def _names_in(self, row: int) -> frozenset[int]:
        if row not in self._named:
            text, words = _read(self._kb.entities[row].definition)
            self._named[row] = frozenset(
                one for word in self._by_word.keys() & words for one, name in self._by_word[word] if name in text
            )
        return self._named[row]


@lru_cache(maxsize=50_000)
def plain_name(name: str) -> str:
    """Normalised, without the words in brackets; empty if it is too short or too long to be looked for."""
    found = normalise(_BRACKETS.sub("", name))
    return found if SHORTEST <= len(found) <= LONGEST else ""


@lru_cache(maxsize=50_000)
def _read(definition: str) -> tuple[str, frozenset[str]]:
    """The normalised text between spaces, and its words."""
    text = normalise(definition[:READ])
    return f" {text} ", frozenset(text.split())

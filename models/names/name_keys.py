"""Names of a large knowledge base for detection: twelve bytes each; the names themselves stay on disk.

An automaton holds every name and its owners: about a hundred bytes per name, gigabytes for a million entities. Here a
name is the hash of its words and its entity's row. The hashes find the keys in a text, for all runs of words at once.
The entity's record then confirms the name, so hash collisions do no harm.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.text.normalise import Word

FROM_NAMES = 750_000
"""As for the lexical index: from this number on, names stay on disk."""
CHUNK = 1 << 16
Keyed = Callable[[str], Iterator[tuple[str, str]]]
"""Maps a name to the forms that are searched for, each with its key."""
Owner = tuple[str, int]


@dataclass(frozen=True, slots=True)
class NameKeys:
    """``hashes`` are ascending, ``rows`` are their entities; ``lengths`` marks the numbers of words that keys have.

    Hashes are valid in this process only.
    """

    kb: KnowledgeBase
    keyed: Keyed
    hashes: NDArray[np.int64]
    rows: NDArray[np.int32]
    lengths: NDArray[np.bool_]

    @classmethod
    def build(cls, kb: KnowledgeBase, keyed: Keyed) -> NameKeys:
        """Reads every name once."""
        hashes, rows, lengths = array("q"), array("i"), set[int]()
        owners = (
            row for at in range(0, len(kb.name_entity), CHUNK) for row in kb.name_entity[at : at + CHUNK].tolist()
        )
        for name, row in zip(kb.names, owners, strict=True):
            for _, key in keyed(name):
                if key:
                    hashes.append(hash(key))
                    rows.append(row)
                    lengths.add(key.count(" ") - 1)
        unsorted = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        known = np.zeros(max(lengths, default=0) + 1, dtype=np.bool_)
        known[list(lengths)] = True
        return cls(kb, keyed, unsorted[order], np.frombuffer(rows, dtype=np.int32)[order], known)

    def get(self, key: str, default: tuple[int, Sequence[Owner]]) -> tuple[int, Sequence[Owner]]:
        """Like an automaton's: the key's length, and the names with this key, each with its entity's row."""
        owners = self._owners(key, int(np.searchsorted(self.hashes, hash(key))))
        return (len(key), owners) if owners else default

    def spans(self, words: Sequence[Word]) -> Iterator[tuple[tuple[int, int], Sequence[Owner]]]:
        """Every key that occurs in the words, with its span in the text and its owners."""
        runs = list(self._runs(words))
        if not runs or not len(self.hashes):
            return
        asked = np.fromiter((hash(key) for key, _, _ in runs), dtype=np.int64, count=len(runs))
        places = np.minimum(np.searchsorted(self.hashes, asked), len(self.hashes) - 1)
        for number in np.nonzero(self.hashes[places] == asked)[0].tolist():
            key, start, end = runs[number]
            owners = self._owners(key, int(places[number]))
            if owners:
                yield (start, end), owners

    def _runs(self, words: Sequence[Word]) -> Iterator[tuple[str, int, int]]:
        """Runs of words whose normalised length is that of some key."""
        sizes = [word.normal.count(" ") + 1 for word in words]
        for first, word in enumerate(words):
            key, size = " ", 0
            for at in range(first, len(words)):
                size += sizes[at]
                if size >= len(self.lengths):
                    break
                key += f"{words[at].normal} "
                if self.lengths[size]:
                    yield key, word.start, words[at].end

    def _owners(self, key: str, place: int) -> list[Owner]:
        found: dict[Owner, None] = {}
        wanted = hash(key)
        while place < len(self.hashes) and int(self.hashes[place]) == wanted:
            row = int(self.rows[place])
            for name in self.kb.entities[row].names:
                found |= {(form, row): None for form, its in self.keyed(name) if its == key}
            place += 1
        return list(found)

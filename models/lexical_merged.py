"""Two lexical lists as one: character and word tf-idf merged by rank (prototype-triplet paper, section 3.1).

The paper does not say how the two sets of candidates become one. Our reading: ranks are interleaved, the characters'
first, duplicates removed, cut at k. Alone it finds more than the characters do; beside dense retrieval over names it
found nothing more (100 train documents of BC5CDR, tests/benchmarks/lexical_words.py), so the default linker goes
without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.kb import Ranges
from models.lexical import LexicalRetriever
from models.terms import INTS

FLOATS = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class MergedQueries:
    """Texts as rows of both vocabularies; indexed by rows like a matrix."""

    chars: sparse.csr_matrix
    words: sparse.csr_matrix

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.chars.shape[0],)

    def __getitem__(self, rows: Any) -> MergedQueries:
        return MergedQueries(self.chars[rows], self.words[rows])


@dataclass(frozen=True, slots=True, eq=False)
class MergedRetriever:
    """Finds by characters and by words, scores by characters; row i is name i of the knowledge base."""

    chars: LexicalRetriever
    words: LexicalRetriever

    def encode(self, texts: Sequence[str]) -> MergedQueries:
        return MergedQueries(self.chars.encode(texts), self.words.encode(texts))

    def search(self, queries: MergedQueries, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """(q, k) name rows in merged order, −1 where there are fewer; a score is 1 / (1 + place), as the two lists'
        own scores have different scales, and 0 where there is no row.
        """
        _, by_chars = self.chars.search(queries.chars, k, ranges=ranges)
        _, by_words = self.words.search(queries.words, k, ranges=ranges)
        rows = interleave(by_chars, by_words)
        places = 1 / np.arange(1, k + 1, dtype=np.float32)
        return np.where(rows >= 0, places, np.float32(0)), rows

    def score(self, queries: MergedQueries, rows: INTS) -> FLOATS:
        """(q, n) cosines by characters."""
        return self.chars.score(queries.chars, rows)


def interleave(first: INTS, second: INTS) -> INTS:
    """(q, k) rows of two (q, k) lists by rank in turns, the first list's first, each row once; −1 fills up."""
    both = np.stack([first, second], axis=2).reshape(len(first), -1)
    merged = np.full_like(first, -1)
    for query, rows in enumerate(both):
        found, places = np.unique(rows, return_index=True)
        ordered = rows[np.sort(places[found >= 0])][: merged.shape[1]]
        merged[query, : len(ordered)] = ordered
    return merged

"""The lists that the lexical stage searches: characters, words merged with them, or BM25.

The prototype-triplet paper (section 3.1) merges the lists of character and word tf-idf and does not say how. Our
reading: ranks are interleaved, the characters' first, duplicates removed, cut at k. Alone, the merged list finds more
than the characters do. Together with dense retrieval over names it found nothing more (100 train documents of BC5CDR),
so the default linker does not use it. BM25 alone is the usual baseline. The stage's
score is always the characters' cosine, so fusion, combiner and NIL model have one scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.core.kb import Ranges
from models.errors import ModelError, say
from models.names.bm25 import Bm25
from models.names.candidates import NameStage
from models.names.lexical import TfIdf
from models.names.lexical_building import FROM_NAMES, build_on_disk
from models.text.normalise import normalise
from models.text.terms import INTS
from models.types import Progress

FLOATS = NDArray[np.float32]
WORDS_FOLDER = "words"
"""Folder of the list of words, inside the characters' folder."""


class LexicalList(StrEnum):
    CHARACTERS = "characters"
    MERGED = "merged"  # with the list of words, by rank
    BM25 = "bm25"  # over words, alone


def parse_list(name: str) -> LexicalList:
    """Raises ModelError for an unknown list; '' means characters."""
    try:
        return LexicalList(name or LexicalList.CHARACTERS)
    except ValueError as error:
        lists = ", ".join(LexicalList)
        raise ModelError(
            say("Unknown lexical list {name!r}. Choose one of: {lists}.", name=name, lists=lists)
        ) from error


def build_lists(names: Sequence[str], folder: Path, kind: LexicalList) -> Iterator[Progress]:
    """Fit on all names and write the lists below ``folder``; large tf-idf lists are built on disk."""
    yield from _build_tfidf(names, folder, analyzer="char")
    if kind is LexicalList.MERGED:
        yield from _build_tfidf(names, folder / WORDS_FOLDER, analyzer="word")
    elif kind is LexicalList.BM25:
        yield Progress("lexical index", 0, len(names))
        Bm25.fit([normalise(name) for name in names]).save(folder / WORDS_FOLDER)
        yield Progress("lexical index", len(names), len(names))


def _build_tfidf(names: Sequence[str], folder: Path, *, analyzer: str) -> Iterator[Progress]:
    if len(names) >= FROM_NAMES:
        yield from build_on_disk(names, folder, analyzer=analyzer)
        return
    yield Progress("lexical index", 0, len(names))
    TfIdf.fit([normalise(name) for name in names], analyzer=analyzer).save(folder)
    yield Progress("lexical index", len(names), len(names))


def load_words(folder: Path, kind: LexicalList) -> TfIdf | Bm25:
    """The list of words next to the characters'. Raises ModelError like the lists' `load`."""
    return (Bm25 if kind is LexicalList.BM25 else TfIdf).load(folder / WORDS_FOLDER)


@dataclass(frozen=True, slots=True, eq=False)
class ListQueries:
    """Texts as rows of both vocabularies; indexed by rows like a matrix."""

    chars: sparse.csr_matrix
    words: sparse.csr_matrix

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.chars.shape[0],)

    def __getitem__(self, rows: Any) -> ListQueries:
        return ListQueries(self.chars[rows], self.words[rows])


@dataclass(frozen=True, slots=True, eq=False)
class WordRetriever:
    """Searches by words, alone or ``merged`` with the search by characters; scores by characters. Row i is name i of
    the knowledge base.

    The first ``known`` names are in the list of words. Later names were added after it was fitted, often with unknown
    words; these are searched by characters.
    """

    chars: NameStage
    words: NameStage
    known: int
    merged: bool = True

    def encode(self, texts: Sequence[str]) -> ListQueries:
        return ListQueries(self.chars.encode(texts), self.words.encode(texts))

    def search(self, queries: ListQueries, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """(q, k) name rows in order, −1 if there are fewer. The score is 1 / (1 + rank), since the lists' scores have
        different scales, and 0 without a row."""
        old = tuple((start, min(stop, self.known)) for start, stop in ranges if start < self.known)
        new = tuple((max(start, self.known), stop) for start, stop in ranges if stop > self.known)
        rows = np.full((queries.shape[0], k), -1, dtype=np.int64)
        if old:
            _, rows = self.words.search(queries.words, k, ranges=old)
        if spelt := ranges if self.merged else new:
            rows = interleave(self.chars.search(queries.chars, k, ranges=spelt)[1], rows)
        places = 1 / np.arange(1, k + 1, dtype=np.float32)
        return np.where(rows >= 0, places, np.float32(0)), rows

    def score(self, queries: ListQueries, rows: INTS) -> FLOATS:
        """(q, n) cosines by characters."""
        return self.chars.score(queries.chars, rows)


def interleave(first: INTS, second: INTS) -> INTS:
    """(q, k) rows of two (q, k) lists, interleaved by rank starting with the first list, each row once, padded with
    −1."""
    both = np.stack([first, second], axis=2).reshape(len(first), -1)
    merged = np.full_like(first, -1)
    for query, rows in enumerate(both):
        found, places = np.unique(rows, return_index=True)
        ordered = rows[np.sort(places[found >= 0])][: merged.shape[1]]
        merged[query, : len(ordered)] = ordered
    return merged

"""Lexical retrieval over names: tf-idf of character n-grams or of words, exact top-k by a pruned product.

Weights as in scikit-learn's ``TfidfVectorizer(sublinear_tf=True)``: (1 + ln count) × (1 + ln((1 + n) / (1 + df))), rows
of length 1 (prototype-triplet paper, section 3.1). Everything is fitted on the names alone, never on mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.core.file_io import atomic_path, read_json, write_json
from models.core.kb import Ranges
from models.errors import ModelError, say
from models.names.lexical_index import MOST, LexicalIndex, damaged
from models.text.normalise import normalise
from models.text.terms import ANALYZERS, INTS, UINTS

FLOATS = NDArray[np.float32]
DOUBLES = NDArray[np.float64]
CHUNK = 20_000
REMEDY = "Rebuild the linker from the knowledge base."
FORMAT = 3  # increase it when normalisation (models/text/normalise.py) changes: old indexes would be wrong
HEADER = "tfidf.json"
VOCABULARY = "vocabulary.npy"


@dataclass(frozen=True, slots=True, eq=False)
class TfIdf:
    """A fitted tf-idf: ``terms`` (terms,) sorted numbers of the terms, and the index of names by them."""

    analyzer: str
    terms: UINTS
    index: LexicalIndex

    @classmethod
    def fit(cls, texts: Sequence[str], *, analyzer: str = "char") -> TfIdf:
        """Fit on normalised names, in chunks, so that memory stays bounded."""
        terms, counts = count_names(texts, analyzer)
        frequency = np.bincount(counts.indices, minlength=len(terms))
        idf = np.log((1 + len(texts)) / (1 + frequency)) + 1
        owns = 1 / row_norms(counts, idf)
        return cls(analyzer, terms, LexicalIndex.build(counts, gains=idf, owns=owns, saturating=False))

    @property
    def shape(self) -> tuple[int, int]:
        """Names and terms."""
        return self.index.shape

    def transform(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """(n, terms) rows of length 1 in double precision; unknown terms are ignored."""
        rows, found = ANALYZERS[self.analyzer](texts)
        counts = count_terms(rows, found, self.terms, len(texts))
        norms = row_norms(counts, self.index.gains)
        values = (1 + np.log(counts.data.astype(np.float64))) * self.index.gains[counts.indices]
        values /= np.repeat(norms, np.diff(counts.indptr))
        return sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]:
        """(q, k) exact cosine and name row, best first, ties by row; 0 and −1 where no term is shared."""
        return self.index.search(queries, k, ranges=ranges)

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS:
        """(q, n) cosines of a few queries with the given name rows."""
        return self.index.score(queries, rows)

    def save(self, folder: Path) -> None:
        save_terms(folder, self.terms, self.index, {"format": FORMAT, "analyzer": self.analyzer})

    @classmethod
    def load(cls, folder: Path) -> TfIdf:
        """Open memory-mapped; raises ModelError if something is missing or inconsistent."""
        header = read_json(folder / HEADER, what=say("The lexical index"), remedy=say(REMEDY))
        if header.get("format") != FORMAT or header.get("analyzer") not in ANALYZERS:
            raise ModelError(
                say("The lexical index {folder} has a different version. {remedy}", folder=folder, remedy=say(REMEDY))
            )
        terms, index = load_terms(folder, saturating=False)
        return cls(header["analyzer"], terms, index)


def count_names(texts: Sequence[str], analyzer: str) -> tuple[UINTS, sparse.csr_matrix]:
    """The sorted vocabulary of the names, and the (names, terms) counts of each term in each name."""
    terms_of = ANALYZERS[analyzer]
    starts = range(0, len(texts), CHUNK)
    vocabulary = np.zeros(0, dtype=np.uint64)
    for start in starts:
        vocabulary = np.union1d(vocabulary, terms_of(texts[start : start + CHUNK])[1])
    parts = []
    for start in starts:
        chunk = texts[start : start + CHUNK]
        parts.append(count_terms(*terms_of(chunk), vocabulary, len(chunk)))
    if not parts:
        return vocabulary, sparse.csr_matrix((0, 0), dtype=np.uint16)
    return vocabulary, sparse.vstack(parts, format="csr")


def count_terms(rows: INTS, found: UINTS, terms: UINTS, height: int) -> sparse.csr_matrix:
    """(height, terms) counts of each known term in each row, at most 65,535; terms are ascending."""
    if not len(terms):
        return sparse.csr_matrix((height, 0), dtype=np.uint16)
    at = np.minimum(np.searchsorted(terms, found), len(terms) - 1)
    known = terms[at] == found
    cells, counts = np.unique(rows[known] * len(terms) + at[known], return_counts=True)
    starts = np.searchsorted(cells, np.arange(height + 1) * len(terms))
    values = np.minimum(counts, MOST).astype(np.uint16)
    return sparse.csr_matrix((values, (cells % len(terms)).astype(np.int32), starts), shape=(height, len(terms)))


def row_norms(counts: sparse.csr_matrix, idf: DOUBLES) -> DOUBLES:
    """(rows,) Euclidean length of each row of (1 + ln count) × idf; 1 for an empty row."""
    norms = np.ones(counts.shape[0])
    for start in range(0, counts.shape[0], CHUNK):
        part = counts[start : start + CHUNK]
        values = (1 + np.log(part.data.astype(np.float64))) * idf[part.indices]
        row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        squares = np.bincount(row, weights=values**2, minlength=part.shape[0])
        norms[start : start + CHUNK] = np.sqrt(np.where(squares > 0, squares, 1))
    return norms


def save_terms(folder: Path, terms: UINTS, index: LexicalIndex, header: dict[str, object]) -> None:
    """Write the header last, so that an incomplete index has no header.

    It also searches once, so that the compiled code is on disk before a linker needs it.
    """
    index.warm_up()
    index.save(folder)
    with atomic_path(folder / VOCABULARY) as beside, beside.open("wb") as handle:
        np.save(handle, terms, allow_pickle=False)
    write_json(folder / HEADER, {**header, "shape": list(index.shape)})


def load_terms(folder: Path, *, saturating: bool) -> tuple[UINTS, LexicalIndex]:
    """The vocabulary (terms,) and the index, memory-mapped; raises ModelError if they are damaged."""
    try:
        terms = np.load(folder / VOCABULARY, mmap_mode="r", allow_pickle=False)
        index = LexicalIndex.load(folder, saturating=saturating)
        if terms.dtype != np.uint64 or len(terms) != index.shape[1]:
            raise ValueError("its parts do not fit together")
    except (OSError, ValueError) as error:
        raise damaged(folder, error, REMEDY) from error
    return terms, index


class TermModel(Protocol):
    """Names and texts as weighted terms: `TfIdf` or `Bm25`."""

    def transform(self, texts: Sequence[str]) -> sparse.csr_matrix: ...

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]: ...

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS: ...


@dataclass(frozen=True, slots=True, eq=False)
class LexicalRetriever:
    """tf-idf (or BM25) over normalised names; row i is name i of the knowledge base."""

    tfidf: TermModel

    def encode(self, texts: Sequence[str]) -> sparse.csr_matrix:
        return self.tfidf.transform([normalise(text) for text in texts])

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        return self.tfidf.search(queries, k, ranges=ranges)

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS:
        return self.tfidf.score(queries, rows)

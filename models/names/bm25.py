"""BM25 over the words of names, the usual baseline retriever (as for ZESHEL). Same interface as tf-idf.

Robertson's weights with an idf that is never negative: the score of a query with a name is, over the query's terms and
as often as it has them, ln(1 + (n − df + ½) / (df + ½)) × c (k₁ + 1) / (c + k₁ (1 − b + b length / mean length)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.core.file_io import read_json
from models.core.kb import Ranges
from models.errors import ModelError, say
from models.names.lexical import HEADER, REMEDY, count_names, count_terms, load_terms, save_terms
from models.names.lexical_index import LexicalIndex
from models.text.terms import ANALYZERS, INTS, UINTS

FLOATS = NDArray[np.float32]
K1, B = 1.5, 0.75
FORMAT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Bm25:
    """A fitted BM25: ``terms`` (terms,) sorted numbers of the terms, and the index of names by them."""

    analyzer: str
    terms: UINTS
    index: LexicalIndex

    @classmethod
    def fit(cls, texts: Sequence[str], *, analyzer: str = "word", k1: float = K1, b: float = B) -> Bm25:
        """Fit on normalised names."""
        terms, counts = count_names(texts, analyzer)
        frequency = np.bincount(counts.indices, minlength=len(terms))
        idf = np.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        lengths = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
        owns = k1 * (1 - b + b * lengths / max(1.0, lengths.mean() if len(lengths) else 1.0))
        return cls(analyzer, terms, LexicalIndex.build(counts, gains=idf * (k1 + 1), owns=owns, saturating=True))

    @property
    def shape(self) -> tuple[int, int]:
        """Names and terms."""
        return self.index.shape

    def transform(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """(n, terms) counts of each known term in each text."""
        rows, found = ANALYZERS[self.analyzer](texts)
        return count_terms(rows, found, self.terms, len(texts)).astype(np.float64)

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]:
        """(q, k) exact BM25 score and name row, best first, ties by row; 0 and −1 where no term is shared."""
        return self.index.search(queries, k, ranges=ranges)

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS:
        """(q, n) BM25 scores of a few queries with the given name rows."""
        return self.index.score(queries, rows)

    def save(self, folder: Path) -> None:
        save_terms(folder, self.terms, self.index, {"format": FORMAT, "analyzer": self.analyzer, "weights": "bm25"})

    @classmethod
    def load(cls, folder: Path) -> Bm25:
        """Open memory-mapped; raises ModelError if something is missing or inconsistent."""
        header = read_json(folder / HEADER, what=say("The BM25 index"), remedy=say(REMEDY))
        if (header.get("format"), header.get("weights")) != (FORMAT, "bm25") or header.get("analyzer") not in ANALYZERS:
            raise ModelError(
                say("The BM25 index {folder} has a different version. {remedy}", folder=folder, remedy=say(REMEDY))
            )
        terms, index = load_terms(folder, saturating=True)
        return cls(header["analyzer"], terms, index)

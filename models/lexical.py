"""Lexical retrieval over names: character n-gram and word tf-idf, exact top-k by a pruned sparse product.

Character n-grams are those of scikit-learn's ``char_wb`` (n-grams of blank-padded words), sublinear term
frequency, smooth idf, rows of length 1 (prototype-triplet paper, section 3.1). Everything is fitted on the
names alone. An n-gram is packed into 64 bits, so the vocabulary is a sorted array that can be memory-mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sparse_dot_topn import sp_matmul_topn

from models.errors import ModelError
from models.files import atomic_path, read_json, write_json
from models.kb import Ranges
from models.normalise import STOP_WORDS, normalise

UINTS = NDArray[np.uint64]
FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
TermsOf = Callable[[Sequence[str]], tuple[INTS, UINTS]]
CHUNK = 20_000
CODE_BITS = 12
REMEDY = "Rebuild the linker from the knowledge base."
FORMAT = 1


def char_terms(texts: Sequence[str], *, smallest: int = 2, largest: int = 5) -> tuple[INTS, UINTS]:
    """(row, term) of every n-gram of every blank-padded word.

    Characters are folded to 12 bits, so n-grams over more than 4,095 different characters may share a term.
    """
    padded = [f" {'  '.join(text.split())} " for text in texts]
    lengths = np.fromiter((len(text) for text in padded), dtype=np.int64, count=len(padded))
    points = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    rows = np.repeat(np.arange(len(padded)), lengths)
    blank = points == 32
    codes = _fold(points)
    inner = np.concatenate([[0], np.cumsum(blank)])  # blanks before each position
    all_rows, all_terms = [], []
    packed = np.zeros(len(points), dtype=np.uint64)
    for size in range(1, largest + 1):
        count = len(points) - size + 1
        if count <= 0:
            break
        packed = (packed[:count] << np.uint64(CODE_BITS)) | codes[size - 1 :]
        if size < smallest:
            continue
        # within one word: no blank strictly inside, and not the two blanks between words
        inside = inner[size - 1 : size - 1 + count] - inner[1 : 1 + count] if size > 1 else np.zeros(count)
        ends = blank[:count] & blank[size - 1 :] if size == 2 else np.zeros(count, dtype=bool)
        keep = (inside == 0) & ~ends & (rows[:count] == rows[size - 1 :])
        all_rows.append(rows[:count][keep])
        all_terms.append(packed[keep])
    if not all_rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    return np.concatenate(all_rows), np.concatenate(all_terms)


def word_terms(texts: Sequence[str]) -> tuple[INTS, UINTS]:
    """(row, term) of every word that is not a stop word; a term is 64 bits of the word's hash."""
    import hashlib

    rows, terms = [], []
    for row, text in enumerate(texts):
        for word in text.split():
            if word not in STOP_WORDS:
                rows.append(row)
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                terms.append(int.from_bytes(digest, "little"))
    return np.asarray(rows, dtype=np.int64), np.asarray(terms, dtype=np.uint64)


ANALYZERS: dict[str, TermsOf] = {"char": char_terms, "word": word_terms}


@dataclass(eq=False)
class TfIdf:
    """A fitted tf-idf over names: ``matrix`` (names, terms) CSR float32 with rows of length 1."""

    analyzer: str
    terms: UINTS
    idf: FLOATS
    matrix: sparse.csr_matrix
    _transposed: dict[Ranges, sparse.csr_matrix] = field(default_factory=dict, repr=False)

    @classmethod
    def fit(cls, texts: Sequence[str], *, analyzer: str = "char") -> TfIdf:
        """Fit on normalised names, in chunks, so that memory stays bounded."""
        terms_of = ANALYZERS[analyzer]
        chunks = [terms_of(texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK)]
        terms = np.unique(np.concatenate([np.unique(found) for _, found in chunks]))
        counts = [_counts(rows, found, terms, CHUNK) for rows, found in chunks]
        matrix = sparse.vstack(counts, format="csr", dtype=np.float32)[: len(texts)]
        frequency = np.bincount(matrix.indices, minlength=len(terms))
        idf = (np.log((1 + len(texts)) / (1 + frequency)) + 1).astype(np.float32)
        return cls(analyzer, terms, idf, _weigh(matrix, idf))

    def transform(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """(n, terms) rows of length 1; unknown terms count for nothing."""
        rows, found = ANALYZERS[self.analyzer](texts)
        return _weigh(_counts(rows, found, self.terms, len(texts)), self.idf)

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]:
        """(q, k) exact cosine and name row, best first, ties by row; 0 and −1 where nothing is shared."""
        spans = ((0, self.matrix.shape[0]),) if ranges is None else ranges
        scores = np.zeros((queries.shape[0], k), dtype=np.float32)
        rows = np.full((queries.shape[0], k), -1, dtype=np.int64)
        if not spans or not queries.shape[0]:
            return scores, rows
        numbers = np.concatenate([np.arange(start, stop) for start, stop in spans])
        best = sp_matmul_topn(queries, self._columns(spans), top_n=min(k, len(numbers)), sort=True, n_threads=2)
        for query in range(queries.shape[0]):
            start, stop = best.indptr[query], best.indptr[query + 1]
            found, values = numbers[best.indices[start:stop]], best.data[start:stop]
            order = np.lexsort((found, -values))
            scores[query, : stop - start] = values[order]
            rows[query, : stop - start] = found[order]
        return scores, rows

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS:
        """(q, n) cosines of a few queries with the given name rows."""
        dense = queries.toarray().T
        result: FLOATS = np.asarray(self.matrix[rows] @ dense, dtype=np.float32).T
        return result

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {
            "terms": self.terms,
            "idf": self.idf,
            "data": self.matrix.data.astype(np.float32),
            "indices": self.matrix.indices.astype(np.int32),
            "indptr": self.matrix.indptr.astype(np.int64),
        }
        for name, array in arrays.items():
            with atomic_path(folder / f"{name}.npy") as beside, beside.open("wb") as handle:
                np.save(handle, array, allow_pickle=False)
        shape = list(self.matrix.shape)
        write_json(folder / "tfidf.json", {"format": FORMAT, "analyzer": self.analyzer, "shape": shape})

    @classmethod
    def load(cls, folder: Path) -> TfIdf:
        """Open memory-mapped; ModelError where something is missing or does not fit together."""
        header = read_json(folder / "tfidf.json", what="The lexical index", remedy=REMEDY)
        if header.get("format") != FORMAT or header.get("analyzer") not in ANALYZERS:
            raise ModelError(f"The lexical index {folder} is of another version. {REMEDY}")
        try:
            parts = {
                name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
                for name in ("terms", "idf", "data", "indices", "indptr")
            }
            matrix = sparse.csr_matrix(
                (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(header["shape"]), copy=False
            )
        except (OSError, ValueError) as error:
            raise ModelError(f"The lexical index {folder} is damaged ({error}). {REMEDY}") from error
        if len(parts["terms"]) != matrix.shape[1] or len(parts["idf"]) != matrix.shape[1]:
            raise ModelError(f"The lexical index {folder} is damaged: its parts do not fit together. {REMEDY}")
        return cls(header["analyzer"], parts["terms"], np.asarray(parts["idf"]), matrix)

    def _columns(self, spans: Ranges) -> sparse.csr_matrix:
        """(terms, names of the ranges): the inverted lists, made once for every restriction in use."""
        if spans not in self._transposed:
            if len(self._transposed) >= 4:
                self._transposed.pop(next(iter(self._transposed)))
            part = sparse.vstack([self.matrix[start:stop] for start, stop in spans], format="csr")
            self._transposed[spans] = part.T.tocsr()
        return self._transposed[spans]


def _fold(points: UINTS) -> UINTS:
    """12-bit codes, never 0: ASCII and Latin as they are, the rest folded."""
    return points % np.uint64(4095) + np.uint64(1)


def _counts(rows: INTS, found: UINTS, terms: UINTS, height: int) -> sparse.csr_matrix:
    """(height, terms) how often each known term occurs in each row."""
    if not len(terms):
        return sparse.csr_matrix((height, 0), dtype=np.float32)
    at = np.minimum(np.searchsorted(terms, found), len(terms) - 1)
    known = terms[at] == found
    values = np.ones(int(known.sum()), dtype=np.float32)
    matrix = sparse.coo_matrix((values, (rows[known], at[known])), shape=(height, len(terms))).tocsr()
    matrix.sum_duplicates()
    return matrix


def _weigh(counts: sparse.csr_matrix, idf: FLOATS) -> sparse.csr_matrix:
    """Sublinear tf × idf, rows of length 1; empty rows stay empty."""
    matrix = counts.astype(np.float32)
    matrix.data = (1 + np.log(matrix.data)) * idf[matrix.indices]
    squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.where(squares > 0, squares, 1))
    matrix.data *= np.repeat(scale, np.diff(matrix.indptr)).astype(np.float32)
    return matrix.astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalRetriever:
    """Character tf-idf over normalised names; row i is name i of the knowledge base."""

    tfidf: TfIdf

    def encode(self, texts: Sequence[str]) -> sparse.csr_matrix:
        return self.tfidf.transform([normalise(text) for text in texts])

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        return self.tfidf.search(queries, k, ranges=ranges)

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS:
        return self.tfidf.score(queries, rows)

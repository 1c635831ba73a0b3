"""An index of names by their terms, forwards and inverted, with exact top-k search; tf-idf and BM25 share it.

Saved as plain arrays that are opened memory-mapped. A million names of 73 terms each take 1.1 GB on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.core.file_io import atomic_path, give_back
from models.core.kb import Ranges
from models.encoders.cache import WORKERS
from models.errors import ModelError, say

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
CLASSES = 8
SPANS = 4
MOST = 65_535
NAMES_AT_A_TIME = 50_000
AT_A_TIME = 1 << 24
QUERIES_A_THREAD = 16
MOST_BYTES = 64 << 20
ARRAYS = {
    "starts": np.int64, "terms": np.int32, "counts": np.uint16, "owns": np.float64, "gains": np.float64,
    "list_starts": np.int64, "list_names": np.int32, "list_weights": np.float32, "peaks": np.float32,
    "classes": np.int8, "norms": np.float32,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class LexicalIndex:
    """Names as counted terms, and for each term the names that contain it with its weight in each.

    The score of a query with a name is Σ value × gain × impact, where the impact is (1 + ln count) × own, or count ÷
    (count + own) for a ``saturating`` index; ``own`` is one number per name.
    """

    starts: INTS
    terms: NDArray[np.int32]
    counts: NDArray[np.uint16]
    owns: NDArray[np.float64]
    gains: NDArray[np.float64]
    list_starts: INTS
    list_names: NDArray[np.int32]
    list_weights: FLOATS
    peaks: FLOATS
    classes: NDArray[np.int8]
    norms: FLOATS
    saturating: bool = False

    @classmethod
    def build(
        cls, counts: sparse.csr_matrix, *, gains: NDArray[np.float64], owns: NDArray[np.float64], saturating: bool
    ) -> LexicalIndex:
        """Build from (names, terms) counts with sorted terms, (terms,) gains and (names,) ``own`` numbers."""
        weights = name_weights(counts, gains, owns, saturating=saturating)
        by_term = sparse.csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape).tocsc()
        lengths = np.diff(by_term.indptr)
        classes = classes_of(lengths, counts.shape[0])
        peaks = np.zeros(len(lengths), dtype=np.float32)
        peaks[lengths > 0] = np.maximum.reduceat(by_term.data, by_term.indptr[:-1][lengths > 0])
        return cls(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            np.minimum(counts.data, MOST).astype(np.uint16),
            np.asarray(owns, dtype=np.float64),
            np.asarray(gains, dtype=np.float64),
            by_term.indptr.astype(np.int64),
            by_term.indices.astype(np.int32),
            by_term.data,
            peaks,
            classes,
            class_norms(counts, weights, classes),
            saturating,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Names and terms."""
        return len(self.owns), len(self.gains)

    def search(self, queries: sparse.csr_matrix, k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]:
        """(q, k) exact score and name row, best first, ties by row; 0 and −1 where no term is shared.

        ``ranges`` are ascending half-open ranges of rows that do not overlap; None means all rows.
        """
        scores = np.zeros((queries.shape[0], k), dtype=np.float32)
        rows = np.full((queries.shape[0], k), -1, dtype=np.int64)
        allowed = tuple((a, b) for a, b in (((0, self.shape[0]),) if ranges is None else ranges) if a < b)
        if not allowed or not queries.nnz or not k:
            return scores, rows
        spans, blank = self._spans(allowed)
        parts = list(_parts(queries.shape[0]))

        def work(part: slice) -> None:
            self._search(queries[part], spans, blank, scores[part], rows[part])

        if len(parts) == 1:
            work(parts[0])
        else:
            with ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(work, parts))
        order = np.lexsort((rows, -scores))
        return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)

    def score(self, queries: sparse.csr_matrix, rows: INTS) -> FLOATS:
        """(q, n) scores of a few queries with the given name rows."""
        from models.names.lexical_kernel import scores_of

        scores = np.zeros((queries.shape[0], len(rows)), dtype=np.float32)
        scores_of(*_csr(queries), np.ascontiguousarray(rows, dtype=np.int64), self._names, scores)
        return scores

    def warm_up(self) -> None:
        """Compile the search, or load it from its cache, before it is needed: seconds, once per installation."""
        if self.shape[1]:
            query = sparse.csr_matrix(([1.0], [0], [0, 1]), shape=(1, self.shape[1]))
            self.score(query, self.search(query, 1)[1][0])

    def save(self, folder: Path) -> None:
        """One file for each array; readers never see a partial file."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, kind in ARRAYS.items():
            with atomic_path(folder / f"{name}.npy") as beside, beside.open("wb") as handle:
                np.save(handle, np.asarray(getattr(self, name), dtype=kind), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, *, saturating: bool = False) -> LexicalIndex:
        """Memory-mapped; raises OSError or ValueError if a file is missing, truncated or inconsistent with the
        others."""
        arrays: dict[str, Any] = {}
        for name, kind in ARRAYS.items():
            arrays[name] = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
            if arrays[name].dtype != kind:
                raise ValueError(f"{name}.npy holds {arrays[name].dtype}, not {np.dtype(kind)}")
        index = cls(**arrays, saturating=saturating)
        index._check()
        return index

    def _check(self) -> None:
        """Raises ValueError if compiled code would read outside an array."""
        names, terms = self.shape
        fitting = (
            _is_partition(self.starts, names, len(self.terms))
            and _is_partition(self.list_starts, terms, len(self.list_names))
            and len(self.counts) == len(self.terms) == len(self.list_names) == len(self.list_weights)
            and len(self.peaks) == len(self.classes) == terms
            and self.norms.shape == (names, CLASSES)
            and _is_within(self.terms, terms)
            and _is_within(self.list_names, names)
            and _is_within(self.classes, CLASSES)
        )
        if not fitting:
            raise ValueError("its parts do not fit together")

    def _search(self, queries: sparse.csr_matrix, spans: INTS, blank: FLOATS, scores: FLOATS, rows: INTS) -> None:
        from models.names.lexical_kernel import best_of_many

        best_of_many(*self._rarest_first(queries), spans, blank, self._lists, self._names, self._longest, scores, rows)

    def _spans(self, ranges: Ranges) -> tuple[INTS, FLOATS]:
        """At most `SPANS` spans that cover the ranges, and an initial array for partial sums that excludes the gaps."""
        from models.names.lexical_kernel import EXCLUDED

        blank = np.full(self.shape[0], EXCLUDED, dtype=np.float32)
        for start, stop in ranges:
            blank[start:stop] = 0
        gaps = [(ranges[at + 1][0] - ranges[at][1], at) for at in range(len(ranges) - 1)]
        cuts = sorted(at for _, at in sorted(gaps, reverse=True)[: SPANS - 1])
        firsts = [0, *(at + 1 for at in cuts)]
        lasts = [*cuts, len(ranges) - 1]
        spans = [(ranges[first][0], ranges[last][1]) for first, last in zip(firsts, lasts, strict=True)]
        return np.asarray(spans, dtype=np.int64), blank

    def _rarest_first(self, queries: sparse.csr_matrix) -> tuple[INTS, NDArray[np.int32], NDArray[np.float64]]:
        """The arrays of the queries, with each query's terms ordered by the lengths of their lists."""
        starts, terms, values = _csr(queries)
        lengths = self.list_starts[terms + 1] - self.list_starts[terms]
        order = np.lexsort((lengths, np.repeat(np.arange(queries.shape[0]), np.diff(starts))))
        return starts, terms[order], values[order]

    @cached_property
    def _lists(self) -> tuple[Any, ...]:
        weights, units = self._weights()
        parts = (self.list_starts, self.list_names, weights, self.peaks, self.classes, self.norms, units)
        return tuple(_fixed(part) for part in parts)

    def _weights(self) -> tuple[NDArray[Any], FLOATS]:
        """The lists' weights as bytes and their units; as they are in a file if even bytes would fill the memory."""
        from models.names.lexical_kernel import round_up

        if len(self.list_weights) > MOST_BYTES:
            return self.list_weights, np.ones_like(self.peaks)
        units, codes = self.peaks / np.float32(255), np.empty(len(self.list_weights), dtype=np.uint8)
        round_up(_fixed(self.list_starts), _fixed(self.list_weights), _fixed(units), codes)
        give_back(self.list_weights)
        return codes, units

    @cached_property
    def _names(self) -> tuple[Any, ...]:
        parts = (self.starts, self.terms, self.counts, self.owns, self.gains)
        return (*(_fixed(part) for part in parts), self.saturating)

    @cached_property
    def _longest(self) -> float:
        """The greatest norm of a name."""
        squares = np.einsum("nc,nc->n", self.norms, self.norms) if len(self.norms) else np.zeros(1)
        return float(np.sqrt(squares.max()))


def classes_of(lengths: NDArray[Any], names: int) -> NDArray[np.int8]:
    """(terms,) classes of terms by powers of two of the lists' lengths, in units of 1/512 of all names: the rarest
    terms are class 0."""
    classes: NDArray[np.float64] = np.clip(np.log2(np.maximum(lengths, 1) * 512 / max(1, names)), 0, CLASSES - 1)
    return classes.astype(np.int8)


def name_weights(
    counts: sparse.csr_matrix, gains: NDArray[np.float64], owns: NDArray[np.float64], *, saturating: bool
) -> FLOATS:
    """(entries,) gain × impact of every term in every name, in the order of the counts."""
    weights = np.empty(len(counts.data), dtype=np.float32)
    for first, last in _chunks(counts.shape[0]):
        part = slice(counts.indptr[first], counts.indptr[last])
        number = counts.data[part].astype(np.float64)
        own = np.repeat(owns[first:last], np.diff(counts.indptr[first : last + 1]))
        impact = number / (number + own) if saturating else (1 + np.log(number)) * own
        weights[part] = gains[counts.indices[part]] * impact
    return weights


def class_norms(counts: sparse.csr_matrix, weights: FLOATS, classes: NDArray[np.int8]) -> FLOATS:
    """(names, classes) norm of each name over the terms of each class, rounded up."""
    norms = np.empty((counts.shape[0], CLASSES), dtype=np.float32)
    for first, last in _chunks(counts.shape[0]):
        part = slice(counts.indptr[first], counts.indptr[last])
        row = np.repeat(np.arange(last - first), np.diff(counts.indptr[first : last + 1]))
        cell = row * CLASSES + classes[counts.indices[part]]
        squares = np.bincount(cell, weights=weights[part].astype(np.float64) ** 2, minlength=(last - first) * CLASSES)
        norms[first:last] = np.sqrt(squares).reshape(-1, CLASSES) * (1 + 1e-6)
    return norms


def _chunks(names: int) -> Iterator[tuple[int, int]]:
    for start in range(0, names, NAMES_AT_A_TIME):
        yield start, min(start + NAMES_AT_A_TIME, names)


def _csr(queries: sparse.csr_matrix) -> tuple[INTS, NDArray[np.int32], NDArray[np.float64]]:
    return (
        np.ascontiguousarray(queries.indptr, dtype=np.int64),
        np.ascontiguousarray(queries.indices, dtype=np.int32),
        np.ascontiguousarray(queries.data, dtype=np.float64),
    )


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, so that new and memory-mapped arrays have one type for the compiler."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _parts(queries: int) -> Iterator[slice]:
    """Pieces of a batch of queries, two for each thread; few queries are not split."""
    pieces = max(1, min(2 * WORKERS, queries // QUERIES_A_THREAD)) if WORKERS > 1 else 1
    for at in range(pieces):
        yield slice(queries * at // pieces, queries * (at + 1) // pieces)


def _is_partition(starts: INTS, parts: int, whole: int) -> bool:
    return len(starts) == parts + 1 and starts[0] == 0 and starts[-1] == whole and bool((np.diff(starts) >= 0).all())


def _is_within(array: NDArray[Any], size: int) -> bool:
    """Whether all numbers are in the range. They are read piece by piece and released, since most of an index is never
    read again."""
    for start in range(0, len(array), AT_A_TIME):
        piece = array[start : start + AT_A_TIME]
        if int(piece.min()) < 0 or int(piece.max()) >= size:
            return False
        give_back(array)
    return True


def damaged(folder: Path, error: Exception, remedy: str) -> ModelError:
    return ModelError(
        say("The lexical index {folder} is damaged ({error}). {remedy}", folder=folder, error=error, remedy=remedy)
    )

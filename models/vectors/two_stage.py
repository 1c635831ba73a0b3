"""Search in two stages: 4-bit codes of all vectors first, then 8-bit codes of the best of them.

The first codes give six numbers of a vector one of 16 patterns (product quantisation); FAISS adds up 32 vectors at once
from tables that stay in the processor's registers. They take a 48th of the size of float32 vectors. What they choose is
compared again by the 8-bit codes, with which alone 99.6 % of the nearest names are found. Rounding to codes changes the
length of a vector; where all have the length 1, it is restored, and a fifth less is lost (2.7 million names).

Vectors are searched in segments of neighbouring rows, all by the same patterns: those of one query in several threads,
and only those that hold rows of the wanted ranges. Segments follow from the number of rows alone, so that answers do
not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import ceil
from typing import Any

import faiss as faiss_module
import numpy as np
import torch
from numpy.typing import NDArray

from models.core.kb import Ranges
from models.errors import ModelError, say
from models.vectors.index_plan import IndexPlan

faiss: Any = faiss_module
FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
PATTERNS = 16
"""Patterns of a part of a vector, and the fewest vectors to learn them from."""
SAMPLED = 256
"""So many vectors are looked at to see whether all have the length 1."""
SEGMENT = 2_621_440
"""Rows of a segment at most, a multiple of the 32 that are compared at once."""
NARROW = 0.1
"""The share of rows below which all within the wanted ranges are compared by their 8-bit codes."""
AT_A_TIME = 2**20
"""Rows that are kept by the first stage at once, 12 MiB, for many queries."""
CHUNK = 65536
LEAST_READ, MOST_READ = 512, 2**16
"""Between so many vectors are compared again for a query."""
NEAREST, ASKED, ENOUGH = 64, 256, 0.99
"""A build searches for the nearest 64 of 256 of its own vectors; at least this share of them must be found."""
ROUNDED = 1e-5


class TooLittleFoundError(ModelError):
    """An index that does not find enough, however much of it is read."""


class TwoStage:
    """Both stages of a FAISS index of this kind, whose 8-bit codes stay where they are, in memory or mapped."""

    def __init__(self, index: Any, *, only: bool = False) -> None:
        """``only``: nothing else needs the 4-bit codes of ``index``, which are freed if they were copied."""
        self.coded = faiss.downcast_index(index.refine_index)
        self._index, self.size, dimension = index, int(index.ntotal), int(index.d)
        self._codes = faiss.rev_swig_ptr(self.coded.codes.data(), self.size * dimension).reshape(self.size, dimension)
        low, width = faiss.vector_to_array(self.coded.sq.trained).reshape(2, -1)
        self._unit = (width / 255).astype(np.float32)
        self._least = (low + self._unit / 2).astype(np.float32)
        some = self._least + self._unit * self._codes[np.linspace(0, self.size - 1, SAMPLED).astype(np.int64)]
        self._even = bool((abs(np.linalg.norm(some, axis=1) - 1) < 0.02).all())
        self._base = faiss.downcast_index(index.base_index)
        self._segments = _segments(self._base)
        if only and len(self._segments) > 1:
            self._base.codes.resize(0)

    def search(self, queries: FLOATS, k: int, reads: int, spans: Ranges) -> tuple[FLOATS, INTS]:
        """(q, k) inner products with 8-bit codes, and rows within half-open ranges, in no order; −1 if there are fewer.

        ``reads`` vectors are compared again for each query, more if k is greater than `NEAREST`. The first stage keeps
        so many more as fewer rows are within the ranges; where these are few, it is left out.
        """
        allowed = sum(stop - start for start, stop in spans)
        kept = min(self.size, ceil(max(reads, k) * max(1, k / NEAREST) * self.size / allowed))
        both = kept < self.size and allowed >= NARROW * self.size
        scores = np.empty((len(queries), k), dtype=np.float32)
        rows = np.empty((len(queries), k), dtype=np.int64)
        size = max(1, AT_A_TIME // (kept if both else allowed))
        for at in range(0, len(queries), size):
            some = slice(at, at + size)
            near = self._first(queries[some], kept, spans) if both else None
            scores[some], rows[some] = self._second(queries[some], k, near, spans)
        short = (rows >= 0).sum(axis=1) < min(k, allowed)
        for at in np.flatnonzero(short).tolist():
            scores[at : at + 1], rows[at : at + 1] = self._second(queries[at : at + 1], k, None, spans)
        return scores, rows

    def _second(self, queries: FLOATS, k: int, near: INTS | None, spans: Ranges) -> tuple[FLOATS, INTS]:
        """(q, k) inner products and rows, the best of (q, m) rows, or of all within the ranges."""
        from models.vectors.coarse_kernel import best_of_codes

        if near is None:
            near = np.tile(np.concatenate([np.arange(*span) for span in spans]), (len(queries), 1))
        scores = np.empty((len(queries), k), dtype=np.float32)
        rows = np.empty((len(queries), k), dtype=np.int64)
        best_of_codes(queries, self._codes, self._unit, self._least, self._even, near, scores, rows)
        return scores, rows

    def _first(self, queries: FLOATS, kept: int, spans: Ranges) -> INTS:
        """(q, kept) ascending rows with the best 4-bit codes, −1 for those outside the ranges."""
        wanted = [
            (start, segment)
            for start, segment in self._segments
            if any(first < start + segment.ntotal and start < stop for first, stop in spans)
        ]
        threads = min(faiss.omp_get_max_threads(), len(wanted))
        if len(queries) < threads:  # FAISS gives each query one thread
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(lambda one: one[1].search(queries, kept), wanted))
        else:
            parts = [segment.search(queries, kept) for _, segment in wanted]
        rows = np.concatenate(
            [np.where(own < 0, -1, own + start) for (start, _), (_, own) in zip(wanted, parts, strict=True)], axis=1
        )
        if len(wanted) > 1:
            best = np.argpartition(-np.concatenate([scores for scores, _ in parts], axis=1), kept - 1, axis=1)
            rows = np.take_along_axis(rows, best[:, :kept], axis=1)
        rows.sort(axis=1)
        return rows if spans == ((0, self.size),) else _within(rows, spans)


def _within(rows: INTS, spans: Ranges) -> INTS:
    """The rows, −1 instead of those outside the ranges."""
    starts, stops = np.asarray(spans, dtype=np.int64).T
    at = np.searchsorted(starts, rows, side="right") - 1
    return np.where((at >= 0) & (rows < stops[at]), rows, -1)


def _segments(base: Any) -> list[tuple[int, Any]]:
    """First row and FAISS index of each segment, of equal sizes; the index itself if one is enough."""
    count = ceil(base.ntotal / SEGMENT)
    if count < 2:
        return [(0, base)]
    rows = ceil(base.ntotal / count / base.bbs) * base.bbs
    codes = faiss.vector_to_array(base.codes)
    width = base.M2 // 2  # bytes of a vector; blocks of `bbs` vectors follow each other
    found = []
    for start in range(0, base.ntotal, rows):
        made = faiss.IndexPQFastScan(base.d, base.M, base.nbits, base.metric_type, base.bbs)
        faiss.copy_array_to_vector(faiss.vector_to_array(base.pq.centroids), made.pq.centroids)
        made.is_trained = True
        made.ntotal = min(rows, base.ntotal - start)
        made.ntotal2 = ceil(made.ntotal / base.bbs) * base.bbs
        faiss.copy_array_to_AlignedTable(codes[start * width : (start + made.ntotal2) * width], made.codes)
        found.append((start, made))
    return found


def probed(search: Callable[[FLOATS, int, int], INTS], plan: IndexPlan, vectors: NDArray[np.floating]) -> IndexPlan:
    """The plan with the number of vectors to compare again, increased by half until enough is found, and the share that
    is found.

    ``search`` takes (q, d) queries, the number of neighbours and the number to compare, and returns (q, k) rows.
    Vectors as near as the last of the nearest count as found: names that differ only in case have the same vector.
    Raises TooLittleFoundError if not enough is found.
    """
    k = min(NEAREST, len(vectors))
    queries = floats(vectors[np.unique(np.linspace(0, len(vectors) - 1, ASKED).astype(np.int64))])
    farthest = _nearest(queries, vectors, k)[:, -1:]
    reads = LEAST_READ
    while True:
        found = search(queries, k, reads)
        scores = np.stack([floats(vectors[row]) @ query for row, query in zip(found, queries, strict=True)])
        recall = float(((scores >= farthest - ROUNDED) & (found >= 0)).mean())
        if recall >= ENOUGH or reads == MOST_READ:
            break
        reads = min(reads + reads // 2, MOST_READ)
    if recall < ENOUGH:
        raise TooLittleFoundError(
            say(
                "The index of kind {kind} finds only {percent:.1f} % of the nearest names of this knowledge base. "
                "Choose flat or sq8 as the kind of index in the settings.",
                kind=plan.kind.value,
                percent=100 * recall,
            )
        )
    return replace(plan, probes=reads, recall=recall)


def _nearest(queries: FLOATS, vectors: NDArray[np.floating], k: int) -> FLOATS:
    """(q, k) inner products of the exact nearest rows, best first."""
    best = torch.zeros((len(queries), 0))
    for start in range(0, len(vectors), CHUNK):
        scores = torch.from_numpy(queries) @ torch.from_numpy(floats(vectors[start : start + CHUNK])).T
        together = torch.cat([best, scores], dim=1)
        best = torch.topk(together, min(k, together.shape[1])).values
    found: FLOATS = best.numpy()
    return found


def floats(vectors: NDArray[np.floating]) -> FLOATS:
    return np.ascontiguousarray(vectors, dtype=np.float32)


def training_rows(rows: int) -> INTS:
    """A fixed sample: the same vectors give the same index."""
    if rows <= 200_000:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, size=200_000, replace=False))

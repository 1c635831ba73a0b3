"""How much of an index a search reads: chosen when it is built, so that enough of the nearest vectors are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from models.errors import ModelError, say
from models.vectors.index_plan import IndexKind, IndexPlan

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
CHUNK = 65536
READS = {IndexKind.IVF: 32, IndexKind.HNSW: 256, IndexKind.PQ4: 512}
"""The least that a search reads: cells, a graph's candidate vertices, or vectors that are compared again."""
MOST = {IndexKind.HNSW: 4096, IndexKind.PQ4: 2**16}
"""The most that it reads."""
NEAREST, ASKED, ENOUGH = 64, 256, 0.99
"""A build searches for the nearest 64 of 256 of its own vectors; at least this share of them must be found."""
ROUNDED = 1e-5


class TooLittleFoundError(ModelError):
    """An index that does not find enough, however much of it is read."""


def probed(
    search: Callable[[FLOATS, int, int], INTS], plan: IndexPlan, vectors: NDArray[np.floating], *, most: int
) -> IndexPlan:
    """The plan with the amount to read, increased by half until enough is found, and the share that is found.

    ``search`` takes (q, d) queries, the number of neighbours and the amount to read, and returns (q, k) rows. Vectors
    as near as the last of the nearest count as found: names that differ only in case have the same vector. Raises
    TooLittleFoundError if reading ``most`` does not find enough.
    """
    k = min(NEAREST, len(vectors))
    queries = floats(vectors[np.unique(np.linspace(0, len(vectors) - 1, ASKED).astype(np.int64))])
    farthest = _nearest(queries, vectors, k)[:, -1:]
    reads = min(READS[plan.kind], most)
    while True:
        found = search(queries, k, reads)
        scores = np.stack([floats(vectors[row]) @ query for row, query in zip(found, queries, strict=True)])
        recall = float(((scores >= farthest - ROUNDED) & (found >= 0)).mean())
        if recall >= ENOUGH or reads == most:
            break
        reads = min(reads + max(1, reads // 2), most)
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

"""Rows added to an index, and rows removed, since it was built: ``base``, then ``added``, without the ``dead``.

A change makes a copy, which shares the base; row numbers never change. The few added rows are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.core.kb import Ranges
from models.vectors.index import SearchIndex, merge
from models.vectors.index_plan import IndexPlan

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
SPARE = 32
Found = tuple[FLOATS, INTS]


@dataclass(frozen=True, slots=True, eq=False)
class GrownIndex:
    """``base``, whose rows the rows of ``added`` (m, d) follow, without the ``dead`` rows, which are ascending."""

    base: SearchIndex
    added: FLOATS
    dead: INTS

    def __len__(self) -> int:
        return len(self.base) + len(self.added)

    @property
    def plan(self) -> IndexPlan:
        return self.base.plan

    def search(self, queries: NDArray[np.floating], k: int, *, ranges: Ranges | None = None) -> Found:
        """As in `VectorIndex.search`, exact if the base is."""
        wanted, size = ((0, len(self)),) if ranges is None else ranges, len(self.base)
        asked = np.ascontiguousarray(queries, dtype=np.float32)
        old, rows = base_ranges(wanted, size), added_rows(wanted, size, len(self.added), self.dead)
        parts = [best_living(lambda most: self.base.search(asked, most, ranges=old), k, old, self.dead)] if old else []
        if len(rows):
            scores = asked @ self.added[rows - size].T
            parts.append((scores, np.broadcast_to(rows, scores.shape)))
        return merge(parts, queries=len(asked), k=k)

    def vectors(self, rows: INTS) -> FLOATS:
        return rows_of_both(self.base.vectors, self.added, len(self.base), rows)


def grown(index: SearchIndex, added: NDArray[np.floating], dead: INTS) -> GrownIndex:
    """The index with (m, d) vectors appended, then without the rows ``dead``."""
    if isinstance(index, GrownIndex):
        together = np.concatenate([index.added, added]).astype(np.float32)
        return GrownIndex(index.base, together, np.union1d(index.dead, dead))
    return GrownIndex(index, np.asarray(added, dtype=np.float32), np.unique(dead))


def best_living(search: Callable[[int], Found], k: int, ranges: Ranges, dead: INTS) -> Found:
    """(q, m) scores and rows, −1 for dead rows, with the best ``k`` living rows of the half-open ranges.

    ``search`` returns so many, best first, −1 if there are fewer. It is called for a few more than ``k``, and again for
    more if too many are dead.
    """
    bounds = np.searchsorted(dead, np.asarray(ranges, dtype=np.int64))
    among = int((bounds[:, 1] - bounds[:, 0]).sum())
    most = k + among
    fetch = min(most, k + SPARE) if among else k
    while True:
        scores, rows = search(fetch)
        alive = (rows >= 0) & ~np.isin(rows, dead)
        if fetch == most or bool(((alive.sum(axis=1) >= k) | (rows[:, -1] < 0)).all()):
            return scores, np.where(alive, rows, -1)
        fetch = min(most, 2 * fetch)


def base_ranges(ranges: Ranges, size: int) -> Ranges:
    """The parts of half-open ranges before the row ``size``."""
    return tuple((start, min(stop, size)) for start, stop in ranges if start < min(stop, size))


def added_rows(ranges: Ranges, size: int, count: int, dead: INTS) -> INTS:
    """The living of ``count`` rows from the row ``size`` on that are within the ranges, ascending."""
    spans = [np.arange(max(start, size), min(stop, size + count)) for start, stop in ranges if stop > size]
    return np.setdiff1d(np.concatenate(spans), dead) if spans else np.zeros(0, dtype=np.int64)


def rows_of_both(base: Callable[[INTS], NDArray[np.floating]], added: FLOATS, size: int, rows: INTS) -> FLOATS:
    """(n, d) vectors of rows: those of ``base`` below ``size``, then ``added`` ones."""
    new = rows >= size
    found = np.empty((len(rows), added.shape[1]), dtype=np.float32)
    if not new.all():
        found[~new] = base(rows[~new])
    found[new] = added[rows[new] - size]
    return found

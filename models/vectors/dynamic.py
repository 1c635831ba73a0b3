"""An index whose vectors can be added, changed and removed while it is searched.

A frozen base (FAISS), a small delta (a matrix, searched exhaustively) and tombstones over the base. Row numbers never
change. Every change replaces the immutable state with a new one, so that searches need no lock and a compaction can
merge base and delta into a new base at the same time.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import faiss as faiss_module
import numpy as np
from numpy.typing import NDArray

from models.core.kb import Ranges
from models.vectors.index import SearchIndex, VectorIndex, coded_part, make_reconstructable, merge
from models.vectors.index_plan import IndexKind, IndexPlan
from models.vectors.two_stage import empty_codes

faiss: Any = faiss_module
log = logging.getLogger(__name__)

COMPACT_AT = 20_000
SPARE = 32
MERGE_CHUNK = 8192
FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
BOOLS = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _State:
    """``base`` holds row ``ids[p]`` at place p (place = row if ``ids`` is None), unless ``dead[p]``.

    ``added`` (m, d) holds row ``rows[p]`` at place p if ``alive[p]``; a row is alive in at most one place. ``total`` is
    the number of the next row.
    """

    base: VectorIndex
    ids: INTS | None
    dead: BOOLS
    added: FLOATS
    rows: INTS
    alive: BOOLS
    total: int

    @cached_property
    def dead_count(self) -> int:
        return int(self.dead.sum())

    @cached_property
    def added_order(self) -> tuple[INTS, INTS]:
        """Rows of the delta that are alive, ascending, and their places."""
        places = np.flatnonzero(self.alive)
        order = np.argsort(self.rows[places])
        return self.rows[places][order], places[order]

    def base_places(self, rows: INTS) -> INTS:
        """Places in the base of the given rows that are alive there, else −1."""
        if not len(self.dead):
            return np.full(len(rows), -1, dtype=np.int64)
        if self.ids is None:
            at = np.where((rows >= 0) & (rows < len(self.dead)), rows, -1)
        else:
            near = np.minimum(np.searchsorted(self.ids, rows), len(self.ids) - 1)
            at = np.where(self.ids[near] == rows, near, -1)
        return np.where((at >= 0) & ~self.dead[at], at, -1)

    def added_places(self, rows: INTS) -> INTS:
        """Places in the delta of the given rows that are alive there, else −1."""
        known, places = self.added_order
        if not len(known):
            return np.full(len(rows), -1, dtype=np.int64)
        near = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        return np.where(known[near] == rows, places[near], -1)

    def vectors(self, rows: INTS) -> FLOATS:
        """(n, d); zeros for rows that are not alive."""
        found = np.zeros((len(rows), self.base.dimension), dtype=np.float32)
        in_base, in_added = self.base_places(rows), self.added_places(rows)
        if (hit := in_base >= 0).any():
            found[hit] = self.base.vectors(in_base[hit])
        if (hit := in_added >= 0).any():
            found[hit] = self.added[in_added[hit]]
        return found


class DynamicIndex:
    """``base`` and later changes; safe for any number of searching and changing threads.

    When more than ``compact_at`` rows are in the delta or dead in the base, a thread merges them into a new base.
    """

    def __init__(self, base: VectorIndex, *, compact_at: int = COMPACT_AT) -> None:
        self.compact_at = compact_at
        self._lock = threading.Lock()
        self._compacting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._state = _State(
            base,
            None,
            np.zeros(len(base), dtype=bool),
            np.zeros((0, base.dimension), dtype=np.float32),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=bool),
            len(base),
        )
        self._room = self._state.added

    def __len__(self) -> int:
        """The number of rows ever assigned, including removed ones: the upper limit of ``ranges``."""
        return self._state.total

    @property
    def plan(self) -> IndexPlan:
        return self._state.base.plan

    @property
    def dimension(self) -> int:
        return self._state.base.dimension

    @property
    def pending(self) -> int:
        """Rows in the delta and tombstones in the base: the number of rows a compaction would merge."""
        return len(self._state.rows) + self._state.dead_count

    def search(self, queries: NDArray[np.floating], k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]:
        """(q, k) scores and rows, best first; −inf and −1 if there are fewer. Ties: the lower row first.

        ``ranges`` restricts to half-open ranges of rows, ascending and disjoint. Exact if the base is exact.
        """
        state = self._state
        wanted = np.ascontiguousarray(queries, dtype=np.float32)
        limits = np.asarray(((0, state.total),) if ranges is None else ranges, dtype=np.int64).reshape(-1, 2)
        parts = []
        if len(wanted) and len(limits) and k > 0:
            parts = [part for part in (_search_base(state, wanted, k, limits),) if part is not None]
            parts += [part for part in (_search_added(state, wanted, k, limits),) if part is not None]
        return merge(parts, queries=len(wanted), k=k)

    def vectors(self, rows: INTS) -> FLOATS:
        """(n, d) vectors of the given rows; zeros for removed ones."""
        return self._state.vectors(np.asarray(rows, dtype=np.int64))

    def add(self, vectors: NDArray[np.floating]) -> INTS:
        """Append (n, d) vectors; returns their rows."""
        self._check_shape(vectors, len(vectors))
        with self._lock:
            rows = np.arange(self._state.total, self._state.total + len(vectors))
            self._append(rows, vectors)
        self._compact_if_due()
        return rows

    def update(self, rows: INTS, vectors: NDArray[np.floating]) -> None:
        """Replace the vectors of n distinct rows by (n, d) others; a removed row becomes alive again. Raises IndexError
        for a row never assigned."""
        numbers = self._checked(rows)
        self._check_shape(vectors, len(numbers))
        with self._lock:
            self._bury(numbers)
            self._append(numbers, vectors)
        self._compact_if_due()

    def remove(self, rows: INTS) -> None:
        """Remove rows; removing a row twice is not an error. Raises IndexError for a row never assigned."""
        numbers = self._checked(rows)
        with self._lock:
            self._bury(numbers)
        self._compact_if_due()

    def compact(self) -> None:
        """Merge everything into a new base, in this thread; searches and changes continue meanwhile."""
        with self._compacting:
            before = self._state
            base, ids = _merged(before)
            with self._lock:
                self._state = _rebased(self._state, before, base, ids)
                self._room = self._state.added

    def wait(self) -> None:
        """Wait until no compaction is running in the background."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _checked(self, rows: INTS) -> INTS:
        numbers = np.asarray(rows, dtype=np.int64).reshape(-1)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < self._state.total):
            raise IndexError(f"rows {numbers.min()} to {numbers.max()} are not all among the {self._state.total} given")
        return numbers

    def _check_shape(self, vectors: NDArray[np.floating], rows: int) -> None:
        if vectors.shape != (rows, self.dimension):
            raise ValueError(f"vectors of shape {vectors.shape} where ({rows}, {self.dimension}) were expected")

    def _append(self, rows: INTS, vectors: NDArray[np.floating]) -> None:
        """Write to places after those of the current state; older states do not use them."""
        state = self._state
        used, needed = len(state.rows), len(state.rows) + len(rows)
        if needed > len(self._room):
            room = np.empty((max(needed, 2 * used, 64), self.dimension), dtype=np.float32)
            room[:used] = state.added
            self._room = room
        self._room[used:needed] = vectors
        self._state = replace(
            state,
            added=self._room[:needed],
            rows=np.concatenate([state.rows, rows]),
            alive=np.concatenate([state.alive, np.ones(len(rows), dtype=bool)]),
            total=max(state.total, int(rows.max(initial=-1)) + 1),
        )

    def _bury(self, rows: INTS) -> None:
        state = self._state
        in_base, in_added = state.base_places(rows), state.added_places(rows)
        dead, alive = state.dead, state.alive
        if (in_base >= 0).any():
            dead = dead.copy()
            dead[in_base[in_base >= 0]] = True
        if (in_added >= 0).any():
            alive = alive.copy()
            alive[in_added[in_added >= 0]] = False
        self._state = replace(state, dead=dead, alive=alive)

    def _compact_if_due(self) -> None:
        with self._lock:
            if self.pending <= self.compact_at or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._compact_quietly, name="index compaction", daemon=True)
            self._thread.start()

    def _compact_quietly(self) -> None:
        faiss.omp_set_num_threads(1)  # of this thread only: searching threads keep theirs
        try:
            while self.pending > self.compact_at:  # later changes are merged as well
                self.compact()
        except Exception:  # thread boundary: the index still works, only slower
            log.exception("The index could not be compacted; it goes on as it is.")


def growing(index: SearchIndex) -> DynamicIndex:
    """The index itself if it can grow, else a growing index over it."""
    if isinstance(index, DynamicIndex):
        return index
    assert isinstance(index, VectorIndex)
    return DynamicIndex(index)


def _search_base(state: _State, queries: FLOATS, k: int, limits: INTS) -> tuple[FLOATS, INTS] | None:
    """The base's best ``k`` living rows: it is searched for a few more than ``k``, and again for more if too many are
    dead."""
    if state.ids is not None:
        limits = np.searchsorted(state.ids, limits)
    limits = np.minimum(limits, len(state.dead))
    spans = tuple((int(start), int(stop)) for start, stop in limits if start < stop)
    size = sum(stop - start for start, stop in spans)
    if not size:
        return None
    dead = sum(int(np.count_nonzero(state.dead[start:stop])) for start, stop in spans) if state.dead_count else 0
    most = min(size, k + dead)
    fetch = min(most, k + min(dead, SPARE))
    while True:
        scores, places = state.base.search(queries, fetch, ranges=spans)
        found = places >= 0
        alive = found & ~state.dead[places]
        enough = (alive.sum(axis=1) >= min(k, size - dead)) | ~found[:, -1]
        if fetch == most or bool(enough.all()):
            break
        fetch = min(most, 2 * fetch)
    rows = places if state.ids is None else state.ids[places]
    return scores, np.where(alive, rows, -1)


def _search_added(state: _State, queries: FLOATS, k: int, limits: INTS) -> tuple[FLOATS, INTS] | None:
    """The delta's best ``k``, by exhaustive search."""
    at = np.searchsorted(limits[:, 0], state.rows, side="right") - 1
    places = np.flatnonzero(state.alive & (at >= 0) & (state.rows < limits[at, 1]))
    if not len(places):
        return None
    block = state.added if len(places) == len(state.added) else state.added[places]
    scores = queries @ block.T
    rows = state.rows[places]
    if len(places) > k:
        kept = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        return np.take_along_axis(scores, kept, axis=1), rows[kept]
    return scores, np.broadcast_to(rows, scores.shape)


def _merged(state: _State) -> tuple[VectorIndex, INTS]:
    """A new base of the same kind with all living rows in ascending order, and those rows."""
    base_rows = np.arange(len(state.dead)) if state.ids is None else state.ids
    ids = np.sort(np.concatenate([base_rows[~state.dead], state.rows[state.alive]]))
    index = _empty_like(state.base.index, state.base.plan.kind)
    _widen(index, state.base.plan.kind, state.added[state.alive])
    for start in range(0, len(ids), MERGE_CHUNK):
        index.add(state.vectors(ids[start : start + MERGE_CHUNK]))
    make_reconstructable(index)
    return VectorIndex(index, state.base.plan, source=state.base.source), ids


def _rebased(now: _State, before: _State, base: VectorIndex, ids: INTS) -> _State:
    """``now`` over the base merged from ``before``; later changes remain as tombstones or in the delta."""
    merged = len(before.rows)
    still = (now.base_places(ids) >= 0) | _alive_among(now, ids, merged)
    return _State(base, ids, ~still, now.added[merged:].copy(), now.rows[merged:], now.alive[merged:], now.total)


def _alive_among(state: _State, rows: INTS, first: int) -> BOOLS:
    """Whether each row is alive in one of the first places of the delta."""
    places = state.added_places(rows)
    found: BOOLS = (places >= 0) & (places < first)
    return found


def _empty_like(index: Any, kind: IndexKind) -> Any:
    """An empty index with the same encoding: trained parameters are copied, so that codes stay the same."""
    dimension, metric = int(index.d), faiss.METRIC_INNER_PRODUCT
    if kind is IndexKind.FLAT:
        return faiss.IndexFlat(dimension, metric)
    if kind is IndexKind.SQ8:
        made = faiss.IndexScalarQuantizer(dimension, index.sq.qtype, metric)
        _copy_codes(index, made)
    elif kind is IndexKind.IVF:
        cells = faiss.clone_index(faiss.downcast_index(index.quantizer))
        made = faiss.IndexIVFScalarQuantizer(cells, dimension, index.nlist, index.sq.qtype, metric, index.by_residual)
        _copy_codes(index, made)
    elif kind is IndexKind.PQ4:
        coded = faiss.downcast_index(index.refine_index)
        again = faiss.IndexScalarQuantizer(dimension, coded.sq.qtype, metric)
        _copy_codes(coded, again)
        made = faiss.IndexRefine(empty_codes(faiss.downcast_index(index.base_index)), again)
    else:
        storage, links = faiss.downcast_index(index.storage), index.hnsw.nb_neighbors(1)
        if not hasattr(storage, "sq"):
            return faiss.IndexHNSWFlat(dimension, links, metric)
        made = faiss.IndexHNSWSQ(dimension, storage.sq.qtype, links, metric)
        _copy_codes(storage, faiss.downcast_index(made.storage))
    made.is_trained = True
    return made


def _copy_codes(source: Any, target: Any) -> None:
    """Copy the ranges that 8-bit codes represent."""
    faiss.copy_array_to_vector(faiss.vector_to_array(source.sq.trained), target.sq.trained)
    target.is_trained = True


def _widen(index: Any, kind: IndexKind, vectors: FLOATS) -> None:
    """Extend the range of 8-bit codes to the given vectors, which would otherwise be clipped."""
    coded = coded_part(index, kind)
    if not len(vectors) or not hasattr(coded, "sq"):
        return
    if kind is IndexKind.IVF and index.by_residual:
        cells = faiss.downcast_index(index.quantizer)
        vectors = vectors - cells.reconstruct_batch(cells.assign(vectors, 1).ravel())
    low, width = faiss.vector_to_array(coded.sq.trained).reshape(2, -1)
    high = np.maximum(low + width, vectors.max(axis=0))
    low = np.minimum(low, vectors.min(axis=0))
    faiss.copy_array_to_vector(np.concatenate([low, high - low]).astype(np.float32), coded.sq.trained)

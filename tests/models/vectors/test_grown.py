"""An index with rows added and removed, against plain arithmetic over all vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.vectors.grown import grown
from models.vectors.index import SearchIndex, VectorIndex
from models.vectors.index_plan import IndexKind, plan_index

D = 8
RNG = np.random.default_rng(3)
BASE = RNG.normal(size=(40, D)).astype(np.float32)
QUERIES = RNG.normal(size=(4, D)).astype(np.float32)
CHANGES = st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 10**6), max_size=12)), min_size=1, max_size=8)


def _brute_force(rows: dict[int, np.ndarray], k: int, ranges) -> np.ndarray:
    """(q, k) best rows by arithmetic, −1 where there are fewer."""
    allowed = sorted(row for row in rows if any(start <= row < stop for start, stop in ranges))
    found = np.full((len(QUERIES), k), -1)
    if allowed:
        scores = QUERIES @ np.stack([rows[row] for row in allowed]).T
        best = np.asarray(allowed)[np.argsort(-scores, axis=1, kind="stable")[:, :k]]
        found[:, : best.shape[1]] = best
    return found


def _check(index: SearchIndex, rows: dict[int, np.ndarray], ranges) -> None:
    for k in (1, 5, 60):
        scores, found = index.search(QUERIES, k, ranges=ranges)
        np.testing.assert_array_equal(found, _brute_force(rows, k, ranges))
        query, place = np.nonzero(found >= 0)
        stored = (QUERIES[query] * index.vectors(found[query, place])).sum(axis=1)
        np.testing.assert_allclose(scores[query, place], stored, rtol=1e-4, atol=1e-5)
        assert np.isneginf(scores[found < 0]).all()


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES, base=st.integers(0, 40), seed=st.integers(0, 99), edges=st.sets(st.integers(0, 60)))
def test_any_sequence_of_changes_searches_like_brute_force(changes, base, seed, edges) -> None:
    rng = np.random.default_rng((7, seed))  # never the very vectors of BASE: equal ones tie within rounding only
    index: SearchIndex = VectorIndex.build(BASE[:base], plan=plan_index(base, D, kind=IndexKind.FLAT))
    states = [(index, dict(enumerate(BASE[:base])))]
    for count, chosen in changes:
        index, rows = states[-1]
        vectors = rng.normal(size=(count, D)).astype(np.float32)
        new = {len(index) + at: vector for at, vector in enumerate(vectors)}
        dead = np.unique(np.asarray(chosen, dtype=np.int64) % (len(index) + count)) if len(index) + count else []
        kept = {row: vector for row, vector in (rows | new).items() if row not in dead}
        states.append((grown(index, vectors, np.asarray(dead, dtype=np.int64)), kept))
    limits = sorted(edges)
    for index, rows in states:  # earlier states answer as before
        _check(index, rows, ((0, len(index)),))
        _check(index, rows, tuple(zip(limits[::2], limits[1::2], strict=False)))
        _check(index, rows, ((0, 10**6),))


def test_removing_all_near_rows_still_finds_the_far_ones() -> None:
    vectors = RNG.normal(size=(600, D)).astype(np.float32)
    near = np.argsort(-(vectors @ QUERIES[0]))[:500]
    rest = {row: vector for row, vector in enumerate(vectors) if row not in near}
    _check(grown(VectorIndex.build(vectors), vectors[:0], near), rest, ((0, 600),))


@pytest.mark.parametrize("kind", list(IndexKind))
def test_every_kind_grows_and_forgets(kind) -> None:
    vectors = RNG.normal(size=(600, D)).astype(np.float32)
    base = VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=kind))
    index = grown(base, 9 * QUERIES[:2], np.arange(100))
    _, found = index.search(QUERIES[:2], 20)
    assert found[:, 0].tolist() == [600, 601]
    assert found.min() >= 100
    np.testing.assert_allclose(index.vectors(np.asarray([601, 400])), [9 * QUERIES[1], vectors[400]], atol=0.2)
    _, limited = index.search(QUERIES[:2], 20, ranges=((100, 300), (301, 500)))
    assert 100 <= limited.min() <= limited.max() < 500
    assert index.plan.kind is kind

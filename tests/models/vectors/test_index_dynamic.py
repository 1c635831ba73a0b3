"""The growing index against plain arithmetic over all vectors."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.vectors.dynamic import DynamicIndex
from models.vectors.index import IndexKind, VectorIndex, plan_index

D = 8
RNG = np.random.default_rng(3)
BASE = RNG.normal(size=(40, D)).astype(np.float32)
QUERIES = RNG.normal(size=(4, D)).astype(np.float32)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 4)),
        st.tuples(st.just("update"), st.lists(st.integers(0, 10**6), min_size=1, max_size=3)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 10**6), min_size=1, max_size=12)),
        st.tuples(st.just("search"), st.lists(st.integers(0, 60), min_size=2, max_size=6)),
        st.tuples(st.just("compact"), st.none()),
    ),
    max_size=14,
)


def _brute_force(rows: dict[int, np.ndarray], k: int, ranges) -> np.ndarray:
    """(q, k) best rows by arithmetic, −1 where there are fewer."""
    allowed = sorted(row for row in rows if any(start <= row < stop for start, stop in ranges))
    found = np.full((len(QUERIES), k), -1)
    if allowed:
        scores = QUERIES @ np.stack([rows[row] for row in allowed]).T
        best = np.asarray(allowed)[np.argsort(-scores, axis=1, kind="stable")[:, :k]]
        found[:, : best.shape[1]] = best
    return found


def _ranges(numbers: list[int]) -> tuple[tuple[int, int], ...]:
    edges = sorted(set(numbers))
    return tuple(zip(edges[::2], edges[1::2], strict=False))


def _check(index: DynamicIndex, rows: dict[int, np.ndarray], ranges) -> None:
    for k in (1, 5, 60):
        scores, found = index.search(QUERIES, k, ranges=ranges)
        np.testing.assert_array_equal(found, _brute_force(rows, k, ranges))
        stored = np.einsum("qd,qkd->qk", QUERIES, index.vectors(found.ravel()).reshape(*found.shape, D))
        np.testing.assert_allclose(scores[found >= 0], stored[found >= 0], rtol=1e-4, atol=1e-5)
        assert np.isneginf(scores[found < 0]).all()


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, base=st.integers(0, 40), seed=st.integers(0, 99))
def test_any_sequence_of_changes_searches_like_brute_force(steps, base, seed) -> None:
    rng = np.random.default_rng((7, seed))  # never the very vectors of BASE: equal ones tie within rounding only
    index = DynamicIndex(VectorIndex.build(BASE[:base], plan=plan_index(base, D, kind=IndexKind.FLAT)))
    rows = dict(enumerate(BASE[:base]))
    for step, value in steps:
        if step == "add":
            vectors = rng.normal(size=(value, D)).astype(np.float32)
            expected = len(index) + np.arange(value)
            np.testing.assert_array_equal(index.add(vectors), expected)
            rows |= dict(zip(expected.tolist(), vectors, strict=True))
        elif step == "compact":
            index.compact()
            assert index.pending == 0
        elif step == "search":
            _check(index, rows, _ranges(value))
        elif len(index):
            chosen = np.unique(np.asarray(value) % len(index))
            if step == "remove":
                index.remove(chosen)
                for row in chosen.tolist():
                    rows.pop(row, None)
            else:
                vectors = rng.normal(size=(len(chosen), D)).astype(np.float32)
                index.update(chosen, vectors)
                rows |= dict(zip(chosen.tolist(), vectors, strict=True))
        _check(index, rows, ((0, len(index)),))
    _check(index, rows, ((0, 10**6),))


def test_removing_all_near_rows_still_finds_the_far_ones() -> None:
    vectors = RNG.normal(size=(600, D)).astype(np.float32)
    index = DynamicIndex(VectorIndex.build(vectors))
    near = np.argsort(-(vectors @ QUERIES[0]))[:500]
    index.remove(near)
    rest = dict(enumerate(vectors))
    for row in near.tolist():
        del rest[row]
    np.testing.assert_array_equal(index.search(QUERIES, 30)[1], _brute_force(rest, 30, ((0, 600),)))


@pytest.mark.parametrize("kind", list(IndexKind))
def test_every_kind_grows_forgets_and_compacts(kind) -> None:
    vectors = RNG.normal(size=(600, D)).astype(np.float32)
    index = DynamicIndex(VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=kind)))
    index.remove(np.arange(100))
    index.update(np.asarray([300]), 9 * QUERIES[:1])
    (new,) = index.add(9 * QUERIES[1:2]).tolist()
    for _ in range(2):
        _, found = index.search(QUERIES[:2], 20)
        assert found[:, 0].tolist() == [300, new]
        assert found.min() >= 100
        np.testing.assert_allclose(index.vectors(np.asarray([300, 400])), [9 * QUERIES[0], vectors[400]], atol=0.2)
        assert (index.vectors(np.asarray([5])) == 0).all()
        _, limited = index.search(QUERIES[:2], 20, ranges=((100, 300), (301, 500)))
        assert 100 <= limited.min() <= limited.max() < 500
        assert 300 not in limited
        index.compact()
        assert index.pending == 0
        assert index.plan.kind is kind


def test_compaction_keeps_the_codes_of_vectors_that_did_not_change() -> None:
    for kind in (IndexKind.SQ8, IndexKind.IVF, IndexKind.HNSW, IndexKind.PQ4):
        index = DynamicIndex(VectorIndex.build(BASE, plan=plan_index(*BASE.shape, kind=kind)))
        rows = np.arange(1, 40)
        before = index.vectors(rows)
        index.remove(np.asarray([0]))
        index.compact()
        np.testing.assert_allclose(index.vectors(rows), before, atol=1e-6)


def test_compaction_stretches_codes_to_what_was_added() -> None:
    for kind in (IndexKind.SQ8, IndexKind.IVF, IndexKind.HNSW, IndexKind.PQ4):
        index = DynamicIndex(VectorIndex.build(BASE, plan=plan_index(*BASE.shape, kind=kind)))
        rows = index.add(20 * QUERIES)
        index.compact()
        np.testing.assert_allclose(index.vectors(rows), 20 * QUERIES, atol=0.3)


def test_searches_and_changes_go_on_while_it_compacts(monkeypatch) -> None:
    """The compaction is held in its middle; what is asked and changed then must be right then and afterwards."""
    import models.vectors.dynamic as module

    index = DynamicIndex(VectorIndex.build(BASE))
    rows = dict(enumerate(BASE))
    first = RNG.normal(size=(6, D)).astype(np.float32)
    rows |= dict(zip(index.add(first).tolist(), first, strict=True))
    merging, go_on = threading.Event(), threading.Event()
    finish = module.make_reconstructable

    def held(base):
        merging.set()
        assert go_on.wait(20)
        finish(base)

    monkeypatch.setattr(module, "make_reconstructable", held)
    thread = threading.Thread(target=index.compact)
    thread.start()
    assert merging.wait(20)
    _check(index, rows, ((0, 100),))
    second = RNG.normal(size=(4, D)).astype(np.float32)
    index.update(np.asarray([3, 41]), second[:2])  # one in the base that is being merged, one in its delta
    rows |= {3: second[0], 41: second[1]}
    index.remove(np.asarray([5, 42]))
    del rows[5], rows[42]
    rows |= dict(zip(index.add(second[2:]).tolist(), second[2:], strict=True))
    _check(index, rows, ((0, 100),))
    go_on.set()
    thread.join()
    _check(index, rows, ((0, 100),))
    assert index.pending == 8  # four vectors written since, four tombstones over the new base
    index.compact()
    _check(index, rows, ((0, 100),))


def test_readers_see_whole_states_while_writers_and_compactions_run() -> None:
    """Row i always is i times one direction, so a mixed-up state would show as a wrong score."""
    axis = np.zeros((1, D), dtype=np.float32)
    axis[0, 0] = 1
    index = DynamicIndex(VectorIndex.build(np.arange(50, dtype=np.float32)[:, None] * axis), compact_at=40)
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            scores, rows = index.search(axis, 30)
            if not np.array_equal(scores, rows.astype(np.float32)) or (rows < 0).any():
                wrong.append((scores, rows))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for row in range(50, 450):
        index.add(np.float32(row) * axis)
        index.remove(np.asarray([row - 40]))
    index.wait()
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert index.pending <= 2 * index.compact_at  # of the change that was made as the last one ended
    _, rows = index.search(axis, 40)
    assert rows[0].tolist() == [*range(449, 409, -1)]


def test_a_compaction_that_fails_leaves_the_index_as_it_is(monkeypatch, caplog) -> None:
    import models.vectors.dynamic as module

    def fail(_base):
        raise MemoryError("no room")

    monkeypatch.setattr(module, "make_reconstructable", fail)
    index = DynamicIndex(VectorIndex.build(BASE), compact_at=2)
    rows = dict(enumerate(BASE)) | dict(zip(index.add(BASE[:3] + 1).tolist(), BASE[:3] + 1, strict=True))
    index.wait()
    assert "could not be compacted" in caplog.text
    _check(index, rows, ((0, 100),))


def test_wrong_rows_and_shapes_change_nothing() -> None:
    index = DynamicIndex(VectorIndex.build(BASE))
    rows = dict(enumerate(BASE))
    for bad in ([40], [-1]):
        with pytest.raises(IndexError, match="not all among the 40"):
            index.remove(np.asarray(bad))
    with pytest.raises(ValueError, match="shape"):
        index.update(np.asarray([3]), np.zeros((1, D + 1), dtype=np.float32))
    with pytest.raises(ValueError, match="shape"):
        index.add(np.zeros((1, D + 1), dtype=np.float32))
    assert (index.search(QUERIES, 3, ranges=())[1] == -1).all()
    assert index.search(QUERIES[:0], 3)[1].shape == (0, 3)
    _check(index, rows, ((0, 40),))

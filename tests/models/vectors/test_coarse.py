"""Search by codes first has the answers of exact search, and what it may leave inexact decides nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.errors import ModelError
from models.vectors import coarse, index
from models.vectors.coarse import First
from models.vectors.grown import grown
from models.vectors.index import VectorIndex

RNG = np.random.default_rng(11)
ROWS, K = 3000, 20
# groups of names that hardly differ, and equal vectors, as those of names that differ only in case
VECTORS = np.repeat(RNG.normal(size=(ROWS // 3, 32)), 3, axis=0) + 0.02 * RNG.normal(size=(ROWS, 32))
VECTORS[1::30] = VECTORS[0::30]
VECTORS = (VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)).astype(np.float32)
QUERIES = VECTORS[RNG.choice(ROWS, 40)] + 0.1 * RNG.normal(size=(40, 32)).astype(np.float32)
SPANS = ((5, 17), (40, 2500), (2900, 2901))


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VectorIndex:
    monkeypatch.setattr(index, "FEWEST", 100)
    monkeypatch.setattr(coarse, "CODED_ROWS", 256)
    VectorIndex.build(VECTORS).save(tmp_path / "x.faiss")
    return VectorIndex.load(tmp_path / "x.faiss")


@pytest.mark.parametrize("int8", [True, False])
@pytest.mark.parametrize(("ranges", "k"), [(None, K), (SPANS, K), (SPANS, 2473), (((7, 9),), K)])
def test_answers_are_those_of_exact_search(stored, ranges, k, int8, monkeypatch) -> None:
    if not int8:
        monkeypatch.setattr(coarse, "_has_int8", lambda: False)
    monkeypatch.setattr(coarse, "AT_A_TIME", 20 * ROWS)  # several batches of queries
    scores, rows = stored.search(QUERIES, k, ranges=ranges)
    expected = np.full((len(QUERIES), ROWS), -np.inf, dtype=np.float32)
    for start, stop in ranges or ((0, ROWS),):
        expected[:, start:stop] = QUERIES @ VECTORS[start:stop].T
    best = np.sort(expected, axis=1)[:, ::-1][:, :k]
    np.testing.assert_allclose(scores, np.where(np.isfinite(best), best, -np.inf), atol=1e-5)
    found = np.take_along_axis(expected, np.maximum(rows, 0), axis=1)
    np.testing.assert_allclose(np.where(rows >= 0, found, -np.inf), scores, atol=1e-5)
    assert all(len(set(own[own >= 0])) == (own >= 0).sum() for own in rows)


@pytest.mark.parametrize("ranges", [((0, ROWS),), SPANS])
def test_the_first_groups_are_those_of_exact_search(stored, ranges) -> None:
    groups = np.arange(ROWS) // 3
    for wanted in (3, 10, 500):
        _, exact = stored.search(QUERIES, 60, ranges=ranges)
        _, rows = stored.search(QUERIES, 60, ranges=ranges, first=First(groups, wanted))
        for own, other in zip(exact, rows, strict=True):
            assert set(list(dict.fromkeys(groups[own]))[:wanted]) == set(list(dict.fromkeys(groups[other]))[:wanted])


def test_vectors_are_read_in_any_order(stored) -> None:
    rows = np.asarray([7, 8, 9, 2999, 0, 0, 41, 40])
    np.testing.assert_array_equal(stored.vectors(rows), VECTORS[rows])
    assert stored.vectors(rows[:0]).shape == (0, 32)
    with pytest.raises(IndexError, match="of 3000"):
        stored.vectors(np.asarray([-1]))


def test_a_file_shortened_later_is_reported(stored, tmp_path) -> None:
    with (tmp_path / "x.faiss").open("rb+") as file:
        file.truncate(1000)
    with pytest.raises(ModelError, match="truncated"):
        stored.vectors(np.asarray([2990]))


def test_an_index_of_zeros_is_searched(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(index, "FEWEST", 1)
    VectorIndex.build(np.zeros((50, 8), dtype=np.float32)).save(tmp_path / "x.faiss")
    scores, rows = VectorIndex.load(tmp_path / "x.faiss").search(np.zeros((1, 8), dtype=np.float32), 4)
    assert rows.tolist() == [[0, 1, 2, 3]]
    assert not scores.any()


def test_vectors_are_added_and_removed_over_a_stored_index(stored) -> None:
    found = grown(stored, VECTORS[:3], np.arange(0, 90))
    scores, best = found.search(VECTORS[:3], 2)
    assert set(best[:, 0].tolist()) <= set(range(len(stored), len(found)))
    np.testing.assert_allclose(scores[:, 0], 1, atol=1e-5)
    assert not np.isin(found.search(QUERIES, K, ranges=SPANS)[1], np.arange(90)).any()

import json

import numpy as np
import pytest

from models.errors import ModelError
from models.index import IndexKind, VectorIndex, plan_index

RNG = np.random.default_rng(7)
VECTORS = RNG.normal(size=(400, 16)).astype(np.float32)
QUERIES = RNG.normal(size=(5, 16)).astype(np.float32)


def _exact(ranges, k):
    scores = QUERIES @ VECTORS.T
    allowed = np.zeros(len(VECTORS), dtype=bool)
    for start, stop in ranges:
        allowed[start:stop] = True
    scores[:, ~allowed] = -np.inf
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("ranges", [((0, 400),), ((10, 30), (200, 300)), ((399, 400),)])
def test_flat_search_is_exact_within_ranges(ranges) -> None:
    k = min(7, sum(stop - start for start, stop in ranges))
    scores, rows = VectorIndex.build(VECTORS).search(QUERIES, k, ranges=ranges)
    np.testing.assert_array_equal(rows, _exact(ranges, k))
    np.testing.assert_allclose(scores, np.take_along_axis(QUERIES @ VECTORS.T, rows, axis=1), rtol=1e-4, atol=1e-4)


def test_fewer_rows_than_asked_and_none() -> None:
    index = VectorIndex.build(VECTORS)
    scores, rows = index.search(QUERIES, 5, ranges=((3, 5),))
    assert (rows[:, 2:] == -1).all()
    assert np.isneginf(scores[:, 2:]).all()
    assert (index.search(QUERIES, 3, ranges=())[1] == -1).all()


@pytest.mark.parametrize("kind", list(IndexKind))
def test_round_trip_of_every_kind(kind, tmp_path) -> None:
    index = VectorIndex.build(VECTORS, plan=plan_index(*VECTORS.shape, kind=kind), source="kb:encoder")
    index.save(tmp_path / "x.faiss")
    loaded = VectorIndex.load(tmp_path / "x.faiss", rows=400, source="kb:encoder")
    np.testing.assert_array_equal(index.search(QUERIES, 5)[1], loaded.search(QUERIES, 5)[1])
    np.testing.assert_allclose(loaded.vectors(np.asarray([3, 17])), VECTORS[[3, 17]], atol=0.05)
    assert loaded.plan == index.plan
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.faiss", "x.faiss.json"]


@pytest.mark.parametrize(
    ("rows", "memory", "removal", "kind"),
    [
        (1000, 2**30, True, IndexKind.FLAT),
        (1_000_000, 2**29, True, IndexKind.SQ8),
        (2_000_000, 2**28, True, IndexKind.IVF),
        (2_000_000, 2**28, False, IndexKind.HNSW),
    ],
)
def test_the_kind_follows_from_size_and_memory(rows, memory, removal, kind) -> None:
    plan = plan_index(rows, 384, memory=memory, removal=removal)
    assert plan.kind is kind
    assert f"{rows:,} vectors" in plan.sentence


def test_damage_says_rebuild(tmp_path) -> None:
    path = tmp_path / "x.faiss"
    VectorIndex.build(VECTORS).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ModelError, match="Rebuild"):
        VectorIndex.load(path)
    path.write_bytes(b"?" * len(whole))
    with pytest.raises(ModelError, match="Rebuild"):
        VectorIndex.load(path)
    path.write_bytes(whole)
    header = tmp_path / "x.faiss.json"
    header.write_text(json.dumps({"format": 1}))
    with pytest.raises(ModelError, match="damaged header"):
        VectorIndex.load(path)
    header.unlink()
    with pytest.raises(ModelError, match="missing"):
        VectorIndex.load(path)


def test_another_source_or_size_is_refused(tmp_path) -> None:
    VectorIndex.build(VECTORS, source="one").save(tmp_path / "x.faiss")
    with pytest.raises(ModelError, match="another knowledge base"):
        VectorIndex.load(tmp_path / "x.faiss", source="two")
    with pytest.raises(ModelError, match="another knowledge base"):
        VectorIndex.load(tmp_path / "x.faiss", rows=3)

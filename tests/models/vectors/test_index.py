import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from models.core.device import gpu_memory
from models.errors import ModelError
from models.vectors import index as index_blocks
from models.vectors import index_files, index_plan, two_stage
from models.vectors.index import MAX_K, Blocks, VectorIndex, gpu_count
from models.vectors.index_files import DamagedIndexError, check_index
from models.vectors.index_plan import IndexKind, memory_share, parse_kind, plan_index

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


def test_flat_search_in_small_blocks_of_queries_is_the_same(monkeypatch) -> None:
    whole = VectorIndex.build(VECTORS).search(QUERIES, 9)
    monkeypatch.setattr(index_blocks, "BLOCK_SCORES", 2 * len(VECTORS))
    scores, rows = VectorIndex.build(VECTORS).search(QUERIES, 9)
    np.testing.assert_array_equal(rows, whole[1])
    np.testing.assert_allclose(scores, whole[0], rtol=1e-6)


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
    ("rows", "memory", "gpu", "kind", "reason"),
    [
        (1000, 2**30, 0, IndexKind.FLAT, "fit into"),
        (300_000, 2**28, 0, IndexKind.PQ4, "too many for exact search"),
        (1_000_000, 2**29, 2**32, IndexKind.FLAT, "half of the GPU"),
        (1_000_000, 2**29, 2**31, IndexKind.PQ4, "too many for exact search"),
        (10_000_000, 2**30, 0, IndexKind.PQ4, "too many for exact search"),
    ],
)
def test_the_kind_follows_from_size_memory_and_device(rows, memory, gpu, kind, reason) -> None:
    plan = plan_index(rows, 384, memory=memory, gpu_memory=gpu)
    assert plan.kind is kind
    assert f"{rows:,} vectors are searched with {kind.value}" in plan.sentence
    assert reason in plan.sentence


def test_the_user_may_set_the_kind() -> None:
    assert parse_kind("auto") is None
    assert parse_kind("") is None
    plan = plan_index(100, 8, kind=parse_kind("sq8"))
    assert plan.kind is IndexKind.SQ8
    assert "as set by the user" in plan.sentence
    with pytest.raises(ModelError, match="auto, flat, sq8, pq4"):
        parse_kind("kd-tree")
    assert memory_share() > 2**20


@pytest.mark.parametrize("kind", list(IndexKind))
@pytest.mark.parametrize("ranges", [((0, 400),), ((10, 30), (200, 300)), ((3, 9),), ((0, 150), (160, 390))])
def test_every_kind_keeps_to_ranges_and_finds_nearly_the_same(kind, ranges) -> None:
    k = min(10, sum(stop - start for start, stop in ranges))
    scores, rows = VectorIndex.build(VECTORS, plan=plan_index(*VECTORS.shape, kind=kind)).search(
        QUERIES, k, ranges=ranges
    )
    assert all(any(start <= row < stop for start, stop in ranges) for row in rows.ravel())
    exact = _exact(ranges, k)
    assert np.mean([len(set(a) & set(b)) / k for a, b in zip(rows, exact, strict=True)]) > 0.9
    np.testing.assert_allclose(scores, np.take_along_axis(QUERIES @ VECTORS.T, rows, axis=1), atol=0.2)


def grouped(rows: int) -> np.ndarray:
    """Unit vectors in groups, as the names of one entity are."""
    rng = np.random.default_rng(2)
    found = np.repeat(rng.normal(size=(rows // 20, 32)), 20, axis=0) + 0.5 * rng.normal(size=(rows, 32))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_a_build_reads_as_much_as_finds_what_exact_search_finds(monkeypatch, tmp_path) -> None:
    vectors = grouped(4000)
    monkeypatch.setattr(two_stage, "LEAST_READ", 64)
    index = VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=IndexKind.PQ4))
    assert index.plan.probes > 64
    assert index.plan.recall >= 0.99
    asked = vectors[7::97]
    exact = VectorIndex.build(vectors).search(asked, 64)[1]
    found = index.search(asked, 64)[1]
    assert np.mean([len(set(a) & set(b)) / 64 for a, b in zip(found, exact, strict=True)]) > 0.98
    index.save(tmp_path / "x.faiss")
    assert VectorIndex.load(tmp_path / "x.faiss").plan == index.plan


def test_an_index_that_does_not_find_enough_is_refused_but_replaced_where_nobody_chose_it(monkeypatch) -> None:
    vectors = grouped(400)
    monkeypatch.setattr(two_stage, "ENOUGH", 1.01)
    with pytest.raises(ModelError, match=r"kind pq4 finds only \d+\.\d % of the nearest names.*sq8"):
        VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=IndexKind.PQ4))
    monkeypatch.setattr(index_plan, "FLAT_BYTES", 0)
    chosen = VectorIndex.build(vectors).plan
    assert chosen.kind is IndexKind.SQ8
    assert "4-bit codes do not find enough" in chosen.sentence


def test_a_narrow_range_is_searched_whole() -> None:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(50, 16)) * 5
    vectors = (np.repeat(centres, 80, axis=0) + rng.normal(size=(4000, 16))).astype(np.float32)
    index = VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=IndexKind.PQ4))
    scores, rows = index.search(-vectors[:3], 40, ranges=((1000, 1040),))
    assert (np.sort(rows, axis=1) == np.arange(1000, 1040)).all()
    assert np.isfinite(scores).all()


def test_two_stages_find_the_same_in_segments_by_several_threads_and_all_of_a_far_range(monkeypatch, tmp_path) -> None:
    vectors = grouped(4000)
    plan = plan_index(*vectors.shape, kind=IndexKind.PQ4)
    index, again = (VectorIndex.build(vectors, plan=plan) for _ in range(2))
    monkeypatch.setattr(two_stage, "SEGMENT", 1024)
    monkeypatch.setattr(two_stage.faiss, "omp_get_max_threads", lambda: 2)
    del again._stages
    for ranges in (None, ((0, 900), (1500, 4000)), ((3500, 4000),)):
        for asked in (vectors[:9], vectors[:1]):
            scores, rows = again.search(asked, 20, ranges=ranges)
            np.testing.assert_array_equal(rows, index.search(asked, 20, ranges=ranges)[1])
            np.testing.assert_allclose(scores, np.take_along_axis(asked @ vectors.T, rows, axis=1), atol=0.02)
    assert len(again._stages._segments) == 4
    again.save(tmp_path / "x.faiss")
    loaded = VectorIndex.load(tmp_path / "x.faiss")
    for _ in range(2):
        np.testing.assert_array_equal(loaded.search(vectors[:9], 20)[1], again.search(vectors[:9], 20)[1])
    assert loaded._stages._base.codes.size() == 0 < again._stages._base.codes.size()
    with pytest.raises(ValueError, match="has a file"):
        loaded.save(tmp_path / "y.faiss")
    monkeypatch.setattr(index, "_plan", replace(plan, probes=1))
    assert (np.sort(index.search(-vectors[:1], 600, ranges=((0, 600),))[1]) == np.arange(600)).all()
    assert VectorIndex.build(vectors[:5], plan=plan).search(vectors[:1], 9)[1][0, :5].min() >= 0


def test_the_gpu_searches_blocks_and_never_asks_for_more_than_it_can_find(monkeypatch) -> None:
    asked = []

    def search_block(queries, vectors, k):
        asked.append(k)
        assert k <= MAX_K
        found = torch.topk(queries @ vectors.T, k)
        return found.values, found.indices

    many = RNG.normal(size=(3000, 16)).astype(np.float32)
    index = VectorIndex.build(many)
    monkeypatch.setattr(index_blocks, "gpu_count", lambda: 1)
    monkeypatch.setattr(index_blocks, "gpu_memory", lambda: 1 << 30)
    uploaded = lambda chunks: Blocks(torch.from_numpy(np.concatenate([*chunks])), search_block, MAX_K)  # noqa: E731
    monkeypatch.setattr(Blocks, "on_gpu", uploaded)
    assert index.to_gpu().endswith("compares all vectors on the GPU.")
    assert index.on_gpu
    _, rows = index.search(QUERIES, 2500)
    expected = np.argsort(-(QUERIES @ many.T), axis=1)
    np.testing.assert_array_equal(rows[:, :MAX_K], expected[:, :MAX_K])
    assert (rows[:, MAX_K:] == -1).all()
    _, rows = index.search(QUERIES, 20, ranges=((5, 10), (100, 2000)))
    allowed = np.r_[5:10, 100:2000]
    expected = allowed[np.argsort(-(QUERIES @ many[allowed].T), axis=1)[:, :20]]
    np.testing.assert_array_equal(rows, expected)
    assert asked == [MAX_K, 5, 20]


def test_what_a_gpu_rounds_is_compared_once_more_exactly(monkeypatch) -> None:
    many = RNG.normal(size=(3000, 16)).astype(np.float32)
    kept = torch.topk

    def rounding(scores, k):
        return kept(scores.bfloat16().float() if scores.shape[1] == len(many) else scores, k)

    monkeypatch.setattr(index_blocks.torch, "topk", rounding)
    monkeypatch.setattr(index_blocks, "BLOCK_SCORES", 3 * len(many))
    scores, rows = index_blocks._rounded_product(torch.from_numpy(QUERIES), torch.from_numpy(many), 10)
    expected = np.argsort(-(QUERIES @ many.T), axis=1)[:, :10]
    np.testing.assert_array_equal(rows.numpy(), expected)
    np.testing.assert_allclose(scores.numpy(), np.take_along_axis(QUERIES @ many.T, expected, axis=1), rtol=1e-5)
    assert index_blocks._rounded_product(torch.from_numpy(QUERIES), torch.from_numpy(many[:5]), 5)[1].shape[1] == 5


def test_a_gpu_that_faiss_was_not_built_for_is_used_all_the_same(monkeypatch) -> None:
    index = VectorIndex.build(VECTORS)
    monkeypatch.setattr(index_blocks, "gpu_count", lambda: 0)
    monkeypatch.setattr(index_blocks, "gpu_memory", lambda: 1 << 30)
    to = torch.Tensor.to
    monkeypatch.setattr(torch.Tensor, "to", lambda self, place: self if place == "cuda:0" else to(self, place))
    assert index.to_gpu(wanted=False).endswith("runs on the processor.")
    assert not index.on_gpu
    assert index.to_gpu().endswith("PyTorch compares all vectors on the GPU.")
    assert index.on_gpu
    np.testing.assert_array_equal(index.search(QUERIES, 7)[1], VectorIndex.build(VECTORS).search(QUERIES, 7)[1])


def test_without_a_gpu_build_the_sentence_says_so() -> None:
    index = VectorIndex.build(VECTORS)
    if gpu_count() or gpu_memory():
        pytest.skip("this computer has a GPU")
    assert index.to_gpu().endswith("runs on the processor.")
    assert not index.on_gpu


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
    with pytest.raises(DamagedIndexError, match="missing"):
        VectorIndex.load(path)


def test_one_altered_byte_is_found_by_the_full_check_only(tmp_path) -> None:
    path = tmp_path / "x.faiss"
    VectorIndex.build(VECTORS).save(path)
    check_index(path)
    whole = bytearray(path.read_bytes())
    whole[-10] ^= 1
    path.write_bytes(whole)
    VectorIndex.load(path)
    with pytest.raises(DamagedIndexError, match="was modified"):
        check_index(path)
    path.unlink()
    with pytest.raises(DamagedIndexError, match="missing"):
        check_index(path)


def test_a_header_of_an_earlier_version_without_a_hash_still_opens(tmp_path) -> None:
    path = tmp_path / "x.faiss"
    VectorIndex.build(VECTORS).save(path)
    header = tmp_path / "x.faiss.json"
    raw = json.loads(header.read_text())
    del raw["sha256"]
    header.write_text(json.dumps(raw))
    assert len(VectorIndex.load(path)) == 400
    check_index(path)
    header.write_text(json.dumps(raw | {"format": 2}))
    with pytest.raises(DamagedIndexError, match="a different version"):
        VectorIndex.load(path)


@pytest.mark.parametrize("moment", ["index", "header"])
def test_an_interrupted_write_leaves_the_old_index_or_none_that_opens(tmp_path, monkeypatch, moment) -> None:
    path = tmp_path / "x.faiss"
    VectorIndex.build(VECTORS).save(path)

    def stop(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(index_files, "sha256_file" if moment == "index" else "write_json", stop)
    with pytest.raises(KeyboardInterrupt):
        VectorIndex.build(VECTORS[:300]).save(path)
    monkeypatch.undo()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.faiss", "x.faiss.json"]
    if moment == "index":
        assert len(VectorIndex.load(path)) == 400
    else:
        with pytest.raises(DamagedIndexError, match="Rebuild"):
            VectorIndex.load(path)


def test_a_full_disk_is_told(tmp_path, monkeypatch) -> None:
    def full(*_args: object) -> None:
        raise RuntimeError("write error in fwrite\n at somewhere")

    monkeypatch.setattr(index_files.faiss, "write_index", full)
    with pytest.raises(ModelError, match="free disk space"):
        VectorIndex.build(VECTORS).save(tmp_path / "x.faiss")
    assert list(tmp_path.iterdir()) == []


def test_another_source_or_size_is_refused(tmp_path) -> None:
    VectorIndex.build(VECTORS, source="one").save(tmp_path / "x.faiss")
    with pytest.raises(ModelError, match="another knowledge base"):
        VectorIndex.load(tmp_path / "x.faiss", source="two")
    with pytest.raises(ModelError, match="another knowledge base"):
        VectorIndex.load(tmp_path / "x.faiss", rows=3)

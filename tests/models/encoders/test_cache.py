import logging

import numpy as np
import pytest

from models.encoders.cache import EmbeddingCache, cache_root, hash_texts
from models.errors import ModelError


class CountingEncoder:
    """Replaces an encoder: counts what it has to encode."""

    cache_key = "counting"
    dimension = 4

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts):
        self.encoded += texts
        return np.asarray([[len(t), t.count("a"), 1, 0] for t in texts], dtype=np.float32)


def test_every_text_is_encoded_once(tmp_path) -> None:
    encoder = CountingEncoder()
    cache = EmbeddingCache(encoder, root=tmp_path)
    first = cache.vectors(["a", "bb", "a", "ccc"])
    assert sorted(encoder.encoded) == ["a", "bb", "ccc"]
    assert first[:, 0].tolist() == [1, 2, 1, 3]
    again = EmbeddingCache(encoder, root=tmp_path).vectors(["ccc", "a", "new 😀"])
    assert encoder.encoded[3:] == ["new 😀"]
    assert again[:2, 0].tolist() == [3, 1]


def test_first_and_second_build_give_equal_vectors(tmp_path, encoder) -> None:
    texts = ["heart failure", "pain", "acute pain"]
    first = EmbeddingCache(encoder, root=tmp_path).vectors(texts)
    second = EmbeddingCache(encoder, root=tmp_path).vectors(texts)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first.astype(np.float32), encoder.encode(texts), atol=1e-3)


def test_lookup_tells_what_is_missing(tmp_path) -> None:
    cache = EmbeddingCache(CountingEncoder(), root=tmp_path)
    cache.vectors(["a"])
    vectors, found = cache.lookup(["a", "b"])
    assert found.tolist() == [True, False]
    assert not vectors[1].any()


def test_what_is_there_is_read_once(tmp_path, monkeypatch) -> None:
    cache = EmbeddingCache(CountingEncoder(), root=tmp_path)
    cache.vectors(["a", "bb"])
    monkeypatch.setattr("models.encoders.cache.SHARD_ROWS", 1)  # rows are copied in parts
    monkeypatch.setattr(cache, "fill", lambda texts: pytest.fail("nothing is missing"))
    assert cache.vectors(["bb", "a", "bb"])[:, 0].tolist() == [2, 1, 2]


def test_vectors_of_another_number_format_are_not_taken(tmp_path) -> None:
    plain, small = CountingEncoder(), CountingEncoder()
    small.cache_key = "counting-bf16"
    EmbeddingCache(plain, root=tmp_path).vectors(["a"])
    EmbeddingCache(small, root=tmp_path).vectors(["a"])
    assert (plain.encoded, small.encoded) == (["a"], ["a"])


def test_a_cache_that_is_emptied_meanwhile_is_told(tmp_path, monkeypatch) -> None:
    cache = EmbeddingCache(CountingEncoder(), root=tmp_path)
    fill = cache.fill

    def emptied(texts):
        yield from fill(texts)
        for shard in cache.folder.glob("*.shard"):
            shard.unlink()

    monkeypatch.setattr(cache, "fill", emptied)
    with pytest.raises(ModelError, match="emptied while in use"):
        cache.vectors(["a"])


def test_two_caches_share_a_folder(tmp_path) -> None:
    one, two = CountingEncoder(), CountingEncoder()
    first, second = EmbeddingCache(one, root=tmp_path), EmbeddingCache(two, root=tmp_path)
    first.vectors(["a", "b"])
    second.vectors(["b", "c"])
    first.vectors(["a", "b", "c"])
    assert (one.encoded, two.encoded) == (["a", "b"], ["c"])


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-3], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b"", lambda b: b"x" * 400]
)
def test_a_damaged_shard_is_dropped_with_a_warning(tmp_path, caplog, damage) -> None:
    encoder = CountingEncoder()
    EmbeddingCache(encoder, root=tmp_path).vectors(["a", "b"])
    (shard,) = (tmp_path / "embeddings").rglob("*.shard")
    shard.write_bytes(damage(shard.read_bytes()))
    with caplog.at_level(logging.WARNING):
        vectors = EmbeddingCache(encoder, root=tmp_path).vectors(["a", "b"])
    assert "damaged" in caplog.text
    assert vectors[:, 1].tolist() == [1, 0]
    assert len(encoder.encoded) == 4


def test_many_shards_are_joined(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("models.encoders.cache.MAX_SHARDS", 3)
    encoder = CountingEncoder()
    cache = EmbeddingCache(encoder, root=tmp_path)
    for number in range(6):
        cache.vectors([f"text {number}"])
    assert len(list((tmp_path / "embeddings").rglob("*.shard"))) <= 4
    cache.vectors([f"text {number}" for number in range(6)])
    assert len(encoder.encoded) == 6


def test_an_interrupted_fill_keeps_what_is_done(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("models.encoders.cache.SHARD_ROWS", 2)
    encoder = CountingEncoder()
    steps = EmbeddingCache(encoder, root=tmp_path).fill(["a", "b", "c", "d"])
    assert [next(steps), next(steps)] == [(0, 4), (2, 4)]
    steps.close()
    EmbeddingCache(encoder, root=tmp_path).vectors(["a", "b", "c", "d"])
    assert sorted(encoder.encoded) == ["a", "b", "c", "d"]


def test_a_fill_reports_often_and_at_an_even_pace(tmp_path, monkeypatch) -> None:
    """What is told of the time left is measured from it: not the short texts first."""
    monkeypatch.setattr("models.encoders.cache.PIECE_ROWS", 4)
    encoder = CountingEncoder()
    texts = ["x" * length for length in range(1, 41)]
    steps = EmbeddingCache(encoder, root=tmp_path).fill(texts)
    assert next(steps) == (0, 40)
    letters = []
    for done, _ in steps:
        letters.append(sum(map(len, encoder.encoded[-4:])))
        assert done == 4 * len(letters)
    assert max(letters) < 2 * min(letters)
    assert len(list((tmp_path / "embeddings").rglob("*.shard"))) == 1


def test_the_environment_chooses_the_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path))
    assert cache_root() == tmp_path


def test_hashes_tell_texts_apart() -> None:
    assert len(np.unique(hash_texts(["a", "b", "A", "á", ""]), axis=0)) == 5

import numpy as np
import pytest
import torch

from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import in_batches, length_batches, load_encoder, save_encoder
from models.encoders.pooling import MentionVector, Pooling, marked_vector, marker_mean, mean_pool, pool, span_mean
from models.errors import ModelError


def test_mean_pooling_ignores_padding() -> None:
    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    mask = torch.tensor([[1, 1, 0]])
    assert mean_pool(states, mask).tolist() == [[2.0, 3.0]]
    assert pool(states, mask, Pooling.CLS).tolist() == [[1.0, 2.0]]


def test_mean_pooling_of_nothing_is_zero() -> None:
    assert mean_pool(torch.ones(1, 2, 3), torch.zeros(1, 2)).tolist() == [[0.0, 0.0, 0.0]]


def test_span_mean_is_the_mean_from_marker_to_marker() -> None:
    states = torch.arange(30, dtype=torch.float32).reshape(2, 5, 3)
    starts, ends = torch.tensor([1, 0]), torch.tensor([3, 1])
    expected = torch.stack([states[0, 1:4].mean(0), states[1, :2].mean(0)])
    assert torch.allclose(span_mean(states, starts, ends), expected)
    for which, mean in ((MentionVector.SPAN, span_mean), (MentionVector.MARKERS, marker_mean)):
        assert torch.equal(marked_vector(states, starts, ends, which), mean(states, starts, ends))


def test_marker_mean_is_the_mean_of_two_positions() -> None:
    states = torch.arange(12.0).reshape(1, 4, 3)
    assert marker_mean(states, torch.tensor([1]), torch.tensor([3])).tolist() == [[6.0, 7.0, 8.0]]


def test_padding_does_not_change_a_vector(encoder) -> None:
    alone = encoder.encode(["pain"])
    beside = encoder.encode(["acute failure of the heart and of the breast", "pain"])
    np.testing.assert_allclose(alone[0], beside[1], atol=1e-5)


def test_encode_keeps_order_and_normalises(encoder) -> None:
    texts = ["heart failure", "a", "acute pain of the heart", "", "drug"]
    together = encoder.encode(texts, batch_size=2)
    one_by_one = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(together, one_by_one, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert together.dtype == np.float32
    assert encoder.encode([]).shape == (0, encoder.dimension)


def test_progress_counts_every_text(encoder) -> None:
    seen: list[tuple[int, int]] = []
    encoder.encode(["a", "b", "c"], batch_size=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3, 3)


def test_a_batch_that_does_not_fit_is_done_in_halves() -> None:
    tried: list[int] = []
    done: list[int] = []

    def work(rows: list[int]) -> None:
        tried.append(len(rows))
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        done.extend(rows)

    in_batches(work, [3, 9, 1, 7, 5, 5], limit=9, tokens=999)
    assert done == [1, 3, 4, 5, 0, 2]  # longest first
    assert tried == [6, 3, 2, 1, 3, 2, 1]


def test_what_is_as_large_as_a_batch_that_did_not_fit_is_not_tried() -> None:
    tried: list[int] = []

    def work(rows: list[int]) -> None:
        tried.append(len(rows))
        if len(rows) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")

    in_batches(work, [4] * 24, limit=8, tokens=999)
    assert tried == [8, 4, *[2] * 12]


def test_one_text_that_does_not_fit_is_told_and_bugs_are_not_tried_again() -> None:
    tried: list[int] = []

    def work(rows: list[int]) -> None:
        tried.append(len(rows))
        raise error

    error: Exception = torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(ModelError, match="too little free memory"):
        in_batches(work, [1, 1, 1, 1], limit=9, tokens=999)
    assert tried == [4, 2, 1]
    error = RuntimeError("shape mismatch")
    with pytest.raises(RuntimeError, match="shape"):
        in_batches(work, [1, 1, 1, 1], limit=9, tokens=999)
    assert tried == [4, 2, 1, 4]


def test_texts_that_do_not_fit_together_have_the_same_vectors(encoder, monkeypatch) -> None:
    """The network as on a GPU, where batches are padded."""
    texts = [" ".join(["heart"] * n) for n in range(1, 12)]
    monkeypatch.setattr(type(encoder), "packed", lambda self: None)
    expected = encoder.encode(texts)
    forward, sizes = encoder.module.transformer.forward, []

    def small(input_ids: torch.Tensor, **more: object) -> object:
        sizes.append(len(input_ids))
        if len(input_ids) > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20 MiB")
        return forward(input_ids=input_ids, **more)

    monkeypatch.setattr(encoder.module.transformer, "forward", small)
    seen: list[int] = []
    np.testing.assert_allclose(encoder.encode(texts, progress=lambda done, _: seen.append(done)), expected, atol=1e-6)
    assert sizes == [11, 6, 3, 3, 5, 3, 2]
    assert seen == [3, 6, 9, 11]


def test_length_batches_hold_limits_and_every_row() -> None:
    batches = length_batches([5, 1, 9, 9, 2], limit=2, tokens=16)
    assert sorted(row for batch in batches for row in batch) == [0, 1, 2, 3, 4]
    assert batches[0] == [2]  # two texts of nine tokens would be eighteen
    assert max(len(batch) for batch in batches) == 2


def test_save_and_load_give_the_same_encoder(encoder, tmp_path) -> None:
    written = save_encoder(encoder, tmp_path / "saved")
    loaded = load_encoder(tmp_path / "saved", device="cpu")
    assert loaded.fingerprint == written
    assert loaded.pooling is encoder.pooling
    assert loaded.max_tokens == encoder.max_tokens
    np.testing.assert_array_equal(loaded.encode(["heart"]), encoder.encode(["heart"]))


def test_pooling_is_read_from_the_folder(make_tiny_bert, tmp_path) -> None:
    assert load_encoder(make_tiny_bert(tmp_path / "cls", pooling="cls"), device="cpu").pooling is Pooling.CLS
    assert load_encoder(make_tiny_bert(tmp_path / "plain", pooling=""), device="cpu").pooling is Pooling.CLS
    assert load_encoder(make_tiny_bert(tmp_path / "mean"), device="cpu").pooling is Pooling.MEAN


def test_fingerprint_depends_on_weights_and_pooling(make_tiny_bert, tmp_path) -> None:
    first = load_encoder(make_tiny_bert(tmp_path / "a", seed=1), device="cpu")
    same = load_encoder(make_tiny_bert(tmp_path / "b", seed=1), device="cpu")
    other = load_encoder(make_tiny_bert(tmp_path / "c", seed=2), device="cpu")
    cls = load_encoder(tmp_path / "a", device="cpu", pooling=Pooling.CLS)
    assert first.fingerprint == same.fingerprint
    assert len({first.fingerprint, other.fingerprint, cls.fingerprint}) == 3


def test_every_text_gets_a_sensible_vector(encoder) -> None:
    texts = ["", "   ", "word " * 1000, "x" * 5000, "Рак молочной железы", "乳腺癌", "\ud800", "heart\n\tfailure", "😀"]
    vectors = encoder.encode(texts)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert max(len(ids) for ids in encoder.token_ids(texts)) == encoder.max_tokens


def test_the_default_encoder_tells_words_of_other_scripts_apart() -> None:
    default = load_encoder(default_encoder_folder(check=False), device="cpu", max_tokens=16)
    vectors = default.encode(["рак", "рак", "боль", "乳腺癌", "心脏病"])
    likeness = vectors @ vectors.T
    assert likeness[0, 1] == pytest.approx(1, abs=1e-5)
    assert likeness[0, 2] < 0.95
    assert likeness[3, 4] < 0.95


def test_texts_without_tokens_are_zero(encoder) -> None:
    assert not encoder.encode_ids([[]]).any()
    some = encoder.encode_ids([[], [6, 7], []])
    assert some.any(axis=1).tolist() == [False, True, False]


def test_an_unknown_device_is_refused(tiny_bert) -> None:
    with pytest.raises(ModelError, match="not available"):
        load_encoder(tiny_bert, device="abacus")

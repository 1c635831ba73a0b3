"""Texts end to end: the module's own states, whatever the lengths, and never those of former weights."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from models.encoders.encoders import Encoder, EncoderModule, load_encoder
from models.encoders.packed import PackedBert, Run, packed, pool_packed, runs
from models.encoders.pooling import Pooling, pool

TEXTS = [[6, 9, 10, 11, 7], [6, 12, 13, 14, 7], [6, 7], [], [6, 15, 7]]


def padded_states(encoder: Encoder, texts: list[list[int]]) -> torch.Tensor:
    ids, mask = encoder.pad(texts)
    with torch.inference_mode():
        return encoder.module.token_states(ids, mask)[mask.bool()]


def copied(encoder: Encoder) -> Encoder:
    return replace(encoder, module=copy.deepcopy(encoder.module))


def test_runs_are_neighbours_of_equal_length() -> None:
    assert list(runs([5, 5, 2, 0, 3])) == [Run(0, 2, 5), Run(10, 1, 2), Run(12, 1, 0), Run(12, 1, 3)]
    assert list(runs([])) == []


@pytest.mark.parametrize("pooling", list(Pooling))
def test_states_and_vectors_are_those_of_the_module(encoder: Encoder, pooling: Pooling) -> None:
    assert isinstance(encoder.packed(), PackedBert)
    states = encoder.states(TEXTS)
    torch.testing.assert_close(states, padded_states(encoder, TEXTS), atol=1e-5, rtol=0)
    ids, mask = encoder.pad(TEXTS)
    with torch.inference_mode():
        expected = pool(encoder.module.token_states(ids, mask), mask, pooling)
        expected[3] = 0.0  # a text without tokens
    torch.testing.assert_close(pool_packed(states, [len(t) for t in TEXTS], pooling), expected, atol=1e-5, rtol=0)


def test_without_any_token_there_are_no_states(encoder: Encoder) -> None:
    assert encoder.states([]).shape == (0, encoder.dimension)
    assert encoder.states([[], []]).shape == (0, encoder.dimension)


def test_a_changed_weight_is_packed_again(encoder: Encoder) -> None:
    own = copied(encoder)
    before = own.packed()
    assert own.packed() is before
    with torch.no_grad():
        own.module.layers[0].attention.output.dense.weight.mul_(2.0)  # type: ignore[union-attr]
    assert own.packed() is not before
    torch.testing.assert_close(own.states(TEXTS), padded_states(own, TEXTS), atol=1e-5, rtol=0)
    assert (own.states(TEXTS) - encoder.states(TEXTS)).abs().max() > 1e-3


def test_a_hook_is_heard(encoder: Encoder) -> None:
    own = copied(encoder)
    plain = own.encode_ids(TEXTS)
    with own.module.layers[0].register_forward_hook(lambda _, __, output: output + 1.0):
        assert own.packed() is None
        assert np.abs(own.encode_ids(TEXTS) - plain).max() > 1e-3
    np.testing.assert_array_equal(own.encode_ids(TEXTS), plain)


def test_what_is_no_plain_float32_bert_pads(encoder: Encoder, tiny_bert: Path) -> None:
    assert load_encoder(tiny_bert, device="cpu", precision="bf16").packed() is None
    own = copied(encoder)
    own.module.transformer.config.hidden_act = "relu"  # type: ignore[union-attr]
    assert own.packed() is None
    assert packed(torch.nn.Linear(2, 2)) is None
    other = EncoderModule(torch.nn.Sequential(own.module.transformer), pooling=Pooling.MEAN)
    assert packed(other.transformer) is None


def test_without_onednn_the_states_stay_the_same(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", missing)
    own = copied(encoder)
    assert own.packed() is not None
    torch.testing.assert_close(own.states(TEXTS), encoder.states(TEXTS), atol=1e-5, rtol=0)

import copy
import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from models.core.device import Precision
from models.encoders.encoders import load_encoder
from models.encoders.int8 import Int8Linear, make_int8
from models.errors import ModelError


def rows(*values: list[float]) -> torch.Tensor:
    return torch.tensor(values)


@pytest.fixture(scope="module")
def linear() -> nn.Linear:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Linear(48, 20)


def test_products_are_those_of_float_up_to_rounding(linear) -> None:
    states = torch.randn(5, 7, 48, generator=torch.Generator().manual_seed(1))
    found, expected = Int8Linear(linear)(states), linear(states).detach()
    assert found.shape == expected.shape
    assert (found - expected).abs().max() < 0.05 * expected.abs().max()


def test_one_large_token_takes_no_precision_from_the_others(linear) -> None:
    quantised = Int8Linear(linear)
    small = torch.randn(1, 48, generator=torch.Generator().manual_seed(2))
    beside = quantised(torch.cat([small, 1000 * small]))[0]
    assert (beside - linear(small).detach()[0]).abs().max() < 0.05


def test_rounding_follows_the_loop_arithmetic() -> None:
    linear = nn.Linear(2, 2)
    with torch.no_grad():
        linear.weight.copy_(rows([0.63, -0.31], [0.1, 0.02]))
        linear.bias.copy_(torch.tensor([0.5, -1.0]))
    weights = [(63 * 0.01, -31 * 0.01), (63 * 0.1 / 63, 13 * 0.1 / 63)]  # 7 bits, one scale for each output
    expected = [4 * (first - second) + bias for (first, second), bias in zip(weights, (0.5, -1.0), strict=True)]
    step = 4 * 2 / 255  # 8 bits for activations from -4 to 4, each off by half a step at most, or one at the ends
    assert Int8Linear(linear)(rows([4.0, -4.0]))[0].tolist() == pytest.approx(expected, abs=step)


def test_a_layer_without_bias_and_a_zero_row_stay_whole() -> None:
    plain = nn.Linear(8, 3, bias=False)
    assert Int8Linear(plain)(torch.zeros(2, 8)).abs().max() == 0


def test_only_linear_layers_are_replaced(encoder) -> None:
    module = copy.deepcopy(encoder.module)
    make_int8(module)
    kinds = {type(part) for part in module.modules()}
    assert Int8Linear in kinds
    assert nn.Linear not in kinds
    assert nn.Embedding in kinds


def test_an_int8_encoder_gives_like_vectors_under_a_key_of_its_own(tiny_bert, encoder) -> None:
    small = load_encoder(tiny_bert, device="cpu", precision="int8", max_tokens=64)
    texts = ["heart failure", "acute pain of the breast", "a", "", "drug"]
    cosines = (small.encode(texts) * encoder.encode(texts)).sum(axis=1)
    assert cosines.min() > 0.98
    assert np.abs(small.encode(texts) - encoder.encode(texts)).max() > 0
    assert small.fingerprint == encoder.fingerprint


def test_number_formats_never_share_a_cache_key(encoder) -> None:
    keys = {
        dataclasses.replace(encoder, device=dataclasses.replace(encoder.device, precision=precision)).cache_key
        for precision in Precision
    }
    assert len(keys) == len(Precision)
    assert f"{encoder.fingerprint[:40]}-64" in keys  # caches of earlier versions stay good


def test_half_precision_gives_like_vectors_in_float32(tiny_bert, encoder) -> None:
    half = load_encoder(tiny_bert, device="cpu", precision="bf16", max_tokens=64).encode(["heart failure"])
    assert half.dtype == np.float32
    assert (half * encoder.encode(["heart failure"])).sum() > 0.99


def test_a_pytorch_without_the_kernels_is_told(monkeypatch, encoder) -> None:
    monkeypatch.setattr(torch, "quantize_per_channel", None)
    monkeypatch.delattr(torch, "quantize_per_channel")
    with pytest.raises(ModelError, match="cannot compute in int8"):
        make_int8(copy.deepcopy(encoder.module))

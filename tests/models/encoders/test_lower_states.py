"""States below the trained layers: kept once, equal to what the whole encoder makes, and never a reason to fail."""

from __future__ import annotations

import copy
import shutil
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from models.core.device import Precision
from models.encoders.cache import HEADER_BYTES
from models.encoders.encoders import Encoder, EncoderModule
from models.encoders.lower_states import Halves, LowerStates, halves

TEXTS = ["heart failure", "pain", "acute pain", "", "pain", "a long name of many words that is cut at the limit " * 4]


@pytest.fixture
def split(encoder: Encoder) -> Halves:
    found = halves(encoder)
    assert found is not None
    return found


def file_of(root: Path) -> Path:
    (found,) = (root / "states").iterdir()
    return found


def filled(split: Halves, root: Path, texts: list[str] = TEXTS) -> LowerStates:
    states = LowerStates(split, root=root)
    assert all(done <= total for done, total in states.fill(texts))
    return states


def trained(encoder: Encoder, *, layer: int) -> Encoder:
    """The same with other weights in one of its layers."""
    module = copy.deepcopy(encoder.module)
    with torch.no_grad():
        for parameter in module.layers[layer].parameters():
            parameter.add_(0.05)
    return replace(encoder, module=module)


def test_vectors_are_those_of_the_whole_encoder_in_the_order_of_the_texts(
    tmp_path: Path, encoder: Encoder, split: Halves
) -> None:
    found = filled(split, tmp_path).encode(TEXTS)
    np.testing.assert_allclose(found, encoder.encode(TEXTS), atol=1e-3)
    assert (found[1] == found[4]).all()


def test_kept_states_and_computed_ones_give_the_same_to_the_bit(tmp_path: Path, split: Halves) -> None:
    some = filled(split, tmp_path, TEXTS[:2])
    np.testing.assert_array_equal(LowerStates(split, root=tmp_path / "none").encode(TEXTS), some.encode(TEXTS))


def test_they_are_computed_once_also_for_another_upper_half(
    tmp_path: Path, encoder: Encoder, split: Halves, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(split, tmp_path)
    later = trained(encoder, layer=len(encoder.module.layers) - 1)
    other = halves(later)
    assert other is not None
    assert other.key == split.key
    monkeypatch.setattr(Halves, "states", lambda _, ids: pytest.fail("computed again") if ids else [])
    states = LowerStates(other, root=tmp_path)
    assert list(states.fill(TEXTS[:3])) == []
    np.testing.assert_allclose(states.encode(TEXTS), later.encode(TEXTS), atol=1e-3)
    assert np.abs(states.encode(TEXTS) - encoder.encode(TEXTS)).max() > 1e-2


def test_another_lower_half_has_states_of_its_own_and_the_old_ones_go(
    tmp_path: Path, encoder: Encoder, split: Halves
) -> None:
    filled(split, tmp_path)
    before = file_of(tmp_path)
    other = halves(trained(encoder, layer=0))
    assert other is not None
    filled(other, tmp_path)
    assert file_of(tmp_path) != before
    shorter = halves(replace(encoder, max_tokens=4))
    assert shorter is not None
    assert shorter.key not in (split.key, other.key)


@pytest.mark.parametrize("harm", ["cut", "bit", "header"])
def test_damaged_states_are_dropped_and_made_again(
    tmp_path: Path, split: Halves, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = filled(split, tmp_path).encode(TEXTS)
    path = file_of(tmp_path)
    raw = bytearray(path.read_bytes())
    if harm == "bit":
        raw[-40] ^= 1
    path.write_bytes({"cut": raw[:-7], "bit": raw, "header": b"?" * HEADER_BYTES + raw[HEADER_BYTES:]}[harm])
    states = LowerStates(split, root=tmp_path)
    assert "Damaged states" in caplog.text
    assert list(states.fill(TEXTS))
    np.testing.assert_array_equal(states.encode(TEXTS), expected)


def test_without_room_nothing_is_kept_and_all_is_computed(
    tmp_path: Path, split: Halves, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(free=1000))
    states = filled(split, tmp_path)
    assert not list((tmp_path / "states").iterdir())
    assert "No space left" in caplog.text
    np.testing.assert_allclose(states.encode(TEXTS), split.encoder.encode(TEXTS), atol=1e-3)


def test_who_stops_in_the_middle_leaves_no_file(tmp_path: Path, split: Halves) -> None:
    steps = LowerStates(split, root=tmp_path).fill(TEXTS)
    next(steps)
    steps.close()
    assert not list((tmp_path / "states").iterdir())


def test_a_rounded_number_format_or_an_unusual_encoder_is_not_cut(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounded = replace(encoder.device, precision=Precision.BF16)
    assert halves(replace(encoder, device=rounded)) is None
    inner = EncoderModule.forward

    def scaled(self: EncoderModule, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return inner(self, ids, mask) + 1.0  # something that its layers do not tell

    monkeypatch.setattr(EncoderModule, "forward", scaled)
    assert halves(encoder) is None

"""Offsets are code points here and UTF-16 units in Qt; Python's own encoder is the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.domain.documents import Utf16Map


@given(st.text(alphabet=st.sampled_from("aé😀𝒳\u0301\n中"), max_size=40))
def test_both_ways_agree_with_the_encoder(text: str) -> None:
    offsets = Utf16Map(text)
    for i in range(len(text) + 1):
        units = len(text[:i].encode("utf-16-le")) // 2
        assert offsets.to_utf16(i) == units
        assert offsets.to_code_point(units) == i


def test_inside_a_surrogate_pair_goes_to_its_start() -> None:
    offsets = Utf16Map("a😀b")
    assert [offsets.to_code_point(u) for u in range(5)] == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("offset", [-1, 4])
def test_outside_is_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        Utf16Map("a😀b").to_utf16(offset)


@pytest.mark.parametrize("offset", [-1, 5])
def test_outside_in_utf16_is_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        Utf16Map("a😀b").to_code_point(offset)

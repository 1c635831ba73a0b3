"""Sides: parts of similar length give every text back in its place, for any parts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from models.retrievers.scorers import TokenStates
from training.loop.towers import GivenSide, Side, TextSubset, parts_of

TEXTS = [[5, 6, 7], [8], [9, 10], [11, 12, 13, 14], []]
CPU = torch.device("cpu")


def sums(part: TextSubset) -> Tensor:
    return (part.ids * part.mask).sum(1, keepdim=True).double()


def states(part: TextSubset) -> Tensor:
    return torch.stack([part.ids, -part.ids], dim=-1).double()


@pytest.mark.parametrize("chunk", [1, 2, 3, 9])
def test_parts_are_of_like_length_and_hold_every_text_once(chunk: int) -> None:
    parts = parts_of(TEXTS, chunk=chunk, pad_id=3, device=CPU)
    assert sorted(torch.cat([part.places for part in parts]).tolist()) == [0, 1, 2, 3, 4]
    assert max(len(part.places) for part in parts) <= chunk
    lengths = [int(row.sum()) for part in parts for row in part.mask]
    assert lengths == sorted(lengths)
    assert all(bool((part.ids[part.mask == 0] == 3).all()) for part in parts)


@pytest.mark.parametrize("chunk", [1, 2, 9])
def test_vectors_and_states_come_back_in_order(chunk: int) -> None:
    parts = parts_of(TEXTS, chunk=chunk, pad_id=3, device=CPU)
    side = Side(parts, sums, tokens=False)
    whole = side.whole()
    assert isinstance(whole, Tensor)
    assert whole.squeeze(1).tolist() == [18, 8, 19, 50, 0]
    tokens = Side(parts, states, tokens=True).whole()
    assert isinstance(tokens, TokenStates)
    assert tokens.states.shape == (5, 4, 2)
    assert tokens.mask.sum(1).tolist() == [len(text) for text in TEXTS]
    assert [row[mask.bool(), 0].tolist() for row, mask in zip(tokens.states, tokens.mask, strict=True)] == TEXTS


def test_texts_are_encoded_in_another_way() -> None:
    side = Side(parts_of(TEXTS, chunk=2, pad_id=0, device=CPU), sums, tokens=False)
    twice = side.through(lambda part: 2 * side.encode(part)).whole()
    assert torch.equal(twice, 2 * side.whole())  # type: ignore[arg-type]


def test_what_is_looked_up_stays_as_it_is() -> None:
    side = GivenSide(lambda: torch.eye(2))
    assert torch.equal(side.whole(), torch.eye(2))  # type: ignore[arg-type]
    assert side.through(sums) is side

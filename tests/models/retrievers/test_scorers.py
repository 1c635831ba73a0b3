from __future__ import annotations

import math

import pytest
import torch

from models.encoders.pooling import Pooling
from models.retrievers import scorers
from models.retrievers.scorers import Scorer, TokenStates, cosine, dot, score, sum_of_max

EVERY = [
    (Scorer.COSINE, Pooling.MEAN),
    (Scorer.COSINE, Pooling.CLS),
    (Scorer.DOT, Pooling.MEAN),
    (Scorer.DOT, Pooling.CLS),
    (Scorer.DUAL, Pooling.MEAN),
    (Scorer.MEAN, Pooling.CLS),
    (Scorer.SOM, Pooling.MEAN),
]


def random_states(*shape: int, lengths: list[int], seed: int, dtype: torch.dtype = torch.float64) -> TokenStates:
    """States of texts of the given lengths; padding holds large numbers, which nobody may see."""
    states = torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))
    mask = torch.zeros(shape[:-1], dtype=torch.int64)
    for row, length in zip(mask.reshape(-1, shape[-2]), lengths, strict=True):
        row[:length] = 1
    return TokenStates(torch.where(mask.bool().unsqueeze(-1), states, 1e3), mask)


def tokens(texts: TokenStates, *at: int) -> list[list[float]]:
    return texts.states[at][texts.mask[at].bool()].tolist()


def plain(mention: list[list[float]], entity: list[list[float]], scorer: Scorer, pooling: Pooling) -> float:
    """The score of one pair by loops over single numbers."""

    def product(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    def pooled(text: list[list[float]], how: Pooling) -> list[float]:
        return text[0] if how is Pooling.CLS else [sum(column) / len(text) for column in zip(*text, strict=True)]

    if scorer is Scorer.SOM:
        return sum(max(product(m, e) for e in entity) for m in mention)
    how = {Scorer.DUAL: Pooling.CLS, Scorer.MEAN: Pooling.MEAN}.get(scorer, pooling)
    m, e = pooled(mention, how), pooled(entity, how)
    length = math.sqrt(product(m, m) * product(e, e)) if scorer is Scorer.COSINE else 1.0
    return product(m, e) / length


@pytest.mark.parametrize(("scorer", "pooling"), EVERY)
@pytest.mark.parametrize("own", [False, True])
def test_scores_are_those_of_plain_loops(scorer: Scorer, pooling: Pooling, own: bool) -> None:
    mentions = random_states(3, 5, 4, lengths=[5, 1, 3], seed=1)
    if own:
        entities = random_states(3, 2, 6, 4, lengths=[6, 2, 1, 4, 3, 5], seed=2)
    else:
        entities = random_states(4, 6, 4, lengths=[6, 1, 4, 2], seed=2)
    found = score(mentions, entities, scorer, pooling=pooling)
    assert found.shape == (3, entities.states.shape[-3])
    for b in range(3):
        for n in range(found.shape[1]):
            entity = tokens(entities, b, n) if own else tokens(entities, n)
            assert found[b, n].item() == pytest.approx(plain(tokens(mentions, b), entity, scorer, pooling), abs=1e-9)


@pytest.mark.parametrize(("scorer", "pooling"), EVERY)
@pytest.mark.parametrize("own", [False, True])
def test_gradients_are_those_of_differences(scorer: Scorer, pooling: Pooling, own: bool) -> None:
    """Random states are away from ties of the maximum, where there is no gradient to be had."""
    mentions = random_states(2, 3, 4, lengths=[3, 2], seed=3)
    entities = (
        random_states(2, 2, 3, 4, lengths=[3, 1, 2, 3], seed=4)
        if own
        else random_states(3, 3, 4, lengths=[3, 1, 2], seed=4)
    )

    def of_states(m: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
        return score(TokenStates(m, mentions.mask), TokenStates(e, entities.mask), scorer, pooling=pooling)

    inputs = tuple(texts.states.clamp(-3, 3).requires_grad_() for texts in (mentions, entities))
    assert torch.autograd.gradcheck(of_states, inputs)


def test_padding_gets_no_gradient_and_ties_share_it() -> None:
    mentions = TokenStates(torch.ones(1, 2, 2, requires_grad=True), torch.tensor([[1, 0]]))
    entities = TokenStates(torch.ones(1, 3, 2, requires_grad=True), torch.tensor([[1, 1, 0]]))
    sum_of_max(mentions, entities).sum().backward()
    assert mentions.states.grad is not None
    assert entities.states.grad is not None
    assert mentions.states.grad.tolist() == [[[1, 1], [0, 0]]]
    assert entities.states.grad.tolist() == [[[0.5, 0.5], [0.5, 0.5], [0, 0]]]


def test_a_text_without_tokens_scores_zero_and_has_finite_gradients() -> None:
    mentions = TokenStates(torch.randn(2, 2, 3, requires_grad=True), torch.tensor([[1, 1], [0, 0]]))
    entities = TokenStates(torch.randn(2, 4, 3, requires_grad=True), torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0]]))
    found = sum_of_max(mentions, entities)
    assert found[0, 1] == found[1, 0] == found[1, 1] == 0 != found[0, 0]
    found.sum().backward()
    assert mentions.states.grad is not None
    assert torch.isfinite(mentions.states.grad).all()
    none = TokenStates(torch.zeros(2, 0, 3), torch.zeros(2, 0))
    assert sum_of_max(mentions, none).tolist() == [[0, 0], [0, 0]]
    assert cosine(torch.zeros(1, 3), torch.ones(1, 3)).item() == 0


def test_blocks_of_entities_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mentions = random_states(3, 5, 4, lengths=[5, 1, 3], seed=5)
    shared = random_states(7, 6, 4, lengths=[6, 1, 4, 2, 3, 3, 5], seed=6)
    own = random_states(3, 3, 6, 4, lengths=[6, 2, 1, 4, 3, 5, 1, 2, 6], seed=7)
    whole = [sum_of_max(mentions, entities) for entities in (shared, own)]
    monkeypatch.setattr(scorers, "BLOCK_ENTRIES", 2 * 3 * 5 * 6)
    for expected, entities in zip(whole, (shared, own), strict=True):
        torch.testing.assert_close(sum_of_max(mentions, entities), expected)


def test_sum_of_max_is_not_symmetric_and_dot_takes_both_shapes() -> None:
    one = TokenStates(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), torch.ones(1, 2))
    other = TokenStates(torch.tensor([[[2.0, 0.0], [0.0, 0.0]]]), torch.tensor([[1, 0]]))
    assert sum_of_max(one, other).item() == 2
    assert sum_of_max(other, one).item() == 2
    assert sum_of_max(one, one).item() == 2
    assert sum_of_max(TokenStates(one.states.repeat(1, 2, 1), torch.ones(1, 4)), other).item() == 4
    vectors = torch.arange(6.0).reshape(2, 3)
    torch.testing.assert_close(dot(vectors, vectors), dot(vectors, vectors.expand(2, 2, 3)))

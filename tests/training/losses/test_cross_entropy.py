import math

import pytest
import torch

from models.errors import ModelError
from training.losses import CandidateCrossEntropy

LOSS = CandidateCrossEntropy()


def batch(*, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn((4, 5), generator=generator, dtype=torch.double).requires_grad_()
    given = torch.ones(4, 5, dtype=torch.bool)
    given[1, 3:] = False
    given[2, 1:] = False
    return scores, given


def test_equals_plain_arithmetic() -> None:
    scores, given = batch()
    expected = []
    for row, mask in zip(scores.tolist(), given.tolist(), strict=True):
        total = sum(math.exp(score) for score, there in zip(row, mask, strict=True) if there)
        expected.append(-math.log(math.exp(row[0]) / total))
    assert LOSS(scores, given).item() == pytest.approx(sum(expected) / len(expected))


def test_gradcheck_and_no_gradient_at_empty_places() -> None:
    scores, given = batch(seed=1)
    assert torch.autograd.gradcheck(lambda values: LOSS(values, given), (scores,))
    LOSS(scores, given).backward()
    assert scores.grad is not None
    assert not scores.grad[~given].any()
    assert scores.grad[given].abs().sum() > 0


def test_without_any_negative_the_loss_is_zero() -> None:
    scores = torch.tensor([[3.0, 9.0]], requires_grad=True)
    loss = LOSS(scores, torch.tensor([[True, False]]))
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert not scores.grad.any()


def test_nil_mentions_and_wrong_shapes_are_refused() -> None:
    scores, given = batch()
    given[3, 0] = False
    with pytest.raises(ModelError, match="NIL must be left out"):
        LOSS(scores, given)
    with pytest.raises(ModelError, match="expected"):
        LOSS(scores, given[:2])
    with pytest.raises(ModelError, match="expected"):
        LOSS(scores[:0], given[:0])

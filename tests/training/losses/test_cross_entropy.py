import math

import pytest
import torch

from models.errors import ModelError
from training.losses.cross_entropy import CandidateCrossEntropy

LOSS = CandidateCrossEntropy()


def batch(*, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn((4, 5), generator=generator, dtype=torch.double).requires_grad_()
    given = torch.ones(4, 5, dtype=torch.bool)
    given[1, 3:] = False
    given[2, 1:] = False
    return scores, given


def test_plain_arithmetic() -> None:
    scores, given = batch()
    expected = []
    for row, mask in zip(scores.tolist(), given.tolist(), strict=True):
        total = sum(math.exp(score) for score, there in zip(row, mask, strict=True) if there)
        expected.append(-math.log(math.exp(row[0]) / total))
    assert LOSS(scores, given).item() == pytest.approx(sum(expected) / len(expected))


def test_gradcheck() -> None:
    scores, given = batch(seed=1)
    assert torch.autograd.gradcheck(lambda values: LOSS(values, given), (scores,))


def test_gradient_is_equation_2() -> None:
    scores, given = batch(seed=2)
    LOSS(scores, given).backward()
    shares = (scores.detach().exp() * given) / (scores.detach().exp() * given).sum(1, keepdim=True)
    shares[:, 0] -= 1
    torch.testing.assert_close(scores.grad, shares / 4)


def test_ineligible_or_padded_places_change_nothing() -> None:
    scores, given = batch(seed=1)
    value = LOSS(scores, given)
    assert value.item() == LOSS(scores.masked_fill(~given, 1e9), given).item()
    wider = torch.cat([scores, torch.full((4, 3), 7.0)], dim=1)
    mask = torch.cat([given, torch.zeros(4, 3, dtype=torch.bool)], dim=1)
    assert value.item() == pytest.approx(LOSS(wider, mask).item(), rel=1e-12)
    value.backward()
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


def test_extreme_scores_stay_finite() -> None:
    scores = torch.tensor([[-1e9, 1e9], [1e9, -1e9]], requires_grad=True)
    loss = LOSS(scores, torch.ones(2, 2, dtype=torch.bool))
    loss.backward()
    assert loss.item() == pytest.approx(1e9)
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_as_good(kind: torch.dtype) -> None:
    scores, given = batch()
    half = (scores.detach() * 100).to(kind)
    value = LOSS(half, given)
    assert value.dtype == torch.float32
    assert value.item() == LOSS(half.float(), given).item()


def test_nil_mentions_and_wrong_shapes_are_refused() -> None:
    scores, given = batch()
    given[3, 0] = False
    with pytest.raises(ModelError, match="NIL must be left out"):
        LOSS(scores, given)
    with pytest.raises(ModelError, match="expected"):
        LOSS(scores, given[:2])
    with pytest.raises(ModelError, match="expected"):
        LOSS(scores[:0], given[:0])

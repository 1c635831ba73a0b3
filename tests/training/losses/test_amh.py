import math

import pytest
import torch
from torch.autograd import gradcheck

from models.errors import ModelError
from tests.training.losses.batches import Vectors, dot, inputs, vectors
from training.losses import AdaptiveMixupLoss
from training.losses.amh import adaptive_weight, mix

ALPHA = 0.3


def plain_loss(given: Vectors, eligible: torch.Tensor, row: int, top_k: int, scale: float, shift: float) -> float:
    mention, positive = given.mentions[row].tolist(), given.positives[row].tolist()
    candidates = (given.candidates if given.candidates.dim() == 2 else given.candidates[row]).tolist()
    logit = scale * dot(mention, positive) + shift
    allowed = [c for column, c in enumerate(candidates) if eligible[row, column]]
    hardest = sorted(allowed, key=lambda c: -dot(mention, c))[:top_k]
    total = sum(math.exp(scale * dot(mention, c) + shift) for c in hardest)
    weight = math.exp(logit) / (math.exp(logit) + total)
    loss = -math.log(1 / (1 + math.exp(-logit)))
    for negative in hardest:
        strong = [ALPHA * weight * p + n for p, n in zip(positive, negative, strict=True)]
        loss -= math.log(1 - 1 / (1 + math.exp(-(scale * dot(mention, strong) + shift))))
    return loss


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("top_k", [1, 2, 10])
def test_equals_plain_arithmetic(shared: bool, top_k: int) -> None:
    given = vectors(shared=shared)
    eligible = torch.rand(5, 4, generator=torch.Generator().manual_seed(1)) > 0.4
    linked = [True, False, True, True, True]
    rows = [plain_loss(given, eligible, row, top_k, 0.7, -0.2) for row in (0, 2, 3, 4)]
    loss = AdaptiveMixupLoss(alpha=ALPHA, top_k=top_k, scale=0.7, shift=-0.2)
    found = loss(inputs(given, eligible=eligible, linked=linked))
    assert found.item() == pytest.approx(sum(rows) / 4, rel=1e-12)


def test_gradient_with_weight_and_positive_as_constants() -> None:
    """The mix is rebuilt here with frozen W and V⁺, so the numerical gradient sees them as constants too."""
    given = vectors(batch=4, negatives=3)
    fixed_positive = given.positives.detach().clone()
    logits = given.mentions @ given.candidates.T
    hardest, index = logits.detach().topk(2, dim=1)
    weight = adaptive_weight((given.mentions * given.positives).sum(1), hardest).detach()

    def frozen(*tensors: torch.Tensor) -> torch.Tensor:
        mentions, positives, candidates = tensors
        strong = ALPHA * weight.view(-1, 1, 1) * fixed_positive.unsqueeze(1) + candidates[index]
        push = torch.nn.functional.softplus(torch.einsum("bd,bkd->bk", mentions, strong)).sum(1)
        return (torch.nn.functional.softplus(-(mentions * positives).sum(1)) + push).mean()

    assert gradcheck(frozen, tuple(given))
    expected = torch.autograd.grad(frozen(*given), tuple(given))
    found = torch.autograd.grad(AdaptiveMixupLoss(alpha=ALPHA, top_k=2)(inputs(given)), tuple(given))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_gradient_through_the_mix_is_zero_unless_asked_for() -> None:
    given = vectors(batch=3)
    weight = torch.full((3,), 0.5, dtype=torch.double, requires_grad=True)
    hard = given.candidates[:2].expand(3, 2, 3)
    mix(given.positives, hard, weight, alpha=ALPHA).sum().backward()
    assert given.positives.grad is None
    assert weight.grad is None
    mix(given.positives, hard, weight, alpha=ALPHA, through=True).sum().backward()
    assert weight.grad is not None
    assert weight.grad.any()
    assert given.positives.grad is not None


def test_gradient_through_the_mix_is_numerically_right_when_asked_for() -> None:
    loss = AdaptiveMixupLoss(alpha=ALPHA, top_k=2, gradient_through_mix=True)

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        return loss(inputs(Vectors(*tensors)))

    assert gradcheck(value, tuple(vectors()))


@pytest.mark.parametrize("negatives", [0, 4])
def test_without_any_negative_only_the_positive_is_left(negatives: int) -> None:
    given = vectors(negatives=negatives)
    nobody = torch.zeros(5, negatives, dtype=torch.bool)
    loss = AdaptiveMixupLoss()(inputs(given, eligible=nobody))
    pulls = [math.log(1 + math.exp(-dot(m, p))) for m, p in zip(given[0].tolist(), given[1].tolist(), strict=True)]
    assert loss.item() == pytest.approx(sum(pulls) / 5)
    loss.backward()
    assert given.mentions.grad is not None
    assert given.mentions.grad.isfinite().all()


def test_nil_mentions_are_left_out() -> None:
    assert AdaptiveMixupLoss()(inputs(vectors(), linked=[False] * 5)).item() == 0.0


def test_weight_survives_large_scores() -> None:
    weight = adaptive_weight(torch.tensor([1e4, -1e4]), torch.tensor([[1e4], [1e4]]))
    torch.testing.assert_close(weight, torch.tensor([0.5, 0.0]))


def test_calibration_centres_and_scales_the_logits() -> None:
    given = Vectors(*(tensor.detach() * 9 + 5 for tensor in vectors(batch=30, negatives=8)))
    loss = AdaptiveMixupLoss(calibrated=True)
    loss.calibrate(inputs(given))
    logits = loss.scale * (given.mentions @ given.candidates.T) + loss.shift
    positive = loss.scale * (given.mentions * given.positives).sum(1) + loss.shift
    assert logits.std().item() == pytest.approx(1.0, abs=0.01)
    assert (positive.mean() + logits.amax(1).mean()).item() == pytest.approx(0.0, abs=1e-6)
    before = (loss.scale, loss.shift)
    loss.calibrate(inputs(given, linked=[False] * 30))
    assert (loss.scale, loss.shift) == before


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 1.5}, {"top_k": 0}])
def test_parameters_out_of_range(options: dict[str, float]) -> None:
    with pytest.raises(ModelError):
        AdaptiveMixupLoss(**options)

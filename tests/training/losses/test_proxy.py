import math

import pytest
import torch
from torch.autograd import gradcheck

from models.errors import ModelError
from tests.training.losses.batches import Vectors, cosine, inputs, vectors
from training.losses import ProxyLoss
from training.losses.proxy import proxy_loss

ALPHA, DELTA = 7.0, 0.05


def plain_loss(given: Vectors, eligible: torch.Tensor, linked: list[bool], alpha: float, delta: float) -> list[float]:
    mentions, positives, candidates = (tensor.tolist() for tensor in given)
    losses = []
    for row, mention in enumerate(mentions):
        loss = 0.0
        if linked[row]:
            loss += math.log(1 + math.exp(-alpha * (cosine(mention, positives[row]) - delta)))
        own = candidates if given.candidates.dim() == 2 else candidates[row]
        total = sum(
            math.exp(alpha * (cosine(mention, candidate) + delta))
            for column, candidate in enumerate(own)
            if eligible[row, column]
        )
        losses.append(loss + math.log(1 + total))
    return losses


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("linked", [[True] * 5, [True, False, True, True, False]])
def test_equals_plain_arithmetic(shared: bool, linked: list[bool]) -> None:
    given = vectors(shared=shared)
    eligible = torch.rand(5, 4, generator=torch.Generator().manual_seed(1)) > 0.4
    expected = plain_loss(given, eligible, linked, ALPHA, DELTA)
    batch = inputs(given, eligible=eligible, linked=linked)
    assert ProxyLoss(alpha=ALPHA, delta=DELTA)(batch).item() == pytest.approx(sum(expected) / 5, rel=1e-12)
    kept = [loss for loss, flag in zip(expected, linked, strict=True) if flag]
    without = ProxyLoss(alpha=ALPHA, delta=DELTA, nil_negatives=False)(batch)
    assert without.item() == pytest.approx(sum(kept) / len(kept), rel=1e-12)


def test_gradient_is_numerically_right() -> None:
    loss = ProxyLoss(alpha=ALPHA, delta=DELTA)

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        return loss(inputs(Vectors(*tensors), linked=[True, True, False, True, True]))

    assert gradcheck(value, tuple(vectors()))
    assert gradcheck(value, tuple(vectors(shared=False)))


def test_gradient_is_equation_4() -> None:
    generator = torch.Generator().manual_seed(3)
    positive = torch.randn(3, generator=generator, dtype=torch.double, requires_grad=True)
    negative = torch.randn(3, 4, generator=generator, dtype=torch.double, requires_grad=True)
    everything, linked = torch.ones(3, 4, dtype=torch.bool), torch.ones(3, dtype=torch.bool)
    proxy_loss(positive, negative, everything, linked, alpha=ALPHA, delta=DELTA).sum().backward()
    pulled = torch.exp(-ALPHA * (positive.detach() - DELTA))
    pushed = torch.exp(ALPHA * (negative.detach() + DELTA))
    torch.testing.assert_close(positive.grad, -ALPHA * pulled / (1 + pulled))
    torch.testing.assert_close(negative.grad, ALPHA * pushed / (1 + pushed.sum(1, keepdim=True)))


@pytest.mark.parametrize("negatives", [0, 4])
def test_without_any_negative_only_the_pull_is_left(negatives: int) -> None:
    given = vectors(negatives=negatives)
    nobody = torch.zeros(5, negatives, dtype=torch.bool)
    loss = ProxyLoss(alpha=ALPHA, delta=DELTA)(inputs(given, eligible=nobody))
    expected = plain_loss(given, nobody, [True] * 5, ALPHA, DELTA)
    assert loss.item() == pytest.approx(sum(expected) / 5)
    loss.backward()
    assert given.mentions.grad is not None
    assert given.mentions.grad.isfinite().all()


def test_only_nil_mentions_without_nil_negatives_is_zero() -> None:
    assert ProxyLoss(nil_negatives=False)(inputs(vectors(), linked=[False] * 5)).item() == 0.0


def test_nil_mention_ignores_its_positive() -> None:
    given = vectors()
    ProxyLoss()(inputs(given, linked=[False] * 5)).backward()
    assert given.positives.grad is not None
    assert not given.positives.grad.any()


def test_large_alpha_does_not_overflow() -> None:
    loss = ProxyLoss(alpha=1e5)(inputs(Vectors(*(tensor.float() for tensor in vectors()))))
    assert loss.isfinite()


def test_alpha_must_be_positive() -> None:
    with pytest.raises(ModelError, match="alpha"):
        ProxyLoss(alpha=0.0)

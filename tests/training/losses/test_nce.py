import math

import pytest
import torch

from models.errors import ModelError
from tests.training.losses.batches import EVERY, SCORE, chance, inputs, row_of, texts
from training.losses.base import Similarity
from training.losses.nce import NoiseContrastiveLoss, nce_loss


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("similarity", EVERY)
def test_plain_arithmetic(similarity: Similarity, shared: bool) -> None:
    given, masks = texts(similarity, shared=shared)
    eligible, score = chance(), SCORE[similarity]
    expected = []
    for row in (0, 1, 3, 4):
        mention, positive, candidates = row_of(given, masks, row)
        rivals = [c for c, allowed in zip(candidates, eligible[row].tolist(), strict=True) if allowed]
        total = math.exp(score(mention, positive)) + sum(math.exp(score(mention, c)) for c in rivals)
        expected.append(-math.log(math.exp(score(mention, positive)) / total))
    batch = inputs(given, masks, eligible=eligible, linked=[True, True, False, True, True])
    found = NoiseContrastiveLoss(similarity=similarity)(batch)
    assert found.item() == pytest.approx(sum(expected) / 4, rel=1e-12)


def test_gradient_is_equation_2() -> None:
    generator = torch.Generator().manual_seed(3)
    positive = torch.randn(3, generator=generator, dtype=torch.double, requires_grad=True)
    negative = torch.randn(3, 4, generator=generator, dtype=torch.double, requires_grad=True)
    eligible = chance(batch=3)
    nce_loss(positive, negative, eligible).sum().backward()
    pulled, pushed = positive.detach().exp(), negative.detach().exp() * eligible
    total = pulled + pushed.sum(1)
    torch.testing.assert_close(positive.grad, -1 + pulled / total)
    torch.testing.assert_close(negative.grad, pushed / total.unsqueeze(1))


def test_gold_far_ahead_of_random_negatives_teaches_almost_nothing() -> None:
    """PEL's reason for its proxy loss: under NCE the gradient at the positive is gone as well."""
    positive = torch.tensor([30.0], requires_grad=True)
    nce_loss(positive, torch.zeros(1, 4), torch.ones(1, 4, dtype=torch.bool)).sum().backward()
    assert positive.grad is not None
    assert abs(positive.grad.item()) < 1e-11


def test_a_temperature_divides_the_scores() -> None:
    given, masks = texts(Similarity.COSINE, shared=True)
    eligible, score = chance(), SCORE[Similarity.COSINE]
    expected = []
    for row in range(5):
        mention, positive, candidates = row_of(given, masks, row)
        rivals = [c for c, allowed in zip(candidates, eligible[row].tolist(), strict=True) if allowed]
        total = sum(math.exp(score(mention, one) / 0.05) for one in [positive, *rivals])
        expected.append(math.log(total) - score(mention, positive) / 0.05)
    found = NoiseContrastiveLoss(similarity=Similarity.COSINE, temperature=0.05)(
        inputs(given, masks, eligible=eligible, linked=[True] * 5)
    )
    assert found.item() == pytest.approx(sum(expected) / 5, rel=1e-9)


def test_a_temperature_is_above_zero() -> None:
    with pytest.raises(ModelError, match="temperature"):
        NoiseContrastiveLoss(temperature=0.0)

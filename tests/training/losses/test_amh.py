import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import softplus

from models.errors import ModelError
from models.retrievers.scorers import TokenStates
from tests.training.losses.batches import (
    EVERY,
    SCORE,
    Masks,
    Plain,
    Vectors,
    chance,
    dot,
    gradients,
    inputs,
    row_of,
    texts,
    tokens,
    vectors,
)
from training.losses.amh import AdaptiveMixupLoss, adaptive_weight, choose, mix
from training.losses.base import Similarity

ALPHA = 0.3


def plain_mix(positive: Plain, negative: Plain, share: float) -> Plain:
    """Eq. 10 by loops; token by token for SOM, where both have tokens."""
    if not isinstance(negative[0], list):
        return [share * p + n for p, n in zip(positive, negative, strict=True)]
    mixed = [[share * p + n for p, n in zip(*pair, strict=True)] for pair in zip(positive, negative, strict=False)]
    return mixed + negative[len(mixed) :]


def plain_loss(mention: Plain, positive: Plain, rivals: list[Plain], similarity: Similarity, top_k: int) -> float:
    def logit(entity: Plain) -> float:
        return 0.7 * SCORE[similarity](mention, entity) - 0.2

    hardest = sorted(rivals, key=lambda rival: -logit(rival))[:top_k]
    weight = math.exp(logit(positive)) / (math.exp(logit(positive)) + sum(math.exp(logit(rival)) for rival in hardest))
    loss = -math.log(1 / (1 + math.exp(-logit(positive))))
    for negative in hardest:
        loss -= math.log(1 - 1 / (1 + math.exp(-logit(plain_mix(positive, negative, ALPHA * weight)))))
    return loss


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("top_k", [1, 2, 10])
@pytest.mark.parametrize("similarity", EVERY)
def test_plain_arithmetic(similarity: Similarity, top_k: int, shared: bool) -> None:
    given, masks = texts(similarity, shared=shared)
    eligible, expected = chance(), []
    for row in (0, 2, 3, 4):
        mention, positive, candidates = row_of(given, masks, row)
        rivals = [c for c, allowed in zip(candidates, eligible[row].tolist(), strict=True) if allowed]
        expected.append(plain_loss(mention, positive, rivals, similarity, top_k))
    loss = AdaptiveMixupLoss(alpha=ALPHA, top_k=top_k, scale=0.7, shift=-0.2, similarity=similarity)
    found = loss(inputs(given, masks, eligible=eligible, linked=[True, False, True, True, True]))
    assert found.item() == pytest.approx(sum(expected) / 4, rel=1e-9)


def rebuilt(given: Vectors, masks: Masks | None, constant: Vectors, similarity: Similarity) -> torch.Tensor:
    """AMH with K = 2 where W, V⁺ in the mix and the choice come from `constant`, so that differences see constants."""
    score, total = SCORE[similarity], torch.zeros((), dtype=torch.double)
    for row in range(len(given.mentions)):
        mention, positive, candidates = row_of(constant, masks, row)
        best = sorted(range(len(candidates)), key=lambda place: -score(mention, candidates[place]))[:2]
        weights = [math.exp(score(mention, candidates[place])) for place in best]
        weight = math.exp(score(mention, positive)) / (math.exp(score(mention, positive)) + sum(weights))
        total = total + softplus(-differentiable(given.mentions[row], given.positives[row], masks, row))
        for place in best:
            added = constant.positives[row].detach()
            hard = given.candidates[place]
            if masks is not None:
                added = (added * masks.positives[row].unsqueeze(-1))[: len(hard)]
            seen = None if masks is None else masks._replace(positives=masks.candidates[place].unsqueeze(0))
            strong = ALPHA * weight * added + hard
            total = total + softplus(differentiable(given.mentions[row], strong, seen, row, own=True))
    return total / len(given.mentions)


def differentiable(
    mention: torch.Tensor, entity: torch.Tensor, masks: Masks | None, row: int, *, own: bool = False
) -> torch.Tensor:
    """The dot product, or the sum of max over real tokens, of one pair."""
    if masks is None:
        return mention @ entity
    real = mention[masks.mentions[row].bool()] @ entity[masks.positives[0 if own else row].bool()].T
    return real.max(dim=1).values.sum()


@pytest.mark.parametrize("similarity", [Similarity.DOT, Similarity.SOM])
def test_gradcheck_with_weight_and_positive_as_constants(similarity: Similarity) -> None:
    given, masks = texts(similarity, batch=4, negatives=3)
    constant = Vectors(*(values.detach().clone() for values in given))

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        return rebuilt(Vectors(*tensors), masks, constant, similarity)

    assert gradcheck(value, tuple(given))
    loss = AdaptiveMixupLoss(alpha=ALPHA, top_k=2, similarity=similarity)(inputs(given, masks))
    assert loss.item() == pytest.approx(value(*given).item())
    expected = torch.autograd.grad(value(*given), tuple(given))
    for one, other in zip(gradients(loss, given), expected, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("similarity", [Similarity.DOT, Similarity.SOM])
def test_gradient_through_the_mix_is_zero_unless_asked_for(similarity: Similarity) -> None:
    given, masks = texts(similarity, batch=3, shared=False)
    batch = inputs(given, masks)
    weight = torch.full((3,), 0.5, dtype=torch.double, requires_grad=True)

    def parts(*, through: bool) -> tuple[torch.Tensor | None, ...]:
        mixed = mix(batch.positives, batch.candidates, weight, alpha=ALPHA, through=through)
        total = (mixed.states if isinstance(mixed, TokenStates) else mixed).square().sum()
        return torch.autograd.grad(total, (given.positives, weight, given.candidates), allow_unused=True)

    of_positive, of_weight, of_negative = parts(through=False)
    assert of_positive is None
    assert of_weight is None
    assert of_negative is not None
    assert of_negative.any()
    assert all(grad is not None and grad.any() for grad in parts(through=True))


def test_gradient_at_the_positive_is_that_of_its_own_logit() -> None:
    """∂L/∂V⁺ = −σ(−f(m, e⁺))·m: nothing comes by way of the mix."""
    given = vectors(batch=1)
    of_positive = gradients(AdaptiveMixupLoss(alpha=1.0)(inputs(given)), given)[1]
    mention = given.mentions.detach()
    torch.testing.assert_close(of_positive, -torch.sigmoid(-(mention * given.positives.detach()).sum()) * mention)


def test_mix_of_tokens_keeps_the_negative_where_the_positive_ends() -> None:
    positive = TokenStates(torch.tensor([[[10.0], [20.0], [99.0]]]), torch.tensor([[1, 1, 0]]))
    negative = TokenStates(
        torch.tensor([[[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0], [8.0]]]]),
        torch.tensor([[[1, 1, 1, 1], [1, 0, 0, 0]]]),
    )
    mixed = mix(positive, negative, torch.tensor([0.5]), alpha=0.2)
    assert isinstance(mixed, TokenStates)
    assert mixed.states[0, :, :, 0].tolist() == [[2.0, 4.0, 3.0, 4.0], [6.0, 8.0, 7.0, 8.0]]
    assert mixed.mask.tolist() == negative.mask.tolist()


def test_mix_of_tokens_cuts_a_positive_that_is_longer() -> None:
    positive = TokenStates(torch.tensor([[[10.0], [20.0], [30.0]]]), torch.ones(1, 3))
    mixed = mix(positive, TokenStates(torch.ones(1, 1, 2, 1), torch.ones(1, 1, 2)), torch.ones(1), alpha=1.0)
    assert isinstance(mixed, TokenStates)
    assert mixed.states.flatten().tolist() == [11.0, 21.0]


def test_hardest_are_the_highest_that_are_eligible() -> None:
    scores = torch.tensor([[5.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    eligible = torch.tensor([[False, True, True], [True, False, False]])
    hardest, places, there = choose(scores, eligible, top_k=2)
    assert hardest.tolist() == [[3.0, 1.0], [1.0, -math.inf]]
    assert places[0].tolist() == [2, 1]
    assert there.tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize("similarity", [Similarity.DOT, Similarity.SOM])
@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("negatives", [0, 4])
def test_without_any_negative_only_the_positive_is_left(negatives: int, through: bool, similarity: Similarity) -> None:
    given, masks = texts(similarity, negatives=negatives)
    nobody = torch.zeros(5, negatives, dtype=torch.bool)
    loss = AdaptiveMixupLoss(gradient_through_mix=through, similarity=similarity)(inputs(given, masks, eligible=nobody))
    pairs = [row_of(given, masks, row)[:2] for row in range(5)]
    assert loss.item() == pytest.approx(sum(math.log(1 + math.exp(-SCORE[similarity](*pair))) for pair in pairs) / 5)
    of_mentions, _, of_candidates = gradients(loss, given)
    assert of_mentions.isfinite().all()
    assert of_mentions.any()
    assert not of_candidates.any()


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


def test_calibration_of_tokens_in_half_precision() -> None:
    given, masks = tokens(batch=30, negatives=8)
    half = Vectors(*(values.detach().clamp(max=4.0).mul(100).half() for values in given))
    loss = AdaptiveMixupLoss(calibrated=True, similarity=Similarity.SOM)
    loss.calibrate(inputs(half, masks))
    mention, _, candidates = row_of(half, masks, 3)
    assert 0 < loss.scale < 1e-3
    assert all(abs(loss.scale * max(dot(m, e) for m in mention for e in c)) < 20 for c in candidates)


def test_without_mixture_it_is_cross_entropy_of_the_hardest_as_they_are() -> None:
    """The ablation: α at 0."""
    given = inputs(vectors(), eligible=chance())
    rights = [dot(m.tolist(), p.tolist()) for m, p in zip(given.mentions, given.positives, strict=True)]
    wrongs = [
        max(dot(m.tolist(), c.tolist()) for c, allowed in zip(given.candidates, row, strict=True) if allowed)
        for m, row in zip(given.mentions, given.eligible.tolist(), strict=True)
    ]
    each = [
        math.log1p(math.exp(-right)) + math.log1p(math.exp(wrong)) for right, wrong in zip(rights, wrongs, strict=True)
    ]
    assert AdaptiveMixupLoss(alpha=0.0)(given).item() == pytest.approx(sum(each) / 5)


@pytest.mark.parametrize("options", [{"alpha": -0.1}, {"alpha": 1.5}, {"top_k": 0}])
def test_parameters_out_of_range(options: dict[str, float]) -> None:
    with pytest.raises(ModelError):
        AdaptiveMixupLoss(**options)

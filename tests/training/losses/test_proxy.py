import math

import pytest
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss

from models.errors import ModelError
from tests.training.losses.batches import (
    EVERY,
    SCORE,
    Masks,
    Vectors,
    chance,
    cosine,
    gradients,
    inputs,
    row_of,
    texts,
    vectors,
)
from training.losses.base import Similarity
from training.losses.proxy import ProxyLoss, proxy_loss

ALPHA, DELTA = 7.0, 0.05


def plain_loss(
    given: Vectors, masks: Masks | None, eligible: torch.Tensor, linked: list[bool], similarity: Similarity
) -> list[float]:
    score, losses = SCORE[similarity], []
    for row, flag in enumerate(linked):
        mention, positive, candidates = row_of(given, masks, row)
        loss = math.log(1 + math.exp(-ALPHA * (score(mention, positive) - DELTA))) if flag else 0.0
        rivals = [c for c, allowed in zip(candidates, eligible[row].tolist(), strict=True) if allowed]
        total = sum(math.exp(ALPHA * (score(mention, candidate) + DELTA)) for candidate in rivals)
        losses.append(loss + math.log(1 + total))
    return losses


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("linked", [[True] * 5, [True, False, True, True, False]])
@pytest.mark.parametrize("similarity", EVERY)
def test_plain_arithmetic(similarity: Similarity, linked: list[bool], shared: bool) -> None:
    given, masks = texts(similarity, shared=shared)
    eligible = chance()
    expected = plain_loss(given, masks, eligible, linked, similarity)
    batch = inputs(given, masks, eligible=eligible, linked=linked)
    loss = ProxyLoss(alpha=ALPHA, delta=DELTA, similarity=similarity)
    assert loss(batch).item() == pytest.approx(sum(expected) / 5, rel=1e-9)  # softplus is linear above 20
    kept = [loss for loss, flag in zip(expected, linked, strict=True) if flag]
    without = ProxyLoss(alpha=ALPHA, delta=DELTA, nil_negatives=False, similarity=similarity)
    assert without(batch).item() == pytest.approx(sum(kept) / len(kept), rel=1e-9)  # softplus is linear above 20


def test_gradient_is_equation_4() -> None:
    generator = torch.Generator().manual_seed(3)
    positive = torch.randn(3, generator=generator, dtype=torch.double, requires_grad=True)
    negative = torch.randn(3, 4, generator=generator, dtype=torch.double, requires_grad=True)
    eligible, linked = chance(batch=3), torch.ones(3, dtype=torch.bool)
    proxy_loss(positive, negative, eligible, linked, alpha=ALPHA, delta=DELTA).sum().backward()
    pulled = torch.exp(-ALPHA * (positive.detach() - DELTA))
    pushed = torch.exp(ALPHA * (negative.detach() + DELTA)) * eligible
    torch.testing.assert_close(positive.grad, -ALPHA * pulled / (1 + pulled))
    torch.testing.assert_close(negative.grad, ALPHA * pushed / (1 + pushed.sum(1, keepdim=True)))


def test_oracle_is_multi_similarity_at_margin_zero() -> None:
    """That loss, divided by its alpha and beta, with the entities as references and one label for each of them."""
    given = vectors(batch=6, negatives=5, width=4)
    gold = torch.tensor([3, 0, 4, 3, 1, 0])
    batch = Vectors(given.mentions, given.candidates[gold], given.candidates)
    eligible = gold.unsqueeze(1) != torch.arange(5)
    ours = ProxyLoss(alpha=32.0, delta=0.0)(inputs(batch, eligible=eligible))
    oracle = MultiSimilarityLoss(alpha=32, beta=32, base=0)
    theirs = oracle(given.mentions, gold, ref_emb=given.candidates, ref_labels=torch.arange(5))
    torch.testing.assert_close(ours, 32 * theirs)
    wanted = (given.mentions, given.candidates)
    for one, other in zip(torch.autograd.grad(ours, wanted), torch.autograd.grad(32 * theirs, wanted), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("similarity", [Similarity.COSINE, Similarity.SOM])
@pytest.mark.parametrize("negatives", [0, 4])
def test_without_any_negative_only_the_pull_is_left(negatives: int, similarity: Similarity) -> None:
    given, masks = texts(similarity, negatives=negatives)
    nobody = torch.zeros(5, negatives, dtype=torch.bool)
    loss = ProxyLoss(alpha=ALPHA, delta=DELTA, similarity=similarity)(inputs(given, masks, eligible=nobody))
    expected = plain_loss(given, masks, nobody, [True] * 5, similarity)
    assert loss.item() == pytest.approx(sum(expected) / 5)
    of_mentions, _, of_candidates = gradients(loss, given)
    assert of_mentions.isfinite().all()
    assert of_mentions.any()
    assert not of_candidates.any()


def test_nil_mention_is_pushed_away_but_ignores_its_positive() -> None:
    given = vectors()
    of_mentions, of_positives, of_candidates = gradients(ProxyLoss()(inputs(given, linked=[False] * 5)), given)
    assert not of_positives.any()
    assert of_mentions.any()
    assert of_candidates.any()


def test_margin_raises_the_loss_of_both_sides() -> None:
    """δ > 0 wants the positive higher and the negatives lower: both terms grow."""
    given, nobody = vectors(), torch.zeros(5, 4, dtype=torch.bool)
    assert ProxyLoss(delta=0.1)(inputs(given, eligible=nobody)) > ProxyLoss()(inputs(given, eligible=nobody))
    nil = [False] * 5
    assert ProxyLoss(delta=0.1)(inputs(given, linked=nil)) > ProxyLoss()(inputs(given, linked=nil))


def test_alpha_must_be_positive() -> None:
    with pytest.raises(ModelError, match="alpha"):
        ProxyLoss(alpha=0.0)


def test_calibrated_takes_as_zero_what_lies_between_right_and_wrong() -> None:
    given = inputs(vectors(), linked=[True, True, False, True, True])
    loss = ProxyLoss(alpha=4.0, calibrated=True)
    loss.calibrate(given)
    rights = [cosine(m.tolist(), p.tolist()) for m, p in zip(given.mentions, given.positives, strict=True)]
    wrongs = [max(cosine(m.tolist(), c.tolist()) for c in given.candidates) for m in given.mentions]
    kept = [0, 1, 3, 4]
    middle = (sum(rights[n] for n in kept) + sum(wrongs[n] for n in kept)) / 8
    assert loss.shift == pytest.approx(middle)
    moved = proxy_loss(
        torch.tensor(rights) - middle,
        torch.tensor([[cosine(m.tolist(), c.tolist()) for c in given.candidates] for m in given.mentions]) - middle,
        given.eligible,
        given.linked,
        alpha=4.0,
        delta=0.0,
    )
    assert float(loss(given).detach()) == pytest.approx(float(moved.mean()), abs=1e-6)


def test_calibration_leaves_the_loss_as_published_where_no_mention_has_a_negative() -> None:
    loss = ProxyLoss(calibrated=True)
    loss.calibrate(inputs(vectors(), eligible=torch.zeros(5, 4, dtype=torch.bool)))
    assert loss.shift == 0.0
    loss.calibrate(inputs(vectors(), linked=[False] * 5))
    assert loss.shift == 0.0

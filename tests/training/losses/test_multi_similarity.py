import math

import pytest
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss as PublicLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner

from models.errors import ModelError
from tests.training.losses.batches import EVERY, SCORE, Masks, Vectors, chance, cosine, inputs, row_of, texts, vectors
from training.losses.base import Similarity
from training.losses.multi_similarity import MultiSimilarityLoss, multi_similarity_loss

ALPHA, BETA, BASE, MARGIN = 1.5, 4.0, 0.2, 0.3
ALL = 1e9  # a margin within which every pair counts


def plain_loss(
    given: Vectors, masks: Masks | None, eligible: torch.Tensor, similarity: Similarity, *, margin: float
) -> list[float]:
    score, losses = SCORE[similarity], []
    for row in range(len(given.mentions)):
        mention, positive, candidates = row_of(given, masks, row)
        right = score(mention, positive)
        rivals = [score(mention, c) for c, allowed in zip(candidates, eligible[row].tolist(), strict=True) if allowed]
        hard = [wrong for wrong in rivals if wrong > right - margin]
        pull = math.log(1 + math.exp(-ALPHA * (right - BASE))) / ALPHA
        push = math.log(1 + sum(math.exp(BETA * (wrong - BASE)) for wrong in hard)) / BETA
        losses.append(pull + push if hard else 0.0)
    return losses


@pytest.mark.parametrize("margin", [0.0, MARGIN, ALL])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("similarity", EVERY)
def test_plain_arithmetic(similarity: Similarity, shared: bool, margin: float) -> None:
    given, masks = texts(similarity, shared=shared)
    eligible, linked = chance(), [True, False, True, True, False]
    expected = plain_loss(given, masks, eligible, similarity, margin=margin)
    kept = [loss for loss, flag in zip(expected, linked, strict=True) if flag]
    loss = MultiSimilarityLoss(alpha=ALPHA, beta=BETA, base=BASE, margin=margin, similarity=similarity)
    found = loss(inputs(given, masks, eligible=eligible, linked=linked))
    assert found.item() == pytest.approx(sum(kept) / len(kept), rel=1e-9)  # softplus is linear above 20


def test_gradient_is_that_of_the_docstring() -> None:
    generator = torch.Generator().manual_seed(3)
    positive = torch.randn(3, generator=generator, dtype=torch.double, requires_grad=True)
    negative = torch.randn(3, 4, generator=generator, dtype=torch.double, requires_grad=True)
    counts = torch.ones(3, 4, dtype=torch.bool)
    multi_similarity_loss(positive, negative, counts, alpha=ALPHA, beta=BETA, base=BASE).sum().backward()
    pushed = torch.exp(BETA * (negative.detach() - BASE))
    torch.testing.assert_close(positive.grad, -torch.sigmoid(-ALPHA * (positive.detach() - BASE)))
    torch.testing.assert_close(negative.grad, pushed / (1 + pushed.sum(1, keepdim=True)))


@pytest.mark.parametrize("margin", [0.05, 0.3])
def test_oracle_is_a_public_library_with_its_miner(margin: float) -> None:
    """Entities as references, each with a label of its own, so that every mention has one positive."""
    given = vectors(batch=6, negatives=5, width=4)
    gold, labels = torch.tensor([3, 0, 4, 3, 1, 0]), torch.arange(5)
    batch = Vectors(given.mentions, given.candidates[gold], given.candidates)
    eligible = gold.unsqueeze(1) != labels
    ours = MultiSimilarityLoss(margin=margin)(inputs(batch, eligible=eligible))
    pairs = MultiSimilarityMiner(epsilon=margin)(given.mentions, gold, ref_emb=given.candidates, ref_labels=labels)
    assert 0 < len(pairs[0]) < 6, "some mentions have no hard pair"
    oracle = PublicLoss(alpha=2, beta=50, base=0.5)
    theirs = oracle(given.mentions, gold, pairs, ref_emb=given.candidates, ref_labels=labels)
    torch.testing.assert_close(ours, theirs)
    wanted = (given.mentions, given.candidates)
    for one, other in zip(torch.autograd.grad(ours, wanted), torch.autograd.grad(theirs, wanted), strict=True):
        torch.testing.assert_close(one, other)


def test_calibrated_takes_as_base_what_lies_between_right_and_wrong() -> None:
    given = inputs(vectors(), linked=[True, True, False, True, True])
    loss = MultiSimilarityLoss(calibrated=True)
    loss.calibrate(inputs(vectors(), linked=[False] * 5))
    assert loss.base == 0.5
    loss.calibrate(given)
    rights = [cosine(m.tolist(), p.tolist()) for m, p in zip(given.mentions, given.positives, strict=True)]
    wrongs = [max(cosine(m.tolist(), c.tolist()) for c in given.candidates) for m in given.mentions]
    kept = [0, 1, 3, 4]
    assert loss.base == pytest.approx((sum(rights[n] for n in kept) + sum(wrongs[n] for n in kept)) / 8)


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"beta": 0.0}, {"margin": -0.1}])
def test_parameters_out_of_range(options: dict[str, float]) -> None:
    with pytest.raises(ModelError, match=next(iter(options))):
        MultiSimilarityLoss(**options)

import pytest
import torch

from models.errors import ModelError
from tests.training.losses.batches import Vectors, apart, chance, gradients, inputs, row_of, vectors
from training.losses.hinge import hardest_negatives, nearest_of
from training.losses.triplet import TripletLoss

WIDE = 50.0  # a margin that keeps every mention away from the hinge


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("linked", [[True] * 5, [False, True, True, False, True]])
def test_plain_arithmetic(shared: bool, squared: bool, linked: list[bool]) -> None:
    given, eligible = vectors(shared=shared), chance()
    eligible[4] = False
    power, expected = 2 if squared else 1, []
    for row in range(5):
        mention, positive, candidates = row_of(given, None, row)
        rivals = [c for c, allowed in zip(candidates, eligible[row].tolist(), strict=True) if allowed]
        if linked[row] and rivals:
            nearest = min(apart(mention, c) for c in rivals)
            expected.append(max(0.0, apart(mention, positive) ** power - nearest**power + 4.0))
    batch = inputs(given, eligible=eligible, linked=linked)
    found = TripletLoss(margin=4.0, squared=squared)(batch)
    assert found.item() == pytest.approx(sum(expected) / len(expected), rel=1e-12)
    assert 0 < sum(value > 0 for value in expected) <= len(expected)


def test_distance_is_squared_unless_otherwise_wished() -> None:
    given = Vectors(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 2.0], [9.0, 9.0]]))
    assert TripletLoss(margin=1.5)(inputs(given)).item() == pytest.approx(25 - 4 + 1.5)
    assert TripletLoss(margin=1.5, squared=False)(inputs(given)).item() == pytest.approx(5 - 2 + 1.5)


def test_gradient_of_squares_is_twice_the_differences() -> None:
    given = vectors(batch=1, negatives=1)
    found = gradients(TripletLoss(margin=WIDE)(inputs(given)), given)
    mention, positive, negative = (values.detach() for values in given)
    for one, other in zip(
        found, (2 * (negative - positive), 2 * (positive - mention), 2 * (mention - negative)), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_only_the_hardest_candidate_is_pushed() -> None:
    given = vectors()
    of_candidates = gradients(TripletLoss(margin=WIDE)(inputs(given)), given)[2]
    nearest = {min(range(4), key=lambda c: apart(m, given.candidates[c].tolist())) for m in given.mentions.tolist()}
    assert set(of_candidates.any(dim=1).nonzero().flatten().tolist()) == nearest


def test_beyond_the_margin_nothing_is_learnt() -> None:
    given = vectors(batch=1, negatives=1)
    far = Vectors(given.mentions, given.mentions.detach() + 0.1, given.mentions.detach() + 9.0)
    loss = TripletLoss(margin=1.6)(inputs(far))
    assert loss.item() == 0.0
    assert not torch.autograd.grad(loss, given.mentions)[0].any()


def test_clusters_are_not_looked_at() -> None:
    given = vectors()
    alone, grouped = TripletLoss()(inputs(given)), TripletLoss()(inputs(given, clusters=[0, 0, 0, 1, -1]))
    assert alone.item() == grouped.item()


@pytest.mark.parametrize("shared", [True, False])
def test_hardest_is_the_nearest_that_is_eligible(shared: bool) -> None:
    anchors, candidates = torch.zeros(2, 2), torch.tensor([[0.1, 0.0], [1.0, 0.0], [5.0, 0.0]])
    own = candidates if shared else candidates.expand(2, 3, 2)
    index, there = hardest_negatives(anchors, own, torch.tensor([[False, True, True], [False] * 3]))
    assert index[0] == 1
    assert there.tolist() == [True, False]
    assert nearest_of(own, index)[0].tolist() == [1.0, 0.0]
    assert not index.requires_grad


def test_margin_must_be_positive() -> None:
    with pytest.raises(ModelError, match="margin"):
        TripletLoss(margin=0.0)

import pytest
import torch

from models.errors import ModelError
from tests.training.losses.batches import Vectors, apart, chance, gradients, inputs, row_of, vectors
from training.losses.base import Similarity, distances
from training.losses.prototype import PrototypeTripletLoss, first_members, prototypes
from training.losses.triplet import TripletLoss

CLUSTERS = [0, 1, 0, 2, 1]
WIDE = 50.0  # a margin that keeps every cluster away from the hinge


def plain_loss(
    given: Vectors, eligible: torch.Tensor, linked: list[bool], clusters: list[int], margin: float, power: int
) -> float:
    losses = []
    for cluster in sorted(set(clusters)):
        rows = [row for row, number in enumerate(clusters) if number == cluster and linked[row] and number >= 0]
        if not rows:
            continue
        members = [given.mentions[row].tolist() for row in rows]
        mean = [sum(column) / len(rows) for column in zip(*members, strict=True)]
        anchor, positive, candidates = row_of(given, None, rows[0])
        rivals = [c for c, allowed in zip(candidates, eligible[rows[0]].tolist(), strict=True) if allowed]
        if not rivals:
            continue
        negative = min(rivals, key=lambda c: apart(anchor, c))
        losses.append(max(0.0, apart(mean, positive) ** power - apart(mean, negative) ** power + margin))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("linked", [[True] * 5, [False, True, True, False, True]])
@pytest.mark.parametrize(
    "clusters", [CLUSTERS, [0, 1, 2, 3, 4], [70, 9, 9, 70, -1], [2, 2, 2, 2, 2], [-1, -3, 5, 5, 0]]
)
def test_plain_arithmetic(shared: bool, squared: bool, linked: list[bool], clusters: list[int]) -> None:
    given, eligible = vectors(shared=shared), chance(seed=2)
    expected = plain_loss(given, eligible, linked, clusters, 2.5, 2 if squared else 1)
    batch = inputs(given, eligible=eligible, linked=linked, clusters=clusters)
    found = PrototypeTripletLoss(margin=2.5, squared=squared)(batch)
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_distance_is_not_squared_unless_otherwise_wished() -> None:
    mentions = torch.tensor([[-1.0, 0.0], [1.0, 0.0]])
    positives, candidates = torch.tensor([[3.0, 4.0]] * 2), torch.tensor([[0.0, 2.0], [9.0, 9.0]])
    batch = inputs(Vectors(mentions, positives, candidates), clusters=[0, 0])
    assert PrototypeTripletLoss(margin=1.5)(batch).item() == pytest.approx(5 - 2 + 1.5)
    assert PrototypeTripletLoss(margin=1.5, squared=True)(batch).item() == pytest.approx(25 - 4 + 1.5)


@pytest.mark.parametrize("loss", [PrototypeTripletLoss, TripletLoss])
def test_by_cosine_the_length_of_a_vector_does_not_matter(loss: type[PrototypeTripletLoss | TripletLoss]) -> None:
    """Unit vectors at 30, 60 and 90 degrees from (1, 0): the distance is the chord."""
    root = 3**0.5
    mentions, positives = torch.tensor([[5.0, 0.0]]), torch.tensor([[0.5, root / 2]])
    candidates = torch.tensor([[0.0, 0.1], [9 * root, 9.0]])  # the far end of a small angle
    batch = inputs(Vectors(mentions, positives, candidates), clusters=[0])
    by_cosine = loss(margin=1.0, squared=True, similarity=Similarity.COSINE)
    assert by_cosine(batch).item() == pytest.approx((2 - 2 * 0.5) - (2 - 2 * root / 2) + 1)
    lengthened = inputs(Vectors(3 * mentions, positives / 7, 5 * candidates), clusters=[0])
    assert by_cosine(lengthened).item() == pytest.approx(by_cosine(batch).item())


def test_by_cosine_a_prototype_lies_between_its_mentions_whatever_their_lengths() -> None:
    """Mentions at 0 and 90 degrees, the gold entity at 60, the other at 30: 15 degrees to both."""
    root = 3**0.5
    mentions, positives = torch.tensor([[5.0, 0.0], [0.0, 0.1]]), torch.tensor([[0.5, root / 2]] * 2)
    batch = inputs(Vectors(mentions, positives, torch.tensor([[9 * root, 9.0]])), clusters=[0, 0])
    assert PrototypeTripletLoss(margin=1.0, similarity=Similarity.COSINE)(batch).item() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("loss", [PrototypeTripletLoss, TripletLoss])
@pytest.mark.parametrize("similarity", [Similarity.DOT, Similarity.SOM])
def test_what_no_distance_orders_is_refused(
    loss: type[PrototypeTripletLoss | TripletLoss], similarity: Similarity
) -> None:
    with pytest.raises(ModelError, match=f"“{similarity.value}” is not one"):
        loss(similarity=similarity)


def test_hardest_is_nearest_to_the_anchor_and_not_to_the_prototype() -> None:
    mentions = torch.tensor([[0.0, 0.0], [8.0, 0.0]])  # the prototype is at (4, 0)
    by_anchor, by_prototype = [0.0, 3.0], [4.0, 1.0]
    given = Vectors(mentions, torch.tensor([[4.0, 2.0]] * 2), torch.tensor([by_prototype, by_anchor]))
    assert PrototypeTripletLoss(margin=6.0)(inputs(given, clusters=[0, 0])).item() == pytest.approx(2 - 5 + 6)


def test_all_mentions_of_a_cluster_get_the_same_gradient() -> None:
    """Its members move in one direction, that of the prototype (paper, figure 2)."""
    given = vectors()
    found = gradients(PrototypeTripletLoss(margin=WIDE)(inputs(given, clusters=CLUSTERS)), given)[0]
    torch.testing.assert_close(found[0], found[2])
    torch.testing.assert_close(found[1], found[4])
    assert not torch.allclose(found[0], found[1])


@pytest.mark.parametrize("squared", [False, True])
def test_clusters_of_one_are_plain_triplets(squared: bool) -> None:
    given, eligible = vectors(), chance()
    alone = PrototypeTripletLoss(squared=squared)(inputs(given, eligible=eligible, clusters=[4, 3, 2, 1, 0]))
    assert alone.item() == pytest.approx(TripletLoss(squared=squared)(inputs(given, eligible=eligible)).item())


def test_mentions_in_no_cluster_get_no_gradient() -> None:
    given = vectors()
    loss = PrototypeTripletLoss(margin=WIDE)
    found = gradients(loss(inputs(given, clusters=[0, -1, 0, -1, 1])), given)[0]
    assert found.any(dim=1).tolist() == [True, False, True, False, True]
    assert loss(inputs(given, clusters=[-1] * 5)).item() == 0.0


def test_beyond_the_margin_nothing_is_learnt() -> None:
    given = vectors(batch=1, negatives=1)
    far = Vectors(given.mentions, given.mentions.detach() + 0.1, given.mentions.detach() + 9.0)
    loss = PrototypeTripletLoss(margin=1.6)(inputs(far, clusters=[0]))
    assert loss.item() == 0.0
    assert not torch.autograd.grad(loss, given.mentions)[0].any()


def test_coinciding_points_have_no_nan_gradient() -> None:
    point = torch.ones(1, 2, requires_grad=True)
    distances(point, point.detach()).sum().backward()
    assert point.grad is not None
    assert point.grad.isfinite().all()


def test_prototype_is_the_mean_and_anchor_the_first() -> None:
    mentions, clusters = torch.tensor([[1.0, 0.0], [4.0, 4.0], [3.0, 2.0]]), torch.tensor([0, 1, 0])
    torch.testing.assert_close(prototypes(mentions, clusters), torch.tensor([[2.0, 1.0], [4.0, 4.0]]))
    assert first_members(torch.tensor([2, 0, 2, 1])).tolist() == [1, 3, 0]
    with pytest.raises(ModelError, match="gaps"):
        prototypes(mentions, torch.tensor([0, 2, 2]))


def test_clusters_are_needed_and_the_margin_positive() -> None:
    with pytest.raises(ModelError, match="clusters"):
        PrototypeTripletLoss()(inputs(vectors()))
    with pytest.raises(ModelError, match="margin"):
        PrototypeTripletLoss(margin=0.0)

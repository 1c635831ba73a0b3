import pytest
import torch
from torch.autograd import gradcheck

from models.errors import ModelError
from tests.training.losses.batches import Vectors, apart, inputs, vectors
from training.losses import PrototypeTripletLoss
from training.losses.base import distances
from training.losses.hinge import hardest_negatives
from training.losses.prototype import first_members, prototypes

CLUSTERS = [0, 1, 0, 2, 1]


def plain_loss(
    given: Vectors, eligible: torch.Tensor, linked: list[bool], margin: float, *, squared: bool = False
) -> float:
    mentions, positives, candidates = (tensor.tolist() for tensor in given)
    power = 2 if squared else 1
    losses = []
    for cluster in sorted(set(CLUSTERS)):
        rows = [row for row, number in enumerate(CLUSTERS) if number == cluster and linked[row]]
        if not rows:
            continue
        anchor = rows[0]
        mean = [sum(mentions[row][axis] for row in rows) / len(rows) for axis in range(3)]
        own = candidates if given.candidates.dim() == 2 else candidates[anchor]
        allowed = [c for column, c in enumerate(own) if eligible[anchor, column]]
        if not allowed:
            continue
        negative = min(allowed, key=lambda c: apart(mentions[anchor], c))
        gap = apart(mean, positives[anchor]) ** power - apart(mean, negative) ** power + margin
        losses.append(max(0.0, gap))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("linked", [[True] * 5, [False, True, True, False, True]])
def test_equals_plain_arithmetic(shared: bool, squared: bool, linked: list[bool]) -> None:
    given = vectors(shared=shared)
    eligible = torch.rand(5, 4, generator=torch.Generator().manual_seed(2)) > 0.3
    expected = plain_loss(given, eligible, linked, 1.2, squared=squared)
    batch = inputs(given, eligible=eligible, linked=linked, clusters=CLUSTERS)
    assert PrototypeTripletLoss(margin=1.2, squared=squared)(batch).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_gradient_is_numerically_right_away_from_the_hinge(shared: bool) -> None:
    loss = PrototypeTripletLoss(margin=50.0)

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        return loss(inputs(Vectors(*tensors), clusters=CLUSTERS))

    assert gradcheck(value, tuple(vectors(shared=shared)))


def test_beyond_the_margin_nothing_is_learnt() -> None:
    given = vectors(batch=1, negatives=1)
    far = Vectors(given.mentions, given.mentions.detach() + 0.1, given.mentions.detach() + 9.0)
    loss = PrototypeTripletLoss(margin=1.6)(inputs(far, clusters=[0]))
    loss.backward()
    assert loss.item() == 0.0
    assert given.mentions.grad is not None
    assert not given.mentions.grad.any()


def test_false_negatives_are_masked() -> None:
    anchors, candidates = torch.zeros(1, 2), torch.tensor([[0.1, 0.0], [1.0, 0.0], [5.0, 0.0]])
    index, there = hardest_negatives(anchors, candidates, torch.tensor([[False, True, True]]))
    assert (index.tolist(), there.tolist()) == ([1], [True])
    _, nobody = hardest_negatives(anchors, candidates, torch.zeros(1, 3, dtype=torch.bool))
    assert nobody.tolist() == [False]


@pytest.mark.parametrize("negatives", [0, 4])
def test_without_any_negative_the_loss_is_zero(negatives: int) -> None:
    given = vectors(negatives=negatives)
    nobody = torch.zeros(5, negatives, dtype=torch.bool)
    loss = PrototypeTripletLoss()(inputs(given, eligible=nobody, clusters=CLUSTERS))
    loss.backward()
    assert loss.item() == 0.0


def test_nil_mentions_are_left_out() -> None:
    loss = PrototypeTripletLoss()(inputs(vectors(), linked=[False] * 5, clusters=CLUSTERS))
    assert loss.item() == 0.0


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


def test_clusters_are_needed_and_margin_positive() -> None:
    with pytest.raises(ModelError, match="clusters"):
        PrototypeTripletLoss()(inputs(vectors()))
    with pytest.raises(ModelError, match="margin"):
        PrototypeTripletLoss(margin=0.0)

"""Soft-radius neighbours and the learning of the radius, against loops over plain numbers."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence

import pytest
import torch

from models.errors import ModelError
from training.losses.base import LossInputs
from training.losses.prototype import PrototypeTripletLoss
from training.tasks.clustering import (
    OUTSIDE,
    Measure,
    RadiusSettings,
    SoftRadius,
    anchor_distances,
    cluster_radii,
)

AS_PUBLISHED = RadiusSettings(rescale=False)


def batch(seed: int, *, count: int = 17, clusters: int = 5, width: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    draw = random.Random(seed)
    numbers = [draw.randrange(clusters) for _ in range(count)]
    vectors = [[draw.gauss(0, 2.8) for _ in range(width)] for _ in range(count)]
    return torch.tensor(vectors), torch.tensor(numbers)


def plain_distances(vectors: torch.Tensor, numbers: torch.Tensor) -> list[float]:
    anchors: dict[int, list[float]] = {}
    found = []
    for vector, number in zip(vectors.tolist(), numbers.tolist(), strict=True):
        anchor = anchors.setdefault(number, vector)
        found.append(math.sqrt(sum((a - b) ** 2 for a, b in zip(vector, anchor, strict=True))))
    return found


def plain_radii(distances: Sequence[float], numbers: Sequence[int], reach: float, *, mean: bool) -> dict[int, float]:
    radii = {}
    for number in set(numbers):
        own = [d for d, n in zip(distances, numbers, strict=True) if n == number]
        near = [distance for distance in own[1:] if distance < reach]
        if near:
            radii[number] = sum(near) / len(near) if mean else max(near)
    return radii


@pytest.mark.parametrize("seed", range(4))
def test_distances_are_from_the_first_mention_of_the_cluster(seed: int) -> None:
    vectors, numbers = batch(seed)
    torch.testing.assert_close(anchor_distances(vectors, numbers), torch.tensor(plain_distances(vectors, numbers)))
    shifted = anchor_distances(vectors, 40 - 7 * numbers)
    torch.testing.assert_close(shifted, anchor_distances(vectors, numbers))


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("seed", range(4))
def test_members_are_within_lambda_plus_epsilon_of_the_anchor(seed: int, measure: Measure) -> None:
    vectors, numbers = batch(seed)
    soft = SoftRadius(RadiusSettings(radius=9.5, epsilon=1.0, rescale=False, measure=measure))
    names = (100 + numbers).tolist()
    kept = soft.select(vectors, numbers, names=names).tolist()
    distances = plain_distances(vectors, numbers)
    assert kept == [n if d < 10.5 else OUTSIDE for n, d in zip(numbers.tolist(), distances, strict=True)]
    assert OUTSIDE in kept
    radii = {int(name): radius for name, radius in soft.state()["seen"].items()}
    expected = plain_radii(distances, names, 10.5, mean=measure is Measure.MEAN)
    assert radii == pytest.approx(expected, rel=1e-5)
    assert len(radii) > 1


def test_the_radius_is_no_member_and_an_anchor_always_is() -> None:
    vectors, numbers = torch.tensor([[0.0], [12.0], [11.99], [5.0]]), torch.tensor([0, 0, 0, 1])
    assert SoftRadius(AS_PUBLISHED).select(vectors, numbers, names=[0, 0, 0, 1]).tolist() == [0, OUTSIDE, 0, 1]


def test_a_cluster_of_nothing_but_its_anchor_has_no_radius() -> None:
    distances, numbers = torch.tensor([0.0, 3.0, 0.0, 9.0, 0.0, 0.0]), torch.tensor([0, 0, 1, 1, 2, 2])
    inside = distances < 5
    assert cluster_radii(distances, numbers, inside, Measure.FARTHEST) == {0: 3.0, 2: 0.0}


def test_lambda_follows_adam_towards_the_mean_radius() -> None:
    soft = SoftRadius(RadiusSettings(learning_rate=0.05, rescale=False))
    value, first, second = 11.0, 0.0, 0.0
    for step in range(1, 30):
        vectors, numbers = batch(step)
        soft.select(vectors, numbers, names=numbers.tolist())
        radii = plain_radii(plain_distances(vectors, numbers), numbers.tolist(), value + 1.0, mean=False)
        soft.step()
        gradient = value - sum(radii.values()) / len(radii)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        unbiased = first / (1 - 0.9**step), second / (1 - 0.999**step)
        value -= 0.05 * unbiased[0] / (math.sqrt(unbiased[1]) + 1e-8)
        assert soft.radius == pytest.approx(value, rel=1e-4)
    assert abs(soft.radius - 11.0) > 0.3


def test_lambda_settles_at_the_mean_radius_and_never_below_zero() -> None:
    vectors, numbers = torch.tensor([[0.0], [1.0], [0.0], [2.2]]), torch.tensor([0, 0, 1, 1])
    soft = SoftRadius(RadiusSettings(radius=4.0, learning_rate=0.02, rescale=False))
    for _ in range(400):
        soft.select(vectors, numbers, names=[0, 0, 1, 1])
        soft.step()
    assert soft.radius == pytest.approx(1.6, abs=0.05)
    tiny = SoftRadius(RadiusSettings(radius=0.01, learning_rate=1.0, rescale=False))
    for _ in range(3):
        tiny.select(torch.zeros(2, 3), torch.tensor([0, 0]), names=[0, 0])
        tiny.step()
    assert tiny.radius == 0.0


def test_without_clusters_nothing_is_learnt() -> None:
    soft = SoftRadius(AS_PUBLISHED)
    soft.select(torch.tensor([[0.0], [99.0]]), torch.tensor([0, 0]), names=[0, 0])
    soft.step()
    assert soft.radius == 11.0


def test_one_step_takes_all_batches_since_the_last_and_each_cluster_once() -> None:
    batches = [(torch.tensor([[0.0], [2.0]]), 0), (torch.tensor([[0.0], [6.0]]), 1)]
    together, repeated = SoftRadius(AS_PUBLISHED), SoftRadius(AS_PUBLISHED)
    for soft, given in ((together, batches), (repeated, [batches[0], *batches])):
        for vectors, name in given:
            soft.select(vectors, torch.tensor([0, 0]), names=[name, name])
        assert soft.state()["seen"] == {"0": 2.0, "1": 6.0}
        soft.step()
        assert soft.state()["seen"] == {}
    assert together.radius == repeated.radius == pytest.approx(10.99)


def test_rescaled_by_the_mean_distance_before_training() -> None:
    soft = SoftRadius(RadiusSettings(learning_rate=0.005))
    assert not soft.scaled
    soft.rescale([1.0, 3.0, 2.6])
    assert (soft.radius, soft.epsilon) == pytest.approx((2.2, 0.2))
    assert soft.state()["learning_rate"] == pytest.approx(0.001)
    soft.rescale([90.0])
    assert soft.radius == pytest.approx(2.2)
    for distances in ([], [0.0]):
        unmeasured = SoftRadius()
        unmeasured.rescale(distances)
        assert (unmeasured.radius, unmeasured.scaled) == (11.0, True)
    fixed = SoftRadius(AS_PUBLISHED)
    fixed.rescale([2.2])
    assert fixed.radius == 11.0


@pytest.mark.parametrize("steps", [0, 7])
def test_state_goes_on_bit_for_bit(steps: int) -> None:
    soft, fresh = SoftRadius(), SoftRadius()
    soft.rescale([8.0, 9.0])
    for step in range(steps):
        vectors, numbers = batch(step)
        soft.select(vectors, numbers, names=numbers.tolist())
        soft.step()
    soft.select(*batch(50), names=batch(50)[1].tolist())
    fresh.load_state(json.loads(json.dumps(soft.state())))
    for step in range(60, 70):
        vectors, numbers = batch(step)
        for each in (soft, fresh):
            each.step()
            each.select(vectors, numbers, names=numbers.tolist())
        assert fresh.radius == soft.radius
        assert fresh.epsilon == soft.epsilon
    assert fresh.state() == soft.state()


def test_the_prototype_leaves_out_who_is_outside_the_radius() -> None:
    vectors = torch.tensor([[0.0, 0.0], [2.0, 0.0], [50.0, 0.0]], requires_grad=True)
    numbers = torch.tensor([0, 0, 0])
    clusters = SoftRadius(AS_PUBLISHED).select(vectors, numbers, names=[0, 0, 0])
    made = LossInputs(
        mentions=vectors,
        positives=torch.tensor([[1.0, 3.0]] * 3),
        candidates=torch.tensor([[1.0, -2.0]]),
        eligible=torch.tensor([[True], [False], [False]]),
        linked=torch.tensor([True] * 3),
        clusters=clusters,
    )
    loss = PrototypeTripletLoss(margin=1.6)(made)
    assert loss.item() == pytest.approx(3.0 - 2.0 + 1.6)
    loss.backward()
    assert vectors.grad is not None
    assert vectors.grad[2].tolist() == [0.0, 0.0]
    assert bool((vectors.grad[:2] != 0).any())


@pytest.mark.parametrize("wrong", [{"radius": 0.0}, {"learning_rate": -1.0}, {"epsilon": -0.1}])
def test_settings_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(ModelError, match=next(iter(wrong))):
        RadiusSettings(**wrong)  # type: ignore[arg-type]

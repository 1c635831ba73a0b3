"""The likelihood of choices against a direct sum and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from models.rankers.conditional_logit import ConditionalLogit

F = 5
Choice = tuple[np.ndarray, np.ndarray]


def loss(weights: np.ndarray, choices: list[Choice], ridge: float, centre: np.ndarray) -> float:
    total = 0.0
    for matrix, gold in choices:
        exps = [float(np.exp(row @ weights)) for row in matrix]
        total -= np.log(sum(e for e, g in zip(exps, gold, strict=True) if g) / sum(exps))
    return total / len(choices) + ridge * float((weights - centre) @ (weights - centre))


def test_the_loss_is_that_of_a_conditional_logit_and_its_gradient_is_right() -> None:
    draw = np.random.default_rng(1)
    choices: list[Choice] = []
    for _ in range(8):
        matrix = draw.normal(size=(int(draw.integers(2, 6)), F))
        choices.append((matrix, np.arange(len(matrix)) < (2 if not choices else 1)))
    centre, weights = draw.normal(size=F), draw.normal(size=F) * 0.3
    problem = ConditionalLogit.of(choices, ridge=0.01, centre=centre)
    value, gradient = problem(weights)
    assert value == pytest.approx(loss(weights, choices, 0.01, centre))
    for at in range(F):
        step = np.eye(F)[at] * 1e-6
        apart = loss(weights + step, choices, 0.01, centre) - loss(weights - step, choices, 0.01, centre)
        assert gradient[at] == pytest.approx(apart / 2e-6, abs=1e-5)

"""Figures under weights against loops over repeated documents; intervals and tests against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score

from training.evaluation.curves import (
    average_precision,
    brier,
    brier_gain,
    calibration_error,
    coverage_at,
    equal_mass,
    precision_recall,
    risk_area,
    risk_coverage,
)
from training.evaluation.resampling import DocumentBootstrap, Figure, f1, macro, mcnemar, ratio

DOCUMENT = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
SCORE = np.array([0.9, 0.4, 0.4, 0.8, 0.1, 0.7, 0.7, 0.2, 0.05])
TRUE = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0], dtype=bool)
SAID = SCORE >= 0.5
GROUP = np.array([0, 1, 0, 1, 0, 0, 1, 1, 2])
TIMES = ([1, 1, 1], [2, 1, 0], [0, 0, 3], [1, 3, 1])


def repeated(values: np.ndarray, times: list[int]) -> np.ndarray:
    """The mentions of every document as often as it was drawn."""
    return np.concatenate(
        [values[np.flatnonzero(one == DOCUMENT)] for one, count in enumerate(times) for _ in range(count)]
    )


def value(figure: Figure, times: list[int]) -> float:
    return float(figure(np.asarray(times, dtype=float)[DOCUMENT][None, :])[0])


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or one == pytest.approx(other, abs=1e-12)


def loop_risk_area(confidence: np.ndarray, right: np.ndarray) -> float:
    total = 0.0
    for mine in confidence:
        covered = [ok for other, ok in zip(confidence, right, strict=True) if other >= mine]
        total += sum(not ok for ok in covered) / len(covered)
    return total / len(confidence)


def loop_macro(hits: np.ndarray, among: np.ndarray, group: np.ndarray) -> float:
    shares = []
    for one in sorted(set(group.tolist())):
        inside = [h for h, a, g in zip(hits, among, group, strict=True) if g == one and a]
        if inside:
            shares.append(sum(inside) / len(inside))
    return sum(shares) / len(shares)


def share_true(*drawn: np.ndarray) -> float:
    truth, said = drawn
    return float(truth[said].mean()) if said.any() else math.nan


def skill(score: np.ndarray, truth: np.ndarray) -> float:
    rate = truth.mean()
    return 1 - brier_score_loss(truth, score) / (rate * (1 - rate))


ORACLES: dict[str, tuple[Figure, tuple[np.ndarray, ...], Callable[..., float]]] = {
    "ratio": (ratio(TRUE & SAID, SAID), (TRUE, SAID), share_true),
    "f1": (f1(TRUE, SAID), (TRUE, SAID), lambda t, s: f1_score(t, s)),
    "macro": (macro(SAID & TRUE, TRUE, GROUP, 3), (SAID & TRUE, TRUE, GROUP), loop_macro),
    "average precision": (average_precision(SCORE, TRUE), (TRUE, SCORE), average_precision_score),
    "risk area": (risk_area(SCORE, TRUE), (SCORE, TRUE), loop_risk_area),
    "brier": (brier(SCORE, TRUE), (TRUE, SCORE), brier_score_loss),
    "brier gain": (brier_gain(SCORE, TRUE), (SCORE, TRUE), skill),
}


@pytest.mark.parametrize("times", TIMES, ids=str)
@pytest.mark.parametrize("name", ORACLES)
def test_a_weighted_figure_is_the_figure_of_the_repeated_documents(name: str, times: list[int]) -> None:
    figure, given_arrays, oracle = ORACLES[name]
    assert same(value(figure, times), oracle(*(repeated(one, times) for one in given_arrays)))


def test_many_resamples_at_once_are_each_their_own() -> None:
    weights = np.asarray(TIMES, dtype=float)[:, DOCUMENT]
    for figure, _, _ in ORACLES.values():
        np.testing.assert_allclose(figure(weights), [value(figure, times) for times in TIMES])


def test_what_is_not_defined_is_nan() -> None:
    weights = np.ones((2, 3))
    none, every = np.zeros(3, dtype=bool), np.ones(3, dtype=bool)
    score = np.array([0.1, 0.2, 0.3])
    for figure in (
        ratio(none, none),
        f1(none, every),
        average_precision(score, none),
        average_precision(score, every),
        brier_gain(score, every),
        risk_area(score[:0], none[:0]),
    ):
        assert np.isnan(figure(weights)).all()


def test_risk_coverage_by_hand() -> None:
    confidence, right = np.array([0.9, 0.8, 0.8, 0.1]), np.array([1, 1, 0, 0], dtype=bool)
    assert risk_coverage(confidence, right) == [(0.25, 0.0), (0.75, pytest.approx(1 / 3, abs=1e-6)), (1.0, 0.5)]
    area = float(risk_area(confidence, right)(np.ones((1, 4)))[0])
    assert area == pytest.approx((0 + 1 / 3 + 1 / 3 + 1 / 2) / 4)
    assert coverage_at(confidence, right, risk=0.05) == 0.25
    assert coverage_at(confidence, right, risk=0.4) == 0.75
    assert coverage_at(confidence, ~right, risk=0.05) == 0.0


def test_precision_recall_by_hand() -> None:
    score, truth = np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 0, 1, 0], dtype=bool)
    assert precision_recall(score, truth) == [(0.5, 1.0), (1.0, pytest.approx(2 / 3, abs=1e-6)), (1.0, 0.5)]
    assert precision_recall(score, ~truth & truth) == []


def test_calibration_error_by_hand_and_with_weights() -> None:
    said, truth = np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 1, 1, 1], dtype=bool)
    figure = calibration_error(said, truth, bins=2)
    low, high = abs(0.15 - 0.5), abs(0.85 - 1.0)
    assert float(figure(np.ones((1, 4)))[0]) == pytest.approx(0.5 * low + 0.5 * high)
    weighted = float(figure(np.array([[3.0, 1.0, 0.0, 0.0]]))[0])
    assert weighted == pytest.approx(abs((3 * 0.1 + 0.2 - 1) / 4))


def test_bins_are_of_equal_mass_and_a_perfect_forecast_has_no_error() -> None:
    parts = equal_mass(np.linspace(0, 1, 100))
    assert [len(part) for part in parts] == [7] * 10 + [6] * 5
    assert len(equal_mass(np.array([0.5, 0.5]))) == 2
    truth = np.arange(100) % 4 == 0
    assert float(calibration_error(truth.astype(float), truth)(np.ones((1, 100)))[0]) == 0.0


def test_the_spread_of_a_mean_is_that_of_documents_not_of_mentions() -> None:
    """40 documents of 5 mentions that stand or fall together: the standard error is √(p q / 40), not √(p q / 200)."""
    document = np.repeat(np.arange(40), 5)
    hits = np.repeat(np.arange(40) % 2 == 0, 5)
    values = DocumentBootstrap(document, resamples=4000, seed=1).values(
        {"share": ratio(hits, np.ones(200, dtype=bool))}
    )
    assert values["share"].std() == pytest.approx(math.sqrt(0.25 / 40), rel=0.05)
    assert values["share"].mean() == pytest.approx(0.5, abs=0.01)


def test_intervals_are_percentiles_and_repeat_with_the_seed() -> None:
    document = np.repeat(np.arange(30), 3)
    hits = np.random.default_rng(5).random(90) < 0.7
    figures = {"share": ratio(hits, np.ones(90, dtype=bool))}
    bootstrap = DocumentBootstrap(document, seed=3)
    values = bootstrap.values(figures)["share"]
    estimate = bootstrap.estimates(figures)["share"]
    assert len(values) == 1000
    assert estimate.value == hits.mean()
    assert (estimate.low, estimate.high) == tuple(np.percentile(values, [2.5, 97.5]))
    assert bootstrap.estimates(figures) == DocumentBootstrap(document, seed=3).estimates(figures)
    assert (values != DocumentBootstrap(document, seed=4).values(figures)["share"]).any()


@settings(max_examples=20, deadline=None)
@given(chunk=st.integers(1, 40))
def test_how_many_are_drawn_at_once_does_not_matter(chunk: int) -> None:
    from unittest.mock import patch

    figures = {"share": ratio(TRUE, np.ones(9, dtype=bool))}
    whole = DocumentBootstrap(DOCUMENT, resamples=30).values(figures)["share"]
    with patch("training.evaluation.resampling.CHUNK_NUMBERS", 9 * chunk):
        assert (DocumentBootstrap(DOCUMENT, resamples=30).values(figures)["share"] == whole).all()


def test_no_interval_where_it_would_say_nothing() -> None:
    every = np.ones(4, dtype=bool)
    one = DocumentBootstrap(np.zeros(4, dtype=int)).estimates({"x": ratio(every, every)})["x"]
    agreed = DocumentBootstrap(np.arange(4)).estimates({"x": ratio(every, every)})["x"]
    rare = DocumentBootstrap(np.arange(4)).estimates({"x": ratio(every, np.array([1, 0, 0, 0], dtype=bool) & ~every)})
    assert (one.value, one.low, agreed.value, agreed.low) == (1.0, None, 1.0, None)
    assert (rare["x"].value, rare["x"].low) == (None, None)
    assert DocumentBootstrap(np.zeros(0, dtype=int)).estimates({"x": ratio(every[:0], every[:0])})["x"].value is None


def test_differences_are_paired() -> None:
    """Two linkers that differ by one mention in every document differ by the same in every resample."""
    document = np.repeat(np.arange(20), 4)
    other = np.random.default_rng(2).random(80) < 0.5
    other[::4] = False
    this = other.copy()
    this[::4] = True
    every = np.ones(80, dtype=bool)
    found = DocumentBootstrap(document).differences({"x": ratio(this, every)}, {"x": ratio(other, every)})["x"]
    assert found.difference.value == pytest.approx(0.25)
    assert found.difference.low is None or found.difference.low == pytest.approx(0.25)
    assert found.better == 1.0
    alike = DocumentBootstrap(document).differences({"x": ratio(this, every)}, {"x": ratio(this, every)})["x"]
    assert (alike.difference.value, alike.better) == (0.0, 0.5)


@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (1, 0), (5, 5), (9, 2), (30, 12)])
def test_mcnemar_is_the_two_sided_binomial_test(ours: int, theirs: int) -> None:
    this = np.array([True] * ours + [False] * theirs + [True, False, True])
    other = np.array([False] * ours + [True] * theirs + [True, False, True])
    found = mcnemar(this, other)
    expected = min(1.0, 2 * binom.cdf(min(ours, theirs), ours + theirs, 0.5)) if ours + theirs else 1.0
    assert (found.only_this, found.only_other) == (ours, theirs)
    assert found.p_value == pytest.approx(expected)

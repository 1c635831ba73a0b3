"""The limits are SciPy's, and hold as often as they say."""

from __future__ import annotations

import random

import pytest
from scipy.stats import beta, binom, hypergeom

from curator.services.curating.bulk_plan import (
    binomial_at_most,
    limit_left,
    most_bad,
    needed,
    sample_at_most,
    upper_limit,
)
from tests.curator.services.bulk_samples import unseen_too_bad


@pytest.mark.parametrize(("wrong", "checked"), [(0, 1), (0, 59), (1, 40), (3, 300), (17, 20), (0, 5000), (40, 5000)])
def test_the_limit_is_the_quantile_of_clopper_and_pearson(wrong: int, checked: int) -> None:
    for alpha in (0.05, 0.01):
        assert upper_limit(wrong, checked, alpha=alpha) == pytest.approx(
            beta.ppf(1 - alpha, wrong + 1, checked - wrong), rel=1e-9
        )


def test_nothing_or_only_errors_bound_nothing() -> None:
    assert upper_limit(0, 0) == upper_limit(4, 4) == 1.0


def test_both_tails_are_scipys() -> None:
    for wrong, checked, rate in [(0, 10, 0.1), (3, 200, 0.02), (7, 8, 0.9), (0, 5, 0.0), (2, 5, 1.0)]:
        assert binomial_at_most(wrong, checked, rate) == pytest.approx(binom.cdf(wrong, checked, rate), abs=1e-12)
    for wrong, checked, bad, total in [(0, 10, 3, 50), (2, 30, 9, 412), (1, 45, 8, 50), (5, 10, 0, 20)]:
        assert sample_at_most(wrong, checked, bad, total) == pytest.approx(
            hypergeom.cdf(wrong, total, bad, checked), abs=1e-9
        )


def test_the_most_bad_is_the_last_that_is_not_refuted() -> None:
    for wrong, checked, total in [(0, 59, 400), (2, 100, 5000), (0, 10, 10), (3, 9, 12)]:
        found = most_bad(wrong, checked, total)
        assert found >= wrong
        assert hypergeom.cdf(wrong, total, found, checked) > 0.05
        if found < total - (checked - wrong):
            assert hypergeom.cdf(wrong, total, found + 1, checked) <= 0.05


def test_a_large_set_is_bounded_as_by_clopper_and_pearson() -> None:
    assert limit_left(2, 300, 1_000_000) == pytest.approx(upper_limit(2, 300), rel=2e-3)


def test_the_needed_sample_is_the_smallest() -> None:
    assert needed(0, 1_000_000, 0.05) == 59
    for wrong, total, error in [(0, 412, 0.02), (1, 412, 0.02), (2, 3000, 0.05), (0, 60, 0.05), (3, 600, 0.02)]:
        size = needed(wrong, total, error)
        assert limit_left(wrong, size, total) <= error
        assert all(limit_left(wrong, smaller, total) > error for smaller in range(wrong, size))
        assert size <= needed(wrong, total, error, least=size + 1) <= total
    assert 400 < needed(3, 412, 0.0) <= 412, "to bound nothing wrong nearly all have to be checked"


SMALL, LARGE = (20, 60, 100, 150, 200, 400), (600, 800, 1258, 3000)


@pytest.mark.parametrize("totals", [SMALL, pytest.param(LARGE, marks=pytest.mark.soak)], ids=["small", "large"])
@pytest.mark.parametrize("error", [0.005, 0.01, 0.02, 0.05, 0.2])
@pytest.mark.parametrize("alpha", [0.05, 0.03, 0.01])
def test_the_unseen_keep_the_error(error: float, alpha: float, totals: tuple[int, ...]) -> None:
    """By SciPy's hypergeometric: whatever the set holds, more than `error` of the unchecked ones are wrong after a
    passed sample with a probability of at most `alpha`."""
    for total in totals:
        for allowed in (0, 1, 3, 8):
            checked = needed(allowed, total, error, alpha=alpha)
            assert unseen_too_bad(total, checked, allowed, error) <= alpha + 1e-9, (total, checked, allowed)


def test_the_limit_of_the_unseen_does_not_count_the_checked() -> None:
    assert (most_bad(3, 249, 600, alpha=0.03) - 3) / 351 == pytest.approx(limit_left(3, 249, 600, alpha=0.03))
    assert limit_left(3, 249, 600, alpha=0.03) > 0.03
    assert limit_left(2, 50, 50) == 0.0


def test_the_limit_is_exceeded_in_five_per_cent_of_samples_at_most() -> None:
    """Of sets with just more wrong ones than an empty sample lets stand: every limit below is a miss."""
    bad = most_bad(0, 60, 500) + 1
    dice, misses, limits = random.Random(3), 0, {wrong: most_bad(wrong, 60, 500) for wrong in range(61)}
    items = [True] * bad + [False] * (500 - bad)
    for _ in range(2000):
        misses += limits[sum(dice.sample(items, 60))] < bad
    assert 0.03 * 2000 < misses <= 0.06 * 2000

"""Exact one-sided limits of the errors in a set, given the errors in a random sample, by plain arithmetic.

Clopper and Pearson (Biometrika 1934): the limit is the largest error rate for which so few errors in the sample still
have a probability above `alpha`. For a sample drawn without replacement from a finite set the probability is
hypergeometric instead of binomial, which needs fewer checks. SciPy gives the same results but takes half a second to
import; the tests compare with it.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p

ALPHA = 0.05
"""The probability that a limit is exceeded: limits hold with 95 % confidence."""


def binomial_at_most(wrong: int, checked: int, rate: float) -> float:
    """P(X ≤ wrong) if each of `checked` is wrong with probability `rate`."""
    if wrong >= checked or rate <= 0.0:
        return 1.0
    if rate >= 1.0:
        return 0.0
    logs = (_choose(checked, k) + k * log(rate) + (checked - k) * log1p(-rate) for k in range(wrong + 1))
    return min(sum(map(exp, logs)), 1.0)


def upper_limit(wrong: int, checked: int, *, alpha: float = ALPHA) -> float:
    """Clopper and Pearson's one-sided upper limit of the error rate, 0…1; 1 if nothing was checked."""
    if wrong >= checked:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_at_most(wrong, checked, middle) > alpha:
            low = middle
        else:
            high = middle
    return high


def sample_at_most(wrong: int, checked: int, bad: int, total: int) -> float:
    """P(X ≤ wrong) if `checked` are drawn without replacement from `total`, `bad` of which are wrong."""
    least, most = max(0, checked - (total - bad)), min(bad, checked)
    if wrong >= most:
        return 1.0
    every = _choose(total, checked)
    logs = (_choose(bad, k) + _choose(total - bad, checked - k) - every for k in range(least, wrong + 1))
    return min(sum(map(exp, logs)), 1.0)


def most_bad(wrong: int, checked: int, total: int, *, alpha: float = ALPHA) -> int:
    """The most errors in a set of `total`, including the sample, at this confidence."""
    low, high = wrong, total - (checked - wrong)  # `low` is possible; beyond `high` nothing is
    while low < high:
        middle = (low + high + 1) // 2
        if sample_at_most(wrong, checked, middle, total) > alpha:
            low = middle
        else:
            high = middle - 1
    return low


def limit_left(wrong: int, checked: int, total: int, *, alpha: float = ALPHA) -> float:
    """The limit of the error rate of the unchecked ones, 0…1: those found wrong in the sample are not among them."""
    unchecked = total - checked
    return (most_bad(wrong, checked, total, alpha=alpha) - wrong) / unchecked if unchecked else 0.0


@lru_cache(maxsize=4096)
def needed(wrong: int, total: int, error: float, *, alpha: float = ALPHA, least: int = 0) -> int:
    """The smallest sample, of `least` or more, in which `wrong` errors still limit the error of the others to `error`
    (below 1); `total` if all must be checked.

    A larger sample is not always enough where a smaller one is: fewer stay unchecked, so fewer of them may be wrong.
    The search starts at the bottom: the number that may be wrong beside a sample determines how large it must at least
    be, and that again how many may be wrong.
    """
    size = max(least, wrong)
    while size < total:
        refuted = wrong + int(error * (total - size)) + 1
        low = size
        high = total
        while low < high:
            middle = (low + high) // 2
            if sample_at_most(wrong, middle, refuted, total) <= alpha:
                high = middle
            else:
                low = middle + 1
        if low == size:
            break
        size = low
    return size


def _choose(n: int, k: int) -> float:
    """The logarithm of n over k; minus infinity outside."""
    if k < 0 or k > n:
        return -inf
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

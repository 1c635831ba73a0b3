"""Which suggestions to accept in bulk at a chosen error rate, and which of them to check first.

All choices are made before the sample is seen, from probabilities and held-out gold only: up to three nested sets, each
with the suggestions above a threshold; the number of checks for each; and the allowed errors in them. One random order
of all suggestions serves every set: a set's sample is its first members in that order, so checks for a large set also
count for a smaller one. It holds all of the larger sets' samples that are members of the set, so that exactly the rest
is unchecked. A set is accepted if its sample has no more errors than planned: then the error limit of the rest, which
is accepted unseen (`bounds.limit_left`), is at most the chosen error.

The sets share the 5 % (Bonferroni): a set whose error is too high passes with at most its own share, so the whole
procedure accepts too many errors in at most 5 % of cases, on any corpus and with any probabilities, calibrated or not.
Calibration only makes the sets larger and the samples smaller.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, chain
from math import ceil, exp, inf, lgamma, log, log1p

from curator.services.ports.queue import Chance, Tried

SHARES = (0.6, 0.2, 0.2)
"""Shares of `ALPHA` for the first set and the smaller ones."""
CUTS = 24
"""The number of thresholds tried for a set."""
LIKELY = 0.8
"""If allowed, a sample is large enough for a set that is as good as expected to pass with this probability."""
DOUBT = 0.25
"""Plans assume at least this share of the chosen error, even for higher probabilities: on documents that they were not
fitted on, probabilities are too optimistic, and a sample that allows no error would fail."""
MOST_WRONG = 12
MOST_CHECKS = 400
ENOUGH_TRIED = 30
"""The least number of held-out suggestions above a threshold for using them."""


@dataclass(frozen=True, slots=True)
class BulkSet:
    """The suggestions with at least this probability. `expected`: their expected error rate; `checks`: the number of
    checks, of which `allowed` may be wrong; `alpha`: the set's share of the 5 %."""

    threshold: float
    size: int
    expected: float
    checks: int
    allowed: int
    alpha: float

    @property
    def saved(self) -> int:
        """Decisions that need no check."""
        return self.size - self.checks


@dataclass(frozen=True, slots=True)
class BulkPlan:
    """`chances` are probabilities in descending order; `samples`: for each set the mention ids to check, in the order
    drawn. There are no sets if too few suggestions are likely enough.

    `held_out`: the number of held-out suggestions as likely as the first set, and of errors among them.
    """

    error: float
    chances: tuple[Chance, ...]
    sets: tuple[BulkSet, ...]
    samples: tuple[tuple[int, ...], ...]
    held_out: tuple[int, int] = (0, 0)

    def members(self, number: int) -> tuple[Chance, ...]:
        return self.chances[: self.sets[number].size]


def make_plan(
    chances: Sequence[Chance], tried: Sequence[Tried], *, error: float, seed: int, most_checks: int = MOST_CHECKS
) -> BulkPlan:
    """The plan; `chances` in descending order, `tried` the same for the held-out gold, `error` 0…1; no set needs more
    than `most_checks` checks. Pure: the same arguments give the same plan."""
    cuts = list(_cuts(chances, tried))
    drawn = list(range(len(chances)))
    random.Random(seed).shuffle(drawn)  # noqa: S311 - a draw that can be repeated, not a secret
    sets: list[BulkSet] = []
    samples: list[tuple[int, ...]] = []
    for share in SHARES:
        last = sets[-1] if sets else None
        fit = [
            cut
            for cut in cuts
            if last is None or (cut.size < last.size and cut.expected <= max(last.expected / 2, 1e-4))
        ]
        found = _best(fit, error=error, alpha=ALPHA * share, most_checks=most_checks)
        if found is None:
            break
        members = [chances[at].mention_id for at in drawn if at < found.size]
        found = _with_checked(found, len({*chain.from_iterable(samples)}.intersection(members)), error)
        if found.checks > min(most_checks, found.size - 1):
            break
        sets.append(found)
        samples.append(tuple(members[: found.checks]))
    held_out = _held_out(tried, sets[0].threshold) if sets else (0, 0)
    return BulkPlan(error, tuple(chances), tuple(sets), tuple(samples), held_out)


def _with_checked(one: BulkSet, checked: int, error: float) -> BulkSet:
    """The set with a sample of at least the `checked` members that the larger sets' samples hold, and the errors that
    so many checks allow."""
    if checked <= one.checks:
        return one
    checks, allowed = needed(one.allowed, one.size, error, alpha=one.alpha, least=checked), one.allowed
    while allowed < checks and limit_left(allowed + 1, checks, one.size, alpha=one.alpha) <= error:
        allowed += 1
    return replace(one, checks=checks, allowed=allowed)


@dataclass(frozen=True, slots=True)
class _Cut:
    threshold: float
    size: int
    expected: float
    tried: int  # held-out suggestions as likely as these
    wrong: int  # of those

    def is_refuted(self, error: float) -> bool:
        """Whether held-out gold, if there is enough, shows more errors than allowed."""
        enough = upper_limit(0, self.tried) <= error / 2
        return enough and upper_limit(self.wrong, self.tried) > error


def _cuts(chances: Sequence[Chance], tried: Sequence[Tried]) -> Iterator[_Cut]:
    """Evenly spread sizes; equal probabilities stay together."""
    doubts = list(accumulate(1.0 - one.probability for one in chances))
    sizes: set[int] = set()
    for step in range(1, CUTS + 1):
        at = max(len(chances) * step // CUTS, 1)
        while at < len(chances) and chances[at].probability == chances[at - 1].probability:
            at += 1
        sizes.add(min(at, len(chances)))
    for size in sorted(sizes - {0}):
        threshold = chances[size - 1].probability
        number, wrong = _held_out(tried, threshold)
        rate = wrong / number if number >= ENOUGH_TRIED else 0.0
        yield _Cut(threshold, size, max(doubts[size - 1] / size, rate, 1e-4), number, wrong)


def _held_out(tried: Sequence[Tried], threshold: float) -> tuple[int, int]:
    """The number of suggestions at least this likely, and of errors among them."""
    sure = [one for one in tried if one.probability >= threshold]
    return len(sure), sum(not one.right for one in sure)


def _best(cuts: Sequence[_Cut], *, error: float, alpha: float, most_checks: int) -> BulkSet | None:
    """The set with the most expected saved decisions; None if none saves any."""
    found, most = None, 0.0
    for cut in cuts:
        if cut.expected >= error or cut.is_refuted(error):
            continue
        made = _sized(cut, error=error, alpha=alpha, most_checks=most_checks)
        if made is not None and (saved := made.saved * _chance(made, error)) > most:
            found, most = made, saved
    return found


def _sized(cut: _Cut, *, error: float, alpha: float, most_checks: int) -> BulkSet | None:
    """The plan with the smallest sample that passes with sufficient probability, or else the largest allowed; None if
    there is none."""
    found: BulkSet | None = None
    for allowed in range(MOST_WRONG + 1):
        checks = needed(allowed, cut.size, error, alpha=alpha)
        if checks >= cut.size or checks > most_checks:
            break
        found = BulkSet(cut.threshold, cut.size, cut.expected, checks, allowed, alpha)
        if _chance(found, error) >= LIKELY:
            break
    return found


def _chance(one: BulkSet, error: float) -> float:
    """The expected probability that the set passes."""
    return binomial_at_most(one.allowed, one.checks, max(one.expected, DOUBT * error))


class AuditState(StrEnum):
    CHECKING = "checking"
    PASSED = "passed"
    FAILED = "failed"  # every set: nothing may be accepted unseen


@dataclass
class Audit:
    """The checks of one plan so far; `marks`: mention id -> whether the suggestion is right."""

    plan: BulkPlan
    marks: dict[int, bool] = field(default_factory=dict)

    def mark(self, mention_id: int, right: bool) -> None:
        self.marks[mention_id] = right

    @property
    def number(self) -> int:
        """The current set: the first that has not failed; the number of sets if all have failed."""
        for number, one in enumerate(self.plan.sets):
            if self._wrong(self.plan.samples[number]) <= one.allowed:
                return number
        return len(self.plan.sets)

    @property
    def state(self) -> AuditState:
        if self.number == len(self.plan.sets):
            return AuditState.FAILED
        return AuditState.CHECKING if self.left else AuditState.PASSED

    @property
    def set(self) -> BulkSet | None:
        """The current set; None if all sets have failed."""
        return self.plan.sets[self.number] if self.number < len(self.plan.sets) else None

    @property
    def sample(self) -> tuple[int, ...]:
        return self.plan.samples[self.number] if self.set is not None else ()

    @property
    def left(self) -> tuple[int, ...]:
        """Still to be checked."""
        return tuple(one for one in self.sample if one not in self.marks)

    @property
    def wrong(self) -> int:
        return self._wrong(self.sample)

    @property
    def limit(self) -> float:
        """The limit of the error of the suggestions accepted unseen, with the set's confidence; 1 before the sample is
        checked."""
        return self.limit_of(len(self.accepted()))

    def limit_of(self, accepted: int) -> float:
        """The limit if only `accepted` of the unchecked suggestions are accepted: all the wrong ones may be among
        them."""
        if self.set is None or self.left:
            return 1.0
        most = most_bad(self.wrong, self.set.checks, self.set.size, alpha=self.set.alpha) - self.wrong
        return min(most / accepted, 1.0) if accepted else 0.0

    def accepted(self) -> tuple[Chance, ...]:
        """The suggestions that may be accepted unseen: the passed set without checked ones."""
        if self.state is not AuditState.PASSED:
            return ()
        return tuple(one for one in self.plan.members(self.number) if one.mention_id not in self.marks)

    def _wrong(self, sample: Sequence[int]) -> int:
        return sum(self.marks.get(one) is False for one in sample)


def percent_up(share: float, places: int) -> float:
    """The share in per cent, rounded up to `places`, so that a displayed limit is never below the calculated one."""
    return ceil(round(share * 100 * 10.0**places, 6)) / 10.0**places


def tally(marks: Mapping[int, bool]) -> tuple[int, int]:
    """(right, wrong)."""
    right = sum(marks.values())
    return right, len(marks) - right


# Exact one-sided limits of the errors in a set, given the errors in a random sample, by plain arithmetic.
#
# Clopper and Pearson (Biometrika 1934): the limit is the largest error rate for which so few errors in the sample still
# have a probability above `alpha`. For a sample drawn without replacement from a finite set the probability is
# hypergeometric instead of binomial, which needs fewer checks. SciPy gives the same results but takes half a second to
# import; the tests compare with it.

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

"""Rounds: curators judge the same documents independently of each other and of the project's decisions."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import combinations
from typing import TypeVar

from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.documents import Mention


class RoundKind(StrEnum):
    """BLIND: curators see neither others' judgements nor the project's decisions. UNAIDED: the same without
    suggestions. CONSISTENCY: curators decide their own mentions again, to measure how consistent they are."""

    BLIND = "blind"
    UNAIDED = "unaided"
    CONSISTENCY = "consistency"


@dataclass(frozen=True, slots=True)
class Round:
    """A round; a closed round takes no judgements. `documents` is the number of its documents."""

    id: int
    name: str
    kind: RoundKind
    at: datetime
    closed: bool
    documents: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """A curator's verdict on a mention in a round. CLEARED withdraws the previous one; `note` is `undo` or `redo` if
    one of these made it, else empty."""

    id: int
    round_id: int
    mention_id: int
    curator: str
    verdict: Verdict
    at: datetime
    note: str = ""
    shown: Shown | None = None

    @property
    def stands(self) -> bool:
        return self.verdict.outcome is not Outcome.CLEARED


@dataclass(frozen=True, slots=True)
class RoundMention:
    """A mention that is judged in a round. `made_by` are the curators who made the mention in the round; empty for
    mentions of the documents. `twins` are identical mentions by curators who could not see that one."""

    mention: Mention
    made_by: tuple[str, ...] = ()
    twins: tuple[int, ...] = ()

    def is_for(self, curator: str) -> bool:
        """Whether this curator sees the mention."""
        return not self.made_by or curator in self.made_by


@dataclass(frozen=True, slots=True)
class Judged:
    """A curator's mentions of one document in a round: judged, skipped, and all that he or she sees."""

    judged: int = 0
    skipped: int = 0
    seen: int = 0

    @property
    def left(self) -> int:
        """Mentions that wait for the curator."""
        return self.seen - self.judged - self.skipped


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """A curator's progress: judged mentions of all visible mentions. Skipped ones are not among the judged."""

    curator: str
    judged: int
    mentions: int
    skipped: int = 0

    @classmethod
    def of(cls, curator: str, documents: Iterable[Judged]) -> RoundProgress:
        """The sums over the round's documents."""
        found = list(documents)
        return cls(
            curator,
            sum(one.judged for one in found),
            sum(one.seen for one in found),
            sum(one.skipped for one in found),
        )

    @property
    def done(self) -> bool:
        """Whether nothing waits for this curator."""
        return self.judged + self.skipped >= self.mentions > 0


def same_answer(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts agree: the same outcome, and for links the same set of entities. Reasons may differ."""
    return one.outcome is other.outcome and set(one.entity_ids) == set(other.entity_ids)


# Agreement between curators: chance-corrected coefficients over judgements, and F1 over their spans. Everything is
# plain Python for small data. An *item* was judged by several curators, and maps curator to value; values are hashable
# and, for set distances, frozensets. A coefficient is None if it is undefined: no item has two judgements, or all
# values are equal, so that agreement by chance is perfect.

Value = Hashable
Item = Mapping[str, Value]
Distance = Callable[[frozenset[str], frozenset[str]], float]
Spans = tuple[tuple[int, int], ...]
T = TypeVar("T")

RESAMPLES = 1000
LEVEL = 0.95


def observed(items: Iterable[Item]) -> float | None:
    """Share of agreeing pairs among all pairs of judgements of one item, every item having the same weight."""
    shares = [_pair_agreement(list(item.values())) for item in items if len(item) > 1]
    return sum(shares) / len(shares) if shares else None


def cohen_kappa(items: Iterable[Item], one: str, other: str) -> float | None:
    """Cohen's kappa of two curators over the items that both judged.

    kappa = (Po - Pe) / (1 - Pe), with Po the share of equal pairs and Pe = sum over values v of p1(v) p2(v), from each
    curator's own shares. Cohen (1960), A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20, 37-46.
    """
    pairs = [(item[one], item[other]) for item in items if one in item and other in item]
    if not pairs:
        return None
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    chance = sum(number * second[value] for value, number in first.items()) / len(pairs) ** 2
    return None if chance >= 1 else (agreed - chance) / (1 - chance)


def fleiss_kappa(items: Iterable[Item], curators: Sequence[str]) -> float | None:
    """Fleiss' kappa over the items that all of `curators` judged; it does not allow missing judgements.

    With n curators and n_ij of them giving item i the value j: P_i = sum_j n_ij (n_ij - 1) / (n (n - 1)),
    p_j = sum_i n_ij / (N n), kappa = (mean P_i - sum_j p_j^2) / (1 - sum_j p_j^2). Fleiss (1971), Measuring nominal
    scale agreement among many raters, Psychol. Bull. 76, 378-382.
    """
    if len(curators) < 2:
        return None
    rated = [[item[one] for one in curators] for item in items if all(one in item for one in curators)]
    if not rated:
        return None
    agreed = sum(_pair_agreement(values) for values in rated) / len(rated)
    margins = Counter(value for values in rated for value in values)
    total = len(rated) * len(curators)
    chance = sum((number / total) ** 2 for number in margins.values())
    return None if chance >= 1 else (agreed - chance) / (1 - chance)


@dataclass(frozen=True, slots=True)
class Coincidences:
    """The sums for Krippendorff's alpha over some items, which can be added up over documents: `disagreement` is sum
    over items of (sum over ordered pairs of distances) / (m - 1), m judgements of the item; `values` counts the
    judgements of items with at least two."""

    disagreement: float
    values: Counter[Value]

    @classmethod
    def of(cls, items: Iterable[Item], distance: Distance | None = None) -> Coincidences:
        """From items; without a `distance` values are nominal: 0 for equal values, else 1."""
        apart, values = 0.0, Counter[Value]()
        for item in items:
            given = list(item.values())
            if len(given) > 1:
                apart += 2 * _distances(given, distance) / (len(given) - 1)
                values.update(given)
        return cls(apart, values)

    @classmethod
    def together(cls, parts: Iterable[Coincidences]) -> Coincidences:
        apart, values = 0.0, Counter[Value]()
        for part in parts:
            apart += part.disagreement
            values.update(part.values)
        return cls(apart, values)

    def alpha(self, distance: Distance | None = None) -> float | None:
        """1 - Do / De, see `krippendorff_alpha`."""
        n = self.values.total()
        expected = _expected_nominal(self.values) if distance is None else _expected(self.values, distance)
        if n < 2 or expected <= 0:
            return None
        return 1 - (n - 1) * self.disagreement / expected


def krippendorff_alpha(items: Iterable[Item], distance: Distance | None = None) -> float | None:
    """Krippendorff's alpha: any number of curators, missing judgements allowed.

    alpha = 1 - Do / De, Do the mean distance within items and De the one between any two judgements:
    alpha = 1 - (n - 1) * sum_{c,k} o_ck d_ck / sum_{c,k} n_c n_k d_ck, with the coincidences o_ck of values c and k, in
    which an item of m judgements counts each ordered pair 1 / (m - 1) times, n_c how often c occurs there, n all.
    Krippendorff (2018), Content Analysis, 4th ed., ch. 12; Krippendorff (2011), Computing Krippendorff's
    alpha-reliability. Items judged once are left out.
    """
    return Coincidences.of(items, distance).alpha(distance)


def jaccard_distance(one: frozenset[str], other: frozenset[str]) -> float:
    """1 - |A and B| / |A or B|; 0 for two empty sets."""
    union = len(one | other)
    return 1 - len(one & other) / union if union else 0.0


def masi_distance(one: frozenset[str], other: frozenset[str]) -> float:
    """1 - Jaccard * monotonicity, the latter 1 for equal sets, 2/3 if one contains the other, 1/3 if they overlap, 0 if
    they are disjoint. Passonneau (2006), Measuring agreement on set-valued items (MASI), LREC."""
    if one == other:
        return 0.0
    common = one & other
    if not common:
        return 1.0
    monotonicity = 2 / 3 if common in (one, other) else 1 / 3
    return 1 - (1 - jaccard_distance(one, other)) * monotonicity


@dataclass(frozen=True, slots=True)
class SpanMatch:
    """Agreement of two curators on marks: `both` marks of each side have a partner on the other, out of `one` and
    `other` marks."""

    both: float
    one: int
    other: int

    @property
    def f1(self) -> float | None:
        """2 * both / (one + other): the same with either curator as the reference. Hripcsak & Rothschild (2005),
        Agreement, the F-measure, and reliability in information retrieval, JAMIA 12, 296-298."""
        marks = self.one + self.other
        return 2 * self.both / marks if marks else None

    def __add__(self, more: SpanMatch) -> SpanMatch:
        return SpanMatch(self.both + more.both, self.one + more.one, self.other + more.other)


def exact_match(one: Sequence[T], other: Sequence[T]) -> SpanMatch:
    """Marks that are equal, each paired once."""
    return SpanMatch((Counter(one) & Counter(other)).total(), len(one), len(other))


def overlap_match(one: Sequence[tuple[str, Spans]], other: Sequence[tuple[str, Spans]]) -> SpanMatch:
    """Marks (type, spans) of one type that share a character, paired one to one as often as possible.

    The pairing is a maximum matching (augmenting paths), so the order of the marks does not matter.
    """
    near = [[at for at, mark in enumerate(other) if overlaps(own, mark)] for own in one]
    partner: dict[int, int] = {}
    both = sum(_augment(own, near, partner, set()) for own in range(len(one)))
    return SpanMatch(both, len(one), len(other))


def overlaps(one: tuple[str, Spans], other: tuple[str, Spans]) -> bool:
    return one[0] == other[0] and any(a < d and c < b for a, b in one[1] for c, d in other[1])


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def bootstrap(
    documents: Sequence[T],
    figure: Callable[[Sequence[T]], float | None],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Percentile interval (95 %) of a figure over whole documents drawn with replacement, since judgements in one
    document are not independent. None with fewer than two documents, or if the figure is defined in fewer than nine in
    ten resamples. Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13."""
    if len(documents) < 2:
        return None
    draw = random.Random(seed)  # noqa: S311 - resampling, no secret
    found = [figure(draw.choices(documents, k=len(documents))) for _ in range(resamples)]
    values = sorted(one for one in found if one is not None)
    if len(values) < 0.9 * resamples:
        return None
    tail = (1 - LEVEL) / 2
    return Interval(_quantile(values, tail), _quantile(values, 1 - tail))


def _quantile(values: Sequence[float], share: float) -> float:
    """The quantile, by linear interpolation between the two nearest of the sorted values."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def _pair_agreement(values: Sequence[Value]) -> float:
    count = len(values)
    return sum(number * (number - 1) for number in Counter(values).values()) / (count * (count - 1))


def _distances(values: Sequence[Value], distance: Distance | None) -> float:
    """Sum of distances over unordered pairs."""
    if distance is None:
        count = len(values)
        return (count * (count - 1) - sum(n * (n - 1) for n in Counter(values).values())) / 2
    return sum(distance(_set(a), _set(b)) for a, b in combinations(values, 2))


def _expected_nominal(values: Counter[Value]) -> float:
    return float(values.total() ** 2 - sum(number**2 for number in values.values()))


def _expected(values: Counter[Value], distance: Distance) -> float:
    """Sum over ordered pairs of n_c n_k d_ck. Sets without a common element have distance 1, so only the others are
    compared, which keeps thousands of different entities cheap."""
    expected = _expected_nominal(values)
    holders: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for value in values:
        for element in _set(value):
            holders[element].append(_set(value))
    near = {frozenset((a, b)) for group in holders.values() for a, b in combinations(group, 2)}
    for a, b in near:
        expected -= 2 * values[a] * values[b] * (1 - distance(a, b))
    return expected


def _set(value: Value) -> frozenset[str]:
    assert isinstance(value, frozenset), "distances of sets are for sets"
    return value


def _augment(own: int, near: Sequence[Sequence[int]], partner: dict[int, int], tried: set[int]) -> bool:
    """Find a partner for `own`, reassigning others if they have another choice."""
    for at in near[own]:
        if at not in tried:
            tried.add(at)
            if at not in partner or _augment(partner[at], near, partner, tried):
                partner[at] = own
                return True
    return False

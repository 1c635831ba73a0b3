"""Intervals by resampling documents, and tests of whether two linkers differ.

The mentions of one abstract depend on each other, so documents are drawn, not mentions: a resample draws as many
documents as there are, with replacement, and every mention counts as often as its document was drawn. A figure is a
function from such weights, (r, m) for r resamples of m mentions, to (r,) values; with all weights 1 it gives the figure
itself. Two linkers are compared on the same resamples (paired).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from training.evaluation.outcomes import BOOLS, FLOATS, INTS

RESAMPLES = 1000
LEVEL = 0.95
CHUNK_NUMBERS = 1_000_000
"""Weights in memory at once: 8 MB for any number of mentions."""
Figure = Callable[[FLOATS], FLOATS]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; None if it is not defined.

    There is no interval with fewer than two documents, or if every resample gives the same value (such as all right),
    which says nothing about other documents.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """This linker's figure, the other's, and this − other with its paired 95 % interval.

    `better` is the share of resamples with this figure above the other's, ties counted half.
    """

    this: float | None
    other: float | None
    difference: Estimate
    better: float | None


@dataclass(frozen=True, slots=True)
class McNemar:
    """The exact test (McNemar 1947, binomial form) on the decisions that only one of two linkers gets right.

    `p_value` is two-sided, 1 if they never differ. It assumes independent mentions, but mentions of one document are
    not independent: the paired bootstrap over documents is safer.
    """

    only_this: int
    only_other: int
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBootstrap:
    """Resamples of documents; the same `seed` draws the same ones. `document` (m,) is each mention's document number,
    from 0."""

    document: INTS
    resamples: int = RESAMPLES
    seed: int = 0

    @property
    def documents(self) -> int:
        return int(self.document.max()) + 1 if len(self.document) else 0

    def weights(self) -> Iterator[FLOATS]:
        """Weights (r, m), in chunks of resamples."""
        draw = np.random.default_rng(self.seed)
        count = self.documents
        at_once = max(1, CHUNK_NUMBERS // max(1, len(self.document)))
        for start in range(0, self.resamples if count else 0, at_once):
            size = min(at_once, self.resamples - start)
            drawn = draw.multinomial(count, np.full(count, 1 / count), size=size)
            yield drawn.astype(np.float64)[:, self.document]

    def values(self, figures: Mapping[str, Figure]) -> dict[str, FLOATS]:
        """(resamples,) values of each figure, on the same resamples; NaN if a figure is undefined."""
        found: dict[str, list[FLOATS]] = {name: [] for name in figures}
        for weights in self.weights():
            for name, figure in figures.items():
                found[name].append(figure(weights))
        return {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in found.items()}

    def estimates(self, figures: Mapping[str, Figure]) -> dict[str, Estimate]:
        values = self.values(figures)
        return {name: self._estimate(self.point(figure), values[name]) for name, figure in figures.items()}

    def differences(self, this: Mapping[str, Figure], other: Mapping[str, Figure]) -> dict[str, Difference]:
        """Differences of the figures that both have. Both must cover the mentions numbered by `document`."""
        names = [name for name in this if name in other]
        values = self.values({f"{who} {name}": fs[name] for who, fs in (("0", this), ("1", other)) for name in names})
        return {
            name: self._difference(
                self.point(this[name]), self.point(other[name]), values[f"0 {name}"], values[f"1 {name}"]
            )
            for name in names
        }

    def point(self, figure: Figure) -> float:
        """The figure itself; NaN if it is not defined."""
        return float(figure(np.ones((1, len(self.document))))[0]) if len(self.document) else float("nan")

    def _estimate(self, value: float, values: FLOATS) -> Estimate:
        low, high = self._interval(values)
        return Estimate(number(value), low, high) if number(value) is not None else Estimate(None)

    def _interval(self, values: FLOATS) -> tuple[float | None, float | None]:
        """The percentiles; none if the figure is undefined in half of the resamples, or if all resamples agree."""
        defined = values[np.isfinite(values)]
        if self.documents < 2 or len(defined) * 2 <= len(values):
            return None, None
        outside = 100 * (1 - LEVEL) / 2
        low, high = np.percentile(defined, [outside, 100 - outside])
        if defined.min() == defined.max():
            return None, None
        return float(low), float(high)

    def _difference(self, this: float, other: float, ones: FLOATS, others: FLOATS) -> Difference:
        apart = ones - others
        defined = apart[np.isfinite(apart)]
        better = float(((defined > 0) + 0.5 * (defined == 0)).mean()) if len(defined) else None
        return Difference(number(this), number(other), self._estimate(this - other, apart), better)


def number(value: float) -> float | None:
    """None for NaN and infinity, which JSON cannot hold."""
    return float(value) if np.isfinite(value) else None


def ratio(hits: BOOLS | FLOATS, among: BOOLS | FLOATS) -> Figure:
    """Σ w·hits / Σ w·among over (m,) arrays: recall, precision, accuracy and their like, or part of an F1 (see
    `f1`)."""
    above, below = np.asarray(hits, dtype=np.float64), np.asarray(among, dtype=np.float64)

    def figure(weights: FLOATS) -> FLOATS:
        return _divided(weights @ above, weights @ below)

    return figure


def f1(truth: BOOLS, said: BOOLS) -> Figure:
    """2·hits / (true + said); not defined if none is true."""
    hits, size = 2.0 * (truth & said), truth.astype(np.float64) + said

    def figure(weights: FLOATS) -> FLOATS:
        found = _divided(weights @ hits, weights @ size)
        return np.where(weights @ truth.astype(np.float64) > 0, found, np.nan)

    return figure


def macro(hits: BOOLS, among: BOOLS, group: INTS, groups: int) -> Figure:
    """The mean over groups of Σ w·hits / Σ w·among, from (m,) arrays; a group without drawn mentions is left out."""
    parts = [ratio(hits & (group == one), among & (group == one)) for one in range(groups)]

    def figure(weights: FLOATS) -> FLOATS:
        shares = np.stack([part(weights) for part in parts])
        there = np.isfinite(shares)
        return _divided(np.where(there, shares, 0.0).sum(axis=0), there.sum(axis=0).astype(np.float64))

    return figure


def mcnemar(this_right: BOOLS, other_right: BOOLS) -> McNemar:
    """McNemar's test of two linkers on the same decisions."""
    from scipy.stats import binomtest

    only_this, only_other = int((this_right & ~other_right).sum()), int((other_right & ~this_right).sum())
    differing = only_this + only_other
    p_value = float(binomtest(only_this, differing, 0.5).pvalue) if differing else 1.0
    return McNemar(only_this, only_other, p_value)


def _divided(above: FLOATS, below: FLOATS) -> FLOATS:
    """The quotient; NaN if the denominator is 0."""
    nothing = below == 0
    result: FLOATS = np.where(nothing, np.nan, above / np.where(nothing, 1.0, below))
    return result

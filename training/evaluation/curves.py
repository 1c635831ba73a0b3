"""Figures that depend on a ranking or on probabilities, and their curves.

`score`, probabilities and `truth` are (m,) for m mentions. A `Figure` takes weights of mentions (see `resampling`).
Equal scores are one step of a curve: no threshold can separate them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.evaluation.outcomes import BOOLS, FLOATS, INTS
from training.evaluation.resampling import Figure

BINS = 15
POINTS = 300
"""The most points of a drawn curve; figures are calculated from all points."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Mentions with similar probabilities: their number, mean probability, and the share that is true."""

    count: int
    said: float
    true: float


def average_precision(score: FLOATS, truth: BOOLS) -> Figure:
    """Area under precision and recall as Σ (Rₙ − Rₙ₋₁) Pₙ over the distinct scores, as in scikit-learn.

    Not defined if no mention is true or if all are.
    """
    order, ends = _steps(score)
    true = truth[order].astype(np.float64)

    def figure(weights: FLOATS) -> FLOATS:
        drawn = weights[:, order]
        hits = np.cumsum(drawn * true, axis=1)[:, ends]
        seen = np.cumsum(drawn, axis=1)[:, ends]
        precision = hits / np.maximum(seen, 1e-12)
        gained = np.diff(hits, axis=1, prepend=0.0)
        every, positive = drawn.sum(axis=1), (drawn * true).sum(axis=1)
        both = (positive > 0) & (positive < every)
        area = (precision * gained).sum(axis=1) / np.maximum(positive, 1e-12)
        return np.where(both, area, np.nan)

    return figure if len(score) else _undefined


def precision_recall(score: FLOATS, truth: BOOLS) -> list[Point]:
    """(recall, precision) from the highest score down; empty without a true mention."""
    if not truth.any():
        return []
    order, ends = _steps(score)
    hits = np.cumsum(truth[order])[ends]
    return _thin(hits / truth.sum(), hits / (ends + 1))


def risk_area(confidence: FLOATS, right: BOOLS) -> Figure:
    """Area under the risk–coverage curve (El-Yaniv and Wiener 2010): the mean, over mentions, of the share of errors
    among those at least as confident. Lower is better; 0 means no errors."""
    order, ends = _steps(confidence)
    wrong = 1.0 - right[order].astype(np.float64)

    def figure(weights: FLOATS) -> FLOATS:
        drawn = weights[:, order]
        seen = np.cumsum(drawn, axis=1)[:, ends]
        risk = np.cumsum(drawn * wrong, axis=1)[:, ends] / np.maximum(seen, 1e-12)
        step = np.diff(seen, axis=1, prepend=0.0)
        total = drawn.sum(axis=1)
        return np.where(total > 0, (risk * step).sum(axis=1) / np.maximum(total, 1e-12), np.nan)

    return figure if len(confidence) else _undefined


def risk_coverage(confidence: FLOATS, right: BOOLS) -> list[Point]:
    """(coverage, share of errors) starting with the most confident decision."""
    if not len(right):
        return []
    order, ends = _steps(confidence)
    errors = np.cumsum(~right[order])[ends]
    return _thin((ends + 1) / len(right), errors / (ends + 1))


def coverage_at(confidence: FLOATS, right: BOOLS, *, risk: float) -> float:
    """The largest share of mentions, the most confident first, with at most `risk` errors among them."""
    order, ends = _steps(confidence)
    errors = np.cumsum(~right[order])[ends]
    fits = np.flatnonzero(errors <= risk * (ends + 1))
    return float((ends[fits[-1]] + 1) / len(right)) if len(fits) else 0.0


def brier(probability: FLOATS, truth: BOOLS) -> Figure:
    """The mean of (p − y)² (Brier 1950)."""
    squares = (probability - truth) ** 2

    def figure(weights: FLOATS) -> FLOATS:
        total = weights.sum(axis=1)
        return np.where(total > 0, weights @ squares / np.maximum(total, 1e-12), np.nan)

    return figure if len(truth) else _undefined


def brier_gain(probability: FLOATS, truth: BOOLS) -> Figure:
    """1 − Brier score / Brier score of always predicting the base rate: 0.25 means 25 % lower than the base rate's."""
    own = brier(probability, truth)
    true = truth.astype(np.float64)

    def figure(weights: FLOATS) -> FLOATS:
        rate = weights @ true / np.maximum(weights.sum(axis=1), 1e-12)
        base = rate * (1 - rate)
        return np.where(base > 0, 1 - own(weights) / np.maximum(base, 1e-12), np.nan)

    return figure if len(truth) else _undefined


def calibration_error(probability: FLOATS, truth: BOOLS, *, bins: int = BINS) -> Figure:
    """Expected calibration error: Σ over equal-mass bins of the bin's share · |mean probability − share true|.

    Every resample uses the bins of the whole sample.
    """
    parts = equal_mass(probability, bins=bins)
    member = np.zeros((len(probability), len(parts)))
    for number, part in enumerate(parts):
        member[part, number] = 1.0
    apart = member * (probability - truth)[:, None]

    def figure(weights: FLOATS) -> FLOATS:
        total = weights.sum(axis=1)
        return np.where(total > 0, np.abs(weights @ apart).sum(axis=1) / np.maximum(total, 1e-12), np.nan)

    return figure if len(truth) else _undefined


def calibration_bins(probability: FLOATS, truth: BOOLS, *, bins: int = BINS) -> list[CalibrationBin]:
    """The bins of `calibration_error`, lowest probabilities first."""
    parts = equal_mass(probability, bins=bins)
    return [CalibrationBin(len(one), float(probability[one].mean()), float(truth[one].mean())) for one in parts]


def equal_mass(probability: FLOATS, *, bins: int = BINS) -> list[INTS]:
    """Mentions in at most `bins` parts of (nearly) equal size by probability; ties stay in the mentions' order."""
    order = np.argsort(probability, kind="stable").astype(np.int64)
    return [part for part in np.array_split(order, bins) if len(part)]


def _steps(score: FLOATS) -> tuple[INTS, INTS]:
    """Mentions by descending score, and the last position of each distinct score."""
    order = np.argsort(-score, kind="stable").astype(np.int64)
    ranked = score[order]
    ends = np.flatnonzero(np.append(ranked[:-1] != ranked[1:], True)) if len(score) else np.zeros(0)
    return order, ends.astype(np.int64)


def _thin(across: FLOATS, up: FLOATS) -> list[Point]:
    """At most `POINTS` of them, including the first and the last."""
    kept = np.unique(np.linspace(0, len(across) - 1, min(POINTS, len(across))).round().astype(np.int64))
    return [(round(float(x), 6), round(float(y), 6)) for x, y in zip(across[kept], up[kept], strict=True)]


def _undefined(weights: FLOATS) -> FLOATS:
    return np.full(len(weights), np.nan)

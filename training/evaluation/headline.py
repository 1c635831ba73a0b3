"""The main figures and the slices' figures, with intervals, and the comparison with another linker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from training.evaluation.curves import (
    average_precision,
    brier,
    brier_gain,
    calibration_bins,
    calibration_error,
    coverage_at,
    precision_recall,
    risk_area,
    risk_coverage,
)
from training.evaluation.outcomes import BOOLS, FLOATS, Outcomes
from training.evaluation.resampling import (
    Difference,
    DocumentBootstrap,
    Estimate,
    Figure,
    McNemar,
    f1,
    macro,
    mcnemar,
    ratio,
)

RISK = 0.05
SLICE_FIGURES = ("recall@1", "recall@k", "accuracy")


@dataclass(frozen=True, slots=True)
class Comparison:
    """This linker against another on the same mentions: differences by figure, and exact tests of the decisions with
    their NIL flags and of the first candidates of in-KB mentions (as in recall@1)."""

    figures: Mapping[str, Difference]
    decisions: McNemar
    first: McNemar

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def headline(found: Outcomes, *, k: int) -> dict[str, Figure]:
    """Every headline figure by name, in the order of the report."""
    every = np.ones(len(found), dtype=bool)
    return {
        **_ranking(found, k),
        "right in all, NIL included": ratio(found.right, every),
        "NIL precision": ratio(found.nil & found.flagged, found.flagged),
        "NIL recall": ratio(found.nil & found.flagged, found.nil),
        "NIL F1": f1(found.nil, found.flagged),
        "NIL auPR": average_precision(found.nil_score, found.nil),
        "risk-coverage area": risk_area(found.confidence(), found.right),
        **_calibration(found),
    }


def _ranking(found: Outcomes, k: int) -> dict[str, Figure]:
    any_of = {value: ratio(found.found_any(value), found.in_kb) for value in dict.fromkeys((1, min(8, k), k))}
    groups = len(found.groups)
    composite, single = found.in_kb & found.composite, found.in_kb & ~found.composite
    return {
        **{f"recall@{value}": figure for value, figure in any_of.items()},
        "recall@1, all-match": ratio(found.found_all(1), found.in_kb),
        f"recall@{k}, all-match": ratio(found.found_all(k), found.in_kb),
        "recall@1, macro over types": macro(found.found_any(1), found.in_kb, found.group, groups),
        f"recall@{k}, macro over types": macro(found.found_any(k), found.in_kb, found.group, groups),
        "recall@1, single": ratio(found.found_any(1) & single, single),
        "recall@1, composite, any-match": ratio(found.found_any(1) & composite, composite),
        "recall@1, composite, all-match": ratio(found.found_all(1) & composite, composite),
    }


def _calibration(found: Outcomes) -> dict[str, Figure]:
    figures = {}
    for name, (probability, truth, part) in probabilities(found).items():
        for words, measure in (("ECE", calibration_error), ("Brier", brier), ("Brier gain over base rate", brier_gain)):
            figures[f"{words}, {name}"] = _on(part, measure(probability[part], truth[part]))
    return figures


def probabilities(found: Outcomes) -> dict[str, tuple[FLOATS, BOOLS, BOOLS]]:
    """The linker's probabilities by name: (probability, whether it is true, over which mentions), each (m,).

    "first candidate": that it is a gold entity (never true for a NIL mention), over mentions with a probability. "NIL":
    that no entity fits, over mentions with an answer.
    """
    given = ~np.isnan(found.probability)
    said = {"first candidate": (found.probability, found.first_right, given)} if given.any() else {}
    return {**said, "NIL": (found.nil_score, found.nil, found.answered)}


def slice_estimates(
    found: Outcomes, parts: Mapping[str, BOOLS], bootstrap: DocumentBootstrap, *, k: int
) -> dict[str, dict[str, Estimate]]:
    """recall@1, recall@k and accuracy of every slice."""
    figures = {}
    for name, part in parts.items():
        in_kb = part & found.in_kb
        figures[f"recall@1|{name}"] = ratio(found.found_any(1) & in_kb, in_kb)
        figures[f"recall@k|{name}"] = ratio(found.found_any(k) & in_kb, in_kb)
        figures[f"accuracy|{name}"] = ratio(found.right & part, part)
    estimates = bootstrap.estimates(figures)
    return {name: {what: estimates[f"{what}|{name}"] for what in SLICE_FIGURES} for name in parts}


def compare(this: Outcomes, other: Outcomes, bootstrap: DocumentBootstrap, *, k: int) -> Comparison:
    """Compare two results with the same mentions in the same order."""
    differences = bootstrap.differences(headline(this, k=k), headline(other, k=k))
    in_kb = this.in_kb
    return Comparison(
        differences,
        mcnemar(this.right, other.right),
        mcnemar(this.first_right[in_kb], other.first_right[in_kb]),
    )


def curves(found: Outcomes) -> dict[str, Any]:
    """Plain JSON: points of the curves, bins of the calibration plots, and this linker's point on each curve."""
    confidence = found.confidence()
    hits = int((found.nil & found.flagged).sum())
    chosen = (
        [hits / int(found.nil.sum()), hits / int(found.flagged.sum())]
        if found.nil.any() and found.flagged.any()
        else None
    )
    return {
        "precision_recall": precision_recall(found.nil_score, found.nil),
        "threshold": chosen,
        "base_rate": float(found.nil.mean()),
        "risk_coverage": risk_coverage(confidence, found.right),
        "coverage_at_risk": {"risk": RISK, "coverage": coverage_at(confidence, found.right, risk=RISK)},
        "calibration": {
            name: [asdict(one) for one in calibration_bins(probability[part], truth[part])]
            for name, (probability, truth, part) in probabilities(found).items()
        },
    }


def _on(part: BOOLS, figure: Figure) -> Figure:
    """A figure restricted to some of the mentions, as a function of weights of all."""

    def whole(weights: FLOATS) -> FLOATS:
        return figure(weights[:, part])

    return whole

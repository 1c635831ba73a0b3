"""The charts of an evaluation's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.evaluation.page_parts import figure, in_words, percent
from training.evaluation.svg import Axis, Chart, ChartSeries

Result = Mapping[str, Any]


def evaluation_charts(result: Result) -> list[str]:
    curves = result["curves"]
    found = []
    if curves["precision_recall"]:
        found.append(_nil_chart(result, curves))
    found += [_calibration_chart(name, bins, result) for name, bins in curves["calibration"].items() if bins]
    if curves["risk_coverage"]:
        found.append(_risk_chart(result, curves))
    return found


def _nil_chart(result: Result, curves: Mapping[str, Any]) -> str:
    series = [ChartSeries("by score", curves["precision_recall"])]
    if curves["threshold"]:
        series.append(ChartSeries("at the threshold", [curves["threshold"]], dots=True))
    chart = Chart("NIL: precision and recall", Axis("recall of NIL"), Axis("precision of NIL"), series)
    area = in_words("NIL auPR", result["figures"]["NIL auPR"]["value"])
    f1 = in_words("NIL F1", result["figures"]["NIL F1"]["value"])
    rate = percent(curves["base_rate"])
    return figure(chart, f"Area {area}; the dot is where the bundle's threshold stands, F1 {f1}. {rate} are NIL.")


def _calibration_chart(name: str, bins: Sequence[Mapping[str, Any]], result: Result) -> str:
    points = [(one["said"], one["true"]) for one in bins]
    what = "the first candidate is right" if name == "first candidate" else "no entity fits (NIL)"
    chart = Chart(
        f"Calibration: {what}",
        Axis("probability said"),
        Axis("share true"),
        [ChartSeries(name, points, dots=True)],
        diagonal=True,
    )
    ece, gain = (
        result["figures"][f"ECE, {name}"]["value"],
        result["figures"][f"Brier gain over base rate, {name}"]["value"],
    )
    words = f"15 bins of equal size; on the diagonal what is said comes true. ECE {in_words('ECE', ece)}, Brier score "
    below = (
        "not defined" if gain is None else f"{percent(abs(gain))} {'below' if gain >= 0 else 'above'} the base rate's"
    )
    return figure(chart, f"{words}{below}.")


def _risk_chart(result: Result, curves: Mapping[str, Any]) -> str:
    points = curves["risk_coverage"]
    high = max(0.1, max(y for _, y in points[len(points) // 20 :]))
    shown = [(x, min(y, high)) for x, y in points]
    at = curves["coverage_at_risk"]
    level = (at["risk"], f"{percent(at['risk'])} errors") if at["risk"] < high else None
    chart = Chart(
        "Errors among the most confident", Axis("share of mentions decided"), Axis("errors among them", high=high),
        [ChartSeries("risk", shown)], level=level,
    )  # fmt: skip
    area = in_words("risk-coverage area", result["figures"]["risk-coverage area"]["value"])
    accepted, risk = percent(at["coverage"]), percent(at["risk"])
    words = f"Area {area}. {accepted} of the mentions could be accepted with at most {risk} errors."
    return figure(chart, words)

"""The parts of an evaluation's report that compare it with another bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.evaluation.page_parts import (
    NBSP,
    Axis,
    Cell,
    Chart,
    ChartSeries,
    between,
    figure,
    in_words,
    paragraph,
    percent,
    table,
    title,
)

Against = Mapping[str, Any]
MOST_FLIPS = 500


def differences(against: Against) -> str:
    rows = [_difference_row(name, one) for name, one in against["figures"].items()]
    head = ("", "This linker", "Other linker", "Difference", "95 % interval", "Higher in")
    return _tests(against) + table(head, rows)


def _difference_row(name: str, one: Mapping[str, Any]) -> tuple[Cell, ...]:
    apart = one["difference"]
    value, low, high = apart["value"], apart["low"], apart["high"]
    kind = "n"
    if low is not None and (low > 0 or high < 0):
        down_is_good = name.startswith(("ECE", "Brier,", "risk"))
        kind = "n better" if (low > 0) != down_is_good else "n worse"
    return (
        Cell(title(name)),
        Cell(in_words(name, one["this"]), "n"),
        Cell(in_words(name, one["other"]), "n"),
        Cell(_signed(name, value), kind),
        Cell(between(name, low, high, signed=True), "n"),
        Cell(percent(one["better"]), "n low"),
    )


def _signed(name: str, value: float | None) -> str:
    """A difference in percentage points, with its sign and without a unit."""
    if value is None:
        return in_words(name, None)
    words = in_words(name, abs(value)).removesuffix(f"{NBSP}%")
    return words if words.strip("0.") == "" else ("+" if value > 0 else "−") + words


def _tests(against: Against) -> str:
    names = (("decisions", "Decisions, NIL included"), ("first", "First candidates of mentions in the knowledge base"))
    rows = [
        (
            Cell(words),
            Cell(f"{against[key]['only_this']:,}", "n"),
            Cell(f"{against[key]['only_other']:,}", "n"),
            Cell(_p_value(against[key]["p_value"]), "n"),
        )
        for key, words in names
    ]
    return table(("McNemar’s exact test", "Only this one right", "Only the other right", "p"), rows)


def _p_value(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def flip_table(against: Against) -> str:
    names, every = against["names"], against["flips"]
    if not every:
        return paragraph("There is none.")
    ordered = sorted(every, key=lambda one: one["direction"] != "right_to_wrong")
    rows = [
        (
            Cell(one["surface"]),
            Cell(str(one["document_name"])),
            Cell("lost" if one["direction"] == "right_to_wrong" else "gained",
                 "worse" if one["direction"] == "right_to_wrong" else "better"),
            Cell("; ".join(_named(i, names) for i in one["gold"]) or "NIL"),
            Cell(_named(one["old"], names)),
            Cell(_named(one["new"], names)),
        )
        for one in ordered[:MOST_FLIPS]
    ]  # fmt: skip
    more = paragraph(f"The first {MOST_FLIPS:,} of {len(every):,}.") if len(every) > MOST_FLIPS else ""
    return more + table(("Mention", "Document", "", "Gold", "The other's answer", "This one's"), rows)


def _named(entity: str, names: Mapping[str, str]) -> str:
    return f"{entity} {names[entity]}" if entity in names else entity


# The charts of an evaluation's report.

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

"""The report of an evaluation as one HTML page, from the job's JSON result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.errors import english
from training.evaluation.page_map import map_section
from training.evaluation.page_parts import (
    NBSP,
    Axis,
    Cell,
    Chart,
    ChartSeries,
    bar,
    between,
    charts,
    facts,
    figure,
    in_words,
    page,
    paragraph,
    percent,
    section,
    table,
    title,
)

# The parts of an evaluation's report that compare it with another bundle.


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


FEW_DOCUMENTS = 20
CONVENTIONS = (
    "Only link and NIL decisions of done documents count; rejected and skipped mentions are in neither numerator nor "
    "denominator. A mention is NIL if none of its gold identifiers is in the knowledge base, primary or alternate.",
    "Recall@k is over mentions of entities in the knowledge base. Any-match: one of the gold entities is among the "
    "first k candidates; all-match: all of them are among the first max(k, their number). A mention whose entity was "
    "not retrieved is an error (unnormalised). Micro over mentions; macro is the mean over the mentions’ types, which "
    "are the worlds of ZESHEL.",
    "Equal scores are ordered by the exact match of a name, then by entity id; gold plays no part in it.",
    "Intervals: 95 %, percentiles of resamples of documents, since the mentions of one document depend on each other. "
    "There is none where all resamples agree. Differences are paired: both linkers on the same resamples. McNemar’s "
    "exact test takes mentions for independent.",
    "Homonym: several entities that the mention may link to have its surface as a name. Exact match: a gold entity "
    "has it. Abbreviation: at most ten characters, two capitals or digits among them; defined: the document gives its "
    "long form. Words of the mention, case and spacing apart: the preferred name of the gold entity (same name), a "
    "synonym (another name), the preferred name without what is in brackets at its end, part of a name, or none of "
    "these (other words); of several gold entities the easiest counts. Seen: occurs among the decisions of train "
    "documents, case and spacing apart. Type with NIL in tuning: a validation document has a NIL mention of the type.",
    "ECE: expected calibration error over 15 bins of equal size. Brier gain: how far the Brier score lies below that "
    "of always saying the base rate. Risk–coverage: decisions in the order of the linker’s confidence.",
)


def evaluation_page(result: Result) -> str:
    """The page for `result`, which `run_evaluation` returns."""
    against = result.get("against")
    sections = [
        section("What was compared", _facts(result)),
        section("Figures", _figures(result)),
        section("Recall by number of candidates", _recall(result)),
        section("Against the whole knowledge base", _whole(result)),
        section(f"Against {against['bundle']}", differences(against)) if against else "",
        section("Slices", _slices(result), long=True),
        section("NIL and confidence", charts(evaluation_charts(result))),
        section("Mentions and entities before and after training", map_section(result.get("map"))),
        section("Decisions that differ", flip_table(against), long=True) if against else "",
        section("Where it comes from", _origin(result)),
        section("How it is counted", "".join(paragraph(one, muted=True) for one in CONVENTIONS)),
    ]
    return page(f"Evaluation on {result['split']}", english(result["message"]), sections)


def _facts(result: Result) -> str:
    return facts(
        [
            ("Bundle", result["bundle"]),
            ("Documents", f"{result['documents']:,} of the split {result['split']}"),
            ("Decided mentions", f"{result['mentions']:,}"),
            ("… in the knowledge base", f"{result['in_kb']:,}"),
            ("… NIL", f"{result['nil_mentions']:,}"),
            ("… of several entities", f"{result['composites']:,}"),
            ("… without an answer", f"{result['unanswered']:,}"),
            ("Alternate or obsolete ids mapped", f"{result['alternate_ids']:,}"),
            ("Ids not in the knowledge base", f"{result['unknown_ids']:,}"),
            ("Mention memory", memory_words(result["memory"])),
        ]
    )


def memory_words(memory: Mapping[str, Any]) -> str:
    return f"{memory['decisions']:,} decisions of train" if memory["used"] else "not used"


def _origin(result: Result) -> str:
    return facts(
        [
            ("Made", result["made"]),
            ("Linker", " ".join(result["linker"])),
            ("Knowledge base (SHA-256)", result["kb_hash"]),
            ("Decisions (SHA-256)", result["data_hash"]),
            ("Resamples of documents", f"{result['resamples']:,}, seed {result['seed']}"),
        ]
    )


def _figures(result: Result) -> str:
    rows = [
        (
            Cell(title(name)),
            Cell(in_words(name, one["value"]), "n"),
            Cell(between(name, one["low"], one["high"]), "n"),
            bar(one),
        )
        for name, one in result["figures"].items()
    ]
    few = f"There are only {result['documents']:,} documents, so the intervals are rough." if _few(result) else ""
    return (paragraph(few) if few else "") + table(("", "Figure", "95 % interval", "0 to 100 %"), rows)


def _few(result: Result) -> bool:
    return int(result["documents"]) < FEW_DOCUMENTS


def _recall(result: Result) -> str:
    rows = [
        (
            Cell(f"@{k}"),
            Cell(percent(value), "n"),
            Cell(percent(result["recall_all"][k]), "n"),
            Cell(percent(result["macro_recall"][k]), "n"),
        )
        for k, value in result["recall"].items()
    ]
    return table(("k", "Any-match", "All-match", "Any-match, macro over types"), rows)


def _whole(result: Result) -> str:
    whole = result.get("whole_kb")
    if not whole:
        return ""
    rows = [
        (
            Cell(title(name)),
            Cell(in_words(name, result["figures"][name]["value"]), "n"),
            Cell(in_words(name, one["value"]), "n"),
            Cell(between(name, one["low"], one["high"]), "n"),
        )
        for name, one in whole.items()
    ]
    words = "The same mentions linked without their types: for ZESHEL, against all worlds."
    return paragraph(words) + table(("", "Within the types", "Whole knowledge base", "95 % interval"), rows)


def _slices(result: Result) -> str:
    k = result["k"]
    rows = [_slice_row(name, one) for name, one in result["slices"].items()]
    head = ("", "Mentions", "In KB", "Recall@1", "95 %", f"Recall@{k}", "95 %", "Right in all", "NIL F1")
    return table(head, rows)


def _slice_row(name: str, part: Mapping[str, Any]) -> tuple[Cell, ...]:
    at_1, at_k = part["intervals"]["recall@1"], part["intervals"]["recall@k"]
    return (
        Cell(name),
        Cell(f"{part['mentions']:,}", "n"),
        Cell(f"{part['in_kb']:,}", "n"),
        Cell(percent(part["recall_at_1"]), "n"),
        Cell(between("", *at_1), "n low"),
        Cell(percent(part["recall_at_k"]), "n"),
        Cell(between("", *at_k), "n low"),
        Cell(percent(part["accuracy"]), "n"),
        Cell(percent(part["nil_f1"]), "n"),
    )

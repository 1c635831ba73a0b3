"""Figures of evaluations and gates in words and rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curator.domain.wording import tr
from curator.ui.kit.labels import percent

Row = tuple[str, str, str]
ALONE = "The trained part alone, recall@1"
WORDS = {
    "right in all, NIL included": "Right in all (NIL included)",
    "NIL auPR": "NIL area under precision and recall",
    "risk-coverage area": "Risk–coverage area",
}


def evaluation_rows(result: Mapping[str, Any]) -> list[Row]:
    """(figure, value, 95 % interval) as *Tools > Evaluate* shows them, from the result of the job."""
    rows = [
        (tr("Decided mentions"), f"{result.get('mentions', 0):,}", ""),
        (tr("of them in the knowledge base"), f"{result.get('in_kb', 0):,}", ""),
        (tr("of them NIL"), f"{result.get('nil_mentions', 0):,}", ""),
    ]
    for name, one in result.get("figures", {}).items():
        rows.append((_words(name), figure_words(name, one["value"]), interval_words(name, one["low"], one["high"])))
    for name, part in result.get("slices", {}).items():
        low, high = part.get("intervals", {}).get("recall@1", (None, None))
        words = interval_words("", low, high)
        rows.append((f"Recall@1, {name} ({part['in_kb']:,})", percent(part["recall_at_1"]), words))
    return rows


def comparison_rows(against: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """(figure, this bundle, the other, difference in points, its interval) of a comparison."""
    rows = []
    for name, one in against.get("figures", {}).items():
        apart = one.get("difference") or {"value": None}
        if apart["value"] is None:
            continue
        values = (figure_words(name, one.get("this")), figure_words(name, one.get("other")))
        between = interval_words(name, apart.get("low"), apart.get("high"), signed=True)
        rows.append((_words(name), *values, _signed(name, apart["value"]), between))
    return rows


def comparison_words(against: Mapping[str, Any]) -> str:
    """What the exact test says, in a sentence."""
    test = against["decisions"]
    return tr(
        "Against {bundle}: {here:,} decisions are right only here, {there:,} only there "
        "(McNemar's exact test: p {p_value}).",
        bundle=against["bundle"],
        here=test["only_this"],
        there=test["only_other"],
        p_value=_p_value(test["p_value"]),
    )


def mcnemar_words(comparison: Mapping[str, Any]) -> str:
    """What the exact test says of the old and the new linker, in a sentence; '' where it was not made."""
    test = comparison.get("decisions") or comparison.get("mcnemar")
    if not isinstance(test, Mapping) or "p_value" not in test:
        return ""
    return tr(
        "{after:,} decisions are right only after, {before:,} only before (McNemar's exact test: p {p_value}).",
        after=test.get("only_this", 0),
        before=test.get("only_other", 0),
        p_value=_p_value(float(test["p_value"])),
    )


def replay_rows(result: Mapping[str, Any]) -> list[Row]:
    """(figure, over all decisions, over the last ones) of a replay."""
    every, last = result["replay"]["every"], result["replay"]["last"]
    return [
        (tr("Decisions"), f"{every['decisions']:,}", f"{last['decisions']:,}"),
        (tr("Recall@1 of links"), percent(every["recall_at_1"]), percent(last["recall_at_1"])),
        (tr("Took one key (Enter)"), percent(1 - every["more_keys"]), percent(1 - last["more_keys"])),
        (
            tr("Took one key, 1 … 9 included"),
            percent(1 - every["more_than_digit"]),
            percent(1 - last["more_than_digit"]),
        ),
        ("NIL F1", percent(every["nil_f1"]), percent(last["nil_f1"])),
    ]


def figure_words(name: str, value: float | None) -> str:
    """In per cent; errors and areas as plain numbers."""
    if value is None:
        return "–"
    return f"{value:.3f}" if _is_plain(name) else percent(value)


def interval_words(name: str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """`90.1 – 92.3`, of differences `−0.2 to +1.1`; empty without an interval."""
    if low is None or high is None:
        return ""
    if signed:
        return tr("{low} to {high}", low=_signed(name, low), high=_signed(name, high))
    return f"{low:.3f} – {high:.3f}" if _is_plain(name) else f"{100 * low:.1f} – {100 * high:.1f}"


def _signed(name: str, value: float) -> str:
    """A difference: in points of per cent, without a unit."""
    words = figure_words(name, abs(value)).removesuffix(" %")
    return words if words.strip("0.") == "" else ("+" if value > 0 else "−") + words


def _p_value(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.4f}"


def _is_plain(name: str) -> bool:
    return name.startswith(("ECE", "Brier,", "risk-coverage"))


def _words(name: str) -> str:
    return tr(WORDS[name]) if name in WORDS else name[:1].upper() + name[1:]


def gate_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(figure, old linker, new linker) on the same held-out documents, from a bundle's metrics."""
    old, new = metrics.get("old", {}), metrics.get("new", {})
    rows = []
    for words, path in GATE_FIGURES:
        before, after = _dig(old, path), _dig(new, path)
        if before is not None or after is not None:
            rows.append((tr(words), percent(before), percent(after)))
    alone = metrics.get("alone", {})
    if alone:
        rows.append((tr(ALONE), *_alone(alone)))
    return rows


GATE_FIGURES = (
    ("Recall@1 of the whole linker", ("recall", "1")),
    ("Recall@64 of the whole linker", ("recall", "64")),
    ("NIL F1", ("nil", "f1")),
    ("Right in all (NIL included)", ("accuracy",)),
)


def _alone(alone: Mapping[str, Any]) -> tuple[str, str]:
    return percent(alone.get("before_at_1")), percent(alone.get("after_at_1"))


def _dig(values: Mapping[str, Any], path: tuple[str, ...]) -> float | None:
    found: Any = values
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return float(found) if isinstance(found, int | float) else None

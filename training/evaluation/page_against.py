"""The parts of an evaluation's report that hold it against another bundle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.evaluation.page_parts import NBSP, Cell, between, in_words, paragraph, percent, table, title

Against = Mapping[str, Any]
MOST_FLIPS = 500


def differences(against: Against) -> str:
    rows = [_difference_row(name, one) for name, one in against["figures"].items()]
    head = ("", "This bundle", "The other", "Difference", "95 % interval", "Higher in")
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
    """A difference: in points of per cent, without a unit."""
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

"""The report of a replay as one HTML page, from the job's JSON result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from models.errors import english
from training.evaluation.page_parts import (
    Axis,
    Cell,
    Chart,
    ChartSeries,
    charts,
    facts,
    figure,
    page,
    paragraph,
    percent,
    section,
    table,
)

Result = Mapping[str, Any]
REPLAY_WORDS = (
    "Gold is decided document by document, as a curator who knows the answers would. One key: Enter records exactly "
    "the gold, that is NIL where the suggestion is flagged NIL, else the one entity that is the first candidate. A "
    "decision for several entities takes more. With a digit: Enter, or a key 1 to 9 for a candidate by rank. A "
    "document is linked before its decisions are learnt, so it never sees its own."
)


def replay_page(result: Result) -> str:
    """The page for `result`, which `run_replay` returns."""
    found = result["replay"]
    splits = " then ".join(one for one in (result["split"], result["then"]) if one)
    sections = [
        section("What was replayed", _replay_facts(result)),
        section("Figures", _replay_table(found)),
        section("Curves", charts(_replay_charts(found))),
        section("How it is counted", paragraph(REPLAY_WORDS, muted=True)),
    ]
    return page(f"Replay of {splits}", english(result["message"]), sections)


def _replay_facts(result: Result) -> str:
    found = result["replay"]
    rows = [
        ("Bundle", result["bundle"]),
        ("Splits", ", ".join(f"{name} from decision {at + 1:,}" for name, at in found["starts"].items())),
        ("Documents", f"{found['documents']:,}"),
        ("Decisions", f"{found['decisions']:,}"),
        ("Mention memory", "learns from each document" if found["remembers"] else "none"),
        ("Made", result["made"]),
        ("Knowledge base (SHA-256)", result["kb_hash"]),
        ("Decisions (SHA-256)", result["data_hash"]),
    ]
    return facts(rows)


def _replay_table(found: Mapping[str, Any]) -> str:
    every, last = found["every"], found["last"]
    names: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
        ("Recall@1 of links", lambda one: percent(one["recall_at_1"])),
        ("One key", lambda one: percent(1 - one["more_keys"])),
        ("One key, digits included", lambda one: percent(1 - one["more_than_digit"])),
        ("NIL F1", lambda one: percent(one["nil_f1"])),
    )
    rows = [(Cell(words), Cell(show(every), "n"), Cell(show(last), "n")) for words, show in names]
    return table(("", f"All {every['decisions']:,}", f"The last {last['decisions']:,}"), rows)


def _replay_charts(found: Mapping[str, Any]) -> list[str]:
    decisions = max(1, found["decisions"])
    marks = [(at, name) for name, at in found["starts"].items() if at]
    across = Axis("decisions made", high=decisions, percent=False)

    def line(field: str, name: str) -> ChartSeries:
        return ChartSeries(name, [(one["end"], one[field]) for one in found["stretches"] if one[field] is not None])

    more = [line("more_keys", "more than Enter"), line("more_than_digit", "more than Enter or a digit")]
    high = max(0.1, *(y for series in more for _, y in series.points)) if found["stretches"] else 1.0
    quality = [line("recall_at_1", "recall@1 of links"), line("nil_f1", "NIL F1")]
    low = min((y for series in quality for _, y in series.points), default=0.0)
    low = 0.0 if low < 0.5 else 0.5
    return [
        figure(Chart("Decisions that needed more than one key", across, Axis("share", high=high), more, marks=marks),
               "Each point is a stretch of consecutive decisions."),
        figure(Chart("How good the suggestions were", across, Axis("share", low=low), quality, marks=marks),
               "Each point is a stretch of consecutive decisions; NIL F1 only where NIL was decided."),
    ]  # fmt: skip

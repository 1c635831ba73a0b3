"""The report of an evaluation as one HTML page, from the job's JSON result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.errors import english
from training.evaluation.page_against import differences, evaluation_charts, flip_table
from training.evaluation.page_map import map_section
from training.evaluation.page_parts import (
    Cell,
    bar,
    between,
    charts,
    facts,
    in_words,
    page,
    paragraph,
    percent,
    section,
    table,
    title,
)

Result = Mapping[str, Any]
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

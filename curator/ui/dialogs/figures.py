"""Figures of evaluations and gates in words and rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = tuple[str, str]


def percent(value: float | None) -> str:
    """`91.2 %`; a dash where the figure is not defined."""
    return "–" if value is None else f"{100 * value:.1f} %"


def evaluation_rows(result: Mapping[str, Any]) -> list[Row]:
    """What *Tools > Evaluate* shows, from the result of the job."""
    recall, nil = result.get("recall", {}), result.get("nil", {})
    rows = [
        ("Decided mentions", f"{result.get('mentions', 0):,}"),
        ("of them in the knowledge base", f"{result.get('in_kb', 0):,}"),
        ("of them NIL", f"{result.get('nil_mentions', 0):,}"),
    ]
    rows += [(f"Recall@{k}", percent(recall[k])) for k in ("1", "8", "64") if k in recall]
    rows += [
        ("Right in all (NIL included)", percent(result.get("accuracy"))),
        ("NIL precision", percent(nil.get("precision"))),
        ("NIL recall", percent(nil.get("recall"))),
        ("NIL F1", percent(nil.get("f1"))),
        ("NIL area under precision and recall", percent(nil.get("au_pr"))),
    ]
    for name, part in result.get("slices", {}).items():
        rows.append((f"Recall@1, {name} ({part['in_kb']:,})", percent(part["recall_at_1"])))
    return rows


def gate_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(figure, old linker, new linker) on the same held-out documents, from a bundle's metrics."""
    old, new = metrics.get("old", {}), metrics.get("new", {})
    rows = []
    for words, path in GATE_FIGURES:
        before, after = _dig(old, path), _dig(new, path)
        if before is not None or after is not None:
            rows.append((words, percent(before), percent(after)))
    alone = metrics.get("alone", {})
    if alone:
        rows.append(("The trained part alone, recall@1", *_alone(alone)))
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

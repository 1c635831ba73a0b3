"""Metrics as a training job writes them, over the documents of `fakes`."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from curator.domain.jobs import BundleInfo, GateVerdict


def flip(mention: int, surface: str, gold: str, old: str, new: str) -> dict[str, Any]:
    direction = "wrong_to_right" if new == gold else "right_to_wrong"
    return {
        "document": "1",
        "mention": str(mention),
        "surface": surface,
        "gold": [] if gold == "NIL" else [gold],
        "old": old,
        "new": new,
        "direction": direction,
    }


FLIPS = [
    flip(1, "Lidocaine", "MESH:D008012", "NIL", "MESH:D008012"),
    flip(2, "cardiac arrest", "MESH:D006323", "MESH:D006323", "NIL"),
    flip(4, "blorbitis", "NIL", "MESH:D001145", "NIL"),
]
QUEUE = [{"document": 2, "mention": 7, "surface": "arrhythmia", "before": "MESH:D006323", "after": "MESH:D001145"}]
COMPARISON = {
    "figures": {
        "recall@1": {"this": 0.87, "other": 0.85, "difference": {"value": 0.02, "low": 0.004, "high": 0.036}},
        "NIL F1": {"this": None, "other": 0.5, "difference": {"value": None, "low": None, "high": None}},
    },
    "decisions": {"only_this": 2, "only_other": 1, "p_value": 1.0},
}
METRICS: dict[str, Any] = {
    "old": {"recall": {"1": 0.85}},
    "new": {"recall": {"1": 0.87}},
    "alone": {"before_at_1": 0.6, "after_at_1": 0.8},
    "flips": FLIPS,
    "queue": QUEUE,
    "comparison": COMPARISON,
}


def bundle_info(*, path: Path = Path("nowhere"), metrics: dict[str, Any] | None = None, **facts: Any) -> BundleInfo:
    return BundleInfo(
        id=facts.get("id", "b"),
        recipe="untrained",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        path=str(path),
        active=bool(facts.get("active", False)),
        verdict=facts.get("verdict", GateVerdict.NOT_GATED),
        summary="",
        metrics=metrics or {},
        parent=str(facts.get("parent", "")),
    )


def error_row(**changes: Any) -> dict[str, Any]:
    """One row of an evaluation's errors, as the job writes it: by field."""
    row: dict[str, Any] = {
        "kind": "ranked_lower",
        "relation": None,
        "document": "1",
        "document_name": "PMID 1",
        "mention": "1",
        "text": "lidocaine",
        "before": "Before the ",
        "after": " was given.",
        "types": ["Chemical"],
        "gold": ["MESH:D008012"],
        "answer": "MESH:D006323",
        "probability": 0.75,
        "rank": 2,
        "gold_probability": 0.125,
        "gold_score": -1.5,
        "seen": True,
        "name_class": "same_name",
    }
    assert set(changes) <= set(row)
    return row | changes


def evaluation_result(*rows: dict[str, Any], split: str = "validation", mentions: int = 9) -> dict[str, Any]:
    """What an evaluation job gives, as far as its list of errors depends on it."""
    kinds = Counter(row["kind"] for row in rows)
    return {
        "split": split,
        "bundle": "b1",
        "made": "2026-01-02T03:04:05+00:00",
        "mentions": mentions,
        "html": "<p>α</p>",
        "errors": {
            "version": 1,
            "fields": list(error_row()),
            "rows": [list(row.values()) for row in rows],
            "names": {"MESH:D008012": "Lidocaine", "MESH:D006323": "Heart Arrest"},
            "kinds": dict(kinds),
        },
    }

"""The audit trail as a file: all records, in order, as CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.domain.audit import AuditEntry
from curator.domain.decisions import Outcome, Verdict
from curator.domain.wording import UserError, guarded_row, tr
from curator.services.core.context import Context, Service
from curator.services.ports.files import FileWriter

COLUMNS = (
    "at",
    "kind",
    "id",
    "step",
    "operation",
    "target",
    "actor",
    "curator",
    "round",
    "document",
    "mention",
    "spans",
    "mention_text",
    "mention_type",
    "deleted",
    "outcome",
    "entities",
    "reason",
    "note",
    "bundle",
    "suggested",
    "chosen_rank",
    "nil_score",
    "replaces",
    "replaced_outcome",
    "replaced_entities",
    "text",
)
CSV_SUFFIX, JSON_SUFFIXES = ".csv", (".jsonl", ".ndjson", ".json")


@dataclass(frozen=True, slots=True)
class AuditReport:
    path: Path
    entries: int
    decisions: int
    judgements: int
    operations: int


class AuditService(Service):
    def __init__(self, context: Context, files: FileWriter) -> None:
        super().__init__(context)
        self._files = files

    def export(self, out: Path) -> AuditReport:
        """Write the whole trail; the suffix determines the format: `.csv` or `.jsonl`. Raises UserError."""
        counts: Counter[str] = Counter()
        suffix = out.suffix.lower()
        if suffix not in (CSV_SUFFIX, *JSON_SUFFIXES):
            raise UserError(
                tr("{name}: the file name must end in .csv or .jsonl, which sets the format.", name=out.name)
            )
        with self._store.read() as unit:
            entries = _counted(unit.records.audit(), counts)
            self._files.stream(out, csv_lines(entries) if suffix == CSV_SUFFIX else json_lines(entries))
        return AuditReport(out, counts.total(), counts["decision"], counts["judgement"], counts["operation"])


def json_lines(entries: Iterator[AuditEntry]) -> Iterator[bytes]:
    """One object per entry, with every candidate that was shown and its score."""
    for one in entries:
        row: dict[str, Any] = {key: value for key, value in row_of(one).items() if value not in (None, "")}
        if one.mention is not None:
            row["spans"] = [[span.start, span.end] for span in one.mention.spans]
        if one.verdict is not None:
            row["entities"] = list(one.verdict.entity_ids)
        if one.before is not None:
            row["replaced_entities"] = list(one.before.entity_ids)
        if one.shown is not None:
            row["suggested"] = [[candidate.entity_id, candidate.score] for candidate in one.shown.candidates]
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def csv_lines(entries: Iterator[AuditEntry]) -> Iterator[bytes]:
    """RFC 4180 with a head line, UTF-8; lists are joined with a vertical bar. Text that a spreadsheet would treat as a
    formula gets an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for one in entries:
        writer.writerow(guarded_row(row_of(one).values()))
        yield out.getvalue().encode("utf-8", "surrogatepass")
        out.seek(0)
        out.truncate()
    yield out.getvalue().encode("utf-8", "surrogatepass")


def row_of(one: AuditEntry) -> dict[str, Any]:
    """The columns of an entry, None for empty ones."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {
        "at": one.at.isoformat(),
        "kind": one.kind.value,
        "id": one.id,
        "step": one.step,
        "operation": one.operation,
        "target": one.target,
        "actor": one.actor,
        "curator": one.curator,
        "round": one.round,
        "note": one.note,
        "replaces": one.replaces,
        "text": one.text,
    }
    return row | _mention(one) | _verdict(one.verdict) | _shown(one) | _before(one.before)


def _mention(one: AuditEntry) -> dict[str, Any]:
    if one.mention is None:
        return {}
    return {
        "document": one.mention.document,
        "mention": one.mention.id,
        "spans": "|".join(f"{span.start}-{span.end}" for span in one.mention.spans),
        "mention_text": one.mention.text,
        "mention_type": one.mention.type,
        "deleted": int(one.mention.deleted),
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any]:
    if verdict is None:
        return {}
    reason = verdict.reason.value if verdict.reason else None
    return {"outcome": verdict.outcome.value, "entities": "|".join(verdict.entity_ids), "reason": reason}


def _before(verdict: Verdict | None) -> dict[str, Any]:
    if verdict is None:
        return {}
    return {"replaced_outcome": verdict.outcome.value, "replaced_entities": "|".join(verdict.entity_ids)}


def _shown(one: AuditEntry) -> dict[str, Any]:
    if one.shown is None:
        return {}
    ids = [candidate.entity_id for candidate in one.shown.candidates]
    linked = one.verdict.entity_ids if one.verdict and one.verdict.outcome is Outcome.LINK else ()
    ranks = [ids.index(entity) + 1 for entity in linked if entity in ids]
    return {
        "bundle": one.shown.bundle_id,
        "suggested": "|".join(ids),
        "chosen_rank": "|".join(map(str, ranks)),
        "nil_score": one.shown.nil_score,
    }


def _counted(entries: Iterator[AuditEntry], counts: Counter[str]) -> Iterator[AuditEntry]:
    for one in entries:
        counts[one.kind.value] += 1
        yield one

"""Keeps the counters and the stamp of documents in step with their mentions, inside the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, select, update

from curator.domain.decisions import Outcome
from curator.storage.db.rows import chunks, unique
from curator.storage.db.schema import DocumentRow, MentionRow, SuggestionRow

_ZERO: dict[str, Any] = {
    "mentions": 0,
    "linked": 0,
    "nil": 0,
    "rejected": 0,
    "skipped": 0,
    "stamp_bundle": None,
    "stamp_revision": None,
}
COLUMN_OF = {
    Outcome.LINK.value: "linked",
    Outcome.NIL.value: "nil",
    Outcome.REJECTED.value: "rejected",
    Outcome.SKIPPED.value: "skipped",
}


def recount(conn: Connection, document_ids: Sequence[int]) -> None:
    """Recompute the counters of the documents; call after every change to mentions, decisions or suggestions."""
    fresh = [{"b_id": document_id, **_ZERO} for document_id in unique(document_ids)]
    if not fresh:
        return
    by_id = {row["b_id"]: row for row in fresh}
    for part in chunks(list(by_id)):
        for row in conn.execute(_SUMS, {"ids": list(part)}).mappings():
            by_id[row["document_id"]].update(_values(dict(row)))
    conn.execute(_UPDATE, fresh)


def _values(row: dict[str, Any]) -> dict[str, Any]:
    values = {name: row[name] for name in ("mentions", "linked", "nil", "rejected", "skipped")}
    same = row["undecided"] == row["suggested"] > 0 and row["bundle_min"] == row["bundle_max"]
    if same and row["revision_min"] == row["revision_max"]:
        values |= {"stamp_bundle": row["bundle_min"], "stamp_revision": row["revision_min"]}
    return values


_undecided = MentionRow.outcome.is_(None)
_bundle = case((_undecided, SuggestionRow.bundle_id))
_revision = case((_undecided, SuggestionRow.revision))

_SUMS = (
    select(
        MentionRow.document_id,
        func.count().label("mentions"),
        *(
            func.sum(case((MentionRow.outcome == outcome, 1), else_=0)).label(name)
            for outcome, name in COLUMN_OF.items()
        ),
        func.sum(case((_undecided, 1), else_=0)).label("undecided"),
        func.count(_bundle).label("suggested"),
        func.min(_bundle).label("bundle_min"),
        func.max(_bundle).label("bundle_max"),
        func.min(_revision).label("revision_min"),
        func.max(_revision).label("revision_max"),
    )
    .outerjoin(SuggestionRow, SuggestionRow.mention_id == MentionRow.id)
    .where(MentionRow.document_id.in_(bindparam("ids", expanding=True)), ~MentionRow.deleted)
    .group_by(MentionRow.document_id)
)

_UPDATE = (
    update(DocumentRow).where(DocumentRow.id == bindparam("b_id")).values({name: bindparam(name) for name in _ZERO})
)

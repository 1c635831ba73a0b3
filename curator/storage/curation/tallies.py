"""Documents' counters and stamps after decisions, from what the decisions changed: a step over two thousand documents
must not read every mention of each. `counters.recount` gives the same from the mentions themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from curator.storage.curation.counters import COLUMN_OF, recount
from curator.storage.db.rows import AnyRow, among, ids_of
from curator.storage.db.schema import DocumentRow, MentionRow, SuggestionRow

_COUNTED = ("linked", "nil", "rejected", "skipped")
Stamped = tuple[str | None, int | None]


@dataclass(frozen=True, slots=True)
class Decidable:
    """A mention as far as its document's counters depend on it; `outcome` is None while it is undecided."""

    id: int
    document_id: int
    outcome: str | None
    deleted: bool


def decidables(conn: Connection, mention_ids: Iterable[int]) -> dict[int, Decidable]:
    """By id; unknown mentions are absent."""
    return {row[0]: Decidable(*row) for row in conn.execute(_DECIDABLES, ids_of(mention_ids))}


def retally(conn: Connection, before: Mapping[int, Decidable], after: Mapping[int, str | None]) -> None:
    """Bring the documents of the mentions in line; `after` holds the mentions' new outcomes, already written."""
    moves: dict[int, list[tuple[Decidable, str | None]]] = {}
    for mention_id, outcome in after.items():
        mention = before[mention_id]
        if not mention.deleted and mention.outcome != outcome:
            moves.setdefault(mention.document_id, []).append((mention, outcome))
    opened = [one.id for some in moves.values() for one, outcome in some if outcome is None]
    stamps = _stamps(conn, opened)
    fresh: list[dict[str, Any]] = []
    unclear: list[int] = []
    for row in conn.execute(_DOCUMENTS, ids_of(moves)):
        values = _tally(row, moves[row.id], stamps)
        fresh.append(values) if values is not None else unclear.append(row.id)
    if fresh:
        conn.execute(_UPDATE, fresh)
    recount(conn, unclear)


def _tally(
    row: AnyRow, moves: Sequence[tuple[Decidable, str | None]], stamps: Mapping[int, Stamped]
) -> dict[str, Any] | None:
    """The document's new values; None where only its mentions can tell whether their stamps agree now."""
    values = {name: getattr(row, name) for name in _COUNTED}
    undecided = row.mentions - sum(values.values())
    for mention, outcome in moves:
        for one, step in ((mention.outcome, -1), (outcome, 1)):
            if one is not None:
                values[COLUMN_OF[one]] += step
    left = row.mentions - sum(values.values())
    stamp: Stamped = (row.stamp_bundle, row.stamp_revision)
    opened = {stamps.get(mention.id, (None, None)) for mention, outcome in moves if outcome is None}
    closed = any(mention.outcome is None for mention, _ in moves)
    if left == 0:
        stamp = (None, None)
    elif opened and undecided == 0:
        stamp = next(iter(opened)) if len(opened) == 1 else (None, None)
    elif closed and (stamp[0] is None or opened):
        return None
    elif opened and opened != {stamp}:
        stamp = (None, None)
    return {"b_id": row.id, **values, "stamp_bundle": stamp[0], "stamp_revision": stamp[1]}


def _stamps(conn: Connection, mention_ids: Sequence[int]) -> dict[int, Stamped]:
    if not mention_ids:
        return {}
    return {row[0]: (row[1], row[2]) for row in conn.execute(_STAMPS, ids_of(mention_ids))}


_DECIDABLES = select(MentionRow.id, MentionRow.document_id, MentionRow.outcome, MentionRow.deleted).where(
    among(MentionRow.id)
)
_STAMPS = select(SuggestionRow.mention_id, SuggestionRow.bundle_id, SuggestionRow.revision).where(
    among(SuggestionRow.mention_id)
)
_DOCUMENTS = select(
    DocumentRow.id,
    DocumentRow.mentions,
    DocumentRow.linked,
    DocumentRow.nil,
    DocumentRow.rejected,
    DocumentRow.skipped,
    DocumentRow.stamp_bundle,
    DocumentRow.stamp_revision,
).where(among(DocumentRow.id))
_UPDATE = (
    update(DocumentRow)
    .where(DocumentRow.id == bindparam("b_id"))
    .values({name: bindparam(name) for name in (*_COUNTED, "stamp_bundle", "stamp_revision")})
)

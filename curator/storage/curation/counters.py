"""Keeps the counters and the stamp of documents in step with their mentions, inside the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, case, exists, func, select, update

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState
from curator.domain.wording import UserError, tr
from curator.storage.db.ahead import LATER, answer
from curator.storage.db.columns import enum_of
from curator.storage.db.dialects import among
from curator.storage.db.rows import AnyRow, chunks, ids_of, unique
from curator.storage.db.schema import DocumentRow, MentionRow, SuggestionRow

COUNTERS = {
    Outcome.LINK: DocumentRow.linked,
    Outcome.NIL: DocumentRow.nil,
    Outcome.REJECTED: DocumentRow.rejected,
    Outcome.SKIPPED: DocumentRow.skipped,
}
COLUMN_OF = {outcome.value: column.key for outcome, column in COUNTERS.items()}


def _sum(columns: Iterable[Any]) -> ColumnElement[int]:
    found: ColumnElement[int] = reduce(add, columns)
    return found


DECIDED = _sum(column for outcome, column in COUNTERS.items() if outcome.decides)
"""The number of a document's decided mentions."""
HAS_UNDECIDED = DocumentRow.mentions > _sum(COUNTERS.values())
"""Whether a document has a mention without a decision; a skipped one has one."""

_ZERO: dict[str, Any] = {
    "mentions": 0,
    **dict.fromkeys(COLUMN_OF.values(), 0),
    "stamp_bundle": None,
    "stamp_revision": None,
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
    values = {name: row[name] for name in ("mentions", *COLUMN_OF.values())}
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
    update(DocumentRow)
    .where(DocumentRow.id == bindparam("b_id"))
    .values({name: bindparam(name) for name in _ZERO})
    .execution_options(**{LATER: True})
)


# Documents' counters and stamps after decisions, updated by the changes: a step over two thousand documents must not
# read every mention of each. `counters.recount` gives the same from the mentions themselves.

_COUNTED = tuple(COLUMN_OF.values())
Stamped = tuple[str | None, int | None]


@dataclass(frozen=True, slots=True)
class Decidable:
    """A mention with the values that its document's counters depend on; `outcome` is None while it is undecided."""

    id: int
    document_id: int
    outcome: str | None
    deleted: bool


def decidables(conn: Connection, mention_ids: Iterable[int]) -> dict[int, Decidable]:
    """The values by mention id; unknown mentions are absent."""
    return {row[0]: Decidable(*row) for row in answer(conn, DECIDABLES, ids_of(mention_ids))}


def retally(conn: Connection, before: Mapping[int, Decidable], after: Mapping[int, str | None]) -> None:
    """Update the documents of the mentions; `after` holds the mentions' new outcomes, already written."""
    moves: dict[int, list[tuple[Decidable, str | None]]] = {}
    for mention_id, outcome in after.items():
        mention = before[mention_id]
        if not mention.deleted and mention.outcome != outcome:
            moves.setdefault(mention.document_id, []).append((mention, outcome))
    opened = [one.id for some in moves.values() for one, outcome in some if outcome is None]
    stamps = _stamps(conn, opened)
    fresh: list[dict[str, Any]] = []
    unclear: list[int] = []
    for row in answer(conn, TALLIES, ids_of(moves)):
        values = _tally(row, moves[row.id], stamps)
        fresh.append(values) if values is not None else unclear.append(row.id)
    if fresh:
        conn.execute(_UPDATE_TALLIES, fresh)
    recount(conn, unclear)


def _tally(
    row: AnyRow, moves: Sequence[tuple[Decidable, str | None]], stamps: Mapping[int, Stamped]
) -> dict[str, Any] | None:
    """The document's new values; None if its mentions must be read to see whether their stamps agree."""
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
    elif closed and (opened or (stamp[0] is None and row.suggested)):
        return None
    elif opened and opened != {stamp}:
        stamp = (None, None)
    return {"b_id": row.id, **values, "stamp_bundle": stamp[0], "stamp_revision": stamp[1]}


def _stamps(conn: Connection, mention_ids: Sequence[int]) -> dict[int, Stamped]:
    if not mention_ids:
        return {}
    return {row[0]: (row[1], row[2]) for row in conn.execute(_STAMPS, ids_of(mention_ids))}


DECIDABLES = select(MentionRow.id, MentionRow.document_id, MentionRow.outcome, MentionRow.deleted).where(
    among(MentionRow.id)
)
_STAMPS = select(SuggestionRow.mention_id, SuggestionRow.bundle_id, SuggestionRow.revision).where(
    among(SuggestionRow.mention_id)
)


def tallies() -> Any:  # nine columns: SQLAlchemy 2.0 and 2.1 have different types for so many
    """The counters and stamps of documents, and whether one without a stamp has suggestions at all."""
    suggested = select(SuggestionRow.mention_id).join(MentionRow, MentionRow.id == SuggestionRow.mention_id)
    return select(
        DocumentRow.id,
        DocumentRow.mentions,
        DocumentRow.linked,
        DocumentRow.nil,
        DocumentRow.rejected,
        DocumentRow.skipped,
        DocumentRow.stamp_bundle,
        DocumentRow.stamp_revision,
        and_(
            DocumentRow.stamp_bundle.is_(None), exists(suggested.where(MentionRow.document_id == DocumentRow.id))
        ).label("suggested"),
    )


TALLIES = tallies().where(among(DocumentRow.id))
_UPDATE_TALLIES = (
    update(DocumentRow)
    .where(DocumentRow.id == bindparam("b_id"))
    .values({name: bindparam(name) for name in (*_COUNTED, "stamp_bundle", "stamp_revision")})
    .execution_options(**{LATER: True})
)


# States of many documents at once.

STATES = select(DocumentRow.id, DocumentRow.state).where(among(DocumentRow.id))


def states_of(conn: Connection, document_ids: Sequence[int]) -> dict[int, DocumentState]:
    """The states by id. Raises UserError if a document does not exist."""
    wanted = unique(document_ids)
    found = {
        row[0]: enum_of(DocumentState, row[1], "documents", "state", row[0])
        for row in answer(conn, STATES, ids_of(wanted))
    }
    for document_id in wanted:
        if document_id not in found:
            raise UserError(tr("There is no document {document_id} in this project.", document_id=document_id))
    return found


def set_states(conn: Connection, states: Mapping[int, DocumentState]) -> None:
    """Set the states. Raises UserError if a document does not exist; then nothing is changed."""
    states_of(conn, list(states))
    if states:
        conn.execute(_SET_STATES, [{"b_id": one, "b_state": state.value} for one, state in states.items()])


_SET_STATES = (
    update(DocumentRow)
    .where(DocumentRow.id == bindparam("b_id"))
    .values(state=bindparam("b_state"))
    .execution_options(**{LATER: True})
)

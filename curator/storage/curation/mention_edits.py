"""The append-only log of what was changed of mentions: their spans and their type."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from curator.domain.documents import Span
from curator.domain.mention_edits import MentionEdit, MentionShape
from curator.storage.db.rows import AnyRow, from_iso, next_id
from curator.storage.db.schema import FormerTextRow, MentionEditRow, MentionRow, OperationRow


def append_edit(conn: Connection, mention_id: int, before: MentionShape, after: MentionShape, operation_id: int) -> int:
    """Keep one change; returns its id."""
    new_id = next_id(conn, MentionEditRow.id)
    values = {
        "id": new_id,
        "mention_id": mention_id,
        "operation_id": operation_id,
        "spans_before": dumped(before.spans),
        "type_before": before.type,
        "spans_after": dumped(after.spans),
        "type_after": after.type,
    }
    conn.execute(insert(MentionEditRow).values(values))
    return new_id


def edits_where(
    conn: Connection, *, mention_id: int | None = None, operation_id: int | None = None
) -> list[MentionEdit]:
    """The changes of a mention or of an operation, oldest first."""
    query, asked = (_OF_MENTION, mention_id) if operation_id is None else (_OF_OPERATION, operation_id)
    return [_edit(row) for row in conn.execute(query, {"id": asked})]


def first_shapes(conn: Connection, document_id: int) -> dict[int, MentionShape]:
    """What changed mentions of a document were at first, in the text that it has now."""
    replaced = select(func.coalesce(func.max(FormerTextRow.operation_id), 0))
    replaced = replaced.where(FormerTextRow.document_id == document_id)
    query = select(MentionEditRow.mention_id, MentionEditRow.spans_before, MentionEditRow.type_before)
    query = query.join(MentionRow, MentionRow.id == MentionEditRow.mention_id)
    query = query.where(MentionRow.document_id == document_id, MentionEditRow.operation_id > replaced.scalar_subquery())
    query = query.order_by(MentionEditRow.id)
    found: dict[int, MentionShape] = {}
    for mention_id, spans, mention_type in conn.execute(query):
        found.setdefault(mention_id, MentionShape(loaded(spans), mention_type))
    return found


def dumped(spans: Sequence[Span]) -> str:
    return json.dumps([[one.start, one.end] for one in spans])


def loaded(text: str) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in json.loads(text))


_EDITS: Any = select(  # nine columns: SQLAlchemy 2.0 and 2.1 type so many in different ways
    MentionEditRow.id,
    MentionEditRow.mention_id,
    MentionEditRow.spans_before,
    MentionEditRow.type_before,
    MentionEditRow.spans_after,
    MentionEditRow.type_after,
    MentionEditRow.operation_id,
    OperationRow.actor,
    OperationRow.at,
).join(OperationRow, OperationRow.id == MentionEditRow.operation_id)
_OF_MENTION = _EDITS.where(MentionEditRow.mention_id == bindparam("id")).order_by(MentionEditRow.id)
_OF_OPERATION = _EDITS.where(MentionEditRow.operation_id == bindparam("id")).order_by(MentionEditRow.id)


def _edit(row: AnyRow) -> MentionEdit:
    before = MentionShape(loaded(row.spans_before), row.type_before)
    after = MentionShape(loaded(row.spans_after), row.type_after)
    return MentionEdit(row.id, row.mention_id, before, after, row.actor, from_iso(row.at), row.operation_id)

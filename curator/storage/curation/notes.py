"""Comments on documents and mentions, and the attributes of mentions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, exists, func, insert, literal, select, update
from sqlalchemy.orm import aliased

from curator.domain.attributes import KEY, AttributeEdit, Scheme, load_scheme
from curator.domain.audit import Comment
from curator.domain.wording import UserError, tr
from curator.storage.db.columns import time_of
from curator.storage.db.dialects import among, joined, spoken
from curator.storage.db.rows import AnyRow, chunks, ids_of, next_id
from curator.storage.db.schema import CommentRow, MentionAttributeRow, MetaRow


class SqlComments:
    """Comments on documents and mentions. One is never removed, only marked as deleted."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def add(self, document_id: int, mention_id: int | None, *, author: str, at: datetime, text: str) -> Comment:
        """Comment on a mention, or on the whole document if `mention_id` is None."""
        made = Comment(next_id(self._conn, CommentRow.id), document_id, mention_id, author, at, text)
        self._conn.execute(
            insert(CommentRow).values(
                id=made.id,
                document_id=document_id,
                mention_id=mention_id,
                author=author,
                at=at.isoformat(),
                text=text,
                deleted=False,
            )
        )
        return made

    def get(self, comment_id: int) -> Comment:
        """The comment, even if deleted. Raises UserError if there is no such comment."""
        row = self._conn.execute(_COMMENTS.where(CommentRow.id == comment_id)).first()
        if row is None:
            raise UserError(tr("There is no comment {comment_id} in this project.", comment_id=comment_id))
        return _comment(row)

    def set_deleted(self, comment_ids: Sequence[int], deleted: bool) -> None:
        """Mark comments as deleted or restore them; unknown ids are ignored."""
        for part in chunks(comment_ids):
            self._conn.execute(update(CommentRow).where(CommentRow.id.in_(part)).values(deleted=deleted))

    def of_document(self, document_id: int) -> list[Comment]:
        """Comments on the document and its mentions, oldest first, without deleted ones."""
        query = _COMMENTS.where(CommentRow.document_id == document_id, ~CommentRow.deleted).order_by(CommentRow.id)
        return [_comment(row) for row in self._conn.execute(query)]


_COMMENTS = select(
    CommentRow.id,
    CommentRow.document_id,
    CommentRow.mention_id,
    CommentRow.author,
    CommentRow.at,
    CommentRow.text,
    CommentRow.deleted,
)


def _comment(row: AnyRow) -> Comment:
    at = time_of(row.at, "comments", row.id)
    return Comment(row.id, row.document_id, row.mention_id, row.author, at, row.text, row.deleted)


# The append-only log of attributes: the last row of a mention's attribute counts.

ROW = MentionAttributeRow


class SqlAttributes:
    """Changes of the attributes of mentions, append-only."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def append(
        self,
        values: Sequence[tuple[int, int, int | None]],
        *,
        curator: str,
        at: datetime,
        operation_id: int | None = None,
        round_id: int | None = None,
        behind: int = 0,
        note: str = "",
    ) -> None:
        """Append (mention id, attribute id, value id) as the current values; None clears. See `AttributeEdit`."""
        first = next_id(self._conn, ROW.id)
        rows = [
            {
                "id": number,
                "mention_id": mention_id,
                "attribute_id": attribute_id,
                "value_id": value_id,
                "operation_id": operation_id,
                "round_id": round_id,
                "behind": behind,
                "curator": curator,
                "at": at.isoformat(),
                "note": note,
            }
            for number, (mention_id, attribute_id, value_id) in enumerate(values, start=first)
        ]
        if rows:
            self._conn.execute(insert(ROW), rows)

    def values(
        self, mention_ids: Sequence[int], *, round_id: int | None = None, curator: str = ""
    ) -> dict[int, dict[int, int | None]]:
        """Mention id -> {attribute id: value id}, current values, including deleted ones, in the project, or by a
        curator in a round. None: cleared. Values never set are absent."""
        last = select(func.max(ROW.id)).where(among(ROW.mention_id))
        last = last.where(ROW.round_id.is_(None) if round_id is None else ROW.round_id == round_id)
        if round_id is not None:
            last = last.where(ROW.curator == curator)
        last = last.group_by(ROW.mention_id, ROW.attribute_id)
        query: AnyRow = select(ROW.mention_id, ROW.attribute_id, ROW.value_id)
        query = query.where(ROW.id.in_(last))
        found: dict[int, dict[int, int | None]] = {}
        for mention_id, attribute_id, value_id in self._conn.execute(query, ids_of(mention_ids)):
            found.setdefault(mention_id, {})[attribute_id] = value_id
        return found

    def edits(self, mention_id: int) -> list[AttributeEdit]:
        """Every change in the project, oldest first, including undo and redo."""
        return self._edits(_ATTRIBUTES.where(ROW.mention_id == mention_id, ROW.round_id.is_(None)))

    def of_round(self, round_id: int, curator: str, *, after: int = 0) -> list[AttributeEdit]:
        """Every change by a curator in a round after the change with this id, oldest first."""
        return self._edits(_ATTRIBUTES.where(ROW.round_id == round_id, ROW.curator == curator, ROW.id > after))

    def curators(self, round_id: int) -> list[str]:
        """Names of the curators who set attributes in the round."""
        query = select(ROW.curator).where(ROW.round_id == round_id).distinct()
        return sorted(self._conn.execute(query).scalars())

    def uses(self) -> dict[int, int]:
        """Value id -> number of mentions that have the value in the project, including deleted mentions."""
        last = select(func.max(ROW.id)).where(ROW.round_id.is_(None)).group_by(ROW.mention_id, ROW.attribute_id)
        query: AnyRow = select(ROW.value_id, func.count()).where(ROW.id.in_(last), ROW.value_id.is_not(None))
        return {row[0]: row[1] for row in self._conn.execute(query.group_by(ROW.value_id))}

    def _edits(self, query: AnyRow) -> list[AttributeEdit]:
        return [_attribute_edit(row) for row in self._conn.execute(query.order_by(ROW.id))]


# Attributes as a facet of the queue.

_SHOWN = {
    "sqlite": "{0} IN (SELECT json_extract(v.value, '$.id') FROM meta, json_each(meta.value) AS a,"
    " json_each(a.value, '$.values') AS v"
    " WHERE meta.key = {1} AND NOT json_extract(a.value, '$.hidden') AND NOT json_extract(v.value, '$.hidden')"
    " AND json_extract(a.value, '$.name') = {2}",
    "postgresql": "{0} IN (SELECT CAST(v.value ->> 'id' AS BIGINT) FROM meta"
    " CROSS JOIN LATERAL json_array_elements(CAST(meta.value AS JSON)) AS a (value)"
    " CROSS JOIN LATERAL json_array_elements(a.value -> 'values') AS v (value)"
    " WHERE meta.key = {1} AND NOT CAST(a.value ->> 'hidden' AS BOOLEAN)"
    " AND NOT CAST(v.value ->> 'hidden' AS BOOLEAN) AND a.value ->> 'name' = {2}",
}
_is_shown = spoken("is_shown", sqlite=_SHOWN["sqlite"] + ")", postgresql=_SHOWN["postgresql"] + ")")
"""Whether the id belongs to a value, not deleted, of the attribute with this name."""
_is_shown_as = spoken(
    "is_shown_as",
    sqlite=_SHOWN["sqlite"] + " AND json_extract(v.value, '$.name') = {3})",
    postgresql=_SHOWN["postgresql"] + " AND v.value ->> 'name' = {3})",
)
"""The same, and whether the value has this name."""


def scheme_in(conn: Connection) -> Scheme:
    """The project's attributes."""
    return load_scheme(conn.execute(select(MetaRow.value).where(MetaRow.key == KEY)).scalar() or "")


def values_given(conn: Connection) -> Subquery | None:
    """Columns `mention_id` and `given`, the ids of its values separated by spaces; None if no mention has any."""
    if conn.execute(select(ROW.id).where(ROW.round_id.is_(None)).limit(1)).first() is None:
        return None
    last = select(func.max(ROW.id)).where(ROW.round_id.is_(None)).group_by(ROW.mention_id, ROW.attribute_id)
    given = joined(ROW.value_id).label("given")
    query: AnyRow = select(ROW.mention_id, given).where(ROW.id.in_(last), ROW.value_id.is_not(None))
    found: Subquery = query.group_by(ROW.mention_id).subquery()
    return found


def has_value(mention_id: Any, chosen: str) -> ColumnElement[bool]:
    """Whether a mention has the chosen value of the facet: `name=value`, or `name=` for none."""
    name, _, value = chosen.partition("=")
    later = aliased(ROW)
    superseded = exists().where(
        later.mention_id == ROW.mention_id,
        later.round_id.is_(None),
        later.attribute_id == ROW.attribute_id,
        later.id > ROW.id,
    )
    given = (ROW.value_id, literal(KEY), literal(name))
    shown = _is_shown_as(*given, literal(value)) if value else _is_shown(*given)
    having = select(ROW.mention_id).where(ROW.round_id.is_(None), shown, ~superseded)
    return mention_id.in_(having) if value else mention_id.not_in(having)  # type: ignore[no-any-return]


_ATTRIBUTES: AnyRow = select(  # ten columns: SQLAlchemy 2.0 and 2.1 have different types for so many
    ROW.id,
    ROW.mention_id,
    ROW.attribute_id,
    ROW.value_id,
    ROW.curator,
    ROW.at,
    ROW.operation_id,
    ROW.round_id,
    ROW.behind,
    ROW.note,
)


def _attribute_edit(row: AnyRow) -> AttributeEdit:
    number, mention_id, attribute_id, value_id, curator, at, *rest = row
    moment = time_of(at, "mention_attributes", number)
    return AttributeEdit(number, mention_id, attribute_id, value_id, curator, moment, *rest)

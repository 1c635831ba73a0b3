"""Relations that curators added or deleted, and the records that state the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Integer, String, bindparam, func, insert, select, update

from curator.domain.relations import Relation, RelationEnd, StoredRelation
from curator.storage.db.columns import ends_of, json_of, time_of
from curator.storage.db.dialects import among, spoken
from curator.storage.db.rows import AnyRow, chunks, hidden, ids_of, next_id
from curator.storage.db.schema import DocumentRow, DocumentTextRow, RelationRow, SourceFileRow


class SqlRelations:
    """Relations that curators added, or changed in the documents' records."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def add(self, relation: Relation, *, author: str, at: datetime, deleted: bool = False) -> int:
        """Store a curator's relation, or, with its `source`, a change of a relation in the document's record; returns
        the row's id. `relation.id`, `author` and `at` are ignored."""
        new_id = next_id(self._conn, RelationRow.id)
        values = {
            "id": new_id,
            "document_id": relation.document_id,
            "source": relation.source,
            "type": relation.type,
            "ends": _dumped(relation.ends),
            "author": author,
            "at": at.isoformat(),
            "deleted": deleted,
        }
        self._conn.execute(insert(RelationRow).values(values))
        return new_id

    def set_deleted(self, relation_ids: Sequence[int], deleted: bool) -> None:
        """Mark rows as deleted or restore them; unknown ids are ignored."""
        for part in chunks(relation_ids):
            self._conn.execute(update(RelationRow).where(RelationRow.id.in_(part)).values(deleted=deleted))

    def of_documents(self, document_ids: Sequence[int]) -> dict[int, list[StoredRelation]]:
        """Document id -> its rows, oldest first, including deleted ones; documents without rows are absent. Relations
        only in the record have no row."""
        found: dict[int, list[StoredRelation]] = {}
        for row in self._conn.execute(_RELATIONS, ids_of(document_ids)):
            found.setdefault(row.document_id, []).append(_relation(row))
        return found

    def about(self, mention_id: int, entity_ids: Sequence[str]) -> list[StoredRelation]:
        """Rows of the mention's document with this mention or one of these entities as an end, oldest first."""
        parts = [f'"mention": {mention_id},', *(f'"entity": {_json(one)}}}' for one in entity_ids)]
        rows = self._conn.execute(_ABOUT, {"mention_id": mention_id, "parts": json.dumps(parts)})
        return [_relation(row) for row in rows]

    def types(self) -> dict[str, int]:
        """Types of the relations that curators added, with their numbers."""
        query = select(RelationRow.type, func.count()).where(~RelationRow.deleted, RelationRow.source == "")
        query = query.where(RelationRow.document_id.not_in(hidden())).group_by(RelationRow.type)
        return {row[0]: row[1] for row in self._conn.execute(query)}

    def source_records(self, document_ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
        """Document id -> (format, `extra` of the file, record); unknown documents are absent."""
        rows = self._conn.execute(_RECORDS, ids_of(document_ids))
        return {document_id: (form, extra, raw) for document_id, form, extra, raw in rows}


_ROWS: Any = select(  # eight columns: SQLAlchemy 2.0 and 2.1 have different types for so many
    RelationRow.id,
    RelationRow.document_id,
    RelationRow.source,
    RelationRow.type,
    RelationRow.ends,
    RelationRow.author,
    RelationRow.at,
    RelationRow.deleted,
).order_by(RelationRow.id)
_RELATIONS = _ROWS.where(among(RelationRow.document_id))
# Searches for the output of `_dumped`: parsing the ends of 500 rows would take longer than everything else for a key.
_is_about = spoken(
    "is_about",
    sqlite="({0} = (SELECT document_id FROM mentions WHERE id = {2})"
    " AND EXISTS (SELECT 1 FROM json_each({3}) AS part WHERE instr({1}, part.value)))",
    postgresql="({0} = (SELECT document_id FROM mentions WHERE id = {2}) AND EXISTS (SELECT 1 FROM"
    " json_array_elements_text(CAST({3} AS JSON)) AS part (value) WHERE strpos({1}, part.value) > 0))",
)
_ABOUT = _ROWS.where(
    _is_about(
        RelationRow.document_id,
        RelationRow.ends,
        bindparam("mention_id", type_=Integer),
        bindparam("parts", type_=String),
    )
)
_RECORDS = (
    select(DocumentRow.id, SourceFileRow.format, SourceFileRow.extra, DocumentTextRow.raw)
    .join(SourceFileRow, DocumentRow.file_id == SourceFileRow.id)
    .join(DocumentTextRow, DocumentTextRow.document_id == DocumentRow.id)
    .where(among(DocumentRow.id))
)


def _dumped(ends: Sequence[RelationEnd]) -> str:
    rows = [{"role": one.role, "mention": one.mention_id, "entity": one.entity_id} for one in ends]
    return _json(rows)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _relation(row: AnyRow) -> StoredRelation:
    ends = json_of(ends_of, row.ends, "relations", "ends", row.id)
    at = time_of(row.at, "relations", row.id)
    found = Relation(row.id, row.document_id, row.type, ends, source=row.source, author=row.author, at=at)
    return StoredRelation(found, row.deleted)

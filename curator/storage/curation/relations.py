"""Relations that curators added or deleted, and the records that state the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update

from curator.domain.relations import Relation, RelationEnd, StoredRelation
from curator.storage.db import (
    AnyRow,
    DocumentRow,
    DocumentTextRow,
    RelationRow,
    SourceFileRow,
    chunks,
    from_iso,
    hidden,
    next_id,
)


class Relations:
    """The part of `ports.MentionRepository` that is about relations."""

    _conn: Connection

    def add_relation(self, relation: Relation, *, author: str, at: datetime, deleted: bool = False) -> int:
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

    def set_relations_deleted(self, relation_ids: Sequence[int], deleted: bool) -> None:
        for part in chunks(relation_ids):
            self._conn.execute(update(RelationRow).where(RelationRow.id.in_(part)).values(deleted=deleted))

    def relations(self, document_id: int) -> list[StoredRelation]:
        query = _RELATIONS.where(RelationRow.document_id == document_id).order_by(RelationRow.id)
        return [_relation(row) for row in self._conn.execute(query)]

    def relation_types(self) -> dict[str, int]:
        query = select(RelationRow.type, func.count()).where(~RelationRow.deleted, RelationRow.source == "")
        query = query.where(RelationRow.document_id.not_in(hidden())).group_by(RelationRow.type)
        return {row[0]: row[1] for row in self._conn.execute(query)}

    def source_record(self, document_id: int) -> tuple[str, str, str]:
        query = select(SourceFileRow.format, SourceFileRow.extra, DocumentTextRow.raw)
        query = query.join(DocumentRow, DocumentRow.file_id == SourceFileRow.id)
        query = query.join(DocumentTextRow, DocumentTextRow.document_id == DocumentRow.id)
        row = self._conn.execute(query.where(DocumentRow.id == document_id)).first()
        return (row[0], row[1], row[2]) if row is not None else ("", "", "")


_RELATIONS = select(
    RelationRow.id,
    RelationRow.document_id,
    RelationRow.source,
    RelationRow.type,
    RelationRow.ends,
    RelationRow.author,
    RelationRow.at,
    RelationRow.deleted,
)


def _dumped(ends: Sequence[RelationEnd]) -> str:
    rows = [{"role": one.role, "mention": one.mention_id, "entity": one.entity_id} for one in ends]
    return json.dumps(rows, ensure_ascii=False)


def _relation(row: AnyRow) -> StoredRelation:
    ends = tuple(RelationEnd(one["role"], one["mention"], one["entity"]) for one in json.loads(row.ends))
    found = Relation(row.id, row.document_id, row.type, ends, source=row.source, author=row.author, at=from_iso(row.at))
    return StoredRelation(found, row.deleted)

"""Provisional entities: rows that change in place; the log of operations keeps what each was before."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select

from curator.domain.entities import Entity
from curator.domain.errors import UserError
from curator.domain.provisional import ProvisionalEntity, id_of, is_new, number_of
from curator.domain.wording import tr
from curator.storage.db.rows import AnyRow, chunks, from_iso, unique
from curator.storage.db.schema import ProvisionalEntityRow, RetiredEntityRow
from curator.storage.kb.kb_matching import active_tables, held, new_ids
from curator.storage.kb.kb_tables import canonical_json, parse_entity


class ProvisionalEntities:
    """The part of `ports.KnowledgeBaseRepository` that is about entities that curators made."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def next_provisional_id(self) -> str:
        tables = active_tables(self._conn)
        retired = self._conn.execute(select(RetiredEntityRow.id)).scalars()
        taken = [*self._ids(), *(one for one in retired if is_new(one)), *(new_ids(tables) if tables else ())]
        return id_of(max(map(number_of, taken), default=0) + 1)

    def save_provisional(self, entity: ProvisionalEntity) -> None:
        row, found = ProvisionalEntityRow, entity.entity
        self._conn.execute(delete(row).where(row.id == entity.id))
        self._conn.execute(
            insert(row).values(
                id=entity.id,
                name=found.name,
                types=_packed(found.types),
                definition=found.definition,
                synonyms=_packed(found.synonyms),
                author=entity.author,
                at=entity.at.isoformat(),
                deleted=entity.deleted,
                successor=entity.successor,
            )
        )

    def provisional(self, entity_id: str) -> ProvisionalEntity:
        row = self._conn.execute(_ROWS.where(ProvisionalEntityRow.id == entity_id)).first()
        if row is None:
            raise UserError(tr("There is no new entity {entity_id} in this project.", entity_id=entity_id))
        return _provisional(row)

    def all_provisional(self, *, retired: bool = False) -> list[ProvisionalEntity]:
        return sorted(_all(self._conn, living=not retired), key=lambda one: (number_of(one.id), one.id))

    def provisional_only(self) -> frozenset[str]:
        ids, tables = self._ids(), active_tables(self._conn)
        return frozenset(ids) - (held(tables, ids) if tables else set())

    def _ids(self) -> list[str]:
        return list(self._conn.execute(select(ProvisionalEntityRow.id)).scalars())


def living_entities(conn: Connection, entity_ids: Sequence[str] | None = None) -> dict[str, Entity]:
    """The provisional entities that can be linked to, of these ids or all."""
    if entity_ids is None:
        return {one.id: one.entity for one in _all(conn, living=True)}
    asked = unique(one for one in entity_ids if is_new(one))
    return {one.id: one.entity for one in _some(conn, asked) if one.living}


def former_entity(conn: Connection, entity_id: str) -> Entity | None:
    """What was known under an id that nothing has any more: for the names of old decisions."""
    ours = _some(conn, [entity_id] if is_new(entity_id) else [])
    return ours[0].entity if ours else retired_of(conn, [entity_id]).get(entity_id)


def retired_of(conn: Connection, entity_ids: Sequence[str]) -> dict[str, Entity]:
    """What knowledge bases before said of these ids."""
    found: dict[str, Entity] = {}
    for part in chunks(unique(entity_ids)):
        rows = conn.execute(select(RetiredEntityRow.id, RetiredEntityRow.data).where(RetiredEntityRow.id.in_(part)))
        found.update((id_, parse_entity(data)) for id_, data in rows)
    return found


def retire(conn: Connection, entities: Sequence[Entity]) -> None:
    """Keep them, in place of what is there of the same ids."""
    for part in chunks([one.id for one in entities]):
        conn.execute(delete(RetiredEntityRow).where(RetiredEntityRow.id.in_(part)))
    if entities:
        conn.execute(insert(RetiredEntityRow), [{"id": one.id, "data": canonical_json(one)} for one in entities])


def _all(conn: Connection, *, living: bool) -> list[ProvisionalEntity]:
    found = map(_provisional, conn.execute(_ROWS))
    return [one for one in found if one.living or not living]


def _some(conn: Connection, entity_ids: Sequence[str]) -> list[ProvisionalEntity]:
    found: list[ProvisionalEntity] = []
    for part in chunks(entity_ids):
        found += map(_provisional, conn.execute(_ROWS.where(ProvisionalEntityRow.id.in_(part))))
    return found


_ROWS = select(
    ProvisionalEntityRow.id,
    ProvisionalEntityRow.name,
    ProvisionalEntityRow.types,
    ProvisionalEntityRow.definition,
    ProvisionalEntityRow.synonyms,
    ProvisionalEntityRow.author,
    ProvisionalEntityRow.at,
    ProvisionalEntityRow.deleted,
    ProvisionalEntityRow.successor,
)


def _provisional(row: AnyRow) -> ProvisionalEntity:
    synonyms, types = tuple(json.loads(row.synonyms)), tuple(json.loads(row.types))
    entity = Entity(row.id, row.name, synonyms, types, row.definition)
    return ProvisionalEntity(entity, row.author, from_iso(row.at), row.deleted, row.successor)


def _packed(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)

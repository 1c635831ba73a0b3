"""The knowledge base: versions, look-up, search."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import cast

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from curator.domain.entities import Entity, EntityMatch, KnowledgeBaseInfo
from curator.domain.kb_sources import KbChanges, KnowledgeSource
from curator.domain.search_query import SearchQuery, parse_query
from curator.storage.db.rows import chunks, fold, next_id, unique
from curator.storage.db.schema import KbVersionRow
from curator.storage.kb import kb_matching, kb_sources, provisional_search
from curator.storage.kb.decided_entities import Outcomes
from curator.storage.kb.kb_ids import ambiguous_ids, resolve_ids
from curator.storage.kb.kb_index import build_index, has_index
from curator.storage.kb.kb_links import link_counts, linked_last
from curator.storage.kb.kb_search import NameSearch
from curator.storage.kb.kb_tables import ALTERNATE, KbTables, parse_entity
from curator.storage.kb.provisional import ProvisionalEntities, former_entity, living_entities

_STEP = 200  # entities loaded between two pauses: some twenty milliseconds
_ACTIVE = select(KbVersionRow.id).where(KbVersionRow.active)
_INFO = select(
    KbVersionRow.name,
    KbVersionRow.content_hash,
    KbVersionRow.entities,
    KbVersionRow.names,
    KbVersionRow.definitions,
    KbVersionRow.types,
).where(KbVersionRow.active)


class SqlKnowledgeBase(ProvisionalEntities, Outcomes):
    """See `ports.KnowledgeBaseRepository`; the other parts of it are in `ProvisionalEntities` and `Outcomes`."""

    def __init__(self, conn: Connection, *, pause: Callable[[], None] | None = None) -> None:
        super().__init__(conn)
        self._pause = pause or (lambda: None)

    def begin(self, *, name: str) -> int:
        version = next_id(self._conn, KbVersionRow.id)
        empty = {"active": False, "content_hash": "", "entities": 0, "names": 0, "definitions": 0, "types": "[]"}
        self._conn.execute(insert(KbVersionRow).values(id=version, name=name, **empty))
        self._tables(version).create()
        return version

    def add(self, version: int, entities: Sequence[Entity]) -> None:
        """Raises UserError naming an id that the version has already, or that comes twice; some of `entities` may
        be in the version then, which stays invisible. Lets waiting writers in between steps."""
        for part in chunks(entities, _STEP):
            self._add(version, part)
            self._pause()

    def _add(self, version: int, entities: Sequence[Entity]) -> None:
        self._tables(version).load(entities)
        row = KbVersionRow
        added = {
            row.entities: row.entities + len(entities),
            row.names: row.names + sum(1 + len(entity.synonyms) for entity in entities),
            row.definitions: row.definitions + sum(bool(entity.definition) for entity in entities),
        }
        self._conn.execute(update(row).where(row.id == version).values(added))

    def loaded(self, version: int, entity_ids: Sequence[str]) -> set[str]:
        return kb_matching.held(self._tables(version), entity_ids)

    def describe(self, version: int, sources: Sequence[KnowledgeSource]) -> None:
        kb_sources.set_sources(self._conn, version, sources)

    def sources(self) -> tuple[KnowledgeSource, ...]:
        """Of a version that an earlier program loaded it is known what it is called and how much it holds."""
        version, info = self._active_version(), self.info()
        if version is None or info is None:
            return ()
        found = kb_sources.sources_of(self._conn, version)
        return found or (KnowledgeSource(info.name, entities=info.entities),)

    def part(self, start: int, count: int) -> list[Entity]:
        tables = self._active()
        return kb_sources.part(tables, start, count) if tables else []

    def compare(self, version: int) -> KbChanges:
        tables = self._active()
        new = self._tables(version)
        return kb_sources.compare(tables, new) if tables else KbChanges(0, 0, 0, 0)

    def activate(self, version: int) -> KnowledgeBaseInfo:
        tables = self._tables(version)
        types = tables.type_names()
        tables.index_names()
        self._pause()
        build_index(tables, types, pause=self._pause)
        values = {"content_hash": tables.content_hash(), "types": json.dumps(types), "active": True}
        self._remove(KbVersionRow.id != version)
        self._conn.execute(update(KbVersionRow).where(KbVersionRow.id == version).values(**values))
        info = self.info()
        assert info is not None
        return info

    def remove_incomplete(self) -> int:
        """The active version gets its full-text index again where that is missing."""
        removed = self._remove(~KbVersionRow.active)
        tables = self._active()
        if tables is not None and not has_index(tables):
            build_index(tables, tables.type_names(), pause=self._pause)
        return removed

    def info(self) -> KnowledgeBaseInfo | None:
        found = self._conn.execute(_INFO).first()
        if found is None:
            return None
        name, content_hash, entities, names, definitions, types = found
        return KnowledgeBaseInfo(name, content_hash, entities, names, definitions, tuple(json.loads(types)))

    def get(self, entity_id: str) -> Entity | None:
        tables, found = self._active(), self.get_many([entity_id]).get(entity_id)
        return found or (_by_alternate_id(tables, entity_id) if tables else None)

    def former(self, entity_id: str) -> Entity | None:
        return former_entity(self._conn, entity_id)

    def get_many(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        tables = self._active()
        ours = living_entities(self._conn, entity_ids)
        return ours | (_by_ids(tables, entity_ids) if tables else {})

    def resolve(self, ids: Iterable[str]) -> dict[str, str]:
        tables = self._active()
        asked = list(ids)
        ours = {one: one for one in living_entities(self._conn, asked)}
        return ours | (resolve_ids(tables, asked) if tables else {})

    def ambiguous(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        tables = self._active()
        return ambiguous_ids(tables, ids) if tables else {}

    def search(
        self,
        query: str,
        *,
        types: Sequence[str] = (),
        preferred: Sequence[str] = (),
        likely: Collection[str] = (),
        limit: int = 50,
    ) -> list[EntityMatch]:
        """The whole part of `rank` is the tier (0 exact id ... 6 spelt nearly so)."""
        tables, info, parsed = self._active(), self.info(), parse_query(query)
        found: list[EntityMatch] = []
        if tables is not None and info is not None:
            counts = partial(link_counts, self._conn)
            asked = NameSearch(tables, types=info.types, preferred=preferred, likely=likely, linked=counts)
            found = asked.find(parsed, only=types, limit=limit)
        ours = self._ours(tables, parsed, types)
        return provisional_search.among(found, ours, preferred=preferred, limit=limit)

    def _ours(self, tables: KbTables | None, query: SearchQuery, types: Sequence[str]) -> list[EntityMatch]:
        """Provisional entities that answer, without those that the active version holds by now."""
        entities = {} if query.empty else living_entities(self._conn)
        known = kb_matching.held(tables, entities) if tables else set()
        return provisional_search.matches((one for one in entities.values() if one.id not in known), query, only=types)

    def linked_last(self, limit: int) -> list[str]:
        return linked_last(self._conn, limit)

    def iterate(self) -> Iterator[Entity]:
        """In the order of loading; ends with the unit of work."""
        tables = self._active()
        return tables.all() if tables else iter(())

    def held(self, entity_ids: Collection[str]) -> set[str]:
        tables = self._active()
        return kb_matching.held(tables, entity_ids) if tables else set()

    def successors(self, entity_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        tables = self._active()
        return kb_matching.successors(tables, entity_ids) if tables else {}

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        tables = self._active()
        return kb_matching.named(tables, names) if tables else {}

    def _active_version(self) -> int | None:
        return self._conn.execute(_ACTIVE).scalar()

    def _active(self) -> KbTables | None:
        version = self._active_version()
        return None if version is None else self._tables(version)

    def _remove(self, which: ColumnElement[bool]) -> int:
        ids = list(self._conn.execute(select(KbVersionRow.id).where(which)).scalars())
        for version in ids:
            self._tables(version).drop()
            kb_sources.forget_sources(self._conn, version)
            self._conn.execute(delete(KbVersionRow).where(KbVersionRow.id == version))
        return len(ids)

    def _tables(self, version: int) -> KbTables:
        return KbTables(cast(sqlite3.Connection, self._conn.connection.dbapi_connection), version)


def _by_ids(tables: KbTables, entity_ids: Sequence[str]) -> dict[str, Entity]:
    found: dict[str, Entity] = {}
    for part in chunks(unique(entity_ids)):
        marks = ",".join("?" * len(part))
        query = f"SELECT data FROM {tables.entities} WHERE entity_id IN ({marks})"  # noqa: S608
        entities = (parse_entity(data) for (data,) in tables.conn.execute(query, list(part)))
        found.update((entity.id, entity) for entity in entities)
    return found


def _by_alternate_id(tables: KbTables, entity_id: str) -> Entity | None:
    query = (
        f"SELECT e.data FROM {tables.ids} i JOIN {tables.entities} e ON e.id = i.entity"  # noqa: S608
        " WHERE i.key = ? AND i.tier = ? ORDER BY e.id LIMIT 1"
    )
    row = tables.conn.execute(query, (fold(entity_id), ALTERNATE)).fetchone()
    return parse_entity(row[0]) if row else None

"""The knowledge base: versions, look-up, search."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from curator.domain.curies import is_identifier, look_up_key
from curator.domain.decisions import Outcome
from curator.domain.entities import (
    Entity,
    EntityMatch,
    KbChanges,
    KnowledgeBaseInfo,
    KnowledgeSource,
    Matches,
    ObsoleteEntity,
)
from curator.domain.facets import SearchQuery, parse_query
from curator.storage.db.ahead import answer
from curator.storage.db.columns import texts_of
from curator.storage.db.rows import chunks, next_id, unique
from curator.storage.db.schema import DecisionRow, KbVersionRow, MentionRow
from curator.storage.kb import kb_matching
from curator.storage.kb import provisional as provisional_search
from curator.storage.kb.kb_hierarchy import KbHierarchy, build_hierarchy, rows_below
from curator.storage.kb.kb_index import build_index, has_index
from curator.storage.kb.kb_search import NameSearch, same_named
from curator.storage.kb.kb_tables import ALTERNATE, PRIMARY, KbTables, parse_entity, tables_of
from curator.storage.kb.provisional import ProvisionalEntities, former_entity, living_entities

# Resolves ids from corpora to the knowledge base's primary ids.

# given id -> (tier, row number of the entity, primary id), best first
_Found = dict[str, list[tuple[int, int, str]]]


def resolve_ids(tables: KbTables, ids: Iterable[str]) -> dict[str, str]:
    """The primary ids of the resolvable ids, keyed by the given id.

    In this order: the id itself; the same id in another spelling (`look_up_key`) as primary, then as alternate id; an
    id without prefix as the part after the prefix of a primary, then of an alternate id. A prefix matches ids without
    one only if it is their vocabulary (`kb_matching.add_own_keys`). An id that several entities match equally well does
    not resolve.
    """
    given = unique(ids)
    exact = kb_matching.held(tables, given)
    found = _look_up(tables, [one for one in given if one not in exact])
    others = {one: matches[0][2] for one, matches in found.items() if not _ambiguous(matches)}
    return {one: one for one in given if one in exact} | others


def ambiguous_ids(tables: KbTables, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For ids that `resolve_ids` leaves out because they match several entities, the primary ids of these."""
    found = _look_up(tables, unique(ids))
    return {one: fitting for one, matches in found.items() if (fitting := _ambiguous(matches))}


def matching_ids(tables: KbTables, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For every id, the primary ids of all entities that have it, in any spelling, as primary or alternate id."""
    given = unique(ids)
    exact = kb_matching.held(tables, given)
    found = _look_up(tables, given)
    ids_of = {one: [primary for _, _, primary in found.get(one, ())] for one in given}
    return {one: tuple(unique([one, *every] if one in exact else every)) for one, every in ids_of.items() if every}


def _look_up(tables: KbTables, given: Sequence[str]) -> _Found:
    keys = kb_matching.by_key(given)
    keys.pop("", None)
    found: _Found = {}
    for part in chunks(list(keys)):
        marks = ",".join("?" * len(part))
        query = (
            f"SELECT i.key, i.tier, i.entity, e.entity_id FROM {tables.ids} i"  # noqa: S608
            f" JOIN {tables.entities} e ON e.id = i.entity WHERE i.key IN ({marks}) ORDER BY i.tier, i.entity"
        )
        for key, *match in tables.conn.execute(query, list(part)):
            for one in keys[key]:
                found.setdefault(one, []).append((match[0], match[1], match[2]))
    return found


def _ambiguous(matches: list[tuple[int, int, str]]) -> tuple[str, ...]:
    """The entities that an id matches equally well; none if it matches only one. Of those with it as alternate id, the
    first is meant: it is of the earlier source."""
    fitting = {entity: primary for tier, entity, primary in matches if tier == matches[0][0] != ALTERNATE}
    return tuple(fitting.values()) if len(fitting) > 1 else ()


# How often and how recently entities were linked, read from an index over decisions.

LOOKED_AT = 400  # decisions searched for the last entities


def link_counts(conn: Connection, entity_ids: Sequence[str]) -> dict[str, int]:
    """Decisions ever made to link to exactly this entity, including imported ones; entities never linked are absent."""
    keys = {_packed(one): one for one in entity_ids}
    found: dict[str, int] = {}
    for part in chunks(list(keys)):
        query = (
            select(DecisionRow.entity_ids, func.count())
            .where(DecisionRow.outcome == Outcome.LINK.value, DecisionRow.entity_ids.in_(part))
            .group_by(DecisionRow.entity_ids)
        )
        found.update((keys[ids], number) for ids, number in conn.execute(query))
    return found


def linked_last(conn: Connection, limit: int) -> list[str]:
    """The entities of the last decisions by people, not those of imported gold, nor those that were undone or
    replaced."""
    query = (
        select(DecisionRow.entity_ids, DecisionRow.outcome)
        .join(MentionRow, (MentionRow.id == DecisionRow.mention_id) & (MentionRow.decision_id == DecisionRow.id))
        .where(~DecisionRow.curator.startswith("import:"))
        .order_by(DecisionRow.id.desc())
        .limit(LOOKED_AT)
    )
    ids = (
        one
        for packed, outcome in conn.execute(query)
        if outcome == Outcome.LINK.value
        for one in texts_of(packed, "decisions", "entity_ids")
    )
    return list(dict.fromkeys(ids))[:limit]


def _packed(entity_id: str) -> str:
    """A list of one entity, in the form stored in `decisions`."""
    return json.dumps((entity_id,), ensure_ascii=False)


_STEP = 200  # entities loaded between two pauses: some twenty milliseconds
ACTIVE = select(KbVersionRow.id).where(KbVersionRow.active)
_INFO = select(
    KbVersionRow.name,
    KbVersionRow.content_hash,
    KbVersionRow.entities,
    KbVersionRow.names,
    KbVersionRow.definitions,
    KbVersionRow.types,
).where(KbVersionRow.active)


class SqlKnowledgeBase(ProvisionalEntities, KbHierarchy):
    """The imported knowledge base by versions, one of which is active, and the provisional entities. `get`, `get_many`,
    `resolve` and `search` include provisional entities; `info`, `iterate` and the comparison of versions cover only the
    imported knowledge base. Without an active version nothing is found.

    Other parts are in `ProvisionalEntities` and `KbHierarchy`.
    """

    def __init__(self, conn: Connection, *, pause: Callable[[], None] | None = None) -> None:
        super().__init__(conn)
        KbHierarchy.__init__(self, conn)
        self._pause = pause or (lambda: None)

    def begin(self, *, name: str) -> int:
        """Open a new, still invisible version of the knowledge base."""
        version = next_id(self._conn, KbVersionRow.id)
        empty = {"active": False, "content_hash": "", "entities": 0, "names": 0, "definitions": 0, "types": "[]"}
        self._conn.execute(insert(KbVersionRow).values(id=version, name=name, **empty))
        self._tables(version).create()
        return version

    def add(self, version: int, entities: Sequence[Entity]) -> None:
        """Load entities. Raises UserError that names a duplicate id; then some of `entities` may be in the version,
        which stays invisible. Waiting writers get turns between steps."""
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
        """The ids among these that a version being loaded already has."""
        tables = self._tables(version)
        spelled = [one for one in entity_ids if is_identifier(one)]
        found = _look_up(tables, spelled)
        same = {one for one in spelled if any(tier == PRIMARY for tier, _, _ in found.get(one, ()))}
        return kb_matching.held(tables, entity_ids) | same

    def describe(self, version: int, sources: Sequence[KnowledgeSource]) -> None:
        """Record the sources of a version being loaded, in the order of loading."""
        kb_matching.set_sources(self._conn, version, sources)

    def sources(self) -> tuple[KnowledgeSource, ...]:
        """The sources of the active version; empty without one.

        The sources; for a version loaded by an earlier program only its name and size are known.
        """
        version, info = self._active_version(), self.info()
        if version is None or info is None:
            return ()
        found = kb_matching.sources_of(self._conn, version)
        return found or (KnowledgeSource(info.name, entities=info.entities),)

    def part(self, start: int, count: int) -> list[Entity]:
        """`count` entities of the active version after the first `start`, in the order of loading."""
        tables = self._active()
        return kb_matching.part(tables, start, count) if tables else []

    def compare(self, version: int) -> KbChanges:
        """The differences of a loaded version from the active one. It takes some seconds for millions of entities."""
        tables = self._active()
        new = self._tables(version)
        return kb_matching.compare(tables, new) if tables else KbChanges(0, 0, 0, 0)

    def activate(self, version: int) -> KnowledgeBaseInfo:
        """Compute the content hash, make the version the active one and remove the others."""
        tables = self._tables(version)
        tables.begin_writing()
        types = tables.type_names()
        tables.index_names()
        self._pause()
        kb_matching.add_own_keys(tables, kb_matching.sources_of(self._conn, version), self._pause)
        build_index(tables, types, pause=self._pause)
        build_hierarchy(tables, pause=self._pause)
        values = {"content_hash": tables.content_hash(), "types": json.dumps(types), "active": True}
        tables.finish(str(values["content_hash"]))
        self._remove(KbVersionRow.active.expression)
        self._conn.execute(update(KbVersionRow).where(KbVersionRow.id == version).values(**values))
        info = self.info()
        assert info is not None
        return info

    def remove_version(self, version: int) -> None:
        """Remove a version that never became active."""
        self._remove((KbVersionRow.id == version) & ~KbVersionRow.active)

    def remove_incomplete(self) -> int:
        """Remove incomplete versions, and rebuild the active version's full-text index if it is missing."""
        removed = self._remove(~KbVersionRow.active)
        tables = self._active()
        if tables is not None and not has_index(tables):
            build_index(tables, tables.type_names(), pause=self._pause)
        return removed

    def info(self) -> KnowledgeBaseInfo | None:
        """The facts of the active version; None if there is none."""
        found = self._conn.execute(_INFO).first()
        if found is None:
            return None
        name, content_hash, entities, names, definitions, types = found
        return KnowledgeBaseInfo(
            name, content_hash, entities, names, definitions, texts_of(types, "kb_versions", "types")
        )

    def get(self, entity_id: str) -> Entity | None:
        """The entity that an id means, as in `resolve`."""
        primary = self.resolve([entity_id]).get(entity_id)
        return self.get_many([primary]).get(primary) if primary is not None else None

    def former(self, entity_id: str) -> Entity | None:
        """The former entity of a removed or obsolete id, for the names of old decisions."""
        if (found := former_entity(self._conn, entity_id)) is not None:
            return found
        obsolete = self.obsolete([entity_id]).get(entity_id)
        return obsolete.entity if obsolete is not None else None

    def add_obsolete(self, version: int, source: str, entities: Sequence[ObsoleteEntity]) -> None:
        """Store obsolete entities of a source of a version being loaded. If two sources have the same id, the first
        record is kept."""
        kb_matching.add_obsolete(self._tables(version), source, entities)

    def obsolete(self, entity_ids: Iterable[str]) -> dict[str, ObsoleteEntity]:
        """The obsolete entities of the active version among these ids, keyed by the given id, ignoring case."""
        tables = self._active()
        return kb_matching.obsolete(tables, entity_ids) if tables else {}

    def obsolete_of(self, source: str) -> list[ObsoleteEntity]:
        """The obsolete entities of a source of the active version, by id."""
        tables = self._active()
        return kb_matching.obsolete_of(tables, source) if tables else []

    def get_many(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        """The entities with these primary ids."""
        tables = self._active()
        ours = living_entities(self._conn, entity_ids)
        return ours | (_by_ids(tables, entity_ids) if tables else {})

    def resolve(self, ids: Iterable[str]) -> dict[str, str]:
        """The primary ids of the resolvable ids among these, in any spelling of `look_up_key`, with or without
        prefix."""
        tables = self._active()
        asked = list(ids)
        found = {one: one for one in living_entities(self._conn, asked)}
        found |= resolve_ids(tables, asked) if tables else {}
        if left := [one for one in asked if one not in found]:
            ours = {look_up_key(one): one for one in living_entities(self._conn)}
            found |= {one: ours[key] for one in left if (key := look_up_key(one)) in ours}
        return found

    def ambiguous(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """For ids that do not resolve because they match several entities equally well, the primary ids of these."""
        tables = self._active()
        return ambiguous_ids(tables, ids) if tables else {}

    def matching(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The primary ids of all entities that each id may mean, in the order in which `resolve` prefers them."""
        tables = self._active()
        asked = list(ids)
        ours = {one: (one,) for one in living_entities(self._conn, asked)}
        return (matching_ids(tables, asked) if tables else {}) | ours

    def search(
        self,
        query: str,
        *,
        types: Sequence[str] = (),
        preferred: Sequence[str] = (),
        likely: Collection[str] = (),
        branches: Collection[str] = (),
        limit: int = 50,
    ) -> Matches:
        """Matches of a `domain.search_query`, ranked: exact id, exact name, exact synonym, beginning, all words,
        definition, nearly the same spelling. Entities of `preferred` types come first; with `types`, only these.
        Entities linked before rank higher, and `likely` ones (primary ids) rank as if linked often. With
        `branches`, only these, their descendants, and provisional entities; `left_out` in the result counts other
        matches among those read.

        The integer part of `rank` is the tier (0 exact id ... 7 in the definition).
        """
        tables, info, parsed = self._active(), self.info(), parse_query(query)
        found: list[EntityMatch] = []
        left_out = 0
        if tables is not None and info is not None:
            counts = partial(link_counts, self._conn)
            within = rows_below(tables, branches, content_hash=info.content_hash) if branches else None
            asked = NameSearch(
                tables, types=info.types, preferred=preferred, likely=likely, linked=counts, within=within
            )
            found = asked.find(parsed, only=types, limit=limit)
            left_out = asked.left_out
        ours = self._ours(tables, parsed, types)
        matches = Matches(provisional_search.among(found, ours, preferred=preferred, limit=limit))
        matches.left_out = left_out
        return matches

    def _ours(self, tables: KbTables | None, query: SearchQuery, types: Sequence[str]) -> list[EntityMatch]:
        """Matching provisional entities, without those now in the active version."""
        entities = {} if query.empty else living_entities(self._conn)
        known = kb_matching.held(tables, entities) if tables else set()
        return provisional_search.matches((one for one in entities.values() if one.id not in known), query, only=types)

    def linked_last(self, limit: int) -> list[str]:
        """Ids of the entities that people linked to last, newest first, each once."""
        return linked_last(self._conn, limit)

    def iterate(self) -> Iterator[Entity]:
        """Entities of the active version in the order of loading; ends with the unit of work.

        Entities in the order of loading; ends with the unit of work.
        """
        tables = self._active()
        return tables.all() if tables else iter(())

    def held(self, entity_ids: Collection[str]) -> set[str]:
        """The primary ids among these that the active version has."""
        tables = self._active()
        return kb_matching.held(tables, entity_ids) if tables else set()

    def successors(self, entity_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities of the active version that have these as alternate ids."""
        tables = self._active()
        return kb_matching.successors(tables, entity_ids) if tables else {}

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities of the active version with exactly this name or synonym, names first; case and
        white space do not matter."""
        tables = self._active()
        return kb_matching.named(tables, names) if tables else {}

    def same_named(self, name: str) -> list[str]:
        """Primary ids of the entities of the active version with a name or synonym of the same normalised form
        (`string_key`), names first; possessives, dashes, plurals, accents and British spelling do not matter either."""
        tables = self._active()
        return same_named(tables, name) if tables else []

    def _active_version(self) -> int | None:
        return next((int(one) for (one,) in answer(self._conn, ACTIVE)), None)

    def _active(self) -> KbTables | None:
        version = self._active_version()
        return None if version is None else self._tables(version)

    def _remove(self, which: ColumnElement[bool]) -> int:
        ids = list(self._conn.execute(select(KbVersionRow.id).where(which)).scalars())
        for version in ids:
            self._tables(version).drop()
            kb_matching.forget_sources(self._conn, version)
            self._conn.execute(delete(KbVersionRow).where(KbVersionRow.id == version))
        return len(ids)

    def _tables(self, version: int) -> KbTables:
        return tables_of(self._conn, version)


def _by_ids(tables: KbTables, entity_ids: Sequence[str]) -> dict[str, Entity]:
    found: dict[str, Entity] = {}
    for part in chunks(unique(entity_ids)):
        marks = ",".join("?" * len(part))
        query = f"SELECT data FROM {tables.entities} WHERE entity_id IN ({marks})"  # noqa: S608
        entities = (parse_entity(data) for (data,) in tables.conn.execute(query, list(part)))
        found.update((entity.id, entity) for entity in entities)
    return found

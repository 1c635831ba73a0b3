"""The data for comparing two versions of a knowledge base: ids, alternate ids and exact names of the active one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, select

from curator.domain.curies import look_up_key
from curator.domain.entities import PREFIX, Entity, KbChanges, KnowledgeSource, ObsoleteEntity
from curator.storage.db.meta import SqlMeta
from curator.storage.db.rows import chunks, fold, unique
from curator.storage.db.schema import KbVersionRow, MetaRow
from curator.storage.kb.kb_tables import ALTERNATE, PRIMARY, KbTables, own_keys, parse_entity, tables_of

_STEP = 2000  # entities read between two pauses


def active_tables(conn: Connection) -> KbTables | None:
    """The tables of the active version."""
    version = conn.execute(select(KbVersionRow.id).where(KbVersionRow.active)).scalar()
    if version is None:
        return None
    return tables_of(conn, version)


def held(tables: KbTables, entity_ids: Collection[str]) -> set[str]:
    """The primary ids among these that the version has."""
    found: set[str] = set()
    for marks, part in _asked(entity_ids):
        query = f"SELECT entity_id FROM {tables.entities} WHERE entity_id IN ({marks})"  # noqa: S608
        found.update(one for (one,) in tables.conn.execute(query, part))
    return found


def new_ids(tables: KbTables) -> list[str]:
    """Ids of the version that have the form of a provisional entity's."""
    query = f"SELECT entity_id FROM {tables.entities} WHERE entity_id >= ? AND entity_id < ?"  # noqa: S608
    return [one for (one,) in tables.conn.execute(query, (PREFIX, PREFIX + "\U0010ffff"))]


def successors(tables: KbTables, entity_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Primary ids of the entities that have these as alternate ids, in the order of loading."""
    keys = by_key(entity_ids)
    found: dict[str, tuple[str, ...]] = {}
    for marks, part in _asked(keys):
        query = (
            f"SELECT i.key, e.entity_id FROM {tables.ids} i JOIN {tables.entities} e ON e.id = i.entity"  # noqa: S608
            f" WHERE i.key IN ({marks}) AND i.tier = {ALTERNATE} ORDER BY e.id"
        )
        for key, primary in tables.conn.execute(query, part):
            for one in keys[key]:
                found[one] = (*found.get(one, ()), primary)
    return found


def spelled(tables: KbTables, entity_ids: Iterable[str]) -> dict[str, int]:
    """Row numbers of the entities that have these as primary ids in another spelling; none where several have."""
    keys = by_key(entity_ids)
    found: dict[str, int] = {}
    for marks, part in _asked(keys):
        query = (
            f"SELECT key, min(entity) FROM {tables.ids} WHERE key IN ({marks}) AND tier = {PRIMARY}"  # noqa: S608
            " GROUP BY key HAVING count(*) = 1"
        )
        for key, row in tables.conn.execute(query, part):
            found.update(dict.fromkeys(keys[key], row))
    return found


def named(tables: KbTables, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Primary ids of the entities that have these as name or synonym, names before synonyms; ignoring case,
    compatibility forms and white space."""
    keys = by_key(names, key_of=fold)
    found: dict[str, dict[str, None]] = {}
    for marks, part in _asked(keys):
        query = (
            f"SELECT n.folded, e.entity_id FROM {tables.names} n JOIN {tables.entities} e ON e.id = n.entity"  # noqa: S608
            f" WHERE n.folded IN ({marks}) ORDER BY n.kind, e.id"
        )
        for key, primary in tables.conn.execute(query, part):
            for one in keys[key]:
                found.setdefault(one, {})[primary] = None
    return {one: tuple(ids) for one, ids in found.items()}


def by_key(given: Iterable[str], *, key_of: Callable[[str], str] = look_up_key) -> dict[str, list[str]]:
    """The given ids or names by the key that is looked up for them."""
    keys: dict[str, list[str]] = {}
    for one in unique(given):
        keys.setdefault(key_of(one), []).append(one)
    return keys


def _asked(values: Collection[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Placeholders for one IN list, and its values."""
    for part in chunks(list(values)):
        yield ",".join("?" * len(part)), part


# Terms that are obsolete in the sources. Projects filled by an earlier program, and knowledge bases without such terms,
# have no table of them.


def add_obsolete(tables: KbTables, source: str, entities: Sequence[ObsoleteEntity]) -> None:
    """Add obsolete entities, without those whose ids another source already has as obsolete."""
    if not entities:
        return
    tables.begin_writing()
    tables.conn.execute(
        f"CREATE TABLE IF NOT EXISTS {tables.obsolete}"
        " (id TEXT PRIMARY KEY, key TEXT NOT NULL, source TEXT NOT NULL, data TEXT NOT NULL) WITHOUT ROWID"
    )
    tables.conn.execute(f"CREATE INDEX IF NOT EXISTS idx_{tables.obsolete}_key ON {tables.obsolete} (key)")
    rows = [(one.id, look_up_key(one.id), source, json.dumps(asdict(one), ensure_ascii=False)) for one in entities]
    tables.conn.executemany(f"INSERT OR IGNORE INTO {tables.obsolete} VALUES (?, ?, ?, ?)", rows)  # noqa: S608
    tables.keep_obsolete(source, entities)


def obsolete(tables: KbTables, entity_ids: Iterable[str]) -> dict[str, ObsoleteEntity]:
    """The obsolete entities among these ids, keyed by the given id, in any spelling. An entity of the version is not
    obsolete, even if another source has it as obsolete."""
    if not _has_obsolete(tables):
        return {}
    keys = by_key(entity_ids)
    found: dict[str, ObsoleteEntity] = {}
    for marks, part in _asked(keys):
        query = f"SELECT key, data FROM {tables.obsolete} WHERE key IN ({marks})"  # noqa: S608
        for key, data in tables.conn.execute(query, part):
            found.update(dict.fromkeys(keys[key], obsolete_entity(data)))
    living = held(tables, [one.id for one in found.values()]) if found else set()
    return {one: entity for one, entity in found.items() if entity.id not in living}


def obsolete_of(tables: KbTables, source: str) -> list[ObsoleteEntity]:
    """The obsolete entities of one source, by id."""
    if not _has_obsolete(tables):
        return []
    query = f"SELECT data FROM {tables.obsolete} WHERE source = ? ORDER BY id"  # noqa: S608
    return [obsolete_entity(data) for (data,) in tables.conn.execute(query, (source,))]


def all_obsolete(tables: KbTables) -> Iterator[tuple[str, str]]:
    """(source, data) of each, by source and id."""
    if _has_obsolete(tables):
        yield from tables.conn.execute(f"SELECT source, data FROM {tables.obsolete} ORDER BY source, id")  # noqa: S608


def _has_obsolete(tables: KbTables) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return tables.conn.execute(query, (tables.obsolete,)).fetchone() is not None


def obsolete_entity(data: str) -> ObsoleteEntity:
    stored: dict[str, Any] = json.loads(data)
    lists = {name: tuple(one) for name, one in stored.items() if isinstance(one, list)}
    return ObsoleteEntity(**(stored | lists))


# The sources of a knowledge-base version, stored as JSON in `meta`, and the comparison of two versions. Rows of a
# version are numbered from 1 without gaps in the order of loading, so that a source is a range of rows.


def set_sources(conn: Connection, version: int, sources: Sequence[KnowledgeSource]) -> None:
    SqlMeta(conn).set(_key(version), json.dumps([asdict(one) for one in sources], ensure_ascii=False))


def sources_of(conn: Connection, version: int) -> tuple[KnowledgeSource, ...]:
    """The sources; none for a version loaded by an earlier program."""
    stored = SqlMeta(conn).get(_key(version))
    return tuple(_source(one) for one in json.loads(stored)) if stored else ()


def _source(stored: dict[str, Any]) -> KnowledgeSource:
    """A source from JSON, which has no tuples."""
    lists = {name: tuple(one) for name, one in stored.items() if isinstance(one, list)}
    return KnowledgeSource(**(stored | lists))


def forget_sources(conn: Connection, version: int) -> None:
    conn.execute(delete(MetaRow).where(MetaRow.key == _key(version)))


def part(tables: KbTables, start: int, count: int) -> list[Entity]:
    query = f"SELECT data FROM {tables.entities} WHERE id > ? AND id <= ? ORDER BY id"  # noqa: S608
    return [parse_entity(data) for (data,) in tables.conn.execute(query, (start, start + count))]


def compare(old: KbTables, new: KbTables) -> KbChanges:
    """Compare two loaded versions; takes some seconds for millions of entities."""
    is_new = f"NOT EXISTS (SELECT 1 FROM {old.entities} o WHERE o.entity_id = n.entity_id)"  # noqa: S608
    is_gone = f"NOT EXISTS (SELECT 1 FROM {new.entities} n WHERE n.entity_id = o.entity_id)"  # noqa: S608
    merged = (
        f"FROM {old.ids} i JOIN {old.entities} o ON o.id = i.entity WHERE i.tier = {PRIMARY} AND {is_gone}"  # noqa: S608
        f" AND EXISTS (SELECT 1 FROM {new.ids} j WHERE j.key = i.key AND j.tier = {ALTERNATE})"
    )
    return KbChanges(
        new=_count(new, f"FROM {new.entities} n WHERE {is_new}"),
        changed=_count(
            new, f"FROM {new.entities} n JOIN {old.entities} o ON o.entity_id = n.entity_id WHERE n.data <> o.data"
        ),
        gone=_count(new, f"FROM {old.entities} o WHERE {is_gone}"),
        merged=_count(new, merged),
    )


def add_own_keys(tables: KbTables, sources: Sequence[KnowledgeSource], pause: Callable[[], None]) -> None:
    """Add the keys with prefix of ids without one whose vocabulary is known: `NCBIGene:7157` of `7157`."""
    start = 0
    for source in sources:
        end = start + source.entities
        for first in range(start, end if source.own else start, _STEP):
            query = f"SELECT id, data FROM {tables.entities} WHERE id > ? AND id <= ?"  # noqa: S608
            rows = tables.conn.execute(query, (first, min(first + _STEP, end))).fetchall()
            keys = {key for number, data in rows for key in own_keys(number, parse_entity(data), source)}
            tables.conn.executemany(f"INSERT OR IGNORE INTO {tables.ids} VALUES (?, ?, ?)", sorted(keys))  # noqa: S608
            pause()
        start = end


def _count(tables: KbTables, what: str) -> int:
    return int(tables.conn.execute(f"SELECT count(*) {what}").fetchone()[0])  # our own tables


def _key(version: int) -> str:
    return f"kb.sources.{version}"

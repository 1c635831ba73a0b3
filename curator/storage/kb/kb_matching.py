"""What two versions of a knowledge base are compared by: ids, alternate ids and exact names of the active one."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from sqlalchemy import Connection, select

from curator.domain.provisional import PREFIX
from curator.storage.db.rows import chunks, fold, unique
from curator.storage.db.schema import KbVersionRow
from curator.storage.kb.kb_tables import ALTERNATE, KbTables


def active_tables(conn: Connection) -> KbTables | None:
    """The tables of the active version."""
    version = conn.execute(select(KbVersionRow.id).where(KbVersionRow.active)).scalar()
    if version is None:
        return None
    return KbTables(cast(sqlite3.Connection, conn.connection.dbapi_connection), version)


def held(tables: KbTables, entity_ids: Collection[str]) -> set[str]:
    """Those of the primary ids that the version has."""
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
    keys: dict[str, list[str]] = {}
    for one in unique(entity_ids):
        keys.setdefault(fold(one), []).append(one)
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


def named(tables: KbTables, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Primary ids of the entities that have these as name or synonym, names before synonyms; case, compatibility forms
    and white space do not matter."""
    keys: dict[str, list[str]] = {}
    for one in unique(names):
        keys.setdefault(fold(one), []).append(one)
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


def _asked(values: Collection[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Marks for one IN list, and its values."""
    for part in chunks(list(values)):
        yield ",".join("?" * len(part)), part

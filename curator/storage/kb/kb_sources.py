"""The sources of a knowledge-base version, kept as JSON in `meta`, and the comparison of two versions.

Rows of a version are numbered from 1 without gaps in the order of loading, so that a source is a range of rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete

from curator.domain.entities import Entity
from curator.domain.kb_sources import KbChanges, KnowledgeSource
from curator.storage.db.meta import SqlMeta
from curator.storage.db.schema import MetaRow
from curator.storage.kb.kb_tables import ALTERNATE, PRIMARY, KbTables, parse_entity


def set_sources(conn: Connection, version: int, sources: Sequence[KnowledgeSource]) -> None:
    SqlMeta(conn).set(_key(version), json.dumps([asdict(one) for one in sources], ensure_ascii=False))


def sources_of(conn: Connection, version: int) -> tuple[KnowledgeSource, ...]:
    """None of a version that an earlier program loaded."""
    stored = SqlMeta(conn).get(_key(version))
    return tuple(_source(one) for one in json.loads(stored)) if stored else ()


def _source(stored: dict[str, Any]) -> KnowledgeSource:
    """JSON knows no tuples."""
    lists = {name: tuple(one) for name, one in stored.items() if isinstance(one, list)}
    return KnowledgeSource(**(stored | lists))


def forget_sources(conn: Connection, version: int) -> None:
    conn.execute(delete(MetaRow).where(MetaRow.key == _key(version)))


def part(tables: KbTables, start: int, count: int) -> list[Entity]:
    query = f"SELECT data FROM {tables.entities} WHERE id > ? AND id <= ? ORDER BY id"  # noqa: S608
    return [parse_entity(data) for (data,) in tables.conn.execute(query, (start, start + count))]


def compare(old: KbTables, new: KbTables) -> KbChanges:
    """Of two loaded versions; some seconds for millions of entities."""
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


def _count(tables: KbTables, what: str) -> int:
    return int(tables.conn.execute(f"SELECT count(*) {what}").fetchone()[0])  # tables of ours


def _key(version: int) -> str:
    return f"kb.sources.{version}"

"""Resolves ids as corpora write them to the knowledge base's primary ids."""

from __future__ import annotations

from collections.abc import Iterable

from curator.storage.db.rows import chunks, fold, unique
from curator.storage.kb.kb_tables import ALTERNATE, BARE_PRIMARY, PRIMARY, KbTables, bare

# key -> (tier, row number of the entity, primary id), best first
_Found = dict[str, list[tuple[int, int, str]]]


def resolve_ids(tables: KbTables, ids: Iterable[str]) -> dict[str, str]:
    """The primary ids of those that resolve, keyed as they were given; case and outer spaces do not matter.

    In this order: the id itself as primary, then as alternate id; a bare id as the part behind the prefix of a
    primary, then of an alternate id, unless it fits several entities; a prefixed id without its prefix, where the
    knowledge base's ids have none.
    """
    given = unique(ids)
    keys = {id_: fold(id_) for id_ in given}
    found = _look_up(tables, [key for id_ in given for key in (keys[id_], bare(keys[id_])) if key])
    resolved = {id_: _choose(found, keys[id_]) for id_ in given}
    return {id_: primary for id_, primary in resolved.items() if primary is not None}


def ambiguous_ids(tables: KbTables, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Of the bare ids that `resolve_ids` leaves out since they fit several entities: the primary ids of these."""
    keys = {id_: fold(id_) for id_ in unique(ids)}
    found = _look_up(tables, [key for key in keys.values() if key])
    every = {id_: _ambiguous(found.get(key, [])) for id_, key in keys.items()}
    return {id_: fitting for id_, fitting in every.items() if fitting}


def _look_up(tables: KbTables, keys: list[str]) -> _Found:
    found: _Found = {}
    for part in chunks(unique(keys)):
        marks = ",".join("?" * len(part))
        query = (
            f"SELECT i.key, i.tier, i.entity, e.entity_id FROM {tables.ids} i"  # noqa: S608
            f" JOIN {tables.entities} e ON e.id = i.entity WHERE i.key IN ({marks})"
        )
        for key, tier, entity, primary in tables.conn.execute(query, list(part)):
            found.setdefault(key, []).append((tier, entity, primary))
    for matches in found.values():
        matches.sort()
    return found


def _choose(found: _Found, key: str) -> str | None:
    matches = found.get(key, [])
    if not matches:
        whole = [match for match in found.get(bare(key), []) if match[0] in (PRIMARY, ALTERNATE)]
        return whole[0][2] if whole else None
    return None if _ambiguous(matches) else matches[0][2]


def _ambiguous(matches: list[tuple[int, int, str]]) -> tuple[str, ...]:
    """The entities that a bare id fits equally well; none where it fits one."""
    if not matches or matches[0][0] < BARE_PRIMARY:
        return ()
    fitting = {entity: primary for tier, entity, primary in matches if tier == matches[0][0]}
    return tuple(fitting.values()) if len(fitting) > 1 else ()

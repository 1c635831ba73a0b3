"""How often and how lately entities were linked to, told from the decisions by an index."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from curator.domain.decisions import Outcome
from curator.storage.db.rows import chunks
from curator.storage.db.schema import DecisionRow

LOOKED_AT = 400  # decisions looked through for the last entities


def link_counts(conn: Connection, entity_ids: Sequence[str]) -> dict[str, int]:
    """Decisions ever made to link to exactly this entity, imported ones included; those never linked to are absent."""
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
    """Of the last decisions by people, not those of imported gold."""
    query = (
        select(DecisionRow.entity_ids, DecisionRow.outcome)
        .where(~DecisionRow.curator.startswith("import:"))
        .order_by(DecisionRow.id.desc())
        .limit(LOOKED_AT)
    )
    ids = (
        one for packed, outcome in conn.execute(query) if outcome == Outcome.LINK.value for one in json.loads(packed)
    )
    return list(dict.fromkeys(ids))[:limit]


def _packed(entity_id: str) -> str:
    """As `decisions` writes a list of one."""
    return json.dumps((entity_id,), ensure_ascii=False)

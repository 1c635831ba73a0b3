"""Current decisions by their result: mentions linked to an entity, and NIL mentions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, case, func, or_, select

from curator.domain.decisions import Outcome
from curator.domain.entities import Entity
from curator.services.ports.queue import NilMention
from curator.storage.db.columns import texts_of
from curator.storage.db.dialects import rows_as_json
from curator.storage.db.packing import unpack_head
from curator.storage.db.rows import AnyRow, chunks, hidden
from curator.storage.db.schema import DecisionRow, MentionRow, SuggestionRow
from curator.storage.kb.provisional import retire, retired_of

SHORT = 16
"""The most characters of a mention whose suggestion is read for a long form, since abbreviations are short."""


class Outcomes:
    """The part of `SqlKnowledgeBase` for entities in decisions."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def links(self) -> dict[tuple[str, ...], int]:
        """Number of linked mentions by entity, without deleted mentions and hidden documents, as in the following
        methods."""
        query = select(DecisionRow.entity_ids, func.count()).join(MentionRow, MentionRow.decision_id == DecisionRow.id)
        query = query.where(MentionRow.outcome == Outcome.LINK.value, *_living()).group_by(DecisionRow.entity_ids)
        return {texts_of(ids, "decisions", "entity_ids"): number for ids, number in self._conn.execute(query)}

    def linked_to(self, entity_ids: Collection[str]) -> list[int]:
        """Mentions whose link names one of these entities, in queue and text order."""
        lists = self._lists_with(entity_ids)
        found: list[tuple[int, int, int]] = []
        for part in chunks(lists):
            query = select(MentionRow.document_id, MentionRow.start_pos, MentionRow.id)
            query = query.join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            query = query.where(DecisionRow.outcome == Outcome.LINK.value, DecisionRow.entity_ids.in_(part), *_living())
            # as one value: each row from SQLite waits for the GIL, which the window's thread holds
            lines = query.subquery()
            listed = select(rows_as_json(*lines.c)).select_from(lines)
            found += [(line[0], line[1], line[2]) for line in json.loads(self._conn.execute(listed).scalar_one())]
        return [one for _, _, one in sorted(found)]

    def _lists_with(self, entity_ids: Collection[str]) -> list[str]:
        """The lists of entities in `decisions` that contain one of these, read from the index only, without the
        mentions."""
        named = [
            DecisionRow.entity_ids.contains(json.dumps(one, ensure_ascii=False), autoescape=True) for one in entity_ids
        ]
        if not named:
            return []
        query = select(DecisionRow.entity_ids).where(DecisionRow.outcome == Outcome.LINK.value, or_(*named)).distinct()
        wanted = set(entity_ids)  # LIKE ignores case, but it matters in identifiers
        return [
            ids
            for ids in self._conn.execute(query).scalars()
            if not wanted.isdisjoint(texts_of(ids, "decisions", "entity_ids"))
        ]

    def nils(self, *, decided: bool) -> list[NilMention]:
        """Mentions decided NIL, or else undecided ones whose suggestion says NIL, in queue and text order."""
        chosen = _NILS.where(MentionRow.outcome == Outcome.NIL.value)
        if not decided:
            chosen = _NILS.where(MentionRow.outcome.is_(None), SuggestionRow.is_nil)
        rows = self._conn.execute(chosen.where(*_living()).order_by(*_PLACE))
        return [NilMention(row.id, row.document_id, row.text, row.type, row.string_key, _expanded(row)) for row in rows]

    def retire(self, entities: Sequence[Entity]) -> None:
        """Store the records of entities that the next version lacks."""
        retire(self._conn, entities)

    def retired(self, entity_ids: Iterable[str]) -> dict[str, Entity]:
        """The stored records of removed entities; others are absent."""
        return retired_of(self._conn, list(entity_ids))


def _living() -> tuple[ColumnElement[bool], ...]:
    return ~MentionRow.deleted, MentionRow.document_id.not_in(hidden())


def _expanded(row: AnyRow) -> str:
    return "" if row.payload is None else unpack_head(row.payload)[-1]


_PLACE = (MentionRow.document_id, MentionRow.start_pos, MentionRow.id)
_NILS = select(
    MentionRow.id,
    MentionRow.document_id,
    MentionRow.text,
    MentionRow.type,
    MentionRow.string_key,
    case((func.length(MentionRow.text) <= SHORT, SuggestionRow.payload)).label("payload"),
).outerjoin(SuggestionRow, SuggestionRow.mention_id == MentionRow.id)

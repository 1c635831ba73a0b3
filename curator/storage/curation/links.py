"""Current decisions by result: mentions linked to an entity, NIL mentions, and strings decided in several ways."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, bindparam, case, func, or_, select, tuple_

from curator.domain.audit import DecidedPlace, OtherDecision
from curator.domain.decisions import Outcome
from curator.domain.wording import UserError, tr
from curator.services.ports.queue import NilMention
from curator.storage.db.columns import texts_of, verdict_of
from curator.storage.db.dialects import rows_as_json
from curator.storage.db.packing import unpack_head
from curator.storage.db.rows import AnyRow, chunks, hidden, unique
from curator.storage.db.schema import DecisionRow, DocumentRow, MentionRow, SuggestionRow

AnyQuery: TypeAlias = Any  # SQLAlchemy 2.0 and 2.1 type the columns of a query differently
GOLD = (Outcome.LINK.value, Outcome.NIL.value)
SHORT = 16
"""The most characters of a mention whose suggestion is read for a long form, since abbreviations are short."""


class SqlLinks:
    """What mentions are decided to be, by entity and by string."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def by_entity(self) -> dict[tuple[str, ...], int]:
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

    def divided(self, *, in_document: bool = False) -> list[DecidedPlace]:
        """The current links and NILs of each string and type that has several different ones, by string and type, then
        in queue and text order. Links with the same entities in another order may count as different. `in_document`:
        only those of documents with several for one string."""
        found: list[DecidedPlace] = []
        where = (*_STRING, MentionRow.document_id) if in_document else _STRING
        divided: AnyQuery = (
            select(*where)
            .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .where(*_counted())
            .group_by(*where)
            .having(func.count(DecisionRow.entity_ids.distinct()) > 1)  # NIL is the empty list of entities
        )
        for part in chunks([tuple(row) for row in self._conn.execute(divided)], 250):
            found += _places(self._conn.execute(_PLACES.where(tuple_(*where).in_(part), *_counted())).all())
        return sorted(found, key=lambda one: (one.key, one.type))  # sorting is stable: the order of places is kept

    def decided_places(self, mention_ids: Sequence[int]) -> list[DecidedPlace]:
        """The decided mentions in the given order, without deleted ones and ones without a link or NIL."""
        found: dict[int, DecidedPlace] = {}
        for part in chunks(unique(mention_ids)):
            rows = self._conn.execute(_PLACES.where(MentionRow.id.in_(part), *_counted()))
            found.update((one.mention_id, one) for one in _places(rows.all()))
        return [found[one] for one in mention_ids if one in found]

    def decided_alike(self, mention_id: int) -> list[DecidedPlace]:
        """The links and NILs of all mentions with its string and type, including itself, in queue and text order.
        Raises UserError for an unknown mention."""
        this = self._this(mention_id)
        query = _PLACES.where(MentionRow.string_key == this.string_key, MentionRow.type == this.type, *_counted())
        return list(_places(self._conn.execute(query).all()))

    def other_decisions(self, mention_id: int) -> list[OtherDecision]:
        """The decisions (links or NIL) of the other mentions with its string and type. Raises UserError for an unknown
        mention."""
        this = self._this(mention_id)
        where = {"key": this.string_key, "type": this.type, "document": this.document_id, "mention": mention_id}
        return [OtherDecision(verdict_of(*row[:3]), row[3], row[4]) for row in self._conn.execute(_OTHERS, where)]

    def _this(self, mention_id: int) -> AnyRow:
        this = self._conn.execute(_THIS, {"mention": mention_id}).first()
        if this is None:
            raise UserError(tr("There is no mention {mention_id} in this project.", mention_id=mention_id))
        return this


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


def _counted() -> tuple[ColumnElement[bool], ...]:
    return MentionRow.outcome.in_(GOLD), *_living()


_verdict = lru_cache(maxsize=16_384)(verdict_of)


def _places(rows: Iterable[AnyRow]) -> Iterator[DecidedPlace]:
    """The places from rows of `_PLACES`; equal verdicts are parsed once."""
    for id_, document_id, external_id, text, key, type_, outcome, entity_ids, reason, curator in rows:
        verdict = _verdict(outcome, entity_ids, reason)
        yield DecidedPlace(id_, document_id, external_id, text, key, type_, verdict, curator)


_STRING = (MentionRow.string_key, MentionRow.type)
_PLACES: AnyQuery = (
    select(
        MentionRow.id,
        MentionRow.document_id,
        DocumentRow.external_id,
        MentionRow.text,
        MentionRow.string_key,
        MentionRow.type,
        DecisionRow.outcome,
        DecisionRow.entity_ids,
        DecisionRow.reason,
        DecisionRow.curator,
    )
    .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
    .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
    .order_by(MentionRow.document_id, MentionRow.start_pos, MentionRow.id)
)
_THIS = select(MentionRow.string_key, MentionRow.type, MentionRow.document_id).where(
    MentionRow.id == bindparam("mention")
)
_WAYS = (DecisionRow.outcome, DecisionRow.entity_ids, DecisionRow.reason)
_OTHERS: AnyQuery = (
    select(*_WAYS, func.sum(case((MentionRow.document_id == bindparam("document"), 1), else_=0)), func.count())
    .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
    .where(MentionRow.string_key == bindparam("key"), MentionRow.type == bindparam("type"))
    .where(MentionRow.id != bindparam("mention"), *_counted())
    .group_by(*_WAYS)
)
"""Built once: building it takes longer than executing it."""

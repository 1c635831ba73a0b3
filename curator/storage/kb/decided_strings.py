"""Decided mentions by their strings: strings decided in several ways, and other decisions about a mention's string."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, bindparam, case, func, select, tuple_

from curator.domain.audit import DecidedPlace, OtherDecision
from curator.domain.decisions import Outcome
from curator.domain.wording import UserError, tr
from curator.storage.db.columns import verdict_of
from curator.storage.db.rows import AnyRow, chunks, hidden, unique
from curator.storage.db.schema import DecisionRow, DocumentRow, MentionRow

AnyQuery: TypeAlias = Any  # SQLAlchemy 2.0 and 2.1 type the columns of a query differently
GOLD = (Outcome.LINK.value, Outcome.NIL.value)


class DecidedStrings:
    """The part of `SqlKnowledgeBase` that compares decisions about one string."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

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


def _counted() -> tuple[ColumnElement[bool], ...]:
    return MentionRow.outcome.in_(GOLD), ~MentionRow.deleted, MentionRow.document_id.not_in(hidden())


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

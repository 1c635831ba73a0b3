"""Counts for the dashboard: one grouped query each, over indexes and narrow columns, never over `shown`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, and_, case, false, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from curator.domain.decisions import DECIDING, OperationKind, Outcome, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.statistics import IMPORTED, DecidedCell, DocumentCell, EffortCell, Holdings, TakenDecision
from curator.storage.curation.counters import COUNTERS
from curator.storage.curation.operations import undone
from curator.storage.db.columns import day_of, enum_of, texts_of, time_of
from curator.storage.db.dialects import local_day
from curator.storage.db.packing import unpack_shown
from curator.storage.db.rows import AnyRow, hidden, visible
from curator.storage.db.schema import (
    DecisionRow,
    DocumentRow,
    EffortRow,
    MentionAttributeRow,
    MentionRow,
    OperationRow,
    RelationRow,
)

AnyQuery: TypeAlias = Any  # SQLAlchemy 2.0 and 2.1 type the columns of a query differently
BETWEEN_IDS = '", "'
"""What is between two ids in `DecisionRow.entity_ids`."""


class Statistics:
    """The part of `SqlRecords` that counts."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def documents(self) -> list[DocumentCell]:
        """Documents and their mentions, grouped by split and state."""
        sums = [func.sum(column) for column in COUNTERS.values()]
        query = (
            select(DocumentRow.split, DocumentRow.state, func.count(), func.sum(DocumentRow.mentions), *sums)
            .where(visible())
            .group_by(DocumentRow.split, DocumentRow.state)
        )
        return [_document_cell(*row) for row in self._conn.execute(query)]

    def holdings(self, *, done: bool = False, noted: str = "") -> Holdings:
        """What the project has to export; only of documents that are `done`, or only mentions whose current
        decision's note begins with `noted`."""
        where = [visible(), *([DocumentRow.state == DocumentState.DONE.value] if done else [])]
        gold = func.coalesce(MentionRow.outcome.in_((Outcome.LINK.value, Outcome.NIL.value)), false())
        rejected = func.coalesce(MentionRow.outcome == Outcome.REJECTED.value, false())
        is_written = or_(gold, and_(MentionRow.record >= 0, ~rejected))
        mentions = (
            select(MentionRow.id, MentionRow.document_id, MentionRow.outcome, MentionRow.fragmented)
            .add_columns(is_written.label("written"))
            .add_columns(and_(gold, DecisionRow.entity_ids.contains(BETWEEN_IDS)).label("composite"))
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .outerjoin(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .where(*where, ~MentionRow.deleted)
        )
        if noted:
            mentions = mentions.where(DecisionRow.note.startswith(noted, autoescape=True))
        held = mentions.subquery()
        number = [
            func.sum(case((condition, 1), else_=0))
            for condition in (
                held.c.written,
                ~held.c.written,
                held.c.outcome == Outcome.LINK.value,
                held.c.outcome == Outcome.NIL.value,
                held.c.composite,
                and_(held.c.written, held.c.fragmented),
            )
        ]
        written, others, links, nil, composite, discontinuous = (
            int(one or 0) for one in self._conn.execute(select(*number)).one()
        )
        documents: AnyQuery = select(func.count()).select_from(DocumentRow).where(*where)
        if noted:
            documents = select(func.count(held.c.document_id.distinct()))
        return Holdings(
            self._conn.execute(documents).scalar_one(),
            mentions=written,
            others=others,
            links=links,
            nil=nil,
            composite=composite,
            discontinuous=discontinuous,
            attributed=self._attributed(select(held.c.id).where(held.c.written)),
            relations=self._relations(where) if not noted else 0,
        )

    def _attributed(self, mentions: AnyQuery) -> int:
        row = MentionAttributeRow
        last = select(func.max(row.id)).where(row.round_id.is_(None)).group_by(row.mention_id, row.attribute_id)
        query = select(func.count(row.mention_id.distinct())).where(row.id.in_(last), row.value_id.is_not(None))
        return self._conn.execute(query.where(row.mention_id.in_(mentions))).scalar_one()

    def _relations(self, where: Sequence[ColumnElement[bool]]) -> int:
        query = select(func.count()).select_from(RelationRow)
        query = query.join(DocumentRow, DocumentRow.id == RelationRow.document_id)
        return self._conn.execute(query.where(~RelationRow.deleted, RelationRow.source == "", *where)).scalar_one()

    def decided(self) -> list[DecidedCell]:
        """Current decisions, without undone and replaced ones."""
        return [DecidedCell(day_of(row[0], "decisions"), *row[1:]) for row in self._conn.execute(decided_query())]

    def efforts(self) -> list[EffortCell]:
        """Efforts of operations whose effort was measured.

        An operation's split is that of one of its mentions, '' if it decided none.
        """
        taken = _taken().subquery()
        decisions = func.coalesce(taken.c.number, 0)
        keys = (_day(OperationRow.at), OperationRow.actor, func.coalesce(taken.c.split, ""), decisions > 1)
        query = (
            select(
                *keys,
                func.sum(decisions),
                func.sum(case((EffortRow.keys <= 1, decisions), else_=0)),
                func.sum(EffortRow.keys),
                func.sum(EffortRow.milliseconds),
            )
            .select_from(EffortRow)
            .join(OperationRow, OperationRow.id == EffortRow.operation_id)
            .outerjoin(taken, taken.c.operation_id == EffortRow.operation_id)
            .group_by(*keys)
        )
        return list(self._effort_cells(query))

    def taken(
        self, *, limit: int, before: int | None = None, curator: str = "", words: str = "", imported: bool = False
    ) -> list[TakenDecision]:
        """The project's decisions, newest first, at most `limit` with ids less than `before`; filtered by curator and
        by words in mentions or documents; imported ones only on request."""
        query = _TAKEN.order_by(DecisionRow.id.desc()).limit(limit)
        if before is not None:
            query = query.where(DecisionRow.id < before)
        if curator:
            query = query.where(DecisionRow.curator == curator)
        elif not imported:
            query = query.where(~DecisionRow.curator.startswith(f"{IMPORTED}:"))
        if words:
            held = (MentionRow.text, DocumentRow.external_id, DecisionRow.entity_ids)
            query = query.where(or_(*(one.icontains(words, autoescape=True) for one in held)))
        return [_taken_decision(row) for row in self._conn.execute(query)]

    def _effort_cells(self, query: AnyQuery) -> Iterator[EffortCell]:
        for day, actor, split, many, *sums in self._conn.execute(query):
            yield EffortCell(day_of(day, "operations"), actor, split, bool(many), *sums)


def decided_query() -> AnyQuery:
    """Day, curator, split, outcome, rank and number of the current decisions.

    `+ 0` prevents SQLite from looking up decisions by id, and the always true condition on curators makes it use the
    covering index: it does not know the length of the rows that it would otherwise read.
    """
    curator, day = _curator(), _day(DecisionRow.at)
    keys = (day, curator, DocumentRow.split, DecisionRow.outcome, DecisionRow.rank)
    return (
        select(*keys, func.count())
        .join(MentionRow, MentionRow.id == DecisionRow.mention_id)
        .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
        .where(DecisionRow.curator >= "", MentionRow.decision_id == DecisionRow.id + 0, ~MentionRow.deleted)
        .where(MentionRow.document_id.not_in(hidden()))
        .group_by(*keys)
    )


def _taken() -> AnyQuery:
    """The number of decided mentions of each measured operation that was not undone; undo and redo have none."""
    return (
        select(
            DecisionRow.operation_id.label("operation_id"),
            func.min(DocumentRow.split).label("split"),
            func.sum(case((DecisionRow.outcome.in_(DECIDING), 1), else_=0)).label("number"),
        )
        .join(EffortRow, EffortRow.operation_id == DecisionRow.operation_id)
        .join(OperationRow, OperationRow.id == DecisionRow.operation_id)
        .join(MentionRow, MentionRow.id == DecisionRow.mention_id)
        .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
        .where(OperationRow.kind == OperationKind.DECIDE.value, DecisionRow.outcome != Outcome.CLEARED.value)
        .where(DecisionRow.operation_id.not_in(undone()))
        .group_by(DecisionRow.operation_id)
    )


def _curator() -> ColumnElement[str]:
    return case((DecisionRow.curator.startswith(f"{IMPORTED}:"), IMPORTED), else_=DecisionRow.curator)


def _day(at: InstrumentedAttribute[str]) -> ColumnElement[str]:
    """The local day of a time stored with its offset."""
    return local_day(at)


def _document_cell(split: str, state: str, documents: int, mentions: int, *decided: int) -> DocumentCell:
    part = enum_of(Split, split, "documents", "split")
    stage = enum_of(DocumentState, state, "documents", "state")
    states = [("", mentions - sum(decided)), *zip((one.value for one in COUNTERS), decided, strict=True)]
    return DocumentCell(part, stage, documents, tuple(states))


_TAKEN: AnyQuery = (
    select(
        DecisionRow.id,
        DecisionRow.at,
        func.coalesce(OperationRow.actor, DecisionRow.curator).label("actor"),
        DecisionRow.curator,
        func.coalesce(OperationRow.kind, "").label("step"),
        MentionRow.document_id,
        DocumentRow.external_id,
        DecisionRow.mention_id,
        MentionRow.text,
        DecisionRow.outcome,
        DecisionRow.entity_ids,
        DecisionRow.rank,
        DecisionRow.shown,
        DecisionRow.note,
        (MentionRow.decision_id == DecisionRow.id).label("stands"),
    )
    .join(MentionRow, MentionRow.id == DecisionRow.mention_id)
    .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
    .outerjoin(OperationRow, OperationRow.id == DecisionRow.operation_id)
    .where(visible())
)


def _taken_decision(row: AnyRow) -> TakenDecision:
    entities = texts_of(row.entity_ids, "decisions", "entity_ids", row.id)
    linked = row.shown is not None and entities and row.outcome == Outcome.LINK.value
    return TakenDecision(
        row.id,
        time_of(row.at, "decisions", row.id),
        row.actor,
        row.curator,
        row.step,
        row.document_id,
        row.external_id,
        row.mention_id,
        row.text,
        row.outcome,
        entities,
        row.rank,
        row.note,
        bool(row.stands),
        unpack_shown(row.shown).places_of(Verdict.link(*entities)) if linked else (),
    )

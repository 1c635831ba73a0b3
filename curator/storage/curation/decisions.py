"""Decisions, appended and never changed; the mention points to its current one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from curator.domain.decisions import Decision, Outcome, Shown, Verdict
from curator.domain.documents import Split
from curator.storage.curation.counters import DECIDABLES, STATES, TALLIES, decidables, retally, tallies
from curator.storage.curation.mentions import LISTED, documents_of
from curator.storage.curation.operations import END, OWN_LAST
from curator.storage.curation.stored_suggestion import StoredShown
from curator.storage.curation.suggestions import SUGGESTED
from curator.storage.db.ahead import LATER, Ask, ahead_of, answer
from curator.storage.db.columns import texts_of, time_of, verdict_of
from curator.storage.db.dialects import among
from curator.storage.db.hash_chain import link
from curator.storage.db.packing import pack_shown, rank_in
from curator.storage.db.rows import AnyRow, ids_of, unique, visible
from curator.storage.db.schema import DecisionRow, DocumentRow, MentionRow, SuggestionFactsRow, SuggestionRow


class SqlDecisions:
    """Decisions, append-only: the database refuses to change or remove one (InconsistentDataError)."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._made: dict[int, Decision] = {}

    def expect(self, mention_ids: Sequence[int], *, actor: str) -> None:
        """Prepare for a decision about these mentions as the next operation of the unit: on a server, everything that
        it needs is read in one round trip. It changes no result."""
        ahead = ahead_of(self._conn)
        if ahead is None:
            return
        ids = ids_of(mention_ids)
        asks: list[Ask] = [(one, ids) for one in (LISTED, DECIDABLES, SUGGESTED, _FIRSTS, _STATES_BY, _TALLIES_BY)]
        asks += [(OWN_LAST, {"actor": actor}), (END, {}), (_END, {})]
        mentions, _, _, _, states, tallies, *_ = ahead.read(asks)
        of_mention = {row.id: row.document_id for row in mentions}
        documents = ids_of(unique(of_mention[one] for one in mention_ids if one in of_mention))
        ahead.keep(STATES, documents, states, times=2)  # also when a document is begun
        ahead.keep(TALLIES, documents, tallies)

    def append(
        self,
        mention_ids: Sequence[int],
        verdicts: Sequence[Verdict],
        *,
        curator: str,
        at: datetime,
        operation_id: int,
        shown: Sequence[Shown | None],
        notes: Sequence[str] | None = None,
    ) -> list[Decision]:
        """Append one decision for each mention and make it the mention's current one. CLEARED makes it undecided.
        `verdicts`, `shown` and `notes` are parallel to the ids: otherwise ValueError is raised. Raises UserError
        for an unknown mention.

        Append decisions. `operation_id` 0: no operation, as for imported gold. Raises UserError for an unknown
        mention.

        Raises ValueError if the sequences have different lengths.
        """
        if not mention_ids:
            return []
        before = decidables(self._conn, mention_ids)
        documents_of(self._conn, [one for one in mention_ids if one not in before])  # raises the error that names it
        [(last, end)] = answer(self._conn, _END)
        first = last + 1
        texts = [""] * len(mention_ids) if notes is None else notes
        decisions = [
            Decision(first + i, mention_id, verdict, curator, at, seen, operation_id, note)
            for i, (mention_id, verdict, seen, note) in enumerate(zip(mention_ids, verdicts, shown, texts, strict=True))
        ]
        packed = {id(one): pack_shown(one) for one in {id(one): one for one in shown if one is not None}.values()}
        rows = [_row(one, packed.get(id(one.shown))) for one in decisions]
        self._conn.execute(_INSERT, list(_chained(rows, end if operation_id else None, alone=not operation_id)))
        pointers = [_pointer(decision) for decision in decisions]
        self._conn.execute(_POINT, pointers)
        self._rank(decisions)
        retally(self._conn, before, {int(one["b_id"]): one["b_outcome"] for one in pointers})
        self._made = {one.mention_id: one for one in decisions}
        return decisions

    def _rank(self, decisions: Sequence[Decision]) -> None:
        """The ranks of the entities in the linked mentions' suggestions. For most it is the first, so their candidates
        are not unpacked."""
        linked = {one.mention_id: one.verdict.entity_ids for one in decisions if one.verdict.entity_ids}
        if not linked:
            return
        firsts = {row.mention_id: row.first for row in answer(self._conn, _FIRSTS, ids_of(linked))}
        ranks = {mention_id: 1 for mention_id, first in firsts.items() if first in linked[mention_id]}
        others = [mention_id for mention_id in firsts if mention_id not in ranks]
        if others:
            for mention_id, payload in self._conn.execute(_PAYLOADS, ids_of(others)):
                ranks[mention_id] = rank_in(payload, linked[mention_id])
        if ranks:
            self._conn.execute(_RANK, [{"b_id": mention_id, "b_rank": rank} for mention_id, rank in ranks.items()])

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided (never decided, or CLEARED) mentions are absent."""
        if self._made.keys() >= set(mention_ids):  # nobody else writes in this unit
            found = {one: self._made[one] for one in mention_ids}
            return {one: made for one, made in found.items() if made.verdict.outcome is not Outcome.CLEARED}
        rows = self._conn.execute(_CURRENT_LISTED, ids_of(mention_ids))
        return {row.mention_id: _decision(row) for row in rows}

    def current_of_document(self, document_id: int) -> dict[int, Decision]:
        """Current decisions of the document's mentions that are not deleted."""
        rows = self._conn.execute(_CURRENT_OF_DOCUMENT, {"id": document_id})
        return {row.mention_id: _decision(row) for row in rows}

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, including CLEARED ones."""
        return [_decision(row) for row in self._conn.execute(_HISTORY, {"id": mention_id})]

    def of_operation(self, operation_id: int) -> list[Decision]:
        """Every decision of the operation."""
        return [_decision(row) for row in self._conn.execute(_OF_OPERATION, {"id": operation_id})]

    def links(self, split: Split, mention_types: Collection[str]) -> list[tuple[str, tuple[str, ...], int]]:
        """(mention type, entity ids, number) of the current links of a split's mentions of these types."""
        query = (
            select(MentionRow.type, DecisionRow.entity_ids, func.count())
            .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .where(MentionRow.type.in_(mention_types), ~MentionRow.deleted, MentionRow.outcome == Outcome.LINK.value)
            .where(DocumentRow.split == split.value, visible())
            .group_by(MentionRow.type, DecisionRow.entity_ids)
        )
        return [
            (type_, texts_of(ids, "decisions", "entity_ids"), number)
            for type_, ids, number in self._conn.execute(query)
        ]

    def linked_strings(self, splits: Sequence[Split]) -> list[tuple[str, tuple[str, ...], int]]:
        """(words of the mention, entity ids, number) of the current links of these splits."""
        query = (
            select(MentionRow.text, DecisionRow.entity_ids, func.count())
            .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .where(~MentionRow.deleted, MentionRow.outcome == Outcome.LINK.value)
            .where(DocumentRow.split.in_([one.value for one in splits]), visible())
            .group_by(MentionRow.text, DecisionRow.entity_ids)
        )
        rows = self._conn.execute(query).all()
        lists = {ids: texts_of(ids, "decisions", "entity_ids") for ids in {ids for _, ids, _ in rows}}
        return [(text, lists[ids], number) for text, ids, number in rows]

    def before_many(self, decisions: Sequence[Decision]) -> dict[int, Decision]:
        """For the decisions of one operation, by id, the decision that each replaced; absent if it was the first."""
        if len({one.mention_id for one in decisions}) < len(decisions):  # a mention decided twice in the step
            pairs = [(one, self._before(one)) for one in decisions]
            return {one.id: found for one, found in pairs if found is not None}
        first = min((one.id for one in decisions), default=0)
        rows = self._conn.execute(_BEFORE, {"first": first, **ids_of(one.mention_id for one in decisions)})
        by_mention = {row.mention_id: _decision(row) for row in rows}
        return {one.id: by_mention[one.mention_id] for one in decisions if one.mention_id in by_mention}

    def count(self) -> int:
        """The number of all decisions ever made, including replaced and CLEARED ones."""
        return self._conn.execute(select(func.count()).select_from(DecisionRow)).scalar_one()

    def _before(self, decision: Decision) -> Decision | None:
        query = _DECISIONS.where(DecisionRow.mention_id == decision.mention_id, DecisionRow.id < decision.id)
        row = self._conn.execute(query.order_by(DecisionRow.id.desc()).limit(1)).first()
        return None if row is None else _decision(row)


_INSERT = insert(DecisionRow)
_CHAINED = select(DecisionRow.hash).where(DecisionRow.operation_id.is_not(None))
_CHAINED = _CHAINED.order_by(DecisionRow.operation_id.desc(), DecisionRow.id.desc()).limit(1)
_END = select(func.coalesce(func.max(DecisionRow.id), 0), _CHAINED.scalar_subquery())
"""The last id, and the hash at the end of the chain."""
_DOCUMENTS_BY = DocumentRow.id.in_(select(MentionRow.document_id).where(among(MentionRow.id)))
_STATES_BY = select(DocumentRow.id, DocumentRow.state).where(_DOCUMENTS_BY)
_TALLIES_BY = tallies().where(_DOCUMENTS_BY)
"""As `STATES` and `TALLIES`, by mentions."""
_DECISIONS = select(
    DecisionRow.id,
    DecisionRow.mention_id,
    DecisionRow.operation_id,
    DecisionRow.outcome,
    DecisionRow.entity_ids,
    DecisionRow.reason,
    DecisionRow.curator,
    DecisionRow.at,
    DecisionRow.note,
    DecisionRow.shown,
)
_HISTORY = _DECISIONS.where(DecisionRow.mention_id == bindparam("id")).order_by(DecisionRow.id)
_OF_OPERATION = _DECISIONS.where(DecisionRow.operation_id == bindparam("id")).order_by(DecisionRow.id)
_BEFORE = _DECISIONS.where(
    DecisionRow.id.in_(
        select(func.max(DecisionRow.id))
        .where(among(DecisionRow.mention_id), DecisionRow.id < bindparam("first"))
        .group_by(DecisionRow.mention_id)
    )
)
_CURRENT = _DECISIONS.join(MentionRow, MentionRow.decision_id == DecisionRow.id)
_CURRENT_LISTED = _CURRENT.where(among(MentionRow.id))
_CURRENT_OF_DOCUMENT = _CURRENT.where(MentionRow.document_id == bindparam("id"), ~MentionRow.deleted).order_by(
    MentionRow.id
)

_POINT = (
    update(MentionRow)
    .where(MentionRow.id == bindparam("b_id"))
    .values(outcome=bindparam("b_outcome"), decision_id=bindparam("b_decision"))
    .execution_options(**{LATER: True})
)

_FIRSTS = select(SuggestionRow.mention_id, SuggestionRow.first).where(among(SuggestionRow.mention_id))
_PAYLOADS = select(SuggestionRow.mention_id, SuggestionRow.payload).where(among(SuggestionRow.mention_id))
_RANK = (
    update(SuggestionFactsRow)
    .where(SuggestionFactsRow.mention_id == bindparam("b_id"))
    .values(decided_rank=bindparam("b_rank"))
    .execution_options(**{LATER: True})
)


def _row(decision: Decision, shown: bytes | None) -> dict[str, Any]:
    verdict = decision.verdict
    return {
        "id": decision.id,
        "mention_id": decision.mention_id,
        "operation_id": decision.operation_id or None,
        "outcome": verdict.outcome.value,
        "entity_ids": json.dumps(verdict.entity_ids, ensure_ascii=False),
        "reason": verdict.reason.value if verdict.reason else None,
        "curator": decision.curator,
        "at": decision.at.isoformat(),
        "note": decision.note,
        "rank": decision.shown.rank_of(verdict) if decision.shown else None,
        "shown": shown,
    }


def _chained(rows: Iterable[dict[str, Any]], before: bytes | None, *, alone: bool) -> Iterator[dict[str, Any]]:
    """The rows, with columns in the order of `chain.DECISION`, with their hashes."""
    for row in rows:
        *values, shown = row.values()
        before = link(None if alone else before, values, shown)
        yield {**row, "hash": before}


def _pointer(decision: Decision) -> dict[str, Any]:
    """The mention's new pointer; CLEARED makes it undecided again."""
    cleared = decision.verdict.outcome is Outcome.CLEARED
    return {
        "b_id": decision.mention_id,
        "b_outcome": None if cleared else decision.verdict.outcome.value,
        "b_decision": None if cleared else decision.id,
    }


def _decision(row: AnyRow) -> Decision:
    return Decision(
        id=row.id,
        mention_id=row.mention_id,
        verdict=verdict_of(row.outcome, row.entity_ids, row.reason, number=row.id),
        curator=row.curator,
        at=time_of(row.at, "decisions", row.id),
        shown=StoredShown.packed(row.shown) if row.shown else None,
        operation_id=row.operation_id or 0,
        note=row.note,
    )

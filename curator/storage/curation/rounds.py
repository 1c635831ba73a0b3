"""Rounds, the documents and mentions in them, and the judgements, which are only ever appended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, insert, or_, select, update

from curator.domain.decisions import DECIDING, Outcome, Shown, Verdict
from curator.domain.rounds import Judged, Judgement, Round, RoundKind, RoundMention, RoundProgress
from curator.domain.wording import UserError, tr
from curator.storage.curation.mentions import SqlMentions
from curator.storage.db.columns import enum_of, time_of, verdict_columns, verdict_of
from curator.storage.db.packing import pack_shown, unpack_shown
from curator.storage.db.rows import AnyRow, hidden, next_id
from curator.storage.db.schema import JudgementRow, MentionRow, RoundDocumentRow, RoundMentionRow, RoundRow


class SqlRounds:
    """Rounds; their judgements are only ever appended."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    # --- rounds ---

    def create(self, name: str, kind: RoundKind, document_ids: Sequence[int], *, at: datetime) -> int:
        """Create a round. Raises UserError if there is a round with this name."""
        if self._conn.execute(select(RoundRow.id).where(RoundRow.name == name)).first() is not None:
            raise UserError(tr("A round “{name}” already exists. Choose another name.", name=name))
        round_id = next_id(self._conn, RoundRow.id)
        row = {"id": round_id, "name": name, "kind": kind.value, "at": at.isoformat(), "closed": False}
        self._conn.execute(insert(RoundRow), [row])
        self.add_documents(round_id, document_ids)
        return round_id

    def all(self) -> list[Round]:
        """All rounds, oldest first."""
        return [_round(row) for row in self._conn.execute(_rounds().order_by(RoundRow.id))]

    def get(self, round_id: int) -> Round:
        """The round. Raises UserError if it is unknown."""
        row = self._conn.execute(_rounds().where(RoundRow.id == round_id)).first()
        if row is None:
            raise UserError(tr("There is no round {round_id} in this project.", round_id=round_id))
        return _round(row)

    def set_closed(self, round_id: int, closed: bool) -> None:
        """Close the round, or open it again; an unknown round is ignored."""
        self._conn.execute(update(RoundRow).where(RoundRow.id == round_id).values(closed=closed))

    def add_documents(self, round_id: int, document_ids: Sequence[int]) -> None:
        """Add documents; those already in the round are ignored."""
        new = sorted(set(document_ids) - set(self.document_ids(round_id)))
        if new:
            rows = [{"round_id": round_id, "document_id": one} for one in new]
            self._conn.execute(insert(RoundDocumentRow), rows)

    def document_ids(self, round_id: int) -> list[int]:
        """Ids of the round's documents, in queue order."""
        query = select(RoundDocumentRow.document_id).where(RoundDocumentRow.round_id == round_id)
        query = query.where(RoundDocumentRow.document_id.not_in(hidden()))
        return list(self._conn.execute(query.order_by(RoundDocumentRow.document_id)).scalars())

    # --- judgements ---

    def judge(
        self,
        round_id: int,
        mention_ids: Sequence[int],
        verdicts: Sequence[Verdict],
        *,
        curator: str,
        at: datetime,
        note: str = "",
        shown: Sequence[Shown | None] = (),
    ) -> list[Judgement]:
        """Append a judgement for each mention; `shown` is parallel to the ids, or empty.

        Append judgements. Raises ValueError if the sequences have different lengths.
        """
        first = next_id(self._conn, JudgementRow.id)
        seen = shown or [None] * len(mention_ids)
        made = [
            Judgement(first + n, round_id, mention_id, curator, verdict, at, note, what)
            for n, (mention_id, verdict, what) in enumerate(zip(mention_ids, verdicts, seen, strict=True))
        ]
        if made:
            self._conn.execute(insert(JudgementRow), [_row(one) for one in made])
        return made

    def current(self, round_id: int, *, curator: str | None = None, document_id: int | None = None) -> list[Judgement]:
        """The last judgement of each curator on each mention, without withdrawn ones."""
        last = _last(round_id, curator, document_id)
        query = _JUDGEMENTS.where(JudgementRow.id.in_(last), JudgementRow.outcome != Outcome.CLEARED.value)
        return [_judgement(row) for row in self._conn.execute(query.order_by(JudgementRow.id))]

    def log(self, round_id: int, curator: str, *, after: int = 0) -> list[Judgement]:
        """All judgements of a curator after the judgement with this id, oldest first, including withdrawn ones."""
        query = _JUDGEMENTS.where(JudgementRow.round_id == round_id, JudgementRow.curator == curator)
        query = query.where(JudgementRow.id > after)
        return [_judgement(row) for row in self._conn.execute(query.order_by(JudgementRow.id))]

    # --- mentions ---

    def mentions(self, round_id: int, document_id: int) -> list[RoundMention]:
        """Mentions of the document that are not deleted, and those created in the round, in text order."""
        made = self._made_by(round_id, MentionRow.document_id == document_id)
        every = SqlMentions(self._conn).of_document(document_id, deleted=True)
        # a mention that adjudication added to the project is visible to everybody
        found = [
            RoundMention(one, tuple(made.get(one.id, ())) if one.deleted else ())
            for one in every
            if not one.deleted or one.id in made
        ]
        return _joined(found) if made else found

    def add_mention(self, round_id: int, mention_id: int, curator: str) -> None:
        """Make a mention that is deleted in the project visible to a curator in the round; repeating it is harmless."""
        key = {"round_id": round_id, "mention_id": mention_id, "curator": curator}
        there = select(RoundMentionRow.mention_id).filter_by(**key)
        if self._conn.execute(there).first() is None:
            self._conn.execute(insert(RoundMentionRow), [key])

    def _made_by(self, round_id: int, *where: ColumnElement[bool]) -> dict[int, list[str]]:
        query = (
            select(RoundMentionRow.mention_id, RoundMentionRow.curator)
            .join(MentionRow, MentionRow.id == RoundMentionRow.mention_id)
            .where(RoundMentionRow.round_id == round_id, *where)
            .order_by(RoundMentionRow.curator)
        )
        found: dict[int, list[str]] = {}
        for mention_id, curator in self._conn.execute(query):
            found.setdefault(mention_id, []).append(curator)
        return found

    # --- how far they are ---

    def progress(self, round_id: int) -> list[RoundProgress]:
        """A line for each curator who judged, by name."""
        query = select(JudgementRow.curator).where(JudgementRow.round_id == round_id).distinct()
        names = sorted(self._conn.execute(query).scalars())
        return [RoundProgress.of(name, self.judged_in(round_id, name).values()) for name in names]

    def judged_in(self, round_id: int, curator: str, *, document_id: int | None = None) -> dict[int, Judged]:
        """The curator's numbers by document id, for the whole round or one document of it."""
        ids = self.document_ids(round_id) if document_id is None else [document_id]
        given = {
            document: (judged, skipped)
            for document, judged, skipped in self._conn.execute(_judged(round_id, curator, document_id))
        }
        seen = {row[0]: row[1] for row in self._conn.execute(_seen(round_id, curator, document_id))}
        found = {}
        for one in ids:
            judged, skipped = given.get(one, (0, 0))
            found[one] = Judged(judged, skipped, seen.get(one, 0))
        return found

    def outcomes(self, round_id: int, curator: str) -> dict[Outcome, int]:
        """The number of the curator's current judgements by outcome."""
        query = (
            select(JudgementRow.outcome, func.count())
            .where(JudgementRow.id.in_(_last(round_id, curator, None)), JudgementRow.outcome != Outcome.CLEARED.value)
            .group_by(JudgementRow.outcome)
        )
        return {
            enum_of(Outcome, outcome, "judgements", "outcome"): number for outcome, number in self._conn.execute(query)
        }


def _joined(mentions: Sequence[RoundMention]) -> list[RoundMention]:
    """The mentions, with those that several curators made as one: in a shared project, they do not see each other's."""
    same: dict[object, list[RoundMention]] = {}
    for one in mentions:
        same.setdefault((one.mention.spans, one.mention.type), []).append(one)
    found: list[RoundMention] = []
    for first, *others in same.values():
        twins = [one for one in (first, *others) if one.made_by]
        if not others or not twins:
            found += [first, *others]
            continue
        kept = next((one for one in (first, *others) if not one.made_by), first)
        makers = sorted({name for one in twins for name in one.made_by}) if kept.made_by else ()
        ids = tuple(one.mention.id for one in twins if one is not kept)
        found.append(replace(kept, made_by=tuple(makers), twins=ids))
        found += [one for one in (first, *others) if not one.made_by and one is not kept]
    return found


def _last(round_id: int, curator: str | None, document_id: int | None) -> Any:
    """The ids of the last judgement of each curator on each mention."""
    last = select(func.max(JudgementRow.id)).where(JudgementRow.round_id == round_id)
    if curator is not None:
        last = last.where(JudgementRow.curator == curator)
    if document_id is not None:
        inside = select(MentionRow.id).where(MentionRow.document_id == document_id)
        last = last.where(JudgementRow.mention_id.in_(inside))
    return last.group_by(JudgementRow.mention_id, JudgementRow.curator)


def _seen(round_id: int, curator: str, document_id: int | None) -> Any:
    """(document id, mentions that the curator sees): those not deleted, and the curator's own in the round."""
    query = select(MentionRow.document_id, func.count()).where(_sees(round_id, curator))
    if document_id is not None:
        query = query.where(MentionRow.document_id == document_id)
    else:
        documents = select(RoundDocumentRow.document_id).where(RoundDocumentRow.round_id == round_id)
        query = query.where(MentionRow.document_id.in_(documents))
    return query.group_by(MentionRow.document_id)


def _judged(round_id: int, curator: str, document_id: int | None) -> Any:
    """(document id, mentions that the curator sees and has judged, those that the curator sees and has skipped)."""
    judged = func.sum(case((JudgementRow.outcome.in_(DECIDING), 1), else_=0))
    skipped = func.sum(case((JudgementRow.outcome == Outcome.SKIPPED.value, 1), else_=0))
    query = select(MentionRow.document_id, judged, skipped)
    query = query.join(JudgementRow, JudgementRow.mention_id == MentionRow.id)
    query = query.where(JudgementRow.id.in_(_last(round_id, curator, document_id)), _sees(round_id, curator))
    return query.group_by(MentionRow.document_id)


def _sees(round_id: int, curator: str) -> ColumnElement[bool]:
    own = select(RoundMentionRow.mention_id)
    own = own.where(RoundMentionRow.round_id == round_id, RoundMentionRow.curator == curator)
    return or_(~MentionRow.deleted, MentionRow.id.in_(own))


def _rounds() -> Any:
    documents = (
        select(func.count())
        .select_from(RoundDocumentRow)
        .where(RoundDocumentRow.round_id == RoundRow.id)
        .scalar_subquery()
    )
    return select(RoundRow.id, RoundRow.name, RoundRow.kind, RoundRow.at, RoundRow.closed, documents)


def _round(row: AnyRow) -> Round:
    round_id, name, kind, at, closed, documents = row
    return Round(
        round_id,
        name,
        enum_of(RoundKind, kind, "rounds", "kind", round_id),
        time_of(at, "rounds", round_id),
        bool(closed),
        documents,
    )


_JUDGEMENTS = select(
    JudgementRow.id,
    JudgementRow.round_id,
    JudgementRow.mention_id,
    JudgementRow.curator,
    JudgementRow.outcome,
    JudgementRow.entity_ids,
    JudgementRow.reason,
    JudgementRow.at,
    JudgementRow.note,
    JudgementRow.shown,
)


def _row(judgement: Judgement) -> dict[str, object]:
    return {
        "id": judgement.id,
        "round_id": judgement.round_id,
        "mention_id": judgement.mention_id,
        "curator": judgement.curator,
        "at": judgement.at.isoformat(),
        "note": judgement.note,
        "shown": pack_shown(judgement.shown) if judgement.shown else None,
        **verdict_columns(judgement.verdict),
    }


def _judgement(row: AnyRow) -> Judgement:
    verdict = verdict_of(row.outcome, row.entity_ids, row.reason, "judgements", row.id)
    shown = unpack_shown(row.shown) if row.shown else None
    at = time_of(row.at, "judgements", row.id)
    return Judgement(row.id, row.round_id, row.mention_id, row.curator, verdict, at, row.note, shown)

"""Records, read as a whole: the audit trail, who decided, and names learned from links."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from typing import NamedTuple

from sqlalchemy import distinct, func, select

from curator.domain.attributes import load_scheme
from curator.domain.audit import AuditEntry, AuditKind, AuditMention
from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import Span, Split
from curator.storage.curation.statistics import Statistics
from curator.storage.db.columns import span_of, texts_of, time_of, verdict_of
from curator.storage.db.meta import SqlMeta
from curator.storage.db.packing import unpack_shown
from curator.storage.db.rows import AnyRow, ever_visible, hidden, visible
from curator.storage.db.schema import (
    DecisionRow,
    DocumentRow,
    FragmentRow,
    JudgementRow,
    MentionAttributeRow,
    MentionRow,
    OperationRow,
    RoundRow,
)

_IMPORT = "import:"
GOLD = (Outcome.LINK.value, Outcome.NIL.value)


class _Step(NamedTuple):
    kind: str
    actor: str
    text: str
    target: int | None


class SqlRecords(Statistics):
    """Read-only views of all records. The counts are one query each, without deleted mentions and invisible
    documents.

    The counts are in `Statistics`.
    """

    # --- the audit trail ---

    def audit(self) -> Iterator[AuditEntry]:
        """Every decision, judgement, and operation without decisions, in order of time.

        The trail in order of time; for equal times, decisions of imports first, then by number.

        Numbers grow with every record, so a clock set back does not change the order within decisions, judgements
        or operations: each is sorted by the latest time up to it.
        """
        steps = self._steps()
        entries = merge(
            _monotonic(self._decisions(steps)),
            _monotonic(self._judgements()),
            _monotonic(self._attributes(steps)),
            _monotonic(self._operations(steps)),
            key=lambda pair: pair[0],
        )
        for _, entry in entries:
            yield entry

    def _steps(self) -> dict[int, _Step]:
        query = select(OperationRow.id, OperationRow.kind, OperationRow.actor, OperationRow.text, OperationRow.target)
        return {row[0]: _Step(*row[1:]) for row in self._conn.execute(query)}

    def _decisions(self, steps: dict[int, _Step]) -> Iterator[AuditEntry]:
        query = (
            select(*_DECISION, *_MENTION)
            .join(MentionRow, MentionRow.id == DecisionRow.mention_id)
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .where(ever_visible())
            .order_by(DecisionRow.id)
        )
        last: dict[int, tuple[int, Verdict]] = {}
        fragments = self._fragments()
        for row in self._conn.execute(query):
            verdict = verdict_of(row.outcome, row.entity_ids, row.reason, number=row.decision_id)
            step = steps.get(row.operation_id or 0, _Step("import", row.curator, "", None))
            replaces, before = last.get(row.mention_id, (None, None))
            last[row.mention_id] = row.decision_id, verdict
            yield AuditEntry(
                AuditKind.DECISION,
                row.decision_id,
                time_of(row.at, "decisions", row.decision_id),
                step.actor,
                step=step.kind,
                operation=row.operation_id,
                target=step.target,
                text=step.text,
                mention=_mention(row, fragments),
                curator=row.curator,
                verdict=verdict,
                note=row.note,
                shown=unpack_shown(row.shown) if row.shown else None,
                replaces=replaces,
                before=before,
            )

    def _judgements(self) -> Iterator[AuditEntry]:
        query = (
            select(*_JUDGEMENT, RoundRow.name.label("round_name"), *_MENTION)
            .join(RoundRow, RoundRow.id == JudgementRow.round_id)
            .join(MentionRow, MentionRow.id == JudgementRow.mention_id)
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .order_by(JudgementRow.id)
        )
        last: dict[tuple[int, int, str], tuple[int, Verdict]] = {}
        fragments = self._fragments()
        for row in self._conn.execute(query):
            verdict = verdict_of(row.outcome, row.entity_ids, row.reason, "judgements", row.judgement_id)
            key = row.round_id, row.mention_id, row.curator
            replaces, before = last.get(key, (None, None))
            last[key] = row.judgement_id, verdict
            yield AuditEntry(
                AuditKind.JUDGEMENT,
                row.judgement_id,
                time_of(row.at, "judgements", row.judgement_id),
                row.curator,
                step=row.note if row.note in ("undo", "redo") else "judge",
                mention=_mention(row, fragments),
                curator=row.curator,
                verdict=verdict,
                note=row.note,
                shown=unpack_shown(row.shown) if row.shown else None,
                replaces=replaces,
                before=before,
                round=row.round_name,
            )

    def _attributes(self, steps: dict[int, _Step]) -> Iterator[AuditEntry]:
        """Values of attributes, with their current names."""
        scheme = load_scheme(SqlMeta(self._conn).get("attributes") or "")
        names = {one.id: one.name for one in scheme.attributes}
        values = {value.id: value.name for one in scheme.attributes for value in one.values}
        query: AnyRow = (
            select(_VALUE.id.label("value_row"), *_VALUE_FIELDS, RoundRow.name.label("round_name"), *_MENTION)
            .join(RoundRow, RoundRow.id == _VALUE.round_id, isouter=True)
            .join(MentionRow, MentionRow.id == _VALUE.mention_id)
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .order_by(_VALUE.id)
        )
        fragments = self._fragments()
        for row in self._conn.execute(query):
            step = steps.get(row.operation_id or 0, _Step(row.note or "judge", row.curator, "", None))
            yield AuditEntry(
                AuditKind.ATTRIBUTE,
                row.value_row,
                time_of(row.at, "mention_attributes", row.value_row),
                step.actor,
                step=step.kind,
                operation=row.operation_id,
                target=step.target,
                text=f"{names.get(row.attribute_id, row.attribute_id)} = {values.get(row.value_id, '')}".rstrip(),
                mention=_mention(row, fragments),
                curator=row.curator,
                round=row.round_name or "",
            )

    def _operations(self, steps: dict[int, _Step]) -> Iterator[AuditEntry]:
        """Operations without decisions and attributes; the others are in the trail through these."""
        query = select(OperationRow.id, OperationRow.at).where(
            OperationRow.id.not_in(select(DecisionRow.operation_id).where(DecisionRow.operation_id > 0).distinct()),
            OperationRow.id.not_in(select(_VALUE.operation_id).where(_VALUE.operation_id > 0).distinct()),
        )
        for operation_id, at in self._conn.execute(query.order_by(OperationRow.id)):
            step = steps[operation_id]
            yield AuditEntry(
                AuditKind.OPERATION,
                operation_id,
                time_of(at, "operations", operation_id),
                step.actor,
                step=step.kind,
                operation=operation_id,
                target=step.target,
                text=step.text,
            )

    def _fragments(self) -> dict[int, tuple[Span, ...]]:
        query = select(FragmentRow.mention_id, FragmentRow.start_pos, FragmentRow.end_pos)
        found: dict[int, tuple[Span, ...]] = {}
        for mention_id, start, end in self._conn.execute(query.order_by(FragmentRow.mention_id, FragmentRow.ordinal)):
            found[mention_id] = (*found.get(mention_id, ()), span_of(start, end, "fragments", mention_id))
        return found

    # --- people ---

    def curators(self) -> list[str]:
        """Names of the people who decided or judged, without imports."""
        names: set[str] = set()
        for column in (DecisionRow.curator, JudgementRow.curator):
            names.update(self._conn.execute(select(column).distinct()).scalars())
        return sorted(name for name in names if not name.startswith(_IMPORT))

    def decided_by(self, curator: str) -> list[tuple[int, int, datetime]]:
        """(document id, mention id, when) of this curator's current links and NILs."""
        query = (
            select(MentionRow.document_id, MentionRow.id, DecisionRow.at, DecisionRow.id)
            .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .where(DecisionRow.curator == curator, ~MentionRow.deleted, MentionRow.outcome.in_(GOLD))
            .where(MentionRow.document_id.not_in(hidden()))
            .order_by(MentionRow.id)
        )
        return [
            (document, mention, time_of(at, "decisions", number))
            for document, mention, at, number in self._conn.execute(query)
        ]

    def noted(self, beginning: str) -> list[int]:
        """Mentions, without deleted ones, whose current decision's note begins with this text."""
        query = (
            select(MentionRow.id)
            .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .where(~MentionRow.deleted, DecisionRow.note.startswith(beginning, autoescape=True))
        )
        return list(self._conn.execute(query.order_by(MentionRow.id)).scalars())

    def document_with(self, external_id: str, occurrence: int, sha256: str) -> int | None:
        """The document with this text; of several, the one with this id, then with this occurrence."""
        query = select(DocumentRow.id, DocumentRow.external_id, DocumentRow.occurrence)
        query = query.where(DocumentRow.text_sha256 == sha256, visible()).order_by(DocumentRow.id)
        found = [(row[1] == external_id, row[2] == occurrence, -row[0]) for row in self._conn.execute(query)]
        return -max(found)[2] if found else None

    # --- names ---

    def decided_names(self) -> Iterator[tuple[str, str, int, int]]:
        """(entity id, mention text, decisions, documents) of current links to one entity outside the split test."""
        query = (
            select(DecisionRow.entity_ids, MentionRow.text, func.count(), func.count(distinct(MentionRow.document_id)))
            .join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
            .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
            .where(MentionRow.outcome == Outcome.LINK.value, ~MentionRow.deleted, ~MentionRow.fragmented)
            .where(DocumentRow.split != Split.TEST.value, visible())
            .group_by(DecisionRow.entity_ids, MentionRow.text)
            .order_by(DecisionRow.entity_ids, MentionRow.text)
        )
        for entity_ids, text, decisions, documents in self._conn.execute(query):
            ids = texts_of(entity_ids, "decisions", "entity_ids")
            if len(ids) == 1:
                yield ids[0], text, decisions, documents


def _monotonic(entries: Iterator[AuditEntry]) -> Iterator[tuple[tuple[datetime, int], AuditEntry]]:
    """Entries with keys that never decrease, unlike the clock."""
    latest: datetime | None = None
    for number, entry in enumerate(entries):
        latest = entry.at if latest is None else max(latest, entry.at)
        yield (latest, number), entry


def _mention(row: AnyRow, fragments: dict[int, tuple[Span, ...]]) -> AuditMention:
    spans = fragments.get(row.mention_id) or (span_of(row.start_pos, row.end_pos, "mentions", row.mention_id),)
    return AuditMention(
        row.mention_id, row.document_id, row.external_id, spans, row.mention_text, row.mention_type, row.deleted
    )


_MENTION = (
    MentionRow.id.label("mention_id"),
    MentionRow.document_id,
    DocumentRow.external_id,
    MentionRow.start_pos,
    MentionRow.end_pos,
    MentionRow.text.label("mention_text"),
    MentionRow.type.label("mention_type"),
    MentionRow.deleted,
)
_VALUE = MentionAttributeRow
_VALUE_FIELDS = (_VALUE.operation_id, _VALUE.attribute_id, _VALUE.value_id, _VALUE.curator, _VALUE.at, _VALUE.note)
_DECISION = (
    DecisionRow.id.label("decision_id"),
    DecisionRow.operation_id,
    DecisionRow.outcome,
    DecisionRow.entity_ids,
    DecisionRow.reason,
    DecisionRow.curator,
    DecisionRow.at,
    DecisionRow.note,
    DecisionRow.shown,
)
_JUDGEMENT = (
    JudgementRow.id.label("judgement_id"),
    JudgementRow.round_id,
    JudgementRow.outcome,
    JudgementRow.entity_ids,
    JudgementRow.reason,
    JudgementRow.curator,
    JudgementRow.at,
    JudgementRow.note,
    JudgementRow.shown,
)

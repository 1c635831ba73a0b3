"""Mentions with the text around them, and values calculated from their suggestions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import Facet
from curator.domain.wording import UserError, tr
from curator.services.ports.queue import Chance, Head, MentionContext, MentionUse, QueueFilter, Tried
from curator.storage.curation.facets import FacetQueries, matching
from curator.storage.db.columns import enum_of, texts_of, time_of, verdict_of
from curator.storage.db.dialects import among, greater, rows_as_json
from curator.storage.db.packing import unpack_chance, unpack_head
from curator.storage.db.rows import AnyRow, chunks, hidden, ids_of, unique, visible
from curator.storage.db.schema import DecisionRow, DocumentRow, DocumentTextRow, MentionRow, SuggestionRow

AROUND = 80
"""Characters of the text at each side of a mention."""


class SqlQueue(FacetQueries):
    """Queries over all mentions: counts by facet, matching mentions, orders, and mentions in context, always
    without deleted mentions and invisible documents.

    The part for facets and orders is in `FacetQueries`.
    """

    def identical(
        self,
        mention_id: int,
        *,
        document_id: int | None = None,
        where: QueueFilter | None = None,
        mention_type: str | None = None,
    ) -> list[int]:
        """Ids of the other mentions with the same string (`domain.same_string`) and type (or `mention_type`), in queue
        and text order: in one document, in a filter, or in all. Raises UserError for an unknown mention."""
        this = self._conn.execute(_KEY.where(MentionRow.id == mention_id)).first()
        if this is None:
            raise UserError(tr("There is no mention {mention_id} in this project.", mention_id=mention_id))
        query = select(MentionRow.id).where(
            MentionRow.string_key == this.string_key,
            MentionRow.type == (mention_type or this.type),
            ~MentionRow.deleted,
            MentionRow.document_id.not_in(hidden()),
            MentionRow.id != mention_id,
        )
        if document_id is not None:
            query = query.where(MentionRow.document_id == document_id)
        place = (MentionRow.document_id, MentionRow.start_pos, MentionRow.id)
        found = list(self._conn.execute(query.order_by(*place)).scalars())
        return found if where is None else self._kept(found, where)

    def _kept(self, mention_ids: Sequence[int], where: QueueFilter) -> list[int]:
        kept: set[int] = set()
        for part in chunks(mention_ids):
            query = matching(select(MentionRow.id), where).where(MentionRow.id.in_(part))
            kept.update(self._conn.execute(query).scalars())
        return [one for one in mention_ids if one in kept]

    def contexts(self, mention_ids: Sequence[int], *, bundle_id: str) -> list[MentionContext]:
        """Contexts in the given order, without deleted and unknown mentions. `bundle_id`: the bundle whose suggestions
        are fresh."""
        found: dict[int, MentionContext] = {}
        for part in chunks(unique(mention_ids)):
            rows = self._conn.execute(_CONTEXTS.where(MentionRow.id.in_(part)))
            found.update((row.id, _context(row, bundle_id)) for row in rows)
        return [found[one] for one in mention_ids if one in found]

    def uses(self, entity_id: str, mention_ids: Sequence[int]) -> list[MentionUse]:
        """The mentions in the given order, without undecided and deleted ones. The probabilities are those of the
        entity."""
        values = ids_of(unique(mention_ids))
        rows = json.loads(self._conn.execute(_USES, values).scalar_one())
        payloads = self._conn.execute(_LISTED, values | {"entity_id": entity_id})
        chances = {one: unpack_chance(payload, entity_id) for one, payload in payloads}
        found = {row[0]: _use(row, entity_id, chances.get(row[0])) for row in rows}
        return [found[one] for one in mention_ids if one in found]

    def chances(self, where: QueueFilter, *, bundle_id: str) -> list[Chance]:
        """The filter's undecided mentions with a fresh suggestion of an entity, most certain first."""
        columns: tuple[Any, ...] = (
            MentionRow.id,
            MentionRow.document_id,
            SuggestionRow.probability,
            SuggestionRow.first,
        )
        query = matching(select(*columns), where, also=_JOINED)
        query = query.where(MentionRow.outcome.is_(None), *_named(bundle_id))
        query = query.order_by(SuggestionRow.probability.desc(), MentionRow.id)
        return [Chance(*row) for row in self._conn.execute(query)]

    def unsuggested(self, where: QueueFilter, *, bundle_id: str) -> int:
        """The number of the filter's undecided mentions without a fresh suggestion."""
        query = matching(select(func.count()), where, also=_JOINED).where(MentionRow.outcome.is_(None))
        missing = or_(SuggestionRow.mention_id.is_(None), not_(and_(*_fresh(bundle_id))))
        return int(self._conn.execute(query.where(missing)).scalar_one())

    def tried(self, *, bundle_id: str) -> list[Tried]:
        """The linked and NIL mentions of validation documents with a fresh suggestion of an entity, most certain
        first."""
        columns: tuple[Any, ...] = (SuggestionRow.probability, SuggestionRow.first, DecisionRow.entity_ids)
        query = matching(select(*columns), QueueFilter(split=Split.VALIDATION), also=_JOINED)
        query = query.join(DecisionRow, DecisionRow.id == MentionRow.decision_id)
        query = query.where(MentionRow.outcome.in_([Outcome.LINK.value, Outcome.NIL.value]), *_named(bundle_id))
        rows = self._conn.execute(query.order_by(SuggestionRow.probability.desc(), MentionRow.id))
        return [
            Tried(probability, first in texts_of(ids, "decisions", "entity_ids")) for probability, first, ids in rows
        ]


def _fresh(bundle_id: str) -> tuple[ColumnElement[bool], ...]:
    return SuggestionRow.bundle_id == bundle_id, SuggestionRow.revision == DocumentRow.revision


def _named(bundle_id: str) -> tuple[ColumnElement[bool], ...]:
    """The condition: a fresh suggestion whose first answer is an entity, not NIL."""
    return *_fresh(bundle_id), SuggestionRow.first.is_not(None), ~SuggestionRow.is_nil


def _use(row: Sequence[Any], entity_id: str, listed: float | None) -> MentionUse:
    """A use, with columns by position instead of name, since there may be thousands. `listed`: the probability of an
    entity that is not the first candidate."""
    (mention_id, document_id, start, text, kind, external_id, left, right, *decided, at, split, state) = row[:15]
    bundle_id, first, probability = row[15:]
    outcome, entity_ids, reason, curator = decided
    verdict = _verdict(outcome, entity_ids, reason) if outcome else None
    context = MentionContext(
        mention_id, document_id, external_id, start, left, text, right, kind, verdict, curator or "", None
    )
    chance = None
    if bundle_id is not None and first is None:
        chance = 0.0  # nothing is listed without candidates
    elif bundle_id is not None and probability:  # without one for the first, none has one
        chance = probability if first == entity_id else listed
    part = enum_of(Split, split, "documents", "split", document_id)
    stage = enum_of(DocumentState, state, "documents", "state", document_id)
    return MentionUse(context, time_of(at, "decisions"), part, stage, bundle_id is not None, chance)


@lru_cache(maxsize=1024)
def _verdict(outcome: str, entity_ids: str, reason: str | None) -> Verdict:
    """The verdict, cached, since most uses of an entity have the same one."""
    return verdict_of(outcome, entity_ids, reason)


def _context(row: AnyRow, bundle_id: str) -> MentionContext:
    if row.payload is None:
        return _with_head(row, None)
    fresh = row.bundle_id == bundle_id and row.made_of == row.revision
    return _with_head(row, Head(*unpack_head(row.payload), bundle_id=row.bundle_id, fresh=fresh))


def _with_head(row: AnyRow, head: Head | None) -> MentionContext:
    return MentionContext(
        mention_id=row.id,
        document_id=row.document_id,
        external_id=row.external_id,
        start=row.start_pos,
        left=row.left,
        text=row.text,
        right=row.right,
        type=row.type,
        verdict=verdict_of(row.outcome, row.entity_ids, row.reason) if row.outcome else None,
        curator=row.curator or "",
        head=head,
    )


_KEY = select(MentionRow.string_key, MentionRow.type)
_JOINED = {Facet.PROBABILITY, Facet.SPLIT}  # their tables: suggestions and documents
_BEGIN = greater(MentionRow.start_pos - AROUND, 0)
_LEFT = func.substr(DocumentTextRow.text, _BEGIN + 1, MentionRow.start_pos - _BEGIN).label("left")
_RIGHT = func.substr(DocumentTextRow.text, MentionRow.end_pos + 1, AROUND).label("right")
_CONTEXTS = (
    select(
        MentionRow.id,
        MentionRow.document_id,
        MentionRow.start_pos,
        MentionRow.text,
        MentionRow.type,
        DocumentRow.external_id,
        DocumentRow.revision,
        _LEFT,
        _RIGHT,
        SuggestionRow.bundle_id,
        SuggestionRow.revision.label("made_of"),
        SuggestionRow.payload,
        DecisionRow.outcome,
        DecisionRow.entity_ids,
        DecisionRow.reason,
        DecisionRow.curator,
    )
    .join(DocumentRow, DocumentRow.id == MentionRow.document_id)
    .join(DocumentTextRow, DocumentTextRow.document_id == MentionRow.document_id)
    .outerjoin(SuggestionRow, SuggestionRow.mention_id == MentionRow.id)
    .outerjoin(DecisionRow, DecisionRow.id == MentionRow.decision_id)
    .where(~MentionRow.deleted, visible())
)
_USE_COLUMNS = (
    MentionRow.id,
    MentionRow.document_id,
    MentionRow.start_pos,
    MentionRow.text,
    MentionRow.type,
    DocumentRow.external_id,
    _LEFT,
    _RIGHT,
    DecisionRow.outcome,
    DecisionRow.entity_ids,
    DecisionRow.reason,
    DecisionRow.curator,
    DecisionRow.at,
    DocumentRow.split,
    DocumentRow.state,
    SuggestionRow.bundle_id,
    SuggestionRow.first,
    SuggestionRow.probability,
)
_USES = _CONTEXTS.with_only_columns(rows_as_json(*_USE_COLUMNS), maintain_column_froms=True).where(
    DecisionRow.id.is_not(None), among(MentionRow.id)
)
"""The rows as one value, since reading each row from SQLite needs the GIL, which the window's thread holds."""
_LISTED = select(SuggestionRow.mention_id, SuggestionRow.payload).where(
    among(SuggestionRow.mention_id), SuggestionRow.first != bindparam("entity_id"), SuggestionRow.probability > 0
)
"""The suggestion itself is read only if the entity is not its first candidate."""

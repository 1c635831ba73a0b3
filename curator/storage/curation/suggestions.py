"""Suggestions, one for a mention, with the stamp that shows whether they are stale; and second opinions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, insert, or_, select, update

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState
from curator.domain.suggestions import Candidate, Opinion, Stamp, Suggestion
from curator.storage.curation.counters import HAS_UNDECIDED, recount
from curator.storage.curation.mentions import documents_of
from curator.storage.curation.stored_suggestion import StoredSuggestion
from curator.storage.db.ahead import answer
from curator.storage.db.columns import texts_of, time_of
from curator.storage.db.dialects import among
from curator.storage.db.rows import AnyRow, chunks, fold, ids_of, unique, visible
from curator.storage.db.schema import (
    DecisionRow,
    DocumentRow,
    MentionRow,
    OpinionRow,
    SuggestionFactsRow,
    SuggestionRow,
)

EXACT_NAMES = NAME, SYNONYM, NOT_EXACT = "name", "synonym", "no"
STAGES = ("lexical", "names")
"""Scores for the similarity of names: by letters, or by meaning if no stage compares letters."""


class SqlSuggestions:
    """The last suggestion of each mention, with a stamp that shows whether it is stale, and the last second
    opinion.

    Scores of candidates are kept to six decimals.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def packed(self, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """The same, prepared for `save`: most of the work is done before the writing unit begins, so that no decision
        waits for it."""
        return [StoredSuggestion.of(one) for one in suggestions]

    def save(self, suggestions: Sequence[Suggestion]) -> None:
        """Replace the stored suggestion of each mention. Raises UserError if a mention does not exist."""
        latest = {suggestion.mention_id: suggestion for suggestion in suggestions}
        if not latest:
            return
        document_of = documents_of(self._conn, list(latest))
        for part in chunks(list(latest)):
            for row in (SuggestionRow, SuggestionFactsRow):
                self._conn.execute(delete(row).where(row.mention_id.in_(part)))
        self._conn.execute(insert(SuggestionRow), [_row(suggestion) for suggestion in latest.values()])
        self._save_facts(latest)
        recount(self._conn, list(document_of.values()))

    def _save_facts(self, latest: Mapping[int, Suggestion]) -> None:
        """Store the values that facets need."""
        rows = [
            _facts_row(latest[mention_id], text, texts_of(entity_ids, "decisions", "entity_ids") if entity_ids else ())
            for mention_id, text, entity_ids in self._conn.execute(_LINKED, ids_of(latest))
        ]
        self._conn.execute(insert(SuggestionFactsRow), rows)

    def of_document(self, document_id: int) -> dict[int, Suggestion]:
        """Suggestions by mention id, without deleted mentions, including stale ones."""
        query = (
            _SUGGESTIONS.join(MentionRow, MentionRow.id == SuggestionRow.mention_id)
            .where(MentionRow.document_id == document_id, ~MentionRow.deleted)
            .order_by(SuggestionRow.mention_id)
        )
        return {row[0]: _suggestion(*row) for row in self._conn.execute(query)}

    def get(self, mention_id: int) -> Suggestion | None:
        """The suggestion, even if stale; None if there is none."""
        row = self._conn.execute(_SUGGESTIONS.where(SuggestionRow.mention_id == mention_id)).first()
        return None if row is None else _suggestion(*row)

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Suggestion]:
        """Suggestions by mention id; mentions without one are absent."""
        return {row[0]: _suggestion(*row) for row in answer(self._conn, SUGGESTED, ids_of(unique(mention_ids)))}

    def stale_documents(self, bundle_id: str, *, position: int = 0, ahead: int | None = None) -> list[int]:
        """The documents with an undecided mention whose suggestion is missing or has another stamp than (`bundle_id`,
        the document's revision), among the next `ahead` visible documents (None: all) that are not done, in queue order
        from the id `position` once around."""
        found = self._open(bundle_id, DocumentRow.id >= position, limit=ahead)
        if ahead is None or len(found) < ahead:
            left = None if ahead is None else ahead - len(found)
            found += self._open(bundle_id, DocumentRow.id < position, limit=left)
        return [document_id for document_id, stale in found if stale]

    def make_stale(self, mention_types: Sequence[str]) -> None:
        """Mark every document with an undecided mention of one of these types as stale."""
        first = (
            select(func.min(MentionRow.id))
            .join(SuggestionRow, SuggestionRow.mention_id == MentionRow.id)
            .where(MentionRow.type.in_(mention_types), ~MentionRow.deleted, MentionRow.outcome.is_(None))
            .group_by(MentionRow.document_id)
        )
        documents = select(MentionRow.document_id).where(MentionRow.id.in_(first))
        unstamped = update(DocumentRow).where(DocumentRow.id.in_(documents))
        self._conn.execute(unstamped.values(stamp_bundle=None, stamp_revision=None))
        self._conn.execute(update(SuggestionRow).where(SuggestionRow.mention_id.in_(first)).values(bundle_id=""))

    def save_opinions(self, opinions: Sequence[Opinion]) -> None:
        """Replace the stored second opinion of each mention. Raises UserError if a mention does not exist."""
        latest = {one.mention_id: one for one in opinions}
        if not latest:
            return
        documents_of(self._conn, list(latest))
        for part in chunks(list(latest)):
            self._conn.execute(delete(OpinionRow).where(OpinionRow.mention_id.in_(part)))
        rows = [
            {
                "mention_id": one.mention_id,
                "entity_id": one.entity_id,
                "model": one.model,
                "prompt": one.prompt,
                "at": one.at.isoformat(),
                "reason": one.reason,
            }
            for one in latest.values()
        ]
        self._conn.execute(insert(OpinionRow), rows)

    def opinions(self, mention_ids: Sequence[int]) -> dict[int, Opinion]:
        """Second opinions by mention id; mentions without one are absent."""
        found: dict[int, Opinion] = {}
        for part in chunks(unique(mention_ids)):
            rows = self._conn.execute(_OPINIONS.where(OpinionRow.mention_id.in_(part)))
            found.update((row[0], Opinion(*row[:4], time_of(row[4], "opinions", row[0]), row[5])) for row in rows)
        return found

    def _open(self, bundle_id: str, where: ColumnElement[bool], *, limit: int | None) -> list[AnyRow]:
        """(id, whether an undecided mention's suggestion is stale) of documents that are not done, in queue order."""
        outdated = or_(
            DocumentRow.stamp_bundle.is_distinct_from(bundle_id),
            DocumentRow.stamp_revision.is_distinct_from(DocumentRow.revision),
        )
        query = select(DocumentRow.id, and_(HAS_UNDECIDED, outdated))
        query = query.where(DocumentRow.state != DocumentState.DONE.value, where, visible())
        return list(self._conn.execute(query.order_by(DocumentRow.id).limit(limit)))


_LINKED = (
    select(MentionRow.id, MentionRow.text, case((MentionRow.outcome == Outcome.LINK.value, DecisionRow.entity_ids)))
    .outerjoin(DecisionRow, DecisionRow.id == MentionRow.decision_id)
    .where(among(MentionRow.id))
)
_SUGGESTIONS = select(
    SuggestionRow.mention_id,
    SuggestionRow.bundle_id,
    SuggestionRow.revision,
    SuggestionRow.payload,
    SuggestionRow.is_nil,
)
SUGGESTED = _SUGGESTIONS.where(among(SuggestionRow.mention_id))

_OPINIONS = select(
    OpinionRow.mention_id,
    OpinionRow.entity_id,
    OpinionRow.model,
    OpinionRow.prompt,
    OpinionRow.at,
    OpinionRow.reason,
)


def _row(suggestion: Suggestion) -> dict[str, object]:
    first = suggestion.candidates[0] if suggestion.candidates else None
    return {
        "first": first.entity_id if first else None,
        "probability": first.probability if first else None,
        "margin": suggestion.chance_margin,
        "is_nil": suggestion.nil.is_nil,
        "mention_id": suggestion.mention_id,
        "bundle_id": suggestion.stamp.bundle_id,
        "revision": suggestion.stamp.document_revision,
        "payload": StoredSuggestion.of(suggestion).payload,
    }


def _suggestion(mention_id: int, bundle_id: str, revision: int, payload: bytes, is_nil: bool) -> Suggestion:
    return StoredSuggestion.packed(mention_id, Stamp(bundle_id, revision), payload, is_nil=is_nil)


def _facts_row(suggestion: Suggestion, text: str, linked: Collection[str]) -> dict[str, object]:
    """The columns for facets. `text` is the mention's, `linked` what it is linked to."""
    found = suggestion.candidates
    ids = [one.entity_id for one in found]
    first, second = (*(one.probability for one in found[:2]), 0.0, 0.0)[:2]
    written = {fold(text), fold(suggestion.expanded or text)}
    exact = (rank for rank, one in enumerate(found, 1) if _exactness(one, written) != NOT_EXACT)
    alike = [_similarity(one) for one in found]
    return {
        "mention_id": suggestion.mention_id,
        "candidates": len(found),
        "probability": first if found else None,
        "margin": first - second if found else None,
        "is_nil": suggestion.nil.is_nil,
        "second": second if found else None,
        "matched": _exactness(found[0], written) if found else None,
        "similarity": alike[0] if found else None,
        "decided_rank": next((rank for rank, one in enumerate(ids, 1) if one in linked), 0) if linked else None,
        "others": max((one.score for one in found[2:]), default=None),
        "exact_rank": next(exact, 0) if found else None,
        "alike": max((one for one in alike[1:] if one is not None), default=None),
    }


def _exactness(candidate: Candidate, written: Collection[str]) -> str:
    """Whether the mention's text, or the long form of its abbreviation, is the candidate's name or a synonym."""
    if fold(candidate.name) in written:
        return NAME
    return SYNONYM if fold(candidate.matched or candidate.name) in written else NOT_EXACT


def _similarity(candidate: Candidate) -> float | None:
    return next((candidate.scores[stage] for stage in STAGES if stage in candidate.scores), None)

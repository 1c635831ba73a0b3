"""Suggestions, one for a mention, with the stamp that tells whether they are stale."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, or_, select

from curator.domain.suggestions import Stamp, Suggestion
from curator.storage.counters import recount
from curator.storage.mentions import documents_of
from curator.storage.packing import pack_suggestion, unpack_suggestion
from curator.storage.rows import chunks, visible
from curator.storage.schema import DocumentRow, MentionRow, SuggestionRow


class SqlSuggestions:
    """See `ports.SuggestionRepository`. Scores of candidates are kept to six decimals."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def save(self, suggestions: Sequence[Suggestion]) -> None:
        """Raises UserError when a mention does not exist."""
        latest = {suggestion.mention_id: suggestion for suggestion in suggestions}
        if not latest:
            return
        document_of = documents_of(self._conn, list(latest))
        for part in chunks(list(latest)):
            self._conn.execute(delete(SuggestionRow).where(SuggestionRow.mention_id.in_(part)))
        self._conn.execute(insert(SuggestionRow), [_row(suggestion) for suggestion in latest.values()])
        recount(self._conn, list(document_of.values()))

    def of_document(self, document_id: int) -> dict[int, Suggestion]:
        """Suggestions of the mentions that are not deleted, stale ones included."""
        query = (
            _SUGGESTIONS.join(MentionRow, MentionRow.id == SuggestionRow.mention_id)
            .where(MentionRow.document_id == document_id, ~MentionRow.deleted)
            .order_by(SuggestionRow.mention_id)
        )
        return {row[0]: _suggestion(*row) for row in self._conn.execute(query)}

    def get(self, mention_id: int) -> Suggestion | None:
        row = self._conn.execute(_SUGGESTIONS.where(SuggestionRow.mention_id == mention_id)).first()
        return None if row is None else _suggestion(*row)

    def stale_documents(self, bundle_id: str, *, limit: int | None = None) -> list[int]:
        decided = DocumentRow.linked + DocumentRow.nil + DocumentRow.rejected + DocumentRow.skipped
        stale = or_(
            DocumentRow.stamp_bundle.is_distinct_from(bundle_id),
            DocumentRow.stamp_revision.is_distinct_from(DocumentRow.revision),
        )
        query = select(DocumentRow.id).where(visible(), DocumentRow.mentions > decided, stale)
        return list(self._conn.execute(query.order_by(DocumentRow.id).limit(limit)).scalars())


_SUGGESTIONS = select(SuggestionRow.mention_id, SuggestionRow.bundle_id, SuggestionRow.revision, SuggestionRow.payload)


def _row(suggestion: Suggestion) -> dict[str, object]:
    return {
        "mention_id": suggestion.mention_id,
        "bundle_id": suggestion.stamp.bundle_id,
        "revision": suggestion.stamp.document_revision,
        "payload": pack_suggestion(suggestion),
    }


def _suggestion(mention_id: int, bundle_id: str, revision: int, payload: bytes) -> Suggestion:
    return unpack_suggestion(mention_id, Stamp(bundle_id, revision), payload)

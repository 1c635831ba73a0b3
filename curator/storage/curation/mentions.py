"""Mentions and their fragments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from curator.domain.documents import Mention, MentionEdit, MentionOrigin, MentionShape, SourceMention, Span, slice_spans
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, tr
from curator.storage.curation.counters import recount
from curator.storage.db.ahead import answer
from curator.storage.db.columns import json_of, span_of, spans_of, time_of, wrong_value
from curator.storage.db.dialects import among
from curator.storage.db.rows import AnyRow, chunks, ids_of, next_id, unique
from curator.storage.db.schema import (
    DocumentRow,
    DocumentTextRow,
    FormerTextRow,
    FragmentRow,
    MentionEditRow,
    MentionRow,
    OperationRow,
)

# The append-only log of changes of mentions' spans and types.


def append_edit(conn: Connection, mention_id: int, before: MentionShape, after: MentionShape, operation_id: int) -> int:
    """Append one change; returns its id."""
    new_id = next_id(conn, MentionEditRow.id)
    values = {
        "id": new_id,
        "mention_id": mention_id,
        "operation_id": operation_id,
        "spans_before": dumped(before.spans),
        "type_before": before.type,
        "spans_after": dumped(after.spans),
        "type_after": after.type,
    }
    conn.execute(insert(MentionEditRow).values(values))
    return new_id


def edits_where(
    conn: Connection, *, mention_id: int | None = None, operation_id: int | None = None
) -> list[MentionEdit]:
    """The changes of a mention or of an operation, oldest first."""
    query, asked = (_OF_MENTION, mention_id) if operation_id is None else (_OF_OPERATION, operation_id)
    return [_edit(row) for row in conn.execute(query, {"id": asked})]


def first_shapes(conn: Connection, document_id: int) -> dict[int, MentionShape]:
    """The original spans and types of a document's changed mentions, in its current text."""
    replaced = select(func.coalesce(func.max(FormerTextRow.operation_id), 0))
    replaced = replaced.where(FormerTextRow.document_id == document_id)
    query = select(MentionEditRow.mention_id, MentionEditRow.spans_before, MentionEditRow.type_before)
    query = query.join(MentionRow, MentionRow.id == MentionEditRow.mention_id)
    query = query.where(MentionRow.document_id == document_id, MentionEditRow.operation_id > replaced.scalar_subquery())
    query = query.order_by(MentionEditRow.id)
    found: dict[int, MentionShape] = {}
    for mention_id, spans, mention_type in conn.execute(query):
        found.setdefault(mention_id, MentionShape(loaded(spans), mention_type))
    return found


def dumped(spans: Sequence[Span]) -> str:
    return json.dumps([[one.start, one.end] for one in spans])


def loaded(text: str) -> tuple[Span, ...]:
    return json_of(spans_of, text, "mention_edits", "spans")


_EDITS: Any = select(  # nine columns: SQLAlchemy 2.0 and 2.1 have different types for so many
    MentionEditRow.id,
    MentionEditRow.mention_id,
    MentionEditRow.spans_before,
    MentionEditRow.type_before,
    MentionEditRow.spans_after,
    MentionEditRow.type_after,
    MentionEditRow.operation_id,
    OperationRow.actor,
    OperationRow.at,
).join(OperationRow, OperationRow.id == MentionEditRow.operation_id)
_OF_MENTION = _EDITS.where(MentionEditRow.mention_id == bindparam("id")).order_by(MentionEditRow.id)
_OF_OPERATION = _EDITS.where(MentionEditRow.operation_id == bindparam("id")).order_by(MentionEditRow.id)


def _edit(row: AnyRow) -> MentionEdit:
    before = MentionShape(loaded(row.spans_before), row.type_before)
    after = MentionShape(loaded(row.spans_after), row.type_after)
    return MentionEdit(
        row.id,
        row.mention_id,
        before,
        after,
        row.actor,
        time_of(row.at, "operations", row.operation_id),
        row.operation_id,
    )


class SqlMentions:
    """Mentions, their changes and flags. A mention is never removed, only marked as deleted."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def get(self, mention_id: int) -> Mention:
        """The mention, even if deleted. Raises UserError if it does not exist."""
        row = self._conn.execute(_MENTION, {"id": mention_id}).first()
        if row is None:
            raise UserError(tr("There is no mention {mention_id} in this project.", mention_id=mention_id))
        return self._with_fragments([row])[0]

    def documents_of(self, mention_ids: Sequence[int]) -> dict[int, int]:
        """Mention id -> document id. Raises UserError if one does not exist."""
        return documents_of(self._conn, mention_ids)

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Mention]:
        """Mentions by id, in the given order, including deleted ones. Raises UserError if one does not exist."""
        found = answer(self._conn, LISTED, ids_of(mention_ids))
        rows: dict[int, AnyRow] = {row.id: row for row in found}
        for mention_id in mention_ids:
            if mention_id not in rows:
                raise UserError(tr("There is no mention {mention_id} in this project.", mention_id=mention_id))
        return {one.id: one for one in self._with_fragments([rows[one] for one in unique(mention_ids)])}

    def of_document(self, document_id: int, *, deleted: bool = False) -> list[Mention]:
        """Mentions in text order (start, then longer first); including deleted ones on request."""
        query = _OF_DOCUMENT if deleted else _LIVING
        return self._with_fragments(self._conn.execute(query, {"document_id": document_id}).all())

    def of_documents(self, document_ids: Sequence[int], *, deleted: bool = False) -> dict[int, list[Mention]]:
        """Document id -> its mentions in text order, including deleted ones on request; documents without mentions are
        absent."""
        found: dict[int, list[Mention]] = {}
        query = _OF_DOCUMENTS if deleted else _LIVING_OF_DOCUMENTS
        for one in self._with_fragments(self._conn.execute(query, ids_of(document_ids)).all()):
            found.setdefault(one.document_id, []).append(one)
        return found

    def add(
        self, document_id: int, mentions: Sequence[SourceMention], *, origin: MentionOrigin, deleted: bool = False
    ) -> list[int]:
        """Store mentions and raise the document's revision; returns their ids in order. `deleted`: store mentions
        made in a round, which do not change the document. Raises UserError if there is no such document."""
        if deleted:
            return insert_mentions(self._conn, [(document_id, one) for one in mentions], origin=origin, deleted=True)
        return self.add_many({document_id: mentions}, origin=origin).get(document_id, [])

    def add_many(
        self, mentions: Mapping[int, Sequence[SourceMention]], *, origin: MentionOrigin
    ) -> dict[int, list[int]]:
        """Store mentions by document id and raise the revisions of the documents; returns their ids by document id,
        in order. Raises UserError if a document does not exist."""
        documents = [one for one in mentions if mentions[one]]
        self._raise_revisions(documents)
        pairs = [(document_id, one) for document_id in documents for one in mentions[document_id]]
        ids = iter(insert_mentions(self._conn, pairs, origin=origin))
        recount(self._conn, documents)
        return {document_id: [next(ids) for _ in mentions[document_id]] for document_id in documents}

    def set_deleted(self, mention_ids: Sequence[int], deleted: bool) -> None:
        """Mark mentions as deleted or restore them, and raise the revisions of the documents that change. Raises
        UserError for an unknown mention."""
        document_of = documents_of(self._conn, mention_ids)
        changed: list[int] = []
        for part in chunks(list(document_of)):
            query = select(MentionRow.id).where(MentionRow.id.in_(part), MentionRow.deleted.is_not(deleted))
            changed += self._conn.execute(query).scalars()
        for part in chunks(changed):
            self._conn.execute(update(MentionRow).where(MentionRow.id.in_(part)).values(deleted=deleted))
        documents = unique(document_of[mention_id] for mention_id in changed)
        self._raise_revisions(documents)
        recount(self._conn, documents)

    def reshape(self, mention_id: int, after: MentionShape, *, operation_id: int) -> MentionEdit:
        """Give the mention other spans or another type, with the text of the document there; append the change and
        raise the document's revision. Raises UserError for an unknown mention."""
        mention = self.get(mention_id)
        kept = select(DocumentTextRow.text).where(DocumentTextRow.document_id == mention.document_id)
        text: str = self._conn.execute(kept).scalar_one()
        values = {
            "start_pos": min(span.start for span in after.spans),
            "end_pos": max(span.end for span in after.spans),
            "fragmented": len(after.spans) > 1,
            "text": slice_spans(text, after.spans),
            "string_key": string_key(slice_spans(text, after.spans)),
            "type": after.type,
        }
        self._conn.execute(update(MentionRow).where(MentionRow.id == mention_id).values(values))
        self._conn.execute(delete(FragmentRow).where(FragmentRow.mention_id == mention_id))
        if len(after.spans) > 1:
            self._conn.execute(insert(FragmentRow), _fragments(mention_id, after.spans))
        self._raise_revisions([mention.document_id])
        recount(self._conn, [mention.document_id])
        append_edit(self._conn, mention_id, MentionShape.of(mention), after, operation_id)
        return self.edits(mention_id)[-1]

    def edits(self, mention_id: int) -> list[MentionEdit]:
        """Every change of the mention's spans or type, oldest first, including undone ones and the undo steps."""
        return edits_where(self._conn, mention_id=mention_id)

    def edits_of_operation(self, operation_id: int) -> list[MentionEdit]:
        """Every change that the operation made, in order."""
        return edits_where(self._conn, operation_id=operation_id)

    def first_shapes(self, document_id: int) -> dict[int, MentionShape]:
        """The original spans and types of the document's changed mentions, in its current text; other mentions are
        absent."""
        return first_shapes(self._conn, document_id)

    def restate(self, mention_id: int, *, record: int, raw_ids: str) -> None:
        """Set a mention's line in the source record (-1: none), and its identifiers there."""
        changed = update(MentionRow).where(MentionRow.id == mention_id)
        self._conn.execute(changed.values(record=record, raw_ids=raw_ids))

    def flag_mentions(self, mention_ids: Sequence[int], flagged: bool) -> None:
        """Set or clear the flags; unknown ids are ignored."""
        for part in chunks(mention_ids):
            self._conn.execute(update(MentionRow).where(MentionRow.id.in_(part)).values(flagged=flagged))

    def _raise_revisions(self, document_ids: Sequence[int]) -> None:
        for part in chunks(document_ids):
            raised = update(DocumentRow).where(DocumentRow.id.in_(part)).values(revision=DocumentRow.revision + 1)
            if self._conn.execute(raised).rowcount != len(part):
                raise UserError(tr("There is no document {list} in this project.", list=", ".join(map(str, part))))

    def _with_fragments(self, rows: Sequence[AnyRow]) -> list[Mention]:
        fragments: dict[int, list[Span]] = {}
        for part in chunks([row.id for row in rows if row.fragmented]):
            query = select(FragmentRow.mention_id, FragmentRow.start_pos, FragmentRow.end_pos)
            query = query.where(FragmentRow.mention_id.in_(part)).order_by(FragmentRow.mention_id, FragmentRow.ordinal)
            for mention_id, start, end in self._conn.execute(query):
                fragments.setdefault(mention_id, []).append(span_of(start, end, "fragments", mention_id))
        return [_mention(row, fragments.get(row.id)) for row in rows]


def insert_mentions(
    conn: Connection, mentions: Iterable[tuple[int, SourceMention]], *, origin: MentionOrigin, deleted: bool = False
) -> list[int]:
    """Store (document id, mention) pairs and return their ids in order; the caller updates counters."""
    first = next_id(conn, MentionRow.id)
    rows: list[dict[str, object]] = []
    fragments: list[dict[str, object]] = []
    for mention_id, (document_id, mention) in enumerate(mentions, start=first):
        rows.append(_row(mention_id, document_id, mention, origin=origin, deleted=deleted))
        if len(mention.spans) > 1:
            fragments += _fragments(mention_id, mention.spans)
    if rows:
        conn.execute(insert(MentionRow), rows)
    if fragments:
        conn.execute(insert(FragmentRow), fragments)
    return list(range(first, first + len(rows)))


def documents_of(conn: Connection, mention_ids: Sequence[int]) -> dict[int, int]:
    """Mention id -> document id. Raises UserError for an unknown mention."""
    if not mention_ids:
        return {}
    found: dict[int, int] = {row.id: row.document_id for row in conn.execute(_DOCUMENTS_OF, ids_of(mention_ids))}
    for mention_id in mention_ids:
        if mention_id not in found:
            raise UserError(tr("There is no mention {mention_id} in this project.", mention_id=mention_id))
    return found


_MENTIONS = select(
    MentionRow.id,
    MentionRow.document_id,
    MentionRow.start_pos,
    MentionRow.end_pos,
    MentionRow.fragmented,
    MentionRow.deleted,
    MentionRow.record,
    MentionRow.text,
    MentionRow.type,
    MentionRow.origin,
    MentionRow.raw_ids,
    MentionRow.flagged,
)
_MENTION = _MENTIONS.where(MentionRow.id == bindparam("id"))
LISTED = _MENTIONS.where(among(MentionRow.id))
_OF_DOCUMENT = _MENTIONS.where(MentionRow.document_id == bindparam("document_id")).order_by(
    MentionRow.start_pos, MentionRow.end_pos.desc(), MentionRow.id
)
_LIVING = _OF_DOCUMENT.where(~MentionRow.deleted)
_OF_DOCUMENTS = _MENTIONS.where(among(MentionRow.document_id)).order_by(
    MentionRow.document_id, MentionRow.start_pos, MentionRow.end_pos.desc(), MentionRow.id
)
_LIVING_OF_DOCUMENTS = _OF_DOCUMENTS.where(~MentionRow.deleted)
_DOCUMENTS_OF = select(MentionRow.id, MentionRow.document_id).where(among(MentionRow.id))


def _fragments(mention_id: int, spans: Sequence[Span]) -> list[dict[str, object]]:
    return [
        {"mention_id": mention_id, "ordinal": n, "start_pos": span.start, "end_pos": span.end}
        for n, span in enumerate(spans)
    ]


def _row(
    mention_id: int, document_id: int, mention: SourceMention, *, origin: MentionOrigin, deleted: bool
) -> dict[str, object]:
    if not mention.spans:
        raise ValueError(f"a mention needs a span: {mention!r}")
    return {
        "id": mention_id,
        "document_id": document_id,
        "start_pos": min(span.start for span in mention.spans),
        "end_pos": max(span.end for span in mention.spans),
        "fragmented": len(mention.spans) > 1,
        "deleted": deleted,
        "outcome": None,
        "decision_id": None,
        "record": mention.record,
        "text": mention.text,
        "string_key": string_key(mention.text),
        "type": mention.type,
        "origin": origin.value,
        "raw_ids": mention.raw_ids,
    }


_ORIGINS = {one.value: one for one in MentionOrigin}  # a look-up takes a tenth of a call, for thousands of rows


def _mention(row: AnyRow, fragments: list[Span] | None) -> Mention:
    spans = tuple(fragments) if fragments else (span_of(row.start_pos, row.end_pos, "mentions", row.id),)
    origin = _ORIGINS.get(row.origin)
    if origin is None:
        raise wrong_value(row.origin, "mentions", "origin", row.id)
    return Mention(
        id=row.id,
        document_id=row.document_id,
        spans=spans,
        text=row.text,
        type=row.type,
        origin=origin,
        raw_ids=row.raw_ids,
        record=row.record,
        deleted=row.deleted,
        flagged=row.flagged,
    )

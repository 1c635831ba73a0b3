"""Source files, documents, the queue and its counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, String, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import OperationalError

from curator.domain.documents import (
    Document,
    DocumentState,
    MentionOrigin,
    Passage,
    SourceDocument,
    Split,
    text_hash,
)
from curator.domain.wording import DamagedTextError, UserError, tr
from curator.services.ports.documents import DocumentText, ProjectCounts, QueueRow, TextPart
from curator.services.ports.queue import QueueFilter
from curator.storage.curation.counters import COUNTERS, DECIDED, HAS_UNDECIDED, set_states, states_of
from curator.storage.curation.facets import document_condition, undecided_condition
from curator.storage.curation.mentions import insert_mentions
from curator.storage.db.columns import enum_of, json_of, passage_of, passages_of
from curator.storage.db.dialects import among, holds_null_character, like
from curator.storage.db.errors import is_undecodable
from curator.storage.db.rows import AnyRow, chunks, fold, hidden, ids_of, next_id, unique, visible
from curator.storage.db.schema import (
    CommentRow,
    DocumentRow,
    DocumentTextRow,
    FormerTextRow,
    MentionRow,
    PassageRow,
    SourceFileRow,
)

OTHER_TEXT = (
    "The text of document {name} differs from the one imported, so it is neither shown nor exported. Check the project "
    "(Project › Check project or `curator check`), and restore a backup (Project › Backups or `curator restore`)."
)


class SqlDocuments:
    """Documents and their texts. Methods that take an id raise UserError for a missing document, unless stated
    otherwise. The first document with an external id in a file has occurrence 0."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def add_documents(
        self, file_id: int, documents: Sequence[SourceDocument], *, split: Split
    ) -> list[tuple[int, list[int]]]:
        """Store documents in order; returns (document id, mention ids in the document's order) for each."""
        if not documents:
            return []
        first = next_id(self._conn, DocumentRow.id)
        numbered = list(enumerate(documents, start=first))
        occurrences = self._occurrences(file_id, [document.external_id for document in documents])
        rows = [
            _document_row(document_id, file_id, document, occurrence=occurrence, split=split)
            for (document_id, document), occurrence in zip(numbered, occurrences, strict=True)
        ]
        self._conn.execute(insert(DocumentRow), rows)
        texts = [{"document_id": id_, "text": document.text, "raw": document.raw} for id_, document in numbered]
        self._conn.execute(insert(DocumentTextRow), texts)
        if passages := [row for id_, document in numbered for row in _passage_rows(id_, document)]:
            self._conn.execute(insert(PassageRow), passages)
        pairs = [(id_, mention) for id_, document in numbered for mention in document.mentions]
        ids = iter(insert_mentions(self._conn, pairs, origin=MentionOrigin.SOURCE))
        return [(id_, [next(ids) for _ in document.mentions]) for id_, document in numbered]

    def get(self, document_id: int, *, compared: bool = False) -> Document:
        """The document. Raises UserError if there is no such document, and DamagedTextError if the text is `compared`
        and is not the one that was imported."""
        try:
            row = self._conn.execute(_WITH_TEXT, {"id": document_id}).first()
        except OperationalError as error:
            if compared and is_undecodable(error.orig):
                raise DamagedTextError(tr(OTHER_TEXT, name=self.row(document_id).external_id)) from error
            raise
        if row is None:
            raise _no_document(document_id)
        if compared and (not isinstance(row.text, str) or text_hash(row.text) != row.text_sha256):
            raise DamagedTextError(tr(OTHER_TEXT, name=row.external_id))
        return _document(row, self._passages(document_id))

    def raw(self, document_id: int) -> str:
        """The exact source record of the document."""
        query = select(DocumentTextRow.raw).where(DocumentTextRow.document_id == document_id)
        raw = self._conn.execute(query).scalar()
        if raw is None:
            raise _no_document(document_id)
        return raw

    def texts(
        self,
        *,
        after: int,
        limit: int,
        split: Split | None = None,
        having: Sequence[str | None] = (),
        plain: bool = False,
    ) -> TextPart:
        """Up to `limit` visible documents whose ids are greater than `after`, in import order.

        `having`: consecutive characters, ASCII letters in either case, None for any one character; texts without them
        are left out. A text with U+0000 is never left out, unless `plain` states that there is none.
        """
        of_split = () if split is None else (DocumentRow.split == split.value,)
        ids = select(DocumentRow.id).where(DocumentRow.id > after, visible(), *of_split)
        ids = ids.order_by(DocumentRow.id).limit(limit)
        number, last = self._conn.execute(select(func.count(), func.max(ids.subquery().c.id))).one()
        if not number:
            return TextPart((), 0, after)
        held = _HELD_PLAINLY if plain else _HELD
        query = _TEXTS.where(*of_split, *((held,) if having else ()))
        found = self._conn.execute(query, {"after": after, "last": last, **({"like": _like(having)} if having else {})})
        texts = (
            DocumentText(n, name, enum_of(Split, of, "documents", "split", n), text) for n, name, of, text in found
        )
        return TextPart(tuple(texts), number, last)

    def text_version(self) -> tuple[int, ...]:
        """A version that changes when documents become visible or a text is replaced."""
        return self._conn.execute(_LAST_FORMER).scalar_one() or 0, *self._conn.execute(_VISIBLE_FILES).scalars()

    def passages_of(self, document_ids: Sequence[int]) -> dict[int, tuple[Passage, ...]]:
        """Document id -> its passages in text order; documents without passages are absent."""
        found: dict[int, list[Passage]] = {}
        for document_id, kind, start, end, label in self._conn.execute(_PASSAGES_OF, ids_of(document_ids)):
            found.setdefault(document_id, []).append(passage_of((kind, start, end, label), document_id))
        return {document_id: tuple(passages) for document_id, passages in found.items()}

    def ids(
        self, *, split: Split | None = None, state: DocumentState | None = None, answered: bool = False
    ) -> list[int]:
        """Ids of visible documents in import order; with `answered` only those with a link or NIL decision."""
        query = select(DocumentRow.id).where(*_conditions(QueueFilter(state=state, split=split)))
        if answered:
            query = query.where(DocumentRow.linked + DocumentRow.nil > 0)
        return list(self._conn.execute(query.order_by(DocumentRow.id)).scalars())

    def ids_of_file(self, file_id: int) -> list[int]:
        """Ids in the order of the file; none while the file is incomplete."""
        query = select(DocumentRow.id).where(DocumentRow.file_id == file_id, visible()).order_by(DocumentRow.id)
        return list(self._conn.execute(query).scalars())

    def rows(self, where: QueueFilter, *, offset: int, limit: int) -> list[QueueRow]:
        """Rows of the filtered queue, in import order."""
        query = select(*_QUEUE).where(*_conditions(where)).order_by(DocumentRow.id).offset(offset).limit(limit)
        return [_queue_row(row) for row in self._conn.execute(query)]

    def rows_of(self, document_ids: Sequence[int]) -> list[QueueRow]:
        """Rows in the given order; ids without a document are left out."""
        rows = map(_queue_row, self._conn.execute(_QUEUE_ROWS, ids_of(document_ids)))
        found = {row.document_id: row for row in rows}
        return [found[one] for one in document_ids if one in found]

    def count(self, where: QueueFilter) -> int:
        """The number of documents in the filtered queue."""
        query = select(func.count()).select_from(DocumentRow).where(*_conditions(where))
        return self._conn.execute(query).scalar_one()

    def beside(
        self, document_id: int | None, where: QueueFilter, *, forward: bool, undecided: bool = False
    ) -> int | None:
        """The nearest document of the filtered queue after (or before) `document_id`, which need not be in the queue;
        None as id: from the queue's end. With `undecided` only documents with an undecided mention."""
        query = select(DocumentRow.id).where(*_conditions(where))
        if undecided:
            query = query.where(HAS_UNDECIDED)
            if where.facets:
                query = query.where(undecided_condition(where.facets))
        if document_id is not None:
            query = query.where(DocumentRow.id > document_id if forward else DocumentRow.id < document_id)
        order = DocumentRow.id.asc() if forward else DocumentRow.id.desc()
        return self._conn.execute(query.order_by(order).limit(1)).scalar()

    def row(self, document_id: int) -> QueueRow:
        """The document's row in the queue, regardless of filters."""
        row = self._conn.execute(_QUEUE_ROW, {"id": document_id}).first()
        if row is None:
            raise _no_document(document_id)
        return _queue_row(row)

    def set_state(self, document_id: int, state: DocumentState) -> None:
        """Change the state of one document, from any state."""
        changed = update(DocumentRow).where(DocumentRow.id == document_id).values(state=state.value)
        if self._conn.execute(changed).rowcount == 0:
            raise _no_document(document_id)

    def states(self, document_ids: Sequence[int]) -> dict[int, DocumentState]:
        """The states by id."""
        return states_of(self._conn, document_ids)

    def set_states(self, states: Mapping[int, DocumentState]) -> None:
        """Change the states of several documents; nothing is changed if one does not exist."""
        set_states(self._conn, states)

    def set_split(self, document_ids: Sequence[int], split: Split) -> None:
        """Put the documents into a split."""
        for part in chunks(unique(document_ids)):
            changed = update(DocumentRow).where(DocumentRow.id.in_(part)).values(split=split.value)
            if self._conn.execute(changed).rowcount != len(part):
                raise UserError(tr("One of the documents does not exist in this project; no split was changed."))

    def flag_documents(self, document_ids: Sequence[int], flagged: bool) -> None:
        """Set or clear the flags; unknown ids are ignored."""
        for part in chunks(document_ids):
            self._conn.execute(update(DocumentRow).where(DocumentRow.id.in_(part)).values(flagged=flagged))

    def document_flagged(self, document_id: int) -> bool:
        """False for a document that does not exist."""
        return bool(self._conn.execute(select(DocumentRow.flagged).where(DocumentRow.id == document_id)).scalar())

    def counts(self) -> ProjectCounts:
        """Counts of the visible documents."""
        query = select(
            DocumentRow.state,
            DocumentRow.split,
            func.count().label("documents"),
            func.sum(DocumentRow.mentions).label("mentions"),
            *(func.sum(column).label(outcome.value) for outcome, column in COUNTERS.items()),
        )
        groups = self._conn.execute(query.where(visible()).group_by(DocumentRow.state, DocumentRow.split)).all()
        return _project_counts(groups)

    def mention_types(self) -> dict[str, int]:
        """Corpus types with their number of mentions that are not deleted, most frequent first."""
        number = func.count().label("number")
        query = select(MentionRow.type, number).where(~MentionRow.deleted, MentionRow.document_id.not_in(hidden()))
        query = query.group_by(MentionRow.type)
        return {row[0]: row[1] for row in self._conn.execute(query.order_by(number.desc(), MentionRow.type))}

    def _occurrences(self, file_id: int, external_ids: Sequence[str]) -> list[int]:
        seen: Counter[str] = Counter()
        for part in chunks(unique(external_ids)):
            query = select(DocumentRow.external_id, func.count()).where(DocumentRow.file_id == file_id)
            query = query.where(DocumentRow.external_id.in_(part)).group_by(DocumentRow.external_id)
            seen.update({row[0]: row[1] for row in self._conn.execute(query)})
        occurrences: list[int] = []
        for external_id in external_ids:
            occurrences.append(seen[external_id])
            seen[external_id] += 1
        return occurrences

    def _passages(self, document_id: int) -> tuple[Passage, ...]:
        return tuple(passage_of(row, document_id) for row in self._conn.execute(_PASSAGES, {"id": document_id}))

    # --- new texts, and those before them ---

    def replace_text(
        self, document_id: int, new: SourceDocument, *, file_id: int, operation_id: int, occurrence: int | None = None
    ) -> None:
        """Give a document another text, raw record and passages, from the file `file_id`. The old text is kept as a
        former text, and the revision rises. The caller moves the mentions, and chooses `occurrence` (None: the first
        free one in that file)."""
        self._keep(document_id, operation_id)
        if occurrence is None:
            occurrence = self._free_occurrence(file_id, new.external_id)
        self._conn.execute(
            update(DocumentRow)
            .where(DocumentRow.id == document_id)
            .values(
                file_id=file_id,
                occurrence=occurrence,
                title=new.title,
                search_text=f"{fold(new.external_id)}\n{fold(new.title)}",
                text_sha256=text_hash(new.text),
                revision=DocumentRow.revision + 1,
            )
        )
        texts = update(DocumentTextRow).where(DocumentTextRow.document_id == document_id)
        self._conn.execute(texts.values(text=new.text, raw=new.raw))
        self._conn.execute(delete(PassageRow).where(PassageRow.document_id == document_id))
        rows = [
            {
                "document_id": document_id,
                "ordinal": ordinal,
                "kind": one.kind,
                "start_pos": one.start,
                "end_pos": one.end,
                "label": one.label,
            }
            for ordinal, one in enumerate(new.passages)
        ]
        if rows:
            self._conn.execute(insert(PassageRow), rows)

    def former_text(self, document_id: int, operation_id: int) -> tuple[SourceDocument, int, int]:
        """The text, source file and occurrence that `replace_text` replaced in that operation. Raises ValueError if
        it replaced nothing (a bug)."""
        query = _FORMER.where(FormerTextRow.document_id == document_id, FormerTextRow.operation_id == operation_id)
        row = self._conn.execute(query).first()
        if row is None:
            raise ValueError(f"operation {operation_id} replaced no text of document {document_id}")
        passages = json_of(passages_of, row.passages, "former_texts", "passages")
        found = SourceDocument(row.external_id, row.title, row.text, passages, (), row.raw)
        return found, row.file_id, row.occurrence

    def last_replaced(self, document_id: int) -> int:
        """The operation that gave the document its current text; 0 if the text is from its import."""
        query = select(func.max(FormerTextRow.operation_id)).where(FormerTextRow.document_id == document_id)
        return self._conn.execute(query).scalar() or 0

    def _keep(self, document_id: int, operation_id: int) -> None:
        query = select(
            DocumentRow.file_id, DocumentRow.occurrence, DocumentRow.title, DocumentTextRow.text, DocumentTextRow.raw
        ).join(DocumentTextRow, DocumentTextRow.document_id == DocumentRow.id)
        row = self._conn.execute(query.where(DocumentRow.id == document_id)).one()
        passages = select(PassageRow.kind, PassageRow.start_pos, PassageRow.end_pos, PassageRow.label)
        passages = passages.where(PassageRow.document_id == document_id).order_by(PassageRow.ordinal)
        values = {
            "id": next_id(self._conn, FormerTextRow.id),
            "document_id": document_id,
            "operation_id": operation_id,
            "file_id": row.file_id,
            "occurrence": row.occurrence,
            "title": row.title,
            "text": row.text,
            "raw": row.raw,
            "passages": json.dumps([list(one) for one in self._conn.execute(passages)], ensure_ascii=False),
        }
        self._conn.execute(insert(FormerTextRow).values(values))

    def _free_occurrence(self, file_id: int, external_id: str) -> int:
        query = select(func.max(DocumentRow.occurrence)).where(DocumentRow.file_id == file_id)
        last = self._conn.execute(query.where(DocumentRow.external_id == external_id)).scalar()
        return 0 if last is None else last + 1


_DOCUMENT = (
    DocumentRow.id,
    DocumentRow.file_id,
    DocumentRow.external_id,
    DocumentRow.occurrence,
    DocumentRow.title,
    DocumentRow.split,
    DocumentRow.state,
    DocumentRow.revision,
)
_WITH_TEXT = (
    select(*_DOCUMENT, DocumentRow.text_sha256, DocumentTextRow.text)
    .join(DocumentTextRow, DocumentTextRow.document_id == DocumentRow.id)
    .where(DocumentRow.id == bindparam("id"))
)
_QUEUE = (
    DocumentRow.id,
    DocumentRow.external_id,
    DocumentRow.title,
    DocumentRow.split,
    DocumentRow.state,
    DECIDED.label("decided"),
    DocumentRow.mentions,
    DocumentRow.skipped,
    DocumentRow.flagged,
    select(func.count())
    .where(CommentRow.document_id == DocumentRow.id, ~CommentRow.deleted)
    .scalar_subquery()
    .label("comments"),
)
_QUEUE_ROW = select(*_QUEUE).where(DocumentRow.id == bindparam("id"))
_QUEUE_ROWS = select(*_QUEUE).where(among(DocumentRow.id))
_PASSAGES = (
    select(PassageRow.kind, PassageRow.start_pos, PassageRow.end_pos, PassageRow.label)
    .where(PassageRow.document_id == bindparam("id"))
    .order_by(PassageRow.ordinal)
)
_PASSAGES_OF = (
    select(PassageRow.document_id, PassageRow.kind, PassageRow.start_pos, PassageRow.end_pos, PassageRow.label)
    .where(among(PassageRow.document_id))
    .order_by(PassageRow.document_id, PassageRow.ordinal)
)
# texts are checked before their documents, since most are left out
_TEXTS = (
    select(DocumentTextRow.document_id, DocumentRow.external_id, DocumentRow.split, DocumentTextRow.text)
    .join(DocumentRow, DocumentTextRow.document_id == DocumentRow.id)
    .where(DocumentTextRow.document_id > bindparam("after"), DocumentTextRow.document_id <= bindparam("last"))
    .where(visible())
    .order_by(DocumentTextRow.document_id)
)
_HELD_PLAINLY = like(DocumentTextRow.text, bindparam("like", type_=String))
_HELD = or_(_HELD_PLAINLY, holds_null_character(DocumentTextRow.text))  # LIKE stops at U+0000
_LAST_FORMER = select(func.max(FormerTextRow.id))
_VISIBLE_FILES = select(SourceFileRow.id).where(SourceFileRow.complete, ~SourceFileRow.withdrawn)


_LIKE_SIGNS = {one: f"\\{one}" for one in "%_\\"}


def _like(having: Sequence[str | None]) -> str:
    """The pattern for LIKE, which ignores case for ASCII letters, and matches one character for each underscore."""
    signs = ["_" if one is None else _LIKE_SIGNS.get(one, one) for one in having]
    return f"%{''.join(signs)}%"


def _no_document(document_id: int) -> UserError:
    return UserError(tr("There is no document {document_id} in this project.", document_id=document_id))


def _conditions(where: QueueFilter) -> list[ColumnElement[bool]]:
    conditions = [visible()]
    if where.state is not None:
        conditions.append(DocumentRow.state == where.state.value)
    if where.split is not None:
        conditions.append(DocumentRow.split == where.split.value)
    if text := fold(where.text):
        conditions.append(DocumentRow.search_text.contains(text, autoescape=True))
    if where.facets:
        conditions.append(document_condition(where.facets))
    return conditions


def _document_row(
    document_id: int, file_id: int, document: SourceDocument, *, occurrence: int, split: Split
) -> dict[str, object]:
    return {
        "id": document_id,
        "file_id": file_id,
        "external_id": document.external_id,
        "occurrence": occurrence,
        "title": document.title,
        "search_text": f"{fold(document.external_id)}\n{fold(document.title)}",
        "split": split.value,
        "state": DocumentState.TODO.value,
        "revision": 0,
        "text_sha256": text_hash(document.text),
        "mentions": len(document.mentions),
        "linked": 0,
        "nil": 0,
        "rejected": 0,
        "skipped": 0,
        "stamp_bundle": None,
        "stamp_revision": None,
    }


def _passage_rows(document_id: int, document: SourceDocument) -> list[dict[str, object]]:
    return [
        {
            "document_id": document_id,
            "ordinal": ordinal,
            "kind": passage.kind,
            "start_pos": passage.start,
            "end_pos": passage.end,
            "label": passage.label,
        }
        for ordinal, passage in enumerate(document.passages)
    ]


def _document(row: AnyRow, passages: tuple[Passage, ...]) -> Document:
    return Document(
        id=row.id,
        source_file_id=row.file_id,
        external_id=row.external_id,
        occurrence=row.occurrence,
        title=row.title,
        text=row.text,
        passages=passages,
        split=enum_of(Split, row.split, "documents", "split", row.id),
        state=enum_of(DocumentState, row.state, "documents", "state", row.id),
        revision=row.revision,
    )


def _queue_row(row: AnyRow) -> QueueRow:
    id_, external_id, title, split, state, decided, mentions, skipped, flagged, comments = row
    state, split = enum_of(DocumentState, state, "documents", "state", id_), enum_of(Split, split, "documents", "split")
    return QueueRow(id_, external_id, title, split, state, decided, mentions, bool(flagged), comments, skipped)


def _project_counts(groups: Sequence[AnyRow]) -> ProjectCounts:
    by_state = dict.fromkeys(DocumentState, 0)
    by_split = dict.fromkeys(Split, 0)
    by_outcome = dict.fromkeys(COUNTERS, 0)
    for group in groups:
        by_state[enum_of(DocumentState, group.state, "documents", "state")] += group.documents
        by_split[enum_of(Split, group.split, "documents", "split")] += group.documents
        for outcome in by_outcome:
            by_outcome[outcome] += getattr(group, outcome.value)
    return ProjectCounts(by_state, by_split, sum(group.mentions for group in groups), by_outcome)


_FORMER = select(
    DocumentRow.external_id,
    FormerTextRow.title,
    FormerTextRow.text,
    FormerTextRow.raw,
    FormerTextRow.passages,
    FormerTextRow.file_id,
    FormerTextRow.occurrence,
).join(DocumentRow, DocumentRow.id == FormerTextRow.document_id)

"""Former texts of documents, replaced by newer ones, append-only."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete, func, insert, select, update

from curator.domain.documents import SourceDocument, text_hash
from curator.storage.db.columns import json_of, passages_of
from curator.storage.db.rows import fold, next_id
from curator.storage.db.schema import DocumentRow, DocumentTextRow, FormerTextRow, PassageRow


class FormerTexts:
    """The part of `SqlDocuments` for texts and their replacement."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

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


_FORMER = select(
    DocumentRow.external_id,
    FormerTextRow.title,
    FormerTextRow.text,
    FormerTextRow.raw,
    FormerTextRow.passages,
    FormerTextRow.file_id,
    FormerTextRow.occurrence,
).join(DocumentRow, DocumentRow.id == FormerTextRow.document_id)

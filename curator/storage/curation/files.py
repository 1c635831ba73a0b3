"""Source files: stored incomplete, made visible at once with all their documents, or removed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.orm import InstrumentedAttribute

from curator.domain.documents import SourceFile
from curator.storage.db.columns import time_of
from curator.storage.db.rows import AnyRow, next_id
from curator.storage.db.schema import (
    CommentRow,
    DecisionRow,
    DocumentRow,
    DocumentTextRow,
    FragmentRow,
    MentionRow,
    PassageRow,
    SourceFileRow,
    SuggestionFactsRow,
    SuggestionRow,
)


class SqlFiles:
    """Source files. Their documents are visible once the file is complete, unless the import was withdrawn."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def add(self, file: SourceFile) -> int:
        """Store a source file as incomplete and return its id; its documents stay invisible until `complete`.

        `file.id` is ignored; the stored one has a new id.
        """
        file_id = next_id(self._conn, SourceFileRow.id)
        self._conn.execute(
            insert(SourceFileRow).values(
                id=file_id,
                path=file.path,
                name=file.name,
                format=file.format,
                sha256=file.sha256,
                head=file.head,
                tail=file.tail,
                extra=file.extra,
                imported_at=file.imported_at.isoformat() if file.imported_at else None,
                complete=False,
            )
        )
        return file_id

    def complete(self, file_id: int, *, tail: str, extra: str) -> None:
        """Make the file visible. Raises ValueError if there is no such file (a bug)."""
        done = update(SourceFileRow).where(SourceFileRow.id == file_id).values(tail=tail, extra=extra, complete=True)
        if self._conn.execute(done).rowcount == 0:
            raise ValueError(f"there is no source file {file_id}")

    def remove_incomplete(self) -> int:
        """Remove incomplete files with their imported decisions, which were never visible."""
        incomplete = list(self._conn.execute(select(SourceFileRow.id).where(~SourceFileRow.complete)).scalars())
        for file_id in incomplete:
            self.remove(file_id)
        return len(incomplete)

    def find(self, sha256: str) -> SourceFile | None:
        """A complete file with this content; one whose import was undone only if there is no other."""
        query = FILES.where(SourceFileRow.sha256 == sha256, SourceFileRow.complete)
        query = query.order_by(SourceFileRow.withdrawn, SourceFileRow.id)
        row = self._conn.execute(query.limit(1)).first()
        return None if row is None else as_file(row)

    def all(self) -> list[SourceFile]:
        """Complete files in import order, without those whose import was undone."""
        query = FILES.where(SourceFileRow.complete, ~SourceFileRow.withdrawn).order_by(SourceFileRow.id)
        return [as_file(row) for row in self._conn.execute(query)]

    def remove(self, file_id: int) -> None:
        """Delete a file that is still incomplete, with its documents and imported decisions, which were never
        visible."""
        query = select(SourceFileRow.id).where(SourceFileRow.id == file_id, ~SourceFileRow.complete)
        if self._conn.execute(query).first() is None:
            return
        documents = select(DocumentRow.id).where(DocumentRow.file_id == file_id)
        mentions = select(MentionRow.id).where(MentionRow.document_id.in_(documents))
        by_mention: Sequence[InstrumentedAttribute[int]] = (
            SuggestionRow.mention_id,
            SuggestionFactsRow.mention_id,
            DecisionRow.mention_id,
            FragmentRow.mention_id,
        )
        by_document = (
            CommentRow.document_id,
            MentionRow.document_id,
            PassageRow.document_id,
            DocumentTextRow.document_id,
        )
        for column in by_mention:
            self._conn.execute(delete(column.class_).where(column.in_(mentions)))
        for column in by_document:
            self._conn.execute(delete(column.class_).where(column.in_(documents)))
        self._conn.execute(delete(DocumentRow).where(DocumentRow.file_id == file_id))
        self._conn.execute(delete(SourceFileRow).where(SourceFileRow.id == file_id))


FILES = select(
    SourceFileRow.id,
    SourceFileRow.path,
    SourceFileRow.name,
    SourceFileRow.format,
    SourceFileRow.sha256,
    SourceFileRow.head,
    SourceFileRow.tail,
    SourceFileRow.extra,
    SourceFileRow.imported_at,
)


def as_file(row: AnyRow) -> SourceFile:
    id_, path, name, format_, sha256, head, tail, extra, at = row
    return SourceFile(
        id_,
        path,
        name,
        format_,
        sha256,
        head,
        tail,
        extra,
        time_of(at, "source_files", id_, column="imported_at") if at else None,
    )

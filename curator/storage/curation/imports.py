"""The list of imports, and the work that undoing one would hide."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select, update

from curator.domain.decisions import OperationKind
from curator.domain.documents import Handwork, ImportKind, ImportRecord, MentionOrigin, Present
from curator.storage.curation.files import FILES, as_file
from curator.storage.db.columns import counts_of, enum_of, json_of, time_of
from curator.storage.db.rows import chunks, next_id, unique, visible
from curator.storage.db.schema import (
    CommentRow,
    DecisionRow,
    DocumentRow,
    ImportRow,
    JudgementRow,
    MentionEditRow,
    MentionRow,
    OperationRow,
    SourceFileRow,
)

_IMPORT = "import:"


class SqlImports:
    """The list of imports, append-only."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def next_batch(self) -> int:
        """The number for the next batch of imported files, which are undone together."""
        return (self._conn.execute(select(func.max(ImportRow.batch))).scalar() or 0) + 1

    def record(
        self,
        file_id: int,
        kind: ImportKind,
        *,
        batch: int,
        curator: str,
        at: datetime,
        counts: Mapping[str, int] | None = None,
    ) -> int:
        """Append one entry to the list of imports, which is append-only; returns its id."""
        new_id = next_id(self._conn, ImportRow.id)
        values = {
            "id": new_id,
            "file_id": file_id,
            "batch": batch,
            "kind": kind.value,
            "curator": curator,
            "at": at.isoformat(),
            "counts": json.dumps(dict(counts or {}), ensure_ascii=False),
        }
        self._conn.execute(insert(ImportRow).values(values))
        return new_id

    def all(self) -> list[ImportRecord]:
        """Every entry, oldest first. Files imported before the list existed come first, without counts."""
        files = {row.id: as_file(row) for row in self._conn.execute(FILES.where(SourceFileRow.complete))}
        columns = (ImportRow.id, ImportRow.file_id, ImportRow.batch, ImportRow.kind, ImportRow.curator)
        rows = self._conn.execute(select(*columns, ImportRow.at, ImportRow.counts).order_by(ImportRow.id)).all()
        told = {row.file_id for row in rows if row.kind == ImportKind.IMPORTED.value}
        older = [
            ImportRecord(0, file, 0, ImportKind.IMPORTED, "", file.imported_at)
            for file_id, file in sorted(files.items())
            if file_id not in told
        ]
        return older + [
            ImportRecord(
                row.id,
                files[row.file_id],
                row.batch,
                enum_of(ImportKind, row.kind, "imports", "kind", row.id),
                row.curator,
                time_of(row.at, "imports", row.id),
                json_of(counts_of, row.counts, "imports", "counts", row.id),
            )
            for row in rows
        ]

    def set_withdrawn(self, file_id: int, withdrawn: bool) -> None:
        """Hide the documents of a complete file, or show them again. Records do not change. Raises ValueError if
        there is no such complete file (a bug)."""
        changed = update(SourceFileRow).where(SourceFileRow.id == file_id, SourceFileRow.complete)
        if self._conn.execute(changed.values(withdrawn=withdrawn)).rowcount == 0:
            raise ValueError(f"there is no complete source file {file_id}")

    def is_withdrawn(self, file_id: int) -> bool:
        """False for a file that does not exist."""
        return bool(self._conn.execute(_WITHDRAWN, {"id": file_id}).scalar())

    def present(self, external_ids: Sequence[str]) -> dict[str, list[Present]]:
        """Visible documents with these external ids, in import order."""
        found: defaultdict[str, list[Present]] = defaultdict(list)
        for part in chunks(unique(external_ids)):
            query = _PRESENT.where(DocumentRow.external_id.in_(part), visible()).order_by(DocumentRow.id)
            for row in self._conn.execute(query):
                found[row.external_id].append(Present(*row))
        return dict(found)

    def handwork(self, document_ids: Sequence[int]) -> Handwork:
        """Curators' work in these documents: decisions, mentions, comments, flags and judgements."""
        touched: set[int] = set()
        counts = dict.fromkeys(_WORK, 0)
        for part in chunks(unique(document_ids)):
            for name, (column, key, condition) in _WORK.items():
                joined = select(DocumentRow.id, func.count(key.distinct())).select_from(DocumentRow)
                for table, on in _JOINS[name]:
                    joined = joined.join(table, on)
                query = joined.where(DocumentRow.id.in_(part), condition).group_by(DocumentRow.id)
                for document_id, number in self._conn.execute(query):
                    touched.add(document_id)
                    counts[column] = counts.get(column, 0) + number
        counts["flags"] += counts.pop("document_flags")
        counts["mentions"] += counts.pop("edits")
        return Handwork(documents=len(touched), **counts)


_WITHDRAWN = select(SourceFileRow.withdrawn).where(SourceFileRow.id == bindparam("id"))
_PRESENT = select(
    DocumentRow.id,
    DocumentRow.file_id,
    DocumentRow.external_id,
    DocumentRow.occurrence,
    DocumentRow.text_sha256,
    SourceFileRow.path,
    SourceFileRow.name,
    SourceFileRow.format,
).join(SourceFileRow, SourceFileRow.id == DocumentRow.file_id)

_of_document = (MentionRow, MentionRow.document_id == DocumentRow.id)
_by_hand: ColumnElement[bool] = ~DecisionRow.curator.startswith(_IMPORT)
_WORK = {
    "decisions": ("decisions", MentionRow.id, _by_hand & ~MentionRow.deleted & MentionRow.outcome.is_not(None)),
    "mentions": ("mentions", MentionRow.id, (MentionRow.origin == MentionOrigin.CURATOR.value) & ~MentionRow.deleted),
    "edits": (
        "edits",
        MentionRow.id,
        (MentionRow.origin != MentionOrigin.CURATOR.value) & (OperationRow.kind != OperationKind.TAKE_TEXT.value),
    ),
    "comments": ("comments", CommentRow.id, ~CommentRow.deleted),
    "flags": ("flags", MentionRow.id, MentionRow.flagged & ~MentionRow.deleted),
    "document_flags": ("document_flags", DocumentRow.id, DocumentRow.flagged),
    "judgements": ("judgements", JudgementRow.id, or_(JudgementRow.id > 0)),
}
"""Count -> its field, the counted column, and the condition."""
_JOINS = {
    "decisions": (_of_document, (DecisionRow, DecisionRow.id == MentionRow.decision_id)),
    "mentions": (_of_document,),
    "edits": (
        _of_document,
        (MentionEditRow, MentionEditRow.mention_id == MentionRow.id),
        (OperationRow, OperationRow.id == MentionEditRow.operation_id),
    ),
    "comments": ((CommentRow, CommentRow.document_id == DocumentRow.id),),
    "flags": (_of_document,),
    "document_flags": (),
    "judgements": (_of_document, (JudgementRow, JudgementRow.mention_id == MentionRow.id)),
}

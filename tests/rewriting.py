"""What was read, as storage would hand it to a writer: to write it again, or in another format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import (
    Document,
    DocumentState,
    Mention,
    MentionOrigin,
    SourceDocument,
    SourceFile,
    SourceMention,
    Split,
)
from curator.services.ports.files import DocumentReader, ExportDocument, ExportMention

AT = datetime(2026, 1, 1, tzinfo=UTC)


def source_file(path: Path, reader: DocumentReader) -> SourceFile:
    """The reader's file, once it was read to its end."""
    return SourceFile(
        1, str(path), path.name, reader.format, "0" * 64, head=reader.head, tail=reader.tail, extra=reader.extra
    )


def unchanged(documents: Iterable[SourceDocument]) -> Iterator[ExportDocument]:
    """Each as its own format writes it back when nothing was done to it."""
    for number, one in enumerate(documents, 1):
        mentions = (_stored(index, found, found.record) for index, found in enumerate(one.mentions))
        golds = tuple(ExportMention(mention, None, True) for mention in mentions)
        yield ExportDocument(stored_document(number, one), one.raw, golds, ())


def decided(documents: Iterable[SourceDocument]) -> Iterator[ExportDocument]:
    """Each as any format writes what came from another one: every mention linked or NIL."""
    for number, one in enumerate(documents, 1):
        golds = tuple(
            ExportMention(_stored(index, found, -1), _decision(found), False)
            for index, found in enumerate(one.mentions)
        )
        yield ExportDocument(stored_document(number, one), "", golds, ())


def stored_document(number: int, one: SourceDocument) -> Document:
    return Document(
        number,
        1,
        one.external_id,
        0,
        one.title,
        one.text,
        one.passages,
        Split.TRAIN,
        DocumentState.DONE,
        0,
    )


def _stored(index: int, found: SourceMention, record: int) -> Mention:
    return Mention(
        index,
        1,
        found.spans,
        found.text,
        found.type,
        MentionOrigin.SOURCE,
        found.raw_ids if record >= 0 else "",
        record,
    )


def _decision(found: SourceMention) -> Decision:
    return Decision(1, 1, Verdict.link(*found.ids) if found.ids else Verdict.nil(), "a curator", AT)

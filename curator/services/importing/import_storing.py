"""How a file's documents are stored, batch by batch, while it is still invisible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from curator.domain.documents import SourceDocument, SourceFile, Split
from curator.services.importing.gold import GoldWriter
from curator.services.importing.restoring import restore_comments, restore_splits
from curator.services.ports import DocumentReader, UnitOfWork

T = TypeVar("T")


def store_batch(
    unit: UnitOfWork, file_id: int, batch: Sequence[SourceDocument], split: Split, gold: GoldWriter | None
) -> list[int]:
    """New documents with what their file says of them; their ids in the project."""
    stored = unit.documents.add_documents(file_id, batch, split=split)
    restore_comments(unit, list(zip(batch, stored, strict=True)))
    restore_splits(unit, list(zip(batch, stored, strict=True)), wished=split)
    if gold is not None:
        gold.write(unit, list(zip(batch, stored, strict=True)))
    return [document_id for document_id, _ in stored]


def with_head(source: SourceFile, reader: DocumentReader) -> SourceFile:
    """With what stands before the first document, which the reader knows by now."""
    return SourceFile(
        id=0,
        path=source.path,
        name=source.name,
        format=source.format,
        sha256=source.sha256,
        head=reader.head,
        imported_at=source.imported_at,
    )


def spread(ids: Sequence[int], count: int) -> list[int]:
    """`count` of the ids at even distances."""
    count = min(count, len(ids))
    return [ids[i * len(ids) // count] for i in range(count)]


def batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch

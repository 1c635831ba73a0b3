"""Reads one file of an import: which of its documents are new, already here, or to be updated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from curator.domain.documents import Changed, SourceDocument, SourceFile, Split
from curator.domain.wording import ntr
from curator.services.importing.gold import GoldWriter, restore_comments, restore_splits
from curator.services.importing.import_comparing import Compared, Comparer, ImportStatus, fingerprint
from curator.services.ports.files import DocumentReader, Problem
from curator.services.ports.storage import UnitOfWork

HERE, KEPT = "already here", "changed, left as they are"
"""Keys of the report's counts."""
ONE_HERE = "{n:,} document is already in the project and was left out"
MANY_HERE = "{n:,} documents are already in the project and were left out"
ONE_KEPT = (
    "{n:,} document is already in the project with a different text or different annotations and was left unchanged"
)
MANY_KEPT = (
    "{n:,} documents are already in the project with a different text or different annotations and were left unchanged"
)
ONE_OUTDATED = "{n:,} of them has changed in the file since you chose what to do with it; check it again"
MANY_OUTDATED = "{n:,} of them have changed in the file since you chose what to do with them; check them again"


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What to do with existing documents with another text or other annotations: `usual`, and individual choices by
    document id. `seen` has the `fingerprint` of the file's document at the time of a choice; the choice is not valid
    for another, since files may change while an import waits."""

    usual: Changed = Changed.KEEP
    of: Mapping[int, Changed] = field(default_factory=dict)
    seen: Mapping[int, str] = field(default_factory=dict)

    def choice(self, one: Compared) -> Changed:
        return Changed.KEEP if self.is_outdated(one) else self.of.get(one.document_id, self.usual)

    def is_outdated(self, one: Compared) -> bool:
        """Whether the choice for the document was made for another text or other annotations."""
        seen = self.seen.get(one.document_id)
        return one.document_id in self.of and seen is not None and seen != fingerprint(one.source)


@dataclass(frozen=True, slots=True)
class Wish:
    gold: bool
    split: Split
    hold_out: int
    choices: ImportChoices
    batch: int
    inside: list[int] = field(default_factory=list)  # ids of the files of this import that are stored
    format_name: str = ""  # the format chosen for all of them, '' to recognise it


@dataclass(slots=True)
class FileReading:
    """One file being imported."""

    source: SourceFile
    reader: DocumentReader
    comparer: Comparer
    gold: GoldWriter
    beside: Collection[int] = ()  # files of the same import that are in already
    file_id: int = 0
    stored: int = 0  # the same once it is committed, while it is incomplete
    ids: list[int] = field(default_factory=list)
    read: int = 0
    to_take: dict[int, SourceDocument] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    outdated: int = 0  # documents changed since the choice was made

    def sort(self, found: Sequence[Compared], choices: ImportChoices) -> list[SourceDocument]:
        """The documents to import as new; those updated later are kept, the others are counted."""
        new = []
        self.read += len(found)
        for one in found:
            choice = choices.choice(one)
            if one.bare_in in self.beside and one.document_id not in choices.of:
                choice = Changed.TAKE  # another file of the same import has the mentions of the text
            if one.status is ImportStatus.NEW or (one.status is ImportStatus.CHANGED and choice is Changed.APART):
                new.append(one.source)
            elif one.status is ImportStatus.CHANGED and choice is Changed.TAKE and one.document_id not in self.to_take:
                self.to_take[one.document_id] = one.source
            else:
                self.counts[HERE if one.status is ImportStatus.SAME else KEPT] += 1
                self.outdated += one.status is ImportStatus.CHANGED and choices.is_outdated(one)
        return new

    def notes(self) -> list[Problem]:
        """Notes about documents left out because the project has them."""
        here, kept = self.counts[HERE], self.counts[KEPT]
        words = [ntr(ONE_HERE, MANY_HERE, here)] if here else []
        words += [ntr(ONE_KEPT, MANY_KEPT, kept)] if kept else []
        words += [ntr(ONE_OUTDATED, MANY_OUTDATED, self.outdated)] if self.outdated else []
        return [Problem(0, "note", one) for one in words]


# How a file's documents are stored, batch by batch, while it is still invisible.

T = TypeVar("T")


def store_batch(
    unit: UnitOfWork, file_id: int, batch: Sequence[SourceDocument], split: Split, gold: GoldWriter | None
) -> list[int]:
    """Store new documents with the contents of their file; returns their ids in the project."""
    stored = unit.documents.add_documents(file_id, batch, split=split)
    restore_comments(unit, list(zip(batch, stored, strict=True)))
    restore_splits(unit, list(zip(batch, stored, strict=True)), wished=split)
    if gold is not None:
        gold.write(unit, list(zip(batch, stored, strict=True)))
    return [document_id for document_id, _ in stored]


def with_head(source: SourceFile, reader: DocumentReader) -> SourceFile:
    """The file with the text before the first document, which the reader knows now."""
    return SourceFile(
        id=0,
        path=source.path,
        name=source.name,
        format=source.format,
        sha256=source.sha256,
        head=reader.head.replace("\0", "\ufffd"),
        imported_at=source.imported_at,
    )


def spread(ids: Sequence[int], count: int) -> list[int]:
    """`count` of the ids, evenly spaced."""
    count = min(count, len(ids))
    return [ids[i * len(ids) // count] for i in range(count)]


def batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch

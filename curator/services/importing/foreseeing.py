"""The preview of an import, before anything is written: counts, first documents, repairs, skipped and existing
documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from curator.domain.documents import SourceDocument
from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.services.importing.import_comparing import Compared, ImportStatus, storable
from curator.services.ports.files import DocumentReader, FormatRegistry, KbOptions, KnowledgeBaseReader, Problem

STEP = 25
"""Records between two results of the generator, at which its caller checks the time."""
FIRST = 5
"""The number of documents shown."""
Compare = Callable[[Sequence[SourceDocument]], Sequence[Compared]]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The content of one file. `whole`: read to its end; else the counts are estimated from the part that was read."""

    path: Path
    title: str = ""
    format: str = ""  # name of a knowledge base's format
    documents: int = 0
    mentions: int = 0
    entities: int = 0
    whole: bool = True
    problem: str = ""
    looked_at: int = 0  # documents read so far, to which the following fields refer
    first: tuple[SourceDocument, ...] = ()
    problems: tuple[Problem, ...] = ()  # repairs, skipped parts and notes
    here: int = 0  # documents already in the project
    changed: tuple[Compared, ...] = ()  # documents in the project with other text or annotations
    first_entities: tuple[Entity, ...] = ()
    known: str = ""  # why the file changes nothing or restores something, as a sentence

    @property
    def new(self) -> int:
        """The number of read documents that the project does not have."""
        return self.looked_at - self.here - len(self.changed)

    def severities(self) -> Counter[str]:
        return Counter(one.severity for one in self.problems)


def foresee_documents(
    path: Path, formats: FormatRegistry, *, compare: Compare | None = None, known: str = ""
) -> Generator[Foreseen, None, Foreseen]:
    """Progressive estimates for a document file, the last one exact; for an unreadable file, the reason.

    `compare` compares documents, in order, with the project.
    """
    found = Foreseen(path, known=known)
    try:
        format_ = formats.recognise(path)
        reader = format_.open(path)
        found = replace(found, title=format_.title)
        waiting: list[SourceDocument] = []
        mentions = 0
        for number, one in enumerate(storable(reader, format_), 1):
            mentions += len(one.mentions)
            waiting.append(one)
            if number % STEP == 0:
                found, waiting = _looked_at(found, waiting, reader, compare), []
                scale = _scale(reader)
                yield replace(found, documents=round(number * scale), mentions=round(mentions * scale), whole=False)
        found = _looked_at(found, waiting, reader, compare)
        return replace(found, documents=found.looked_at, mentions=mentions, whole=True)
    except UserError as error:
        return replace(found, problem=str(error))


def _looked_at(
    found: Foreseen, batch: Sequence[SourceDocument], reader: DocumentReader, compare: Compare | None
) -> Foreseen:
    compared = compare(batch) if compare is not None else ()
    return replace(
        found,
        looked_at=found.looked_at + len(batch),
        first=(*found.first, *batch[: FIRST - len(found.first)]) if len(found.first) < FIRST else found.first,
        problems=tuple(reader.problems),
        here=found.here + sum(one.status is ImportStatus.SAME for one in compared),
        changed=(*found.changed, *(one for one in compared if one.status is ImportStatus.CHANGED)),
    )


def foresee_kb(
    path: Path, formats: FormatRegistry, options: KbOptions | None = None
) -> Generator[Foreseen, None, Foreseen]:
    """Progressive estimates for a knowledge base, the last one exact; for an unreadable one, the reason."""
    found = Foreseen(path)
    try:
        reader = formats.open_kb(path, options)
        found = replace(found, format=reader.format, title=dict(formats.knowledge_bases())[reader.format])
        entities: list[Entity] = []
        number = 0
        for number, one in enumerate(_records(reader), 1):
            if number <= FIRST:
                entities.append(one)
            if number % (STEP * 20) == 0:
                seen = replace(found, looked_at=number, first_entities=tuple(entities), problems=tuple(reader.problems))
                yield replace(seen, entities=round(number * _scale(reader)), whole=False)
        seen = replace(found, looked_at=number, first_entities=tuple(entities), problems=tuple(reader.problems))
        return replace(seen, entities=number)
    except UserError as error:
        return replace(found, problem=str(error))


def _records(reader: KnowledgeBaseReader) -> Iterator[Entity]:
    yield from reader


def _scale(reader: DocumentReader | KnowledgeBaseReader) -> float:
    done, total = reader.position
    return max(total / done, 1.0) if done > 0 else 1.0

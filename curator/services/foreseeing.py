"""What an import would bring, before it is done: counts read or estimated, and how long everything will take."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from curator.domain.errors import UserError
from curator.services.ports import DocumentReader, FormatRegistry, KnowledgeBaseReader

STEP = 25
"""Records between two looks at the clock of who drives the generator."""
DOCUMENTS_A_SECOND, ENTITIES_A_SECOND, ENTITIES_INDEXED_A_SECOND = 400.0, 15_000.0, 100.0
"""Stored, and encoded with all their names, on two cores (BC5CDR's documents, the MeSH entities that go with them)."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What one file holds. `whole`: read to its end; else the counts are estimated from the part that was read."""

    path: Path
    title: str = ""
    documents: int = 0
    mentions: int = 0
    entities: int = 0
    whole: bool = True
    problem: str = ""


def foresee_documents(path: Path, formats: FormatRegistry) -> Generator[Foreseen, None, Foreseen]:
    """Growing estimates of a document file, the last one exact; a file that cannot be read says why."""
    try:
        format_ = formats.recognise(path)
        reader = format_.open(path)
        documents = mentions = 0
        for documents, one in enumerate(reader, 1):
            mentions += len(one.mentions)
            if documents % STEP == 0:
                scale = _scale(reader)
                yield Foreseen(path, format_.title, round(documents * scale), round(mentions * scale), whole=False)
        return Foreseen(path, format_.title, documents, mentions)
    except UserError as error:
        return Foreseen(path, problem=str(error))


def foresee_kb(path: Path, formats: FormatRegistry) -> Generator[Foreseen, None, Foreseen]:
    """Growing estimates of a knowledge base, the last one exact; one that cannot be read says why."""
    try:
        reader = formats.open_kb(path)
        entities = 0
        for entities, _ in enumerate(_records(reader), 1):
            if entities % (STEP * 20) == 0:
                yield Foreseen(path, entities=round(entities * _scale(reader)), whole=False)
        return Foreseen(path, entities=entities)
    except UserError as error:
        return Foreseen(path, problem=str(error))


def _records(reader: KnowledgeBaseReader) -> Iterator[object]:
    yield from reader


def _scale(reader: DocumentReader | KnowledgeBaseReader) -> float:
    done, total = reader.position
    return max(total / done, 1.0) if done > 0 else 1.0


def seconds_to_import(found: list[Foreseen]) -> float:
    """Until everything is in the project and spelling is compared."""
    return sum(one.documents / DOCUMENTS_A_SECOND + one.entities / ENTITIES_A_SECOND for one in found)


def seconds_to_index(found: list[Foreseen]) -> float:
    """Until meanings are compared too: every name is encoded once."""
    return sum(one.entities for one in found) / ENTITIES_INDEXED_A_SECOND

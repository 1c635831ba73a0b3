"""Shared by the readers of all formats: one source, its position, and the report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from curator.domain.documents import SourceDocument
from curator.domain.entities import ObsoleteEntity
from curator.domain.wording import UserError, tr
from curator.io.files.source import Source
from curator.services.ports.files import Problem

NOT_AVAILABLE = ("[not available].", "[not available]")
"""PubMed's title for a record without a translated title."""


class SourceReader:
    """Reads one file as a stream; each iteration starts at the beginning."""

    def __init__(self, path: Path) -> None:
        self._source = Source(path)
        self.problems: list[Problem] = []
        self.obsolete: list[ObsoleteEntity] = []  # of a knowledge base

    @property
    def position(self) -> tuple[int, int]:
        return self._source.position

    def prepare(self) -> None:
        """Detect a truncated file before its first record is stored. Raises UserError."""
        self._source.verify()

    def _problem(self, line: int, severity: str, text: str) -> None:
        self.problems.append(Problem(line, severity, text))


class DocumentSourceReader(SourceReader):
    """See `ports.DocumentReader`; a subclass sets the text outside of the documents."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._reset()

    def _reset(self) -> None:
        self.problems = []
        self.head = ""
        self.tail = ""
        self.extra = ""


class RecordReader(DocumentSourceReader, ABC):
    """Records of titles and abstracts without mentions. `records` is their name in messages."""

    records: str

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        documents = without = 0
        for document in self._documents():
            documents += 1
            without += not any(passage.kind == "abstract" for passage in document.passages)
            yield document
        if not documents:
            raise UserError(
                tr(
                    "{path} contains no {records} record with a PMID and a title or abstract",
                    path=self._source.path,
                    records=self.records,
                )
            )
        if without:
            self._problem(
                0, "note", tr("{without} of {documents} records have no abstract", without=without, documents=documents)
            )

    @abstractmethod
    def _documents(self) -> Iterator[SourceDocument]:
        """The usable records."""

    def _is_usable(self, pmid: str, title: str, abstract: object, line: int) -> bool:
        """Whether a record can be a document; other records are skipped with a report."""
        if pmid and (title or abstract):
            return True
        empty = tr("record {pmid!r} has no title and no abstract", pmid=pmid)
        nameless = tr("record {pmid!r} has no PMID", pmid=title)
        self._problem(line, "set aside", empty if pmid else nameless)
        return False


# Words for the locations of problems.


def mention_place(document: str, words: str) -> str:
    return tr('document {key}: "{quote}"', key=document, quote=words)


def first_of(problems: Sequence[Problem]) -> str:
    """The end of the message that nothing was usable: the first problem, or nothing."""
    if not problems:
        return ""
    first = problems[0]
    if not first.line:
        return tr(" ({text})", text=first.text)
    return tr(" (line {line}: {text})", line=first.line, text=first.text)

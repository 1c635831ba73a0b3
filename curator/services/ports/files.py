"""Ports of documents and knowledge bases as files, implemented by `curator.io`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from curator.domain.audit import Comment
from curator.domain.decisions import Decision
from curator.domain.documents import (
    Document,
    Mention,
    SourceDocument,
    SourceFile,
)
from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.relations import Relation, SourceRelation
from curator.domain.suggestions import Opinion

DOCUMENT_FIELDS = ("document", "title", "text", "mention", "start", "end", "type", "ids")
"""Fields of columns in tables of documents or mentions.

`document` is the document's identifier and `text` its text; `mention` is the quoted text of a mention, `start` and
`end` are its offsets in code points, `type` its type and `ids` its identifiers. One of `text` and `mention` is needed.
"""


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Choices for one reading. `columns` maps fields of `DOCUMENT_FIELDS` to columns, by heading or number from 1, ''
    for none; other fields are found by the headings. `sheet` '' is the first."""

    columns: Mapping[str, str] = field(default_factory=dict)
    sheet: str = ""


FIELDS = ("id", "name", "synonyms", "types", "definition", "alt_ids", "parents", "tree_numbers")
"""Fields of a table's columns. `id` and `name` are needed."""
ENGLISH = ("en",)


@dataclass(frozen=True, slots=True)
class KbOptions:
    """Choices for one reading; each format uses those that it supports.

    `columns` maps fields of `FIELDS` to a table's columns, by heading or number from 1, '' for none. `languages` of the
    names to read, as ISO 639-1 codes, none for English; `vocabularies` the UMLS's source abbreviations (`MSH`), none
    for all; `types` the only types to read, by name or semantic type number (`T047`).
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    sheet: str = ""
    languages: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    suppressed: bool = False

    @property
    def read_languages(self) -> tuple[str, ...]:
        return self.languages or ENGLISH


@dataclass(frozen=True, slots=True)
class TablePreview:
    """A table's headings, its first rows, the sheets of a workbook, and the recognised columns of fields."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of an import report. `severity`: "repaired", "set aside" or "note"; line 0 = the whole file."""

    line: int
    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut(Problem):
    """One line of an export report about data left out: mentions by id, and a number of documents."""

    mentions: tuple[int, ...] = ()
    documents: int = 0


@dataclass(frozen=True, slots=True)
class ExportMention:
    """A mention for an exporter: the stored mention and the decision to write (None: undecided)."""

    mention: Mention
    decision: Decision | None
    unchanged: bool  # the source record has the decision: write its identifiers back unchanged
    reshaped: bool = False  # its spans or type differ from the source record
    opinion: Opinion | None = None  # a language model's answer
    attributes: tuple[tuple[str, str | None], ...] = ()  # name and value of set attributes; None: cleared

    @property
    def as_it_was(self) -> bool:
        """Whether nothing differs from the source record."""
        return self.unchanged and not self.reshaped


@dataclass(frozen=True, slots=True)
class ExportDocument:
    document: Document
    raw: str
    mentions: tuple[ExportMention, ...]
    removed_records: tuple[int, ...]  # record numbers of source mentions that the curator deleted
    comments: tuple[Comment, ...] = ()  # of the document and its mentions, oldest first
    flagged: bool = False
    relations: tuple[Relation, ...] = ()  # all current ones, including those of the record
    removed_relations: tuple[str, ...] = ()  # keys of the record's relations that a curator deleted

    @property
    def is_bare(self) -> bool:
        """It has no mentions or relations, and none were removed."""
        return not (self.mentions or self.relations or self.removed_records or self.removed_relations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carries:
    """The data of a document that a format's files can represent; for a read-only format, the data read."""

    mentions: bool = False
    discontinuous: bool = False
    several_ids: bool = False
    nil: bool = False
    relations: bool = False
    attributes: bool = False  # of mentions, as a project defines them
    every_mention: bool = False  # also rejected ones, and added ones that are undecided or skipped
    own_fields: bool = False  # infons, notes, attributes: everything else in the file, kept through a round trip
    takes_from: frozenset[str] = frozenset()  # other formats whose relations and own fields are kept in this one


class DocumentReader(Protocol):
    """Reads one file as a stream. `problems`, `head`, `tail` and `extra` are complete when iteration ends."""

    format: str
    head: str
    tail: str
    extra: str

    def __iter__(self) -> Iterator[SourceDocument]: ...

    @property
    def problems(self) -> list[Problem]: ...

    @property
    def position(self) -> tuple[int, int]:
        """(bytes read, bytes in all) for the progress bar."""
        ...


class DocumentFormat(Protocol):
    """`endings`: if there are any, a file whose name ends with one of them, the default first, may hold the documents
    of all imported files; else each imported file gets its own. `document_endings`: files have one document each, in a
    folder or an archive, and a single document may be written to a file with such a name."""

    name: str
    title: str
    can_read: bool
    can_write: bool
    carries: Carries
    carries_people: bool  # whether files contain who decided and when
    endings: tuple[str, ...]
    document_endings: tuple[str, ...]
    by_exclusion: bool  # whether files have no recognisable content

    @property
    def problems(self) -> list[Problem]:
        """Data that the last `write` left out."""
        ...

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether a text file has this format, by its beginning."""
        ...

    def main_file(self, path: Path) -> Path:
        """The file that represents a file and its companions, if a document has several."""
        ...

    def open(self, path: Path) -> DocumentReader:
        """Raises UserError for a missing, empty, truncated or foreign file."""
        ...

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """Write atomically; returns the written paths."""
        ...

    def holds_more(self, raw: str) -> bool:
        """Whether a document's record has fields other than mentions with their types and identifiers, and relations;
        also if that is not known."""
        ...

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """The attributes of mentions in a document's record: `Mention.record` -> {name: value}."""
        ...

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """The same of fields that are not read: neither their place, type and identifiers, nor attributes."""
        ...

    def relations(self, raw: str, extra: str) -> Sequence[SourceRelation]:
        """The relations of one document's record, in order; `extra` is the file's. Unreadable ones are left out."""
        ...


class FormatRegistry(Protocol):
    def formats(self) -> Sequence[DocumentFormat]: ...

    def by_name(self, name: str) -> DocumentFormat:
        """The format with this name. Raises UserError that lists the names."""
        ...

    def recognise(self, path: Path, options: DocumentOptions | None = None) -> DocumentFormat:
        """The format by content, also for gzip; with `options` for a table, a format that uses them. Raises UserError
        (missing, empty, truncated, unknown)."""
        ...

    def files_in(self, path: Path) -> Sequence[Path]:
        """The files of a folder, or of a zip archive as `ARCHIVE/NAME`, which `recognise` and `open` accept; none for a
        single file. Raises UserError."""
        ...

    def unread_in(self, path: Path, form: DocumentFormat) -> Sequence[Path]:
        """The files of a folder or archive that a format reading it as a whole would ignore. Raises UserError."""
        ...

    def never_read(self, path: Path) -> Mapping[Path, str]:
        """What no format reads in a folder, each with the reason: links that lead out of it, devices, pipes and
        sockets; nothing for a file. Raises UserError."""
        ...

    def fixed(self, name: str) -> FormatRegistry:
        """A registry that reads documents only as the format with this name. Raises UserError that lists the readable
        formats."""
        ...

    def choose_columns(self, path: Path, options: DocumentOptions) -> None:
        """Read this table, and later ones with the same headings, with these columns. Raises UserError for missing
        columns."""
        ...

    def digest(self, path: Path) -> str:
        """SHA-256 of a file's bytes, or of a folder's files with their names; hexadecimal. Raises UserError."""
        ...

    def preview_documents(self, path: Path, options: DocumentOptions | None = None) -> TablePreview | None:
        """The beginning of a table of documents or mentions, for the choice of its columns; None for every other
        file. Raises UserError."""
        ...

    def knowledge_bases(self) -> Sequence[tuple[str, str]]:
        """(name, title) of the kinds of knowledge base that can be read."""
        ...

    def open_kb(self, path: Path, options: KbOptions | None = None) -> KnowledgeBaseReader:
        """The reader of a knowledge base, a file or a folder, by content. Raises UserError."""
        ...

    def preview_kb(self, path: Path, options: KbOptions | None = None) -> TablePreview | None:
        """The beginning of a table, for the choice of its columns; None for every other file. Raises UserError."""
        ...

    def kb_choices(self) -> Mapping[str, frozenset[str]]:
        """The `KbOptions` supported by each knowledge-base format."""
        ...


class KnowledgeBaseReader(Protocol):
    """`obsolete` and `problems` are complete when all entities were read."""

    format: str
    obsolete: list[ObsoleteEntity]

    @property
    def problems(self) -> list[Problem]: ...

    def __iter__(self) -> Iterator[Entity]: ...

    @property
    def position(self) -> tuple[int, int]: ...


class FileWriter(Protocol):
    """Whole files or none."""

    def sparing(self, paths: Iterable[Path]) -> AbstractContextManager[None]:
        """Inside the block, no file writer writes to one of these files: it raises UserError."""
        ...

    def write(self, files: Mapping[Path, bytes]) -> None:
        """Write all files at once, replacing existing ones. On a UserError nothing is changed."""
        ...

    def write_folder(self, folder: Path, files: Mapping[str, bytes]) -> None:
        """Write a folder with exactly these files; a folder with others is refused. Raises UserError."""
        ...

    def stream(self, path: Path, pieces: Iterable[bytes]) -> None:
        """Write one file piece by piece; it appears after the last one. Raises UserError."""
        ...

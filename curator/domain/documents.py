"""Documents, passages and mentions; every span is a half-open range of Unicode code points of the text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from curator.domain.stated import FileComment, FileDecision


class Split(StrEnum):
    """Stored property of a document; decides where its decisions may be used."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class DocumentState(StrEnum):
    TODO = "todo"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    DISCUSS = "discuss"  # needs discussion; not done

    @property
    def words(self) -> str:
        """For people."""
        return {"in_progress": "in progress", "discuss": "needs discussion"}.get(self.value, self.value)


class MentionOrigin(StrEnum):
    """Where a mention came from."""

    SOURCE = "source"
    CURATOR = "curator"
    DETECTED = "detected"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of code points in the document's stored text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"a span needs 0 <= start < end, got {self.start}-{self.end}")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document (`title`, `abstract`, `section`), with its label such as METHODS."""

    kind: str
    start: int
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class SourceMention:
    """A mention as a file states it.

    `ids` are the file's identifiers split by the rules of the corpus, stray spaces removed and `-1`/`-` left
    out; `raw_ids` is the file's own text for them, kept for the round trip. `nil` is true when the file says
    that the mention has no entity. `record` is the index of the annotation's line within the document's raw
    record (-1 when there is none). `decision`, `comments` and `flagged` come with files of the program's own.
    """

    spans: tuple[Span, ...]
    text: str
    type: str
    ids: tuple[str, ...] = ()
    raw_ids: str = ""
    nil: bool = False
    record: int = -1
    decision: FileDecision | None = None
    comments: tuple[FileComment, ...] = ()
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as a reader yields it. `raw` is the exact source record for writing it back byte for byte.

    `split`, `state`, `comments` and `flagged` come with files of the program's own; None where the file says nothing.
    """

    external_id: str
    title: str
    text: str
    passages: tuple[Passage, ...]
    mentions: tuple[SourceMention, ...]
    raw: str = ""
    line: int = 0
    split: Split | None = None
    state: DocumentState | None = None
    comments: tuple[FileComment, ...] = ()
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. Its identity is (source file, external id, occurrence in that file)."""

    id: int
    source_file_id: int
    external_id: str
    occurrence: int
    title: str
    text: str
    passages: tuple[Passage, ...]
    split: Split
    state: DocumentState
    revision: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A stored mention; `deleted` mentions stay in the history and are neither shown nor exported."""

    id: int
    document_id: int
    spans: tuple[Span, ...]
    text: str
    type: str
    origin: MentionOrigin
    raw_ids: str = ""
    record: int = -1
    deleted: bool = False
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """An imported file; `head`, `tail` and `extra` are what a writer of `format` needs for the round trip."""

    id: int
    path: str
    name: str
    format: str
    sha256: str
    head: str = ""
    tail: str = ""
    extra: str = ""
    imported_at: datetime | None = None


def slice_spans(text: str, spans: Sequence[Span]) -> str:
    """The text under `spans`, fragments joined by one space."""
    return " ".join(text[s.start : s.end] for s in spans)


def text_hash(text: str) -> str:
    """SHA-256 of the UTF-8 text (lone surrogates kept), hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

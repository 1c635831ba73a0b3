"""Imports: their records, what an undo would remove, and what to do with changed texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from curator.domain.documents import SourceFile


class ImportKind(StrEnum):
    """The kind of an entry in the list of imports."""

    IMPORTED = "imported"
    WITHDRAWN = "withdrawn"  # undone: the documents are hidden, with all records about them
    RESTORED = "restored"  # imported again after it was undone


class Changed(StrEnum):
    """What to do with a document whose text or annotations differ from the file's."""

    KEEP = "keep"  # keep the project's; skip the file's
    TAKE = "take"  # take the file's text, and move mentions and decisions to it
    APART = "apart"  # import the file's as another document


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One entry: `batch` is shared by the files of one import; `counts` by word, as in the report."""

    id: int
    file: SourceFile
    batch: int
    kind: ImportKind
    curator: str
    at: datetime | None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Handwork:
    """Work of curators in the documents of an import, without imported gold."""

    documents: int = 0
    decisions: int = 0  # mentions with a person's current decision
    mentions: int = 0  # added by hand or detection, or moved and retyped
    comments: int = 0
    flags: int = 0
    judgements: int = 0

    def __bool__(self) -> bool:
        return bool(self.decisions or self.mentions or self.comments or self.flags or self.judgements)


@dataclass(frozen=True, slots=True)
class Present:
    """A visible document of the project that a file may contain again."""

    document_id: int
    file_id: int
    external_id: str
    occurrence: int
    text_sha256: str
    path: str  # of its source file
    name: str
    format: str

"""Port of source files, documents, their texts, the queue's rows, and the list of imports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from curator.domain.decisions import Outcome
from curator.domain.documents import Document, DocumentState, Passage, SourceDocument, SourceFile, Span, Split
from curator.domain.imports import Handwork, ImportKind, ImportRecord, Present
from curator.services.ports.queue import QueueFilter


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One line of the queue; counts are of mentions that are not deleted. The others are undecided."""

    document_id: int
    external_id: str
    title: str
    split: Split
    state: DocumentState
    decided: int
    mentions: int
    flagged: bool = False
    comments: int = 0  # on the document and on its mentions
    skipped: int = 0  # not among the decided ones

    @property
    def undecided(self) -> int:
        return self.mentions - self.decided - self.skipped


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A visible document with its text, without its passages."""

    document_id: int
    external_id: str
    split: Split
    text: str


@dataclass(frozen=True, slots=True)
class TextPart:
    """`number` visible documents in import order, the last one with the id `last`; `texts` are those that may match."""

    texts: tuple[DocumentText, ...]
    number: int
    last: int


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """Numbers for the status line and `curator info`."""

    documents: Mapping[DocumentState, int]
    documents_by_split: Mapping[Split, int]
    mentions: int
    decisions_by_outcome: Mapping[Outcome, int]  # current decisions

    @property
    def undecided(self) -> int:
        """Mentions without a decision; a skipped one has one."""
        return self.mentions - sum(self.decisions_by_outcome.values())


class DocumentRepository(Protocol):
    """Source files, their documents, and the list of imports. A document is visible once its file is complete, unless
    the import was withdrawn. Methods that take an id raise UserError for a missing document, unless stated
    otherwise."""

    # --- source files ---

    def add_file(self, file: SourceFile) -> int:
        """Store a source file as incomplete and return its id; its documents stay invisible until `complete_file`."""
        ...

    def complete_file(self, file_id: int, *, tail: str, extra: str) -> None:
        """Make the file's documents visible. Raises ValueError if there is no such file (a bug)."""
        ...

    def remove_file(self, file_id: int) -> None:
        """Delete a file that is still incomplete, with its documents and imported decisions, which were never
        visible."""
        ...

    def remove_incomplete(self) -> int:
        """Delete every incomplete file: the remains of interrupted imports, if nobody is importing. Returns their
        number."""
        ...

    def find_file(self, sha256: str) -> SourceFile | None:
        """A complete file with this content; one whose import was undone only if there is no other."""
        ...

    def files(self) -> list[SourceFile]:
        """Complete files in import order, without those whose import was undone."""
        ...

    def add_documents(
        self, file_id: int, documents: Sequence[SourceDocument], *, split: Split
    ) -> list[tuple[int, list[int]]]:
        """Store documents in order; returns (document id, mention ids in the document's order) for each."""
        ...

    def get(self, document_id: int, *, compared: bool = False) -> Document:
        """The document with its text and passages. `compared`: the text is compared with its hash from the import.
        Raises DamagedTextError if it is another one."""
        ...

    def raw(self, document_id: int) -> str:
        """The exact source record of the document."""
        ...

    def texts(
        self,
        *,
        after: int,
        limit: int,
        split: Split | None = None,
        having: Sequence[str | None] = (),
        plain: bool = False,
    ) -> TextPart:
        """Up to `limit` visible documents whose ids are greater than `after`, in import order.

        `having`: consecutive characters, ASCII letters in either case, None for any one character; texts without them
        are left out. A text with U+0000 is never left out, unless `plain` states that there is none.
        """
        ...

    def text_version(self) -> tuple[int, ...]:
        """A version that changes when documents become visible or a text is replaced."""
        ...

    def passages_of(self, document_ids: Sequence[int]) -> dict[int, tuple[Passage, ...]]:
        """Document id -> its passages in text order; documents without passages are absent."""
        ...

    def ids(
        self, *, split: Split | None = None, state: DocumentState | None = None, answered: bool = False
    ) -> list[int]:
        """Ids of visible documents in import order; with `answered` only those with a link or NIL decision."""
        ...

    def ids_of_file(self, file_id: int) -> list[int]:
        """Ids in the order of the file; none while the file is incomplete."""
        ...

    def rows(self, where: QueueFilter, *, offset: int, limit: int) -> list[QueueRow]:
        """Rows of the filtered queue, in import order."""
        ...

    def rows_of(self, document_ids: Sequence[int]) -> list[QueueRow]:
        """Rows in the given order; ids without a document are left out."""
        ...

    def count(self, where: QueueFilter) -> int:
        """The number of documents in the filtered queue."""
        ...

    def beside(
        self, document_id: int | None, where: QueueFilter, *, forward: bool, undecided: bool = False
    ) -> int | None:
        """The nearest document of the filtered queue after (or before) `document_id`, which need not be in the queue;
        None as id: from the queue's end. With `undecided` only documents with an undecided mention."""
        ...

    def row(self, document_id: int) -> QueueRow:
        """The document's row in the queue, regardless of filters."""
        ...

    def set_state(self, document_id: int, state: DocumentState) -> None:
        """Change the state of one document, from any state."""
        ...

    def states(self, document_ids: Sequence[int]) -> dict[int, DocumentState]:
        """The states by id."""
        ...

    def set_states(self, states: Mapping[int, DocumentState]) -> None:
        """Change the states of several documents; nothing is changed if one does not exist."""
        ...

    def set_split(self, document_ids: Sequence[int], split: Split) -> None:
        """Put the documents into a split."""
        ...

    def flag_documents(self, document_ids: Sequence[int], flagged: bool) -> None:
        """Set or clear the flags; unknown ids are ignored."""
        ...

    def document_flagged(self, document_id: int) -> bool:
        """False for a document that does not exist."""
        ...

    def counts(self) -> ProjectCounts:
        """Counts of the visible documents."""
        ...

    def mention_types(self) -> dict[str, int]:
        """Corpus types with their number of mentions that are not deleted, most frequent first."""
        ...

    # --- imports ---

    def next_batch(self) -> int:
        """The number for the next batch of imported files, which are undone together."""
        ...

    def record_import(
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
        ...

    def imports(self) -> list[ImportRecord]:
        """Every entry, oldest first. Files imported before the list existed come first, without counts."""
        ...

    def set_withdrawn(self, file_id: int, withdrawn: bool) -> None:
        """Hide the documents of a complete file, or show them again. Records do not change. Raises ValueError if there
        is no such complete file (a bug)."""
        ...

    def is_withdrawn(self, file_id: int) -> bool:
        """False for a file that does not exist."""
        ...

    def handwork(self, document_ids: Sequence[int]) -> Handwork:
        """Curators' work in these documents: decisions, mentions, comments, flags and judgements."""
        ...

    def present(self, external_ids: Sequence[str]) -> dict[str, list[Present]]:
        """Visible documents with these external ids, in import order."""
        ...

    def replace_text(
        self, document_id: int, new: SourceDocument, *, file_id: int, operation_id: int, occurrence: int | None = None
    ) -> None:
        """Give a document another text, raw record and passages, from the file `file_id`. The old text is kept as a
        former text, and the revision rises. The caller moves the mentions, and chooses `occurrence` (None: the first
        free one in that file)."""
        ...

    def former_text(self, document_id: int, operation_id: int) -> tuple[SourceDocument, int, int]:
        """The text, source file and occurrence that `replace_text` replaced in that operation. Raises ValueError if it
        replaced nothing (a bug)."""
        ...

    def last_replaced(self, document_id: int) -> int:
        """The operation that gave the document its current text; 0 if the text is from its import."""
        ...


class TextMoves(Protocol):
    """Maps positions of a text to a newer version of it."""

    def find(self, spans: Sequence[Span]) -> tuple[Span, ...] | None:
        """The new spans of a mention's fragments; None if they cannot be determined with certainty."""
        ...


TextMover = Callable[[str, str, Sequence[Passage]], TextMoves]
"""Creates it from the old text, the new text, and the new text's passages."""

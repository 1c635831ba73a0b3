"""Port of what imports leave behind: their list, and the texts that newer ones took the place of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from curator.domain.documents import Passage, SourceDocument, Span
from curator.domain.imports import Handwork, ImportKind, ImportRecord, Present


class ImportRepository(Protocol):
    """The list of imports is append-only, and so are the former texts."""

    def next_batch(self) -> int: ...

    def record(
        self,
        file_id: int,
        kind: ImportKind,
        *,
        batch: int,
        curator: str,
        at: datetime,
        counts: Mapping[str, int] | None = None,
    ) -> int:
        """Append one entry; returns its id."""
        ...

    def all(self) -> list[ImportRecord]:
        """Every entry, oldest first. Files of a project that is older than the list come first, without counts."""
        ...

    def set_withdrawn(self, file_id: int, withdrawn: bool) -> None:
        """Hide the documents of a complete file, or show them again. Nothing that was recorded changes."""
        ...

    def is_withdrawn(self, file_id: int) -> bool: ...

    def handwork(self, document_ids: Sequence[int]) -> Handwork: ...

    def present(self, external_ids: Sequence[str]) -> dict[str, list[Present]]:
        """Visible documents of these external ids, in import order."""
        ...

    def replace_text(
        self, document_id: int, new: SourceDocument, *, file_id: int, operation_id: int, occurrence: int | None = None
    ) -> None:
        """Give a document another text, raw record and passages, from the file `file_id`. What it had is kept as a
        former text, and its revision rises. The mentions are the caller's, and so is `occurrence` (None: the first
        that is free in that file)."""
        ...

    def former(self, document_id: int, operation_id: int) -> tuple[SourceDocument, int, int]:
        """What `replace_text` replaced in that operation: text, source file and occurrence."""
        ...

    def last_replaced(self, document_id: int) -> int:
        """The operation that gave the document its present text; 0 where that came with its import."""
        ...

    def restate(self, mention_id: int, *, record: int, raw_ids: str) -> None:
        """The line of the source record that a mention stands in from now on (-1: none), and its identifiers there."""
        ...


class TextMoves(Protocol):
    """Places of one text in a newer version of it."""

    def find(self, spans: Sequence[Span]) -> tuple[Span, ...] | None:
        """Where the fragments of a mention are now; None where they cannot be told for sure."""
        ...


TextMover = Callable[[str, str, Sequence[Passage]], TextMoves]
"""Of the old text, the new one, and the new one's passages."""

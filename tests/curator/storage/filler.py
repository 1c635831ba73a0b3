"""A small project, and short ways to fill it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from curator.domain.decisions import Decision, Shown, Verdict
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span, Split
from curator.domain.entities import Entity
from curator.storage.store import SqlStore
from curator.storage.team.store import SharedStore

SQLITE, POSTGRESQL = DIALECTS = ("sqlite", "postgresql")
in_a_folder = pytest.mark.parametrize("store", [SQLITE], indirect=True)
"""For a test about the file."""
AT = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)


def mention(start: int, end: int, *more: tuple[int, int], type_: str = "Disease") -> SourceMention:
    spans = (Span(start, end), *(Span(a, b) for a, b in more))
    return SourceMention(spans, f"text {start}", type_, ("D1",), "D1", record=start)


def document(
    external_id: str = "100", *, mentions: Sequence[SourceMention] = (), title: str = "A title"
) -> SourceDocument:
    passages = (Passage("title", 0, 7), Passage("abstract", 8, 30, "METHODS"))
    return SourceDocument(
        external_id, title, "A title. The text of the abstract.", passages, tuple(mentions), "raw\r\n"
    )


class Filler:
    """Writes to a store in units of one step."""

    def __init__(self, store: SqlStore | SharedStore) -> None:
        self.store = store

    def file(
        self, *documents: SourceDocument, split: Split = Split.TRAIN, complete: bool = True, sha: str = "s"
    ) -> int:
        with self.store.write() as unit:
            file_id = unit.files.add(SourceFile(0, "/in/a.txt", "a.txt", "pubtator", sha, imported_at=AT))
            self.stored = unit.documents.add_documents(file_id, documents, split=split)
            if complete:
                unit.files.complete(file_id, tail="end", extra="more")
        return file_id

    def mentions(self, number: int = 3) -> list[int]:
        """A document of so many mentions; returns their ids."""
        self.file(document(mentions=[mention(i, i + 2) for i in range(number)]))
        self.document_id, ids = self.stored[0]
        return ids

    def decide(
        self, mention_id: int, verdict: Verdict, *, operation_id: int = 0, shown: Shown | None = None
    ) -> Decision:
        with self.store.write() as unit:
            decisions = unit.decisions.append(
                [mention_id], [verdict], curator="ada", at=AT, operation_id=operation_id, shown=[shown]
            )
        return decisions[0]

    def kb(self, *entities: Entity, name: str = "kb") -> None:
        with self.store.write() as unit:
            version = unit.kb.begin(name=name)
            unit.kb.add(version, entities)
            unit.kb.activate(version)

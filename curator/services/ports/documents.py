"""Rows of the queue, texts, counts, and the port that moves positions to a newer text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState, Passage, Span, Split


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


class TextMoves(Protocol):
    """Maps positions of a text to a newer version of it."""

    def find(self, spans: Sequence[Span]) -> tuple[Span, ...] | None:
        """The new spans of a mention's fragments; None if they cannot be determined with certainty."""
        ...


TextMover = Callable[[str, str, Sequence[Passage]], TextMoves]
"""Creates it from the old text, the new text, and the new text's passages."""

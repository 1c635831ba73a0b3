"""How a linker learns from decisions while it is evaluated. Within the evaluation, only this module uses the memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from models.linker.linker import Linker
from models.types import LinkedMention
from training.data.examples import decided_documents
from training.data.snapshot import SnapshotDocument


class TeachableLinker(Protocol):
    """A linker that can be taught between two documents.

    `remembers`: whether `learn` changes any later answer.
    """

    @property
    def remembers(self) -> bool: ...

    def link(self, document: SnapshotDocument, *, k: int) -> Sequence[LinkedMention]:
        """Answers for the decided mentions of a document."""
        ...

    def learn(self, document: SnapshotDocument) -> None:
        """Take in the decisions of a document, effective from the next `link` on."""
        ...


class Forgetful:
    """A linker without a memory: it links every document as if it were the first."""

    remembers = False

    def __init__(self, linker: Linker) -> None:
        self._linker = linker

    def link(self, document: SnapshotDocument, *, k: int) -> Sequence[LinkedMention]:
        (answer,) = self._linker.link([document.to_input()], k=k)
        return answer.mentions

    def learn(self, document: SnapshotDocument) -> None:
        """Does nothing."""


class Remembering(Forgetful):
    """A linker that adds every decided document to its memory."""

    remembers = True

    def learn(self, document: SnapshotDocument) -> None:
        """Effective from the next document on."""
        self._linker.remember(*decided_documents([document], self._linker.stages.kb.resolved.get))


def learner(linker: Linker, *, memory: bool) -> TeachableLinker:
    """The linker as a curator would use it, with an empty memory if `memory` is set."""
    return Remembering(linker) if memory else Forgetful(linker)


def teach(linker: Linker, documents: Iterable[SnapshotDocument]) -> int:
    """Put the decisions of `documents` into the linker's memory; returns how many decisions it now holds."""
    linker.remember(*decided_documents(documents, linker.stages.kb.resolved.get))
    return len(linker.memory)

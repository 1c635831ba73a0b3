"""Port of the store: the units of work, what they hold, and how far they are on the disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from curator.domain.decisions import Listener, Saving
from curator.domain.entities import TypeMapping
from curator.services.ports.address import ProjectPlace
from curator.services.ports.curation import DecisionRepository, MentionRepository
from curator.services.ports.documents import DocumentRepository
from curator.services.ports.knowledge import KnowledgeBaseRepository
from curator.services.ports.queue import QueueRepository, SuggestionRepository
from curator.services.ports.rounds import RecordRepository, RoundRepository


class MetaRepository(Protocol):
    """Small project-wide values: active bundle, type mapping, curator name, settings of the project."""

    def get(self, key: str) -> str | None:
        """None where the key was never set."""
        ...

    def set(self, key: str, value: str) -> None:
        """In place of what the key held."""
        ...

    def type_mapping(self) -> TypeMapping:
        """Which types of the knowledge base each corpus type may be linked to; empty where none was chosen."""
        ...

    def set_type_mapping(self, mapping: TypeMapping) -> None:
        """In place of the mapping so far."""
        ...


class UnitOfWork(Protocol):
    """One transaction; leaving the `with` block commits, an exception rolls everything back.

    A repository for each room of the services. They raise UserError where each says so, ValueError where arguments do
    not fit each other, and leave `Store` to translate what the database refuses.
    """

    documents: DocumentRepository
    mentions: MentionRepository
    decisions: DecisionRepository
    kb: KnowledgeBaseRepository
    suggestions: SuggestionRepository
    queue: QueueRepository
    rounds: RoundRepository
    records: RecordRepository
    meta: MetaRepository


class Disk(Protocol):
    """How far what was written is on the disk."""

    def settle(self) -> None:
        """Wait until all that was written is on the disk. Raises UserError where the disk fails."""
        ...

    @property
    def saving(self) -> Saving:
        """How many units were written, and how many of them are on the disk."""
        ...

    @property
    def altered(self) -> str:
        """A sentence where the database file was changed by something else while it was closed, as soon as that is
        known; else ''."""
        ...

    def accept(self) -> None:
        """Continue with the file as it is: `altered` is not said again, nor when the project is opened next time."""
        ...

    def on_saving(self, listener: Listener) -> Callable[[], None]:
        """Call `listener`, in another thread, after every sync of the disk; returns what ends that."""
        ...


class Store(Disk, Protocol):
    """An open project database. Units may be used from several threads, each unit from one."""

    @property
    def read_only(self) -> bool:
        """Whether `write` refuses."""
        ...

    @property
    def folder(self) -> Path:
        """The project's folder; of a shared project the one in which this computer keeps copies."""
        ...

    @property
    def place(self) -> ProjectPlace:
        """Where the project is, as its users name it: the folder, or the address."""
        ...

    @property
    def written(self) -> int:
        """Grows with every writing unit that ended: what was read before stands while it is the same."""
        ...

    def read(self) -> AbstractContextManager[UnitOfWork]:
        """A read-only unit; never blocks on a writer."""
        ...

    def write(self) -> AbstractContextManager[UnitOfWork]:
        """A writing unit: kept even if the program dies, and on the disk moments later.

        Raises UserError on a read-only project, on a full disk, and while an earlier unit cannot be put on the disk.
        """
        ...

    def close(self) -> None:
        """Wait for a writing unit and the disk, then close; idempotent. Raises UserError where the disk failed under
        what was written last."""
        ...

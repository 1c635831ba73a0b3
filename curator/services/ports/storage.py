"""Port of the store: units of work, their contents, and whether they are on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from curator.domain.decisions import Change, Listener, Saving
from curator.domain.wording import AwayError, UserError
from curator.services.ports.address import ProjectPlace

if TYPE_CHECKING:
    from curator.storage.curation.decisions import SqlDecisions
    from curator.storage.curation.documents import SqlDocuments
    from curator.storage.curation.links import SqlLinks
    from curator.storage.curation.mentions import SqlMentions
    from curator.storage.curation.mentions_in_context import SqlQueue
    from curator.storage.curation.records import SqlRecords
    from curator.storage.curation.rounds import SqlRounds
    from curator.storage.curation.suggestions import SqlSuggestions
    from curator.storage.db.meta import SqlMeta
    from curator.storage.kb.kb import SqlKnowledgeBase


class UnitOfWork(Protocol):
    """One transaction; leaving the `with` block commits, an exception rolls everything back.

    It has a repository for each room of the services. They raise UserError as documented, ValueError for inconsistent
    arguments, and leave it to `Store` to translate database errors.
    """

    documents: SqlDocuments
    mentions: SqlMentions
    decisions: SqlDecisions
    links: SqlLinks
    kb: SqlKnowledgeBase
    suggestions: SqlSuggestions
    queue: SqlQueue
    rounds: SqlRounds
    records: SqlRecords
    meta: SqlMeta


class Disk(Protocol):
    """Whether written data are on disk."""

    def settle(self) -> None:
        """Wait until all written data are on disk. Raises UserError if the disk fails."""
        ...

    @property
    def saving(self) -> Saving:
        """The number of written units, and of those on disk."""
        ...

    def on_saving(self, listener: Listener) -> Callable[[], None]:
        """Call `listener`, in another thread, after every sync of the disk; returns the function that ends this."""
        ...

    def damage(self, error: BaseException) -> UserError | None:
        """What is wrong in the database, if that may be behind an unexpected error; None if the error is a bug."""
        ...


class Role(StrEnum):
    """What a login may do in a shared project, from most to least."""

    OWNER = "owner"
    ADJUDICATOR = "adjudicator"
    CURATOR = "curator"
    READER = "reader"


@dataclass(frozen=True, slots=True)
class Person:
    """A login of a shared project's server, and the name as which it decides."""

    login: str
    name: str
    role: Role


class People(Protocol):
    """Who may do what in a shared project. Every method raises UserError; only an owner may change anything."""

    def all(self) -> list[Person]:
        """Owners first, then by login."""
        ...

    def grant(self, login: str, role: Role, *, name: str = "") -> Person:
        """Give a login this role in place of its earlier one. It decides as `name`: by default as before, or as its
        login."""
        ...

    def revoke(self, login: str) -> Person:
        """Take a login's role away; what it decided stays."""
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A document assigned to a curator until a time by the server's clock."""

    document_id: int
    curator: str
    until: datetime


class Team(Protocol):
    """News and claims shared by the clients of a shared project."""

    def follow(
        self,
        heard: Callable[[Sequence[int]], None],
        *,
        perform: Callable[[UnitOfWork, Mapping[str, Any]], Change] | None = None,
        sent: Callable[[Sequence[Change], Sequence[int]], None] = ...,
    ) -> None:
        """Call `heard` in a thread, soon after others wrote, with their new operations (none for other writes). If it
        raises an exception, it is called again. May be called once.

        With `perform`, which takes a kept step in a unit, steps are kept while the server is away; `sent` is called
        with what they changed, when they were sent, and with the operations that were appended between the first of
        these steps and `follow`: `heard` does not get them."""
        ...

    def keep(self, step: Mapping[str, Any], error: AwayError) -> Change:
        """Keep a step on this computer that failed with `error`, and send it when the server is back. Raises `error` if
        this client does not follow the news."""
        ...

    def did(self, change: Change, step: Mapping[str, Any]) -> None:
        """Note a step that was saved on the server, for the documents on this computer."""
        ...

    def opened(self, document_id: int) -> None:
        """Copy the document and the next ones to this computer, soon, if this client follows the news. Raises AwayError
        while it would look undecided: steps are kept that no copy shows."""
        ...

    def changed(self, document_ids: Sequence[int]) -> None:
        """Note that copies of these are no longer up to date."""
        ...

    def close(self) -> None:
        """Stop calling `heard`, before this returns; idempotent."""
        ...

    def next(self, curator: str, *, seconds: int) -> Claim | None:
        """Assign the first document that is not done and not assigned to others, or return this curator's; None if
        there is none."""
        ...

    def prolong(self, document_id: int, curator: str, *, seconds: int) -> bool:
        """Extend the claim; False if the curator no longer has the document."""
        ...

    def give_back(self, document_id: int, curator: str) -> None:
        """Release the document; no effect if the curator does not have it."""
        ...

    def claims(self) -> list[Claim]:
        """Assigned documents by id."""
        ...


class Store(Disk, Protocol):
    """An open project database. Units may be used from several threads, each unit from one."""

    @property
    def team(self) -> Team | None:
        """The clients of a shared project; None for a folder, to which only one process writes."""
        ...

    @property
    def person(self) -> str:
        """The name as which the login of a shared project decides; '' if the program may choose one."""
        ...

    @property
    def role(self) -> Role:
        """What this login may do in a shared project; in a folder everybody is an owner."""
        ...

    @property
    def sole(self) -> bool:
        """Whether nobody else had the project open for writing when this store was opened, so that remains of killed
        processes may be removed."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether `write` refuses."""
        ...

    @property
    def folder(self) -> Path:
        """The project's folder; for a shared project, the folder with this computer's copies."""
        ...

    @property
    def place(self) -> ProjectPlace:
        """The project's location for users: the folder, or the address."""
        ...

    @property
    def written(self) -> int:
        """A number that grows with every finished writing unit: earlier reads are valid while it is unchanged."""
        ...

    def read(self) -> AbstractContextManager[UnitOfWork]:
        """A read-only unit; never blocks on a writer."""
        ...

    def write(self) -> AbstractContextManager[UnitOfWork]:
        """A writing unit: it is kept even if the program dies, and on disk moments later.

        Raises UserError for a read-only project, on a full disk, and while an earlier unit cannot be written to disk.
        """
        ...

    def close(self) -> None:
        """Wait for a writing unit and the disk, then close; idempotent. Raises UserError if the last writes failed."""
        ...

"""Port of the store: units of work, their contents, and whether they are on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from curator.domain.decisions import Listener, Saving
from curator.domain.wording import UserError
from curator.services.ports.address import ProjectPlace

if TYPE_CHECKING:
    from curator.storage.curation.decisions import SqlDecisions
    from curator.storage.curation.documents import SqlDocuments
    from curator.storage.curation.files import SqlFiles
    from curator.storage.curation.imports import SqlImports
    from curator.storage.curation.links import SqlLinks
    from curator.storage.curation.mentions import SqlMentions
    from curator.storage.curation.mentions_in_context import SqlQueue
    from curator.storage.curation.notes import SqlAttributes, SqlComments
    from curator.storage.curation.operations import SqlOperations
    from curator.storage.curation.records import SqlRecords
    from curator.storage.curation.relations import SqlRelations
    from curator.storage.curation.rounds import SqlRounds
    from curator.storage.curation.suggestions import SqlSuggestions
    from curator.storage.db.meta import SqlMeta
    from curator.storage.kb.kb import SqlKnowledgeBase
    from curator.storage.team.board import TeamBoard


class UnitOfWork(Protocol):
    """One transaction; leaving the `with` block commits, an exception rolls everything back.

    Its repositories are named by what they hold. They raise UserError as documented, ValueError for inconsistent
    arguments, and leave it to `Store` to translate database errors.
    """

    files: SqlFiles
    imports: SqlImports
    documents: SqlDocuments
    mentions: SqlMentions
    comments: SqlComments
    attributes: SqlAttributes
    relations: SqlRelations
    operations: SqlOperations
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


class Store(Disk, Protocol):
    """An open project database. Units may be used from several threads, each unit from one."""

    @property
    def team(self) -> TeamBoard | None:
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

"""Ports of the store: what `curator.storage` implements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from curator.domain.changes import OperationKind
from curator.domain.decisions import Decision, Outcome, Shown, Verdict
from curator.domain.documents import (
    Document,
    DocumentState,
    Mention,
    MentionOrigin,
    SourceDocument,
    SourceFile,
    SourceMention,
    Split,
)
from curator.domain.entities import TypeMapping
from curator.domain.mention_edits import MentionEdit, MentionShape
from curator.domain.saving import Listener, Saving
from curator.domain.suggestions import Suggestion
from curator.services.ports.contexts import ContextRepository
from curator.services.ports.efforts import EffortRepository
from curator.services.ports.facets import FacetRepository
from curator.services.ports.imports import ImportRepository
from curator.services.ports.knowledge_base import KnowledgeBaseRepository
from curator.services.ports.notes import NoteRepository
from curator.services.ports.provisional import OutcomeRepository, ProvisionalRepository
from curator.services.ports.queue_filter import QueueFilter
from curator.services.ports.rounds import RecordRepository, RoundRepository
from curator.services.ports.statistics import StatisticsRepository


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One line of the queue; counts are of mentions that are not deleted."""

    document_id: int
    external_id: str
    title: str
    split: Split
    state: DocumentState
    decided: int
    mentions: int
    flagged: bool = False
    comments: int = 0  # on the document and on its mentions


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """Numbers for the status line and `curator info`."""

    documents: Mapping[DocumentState, int]
    documents_by_split: Mapping[Split, int]
    mentions: int
    decisions_by_outcome: Mapping[Outcome, int]  # current decisions


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the append-only log; an undo or redo names the operation it `target`s."""

    id: int
    kind: OperationKind
    actor: str
    at: datetime
    text: str
    target: int | None = None


class DocumentRepository(Protocol):
    def add_file(self, file: SourceFile) -> int:
        """Store a source file as incomplete and return its id; its documents stay invisible until `complete_file`."""
        ...

    def complete_file(self, file_id: int, *, tail: str, extra: str) -> None: ...

    def remove_incomplete(self) -> int:
        """Delete what an interrupted import left; returns the number of files removed."""
        ...

    def find_file(self, sha256: str) -> SourceFile | None: ...

    def files(self) -> list[SourceFile]: ...

    def add_documents(
        self, file_id: int, documents: Sequence[SourceDocument], *, split: Split
    ) -> list[tuple[int, list[int]]]:
        """Store documents in order; returns (document id, mention ids in the document's order) for each."""
        ...

    def get(self, document_id: int) -> Document: ...

    def raw(self, document_id: int) -> str:
        """The exact source record of the document."""
        ...

    def ids(
        self, *, split: Split | None = None, state: DocumentState | None = None, answered: bool = False
    ) -> list[int]:
        """Ids of visible documents in import order; with `answered` only those with a link or NIL decision."""
        ...

    def ids_of_file(self, file_id: int) -> list[int]: ...

    def rows(self, where: QueueFilter, *, offset: int, limit: int) -> list[QueueRow]: ...

    def rows_of(self, document_ids: Sequence[int]) -> list[QueueRow]:
        """In the order given; ids without a document are left out."""
        ...

    def count(self, where: QueueFilter) -> int: ...

    def beside(
        self, document_id: int | None, where: QueueFilter, *, forward: bool, undecided: bool = False
    ) -> int | None:
        """The nearest document of the filtered queue behind (or before) `document_id`, which need not be in it itself;
        None as id: from the queue's end. With `undecided` only those that have an undecided mention."""
        ...

    def row(self, document_id: int) -> QueueRow: ...

    def set_state(self, document_id: int, state: DocumentState) -> None: ...

    def states(self, document_ids: Sequence[int]) -> dict[int, DocumentState]: ...

    def set_states(self, states: Mapping[int, DocumentState]) -> None: ...

    def set_split(self, document_ids: Sequence[int], split: Split) -> None: ...

    def counts(self) -> ProjectCounts: ...

    def mention_types(self) -> dict[str, int]:
        """Corpus types with their number of mentions."""
        ...


class MentionRepository(Protocol):
    def get(self, mention_id: int) -> Mention: ...

    def documents_of(self, mention_ids: Sequence[int]) -> dict[int, int]:
        """Mention id -> document id. Raises UserError when one does not exist."""
        ...

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Mention]:
        """Raises UserError when one does not exist."""
        ...

    def of_document(self, document_id: int, *, deleted: bool = False) -> list[Mention]:
        """Mentions in text order (start, then longer first); deleted ones too when asked."""
        ...

    def add(self, document_id: int, mentions: Sequence[SourceMention], *, origin: MentionOrigin) -> list[int]:
        """Store mentions and raise the document's revision."""
        ...

    def set_deleted(self, mention_ids: Sequence[int], deleted: bool) -> None:
        """Mark or restore; raises the documents' revisions."""
        ...

    def reshape(self, mention_id: int, after: MentionShape, *, operation_id: int) -> MentionEdit:
        """Give the mention other spans or another type, with the text that stands there; appends the change and raises
        the document's revision. Raises UserError for an unknown mention."""
        ...

    def edits(self, mention_id: int) -> list[MentionEdit]:
        """Every change of the mention's spans or type, oldest first; undone ones and their undoing included."""
        ...

    def edits_of_operation(self, operation_id: int) -> list[MentionEdit]: ...

    def first_shapes(self, document_id: int) -> dict[int, MentionShape]:
        """What the document's changed mentions were when they were made; the others are absent."""
        ...


class DecisionRepository(Protocol):
    """Decisions are only ever appended."""

    def append(
        self,
        mention_ids: Sequence[int],
        verdicts: Sequence[Verdict],
        *,
        curator: str,
        at: datetime,
        operation_id: int,
        shown: Sequence[Shown | None],
        notes: Sequence[str] | None = None,
    ) -> list[Decision]:
        """Append one decision for each mention and make it the mention's current one. CLEARED makes it undecided."""
        ...

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided (never decided, or CLEARED) mentions are absent."""
        ...

    def current_of_document(self, document_id: int) -> dict[int, Decision]: ...

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, CLEARED ones included."""
        ...

    def of_operation(self, operation_id: int) -> list[Decision]: ...

    def links(self, split: Split, mention_types: Collection[str]) -> list[tuple[str, tuple[str, ...], int]]:
        """(mention type, entity ids, number) of the current links of a split's mentions of these types."""
        ...

    def before(self, decision: Decision) -> Decision | None:
        """The mention's decision that `decision` replaced."""
        ...

    def before_many(self, decisions: Sequence[Decision]) -> dict[int, Decision]:
        """For the decisions of one operation, by their ids, what each replaced; absent where it was the first."""
        ...

    def count(self) -> int: ...


class OperationRepository(Protocol):
    def append(
        self,
        kind: OperationKind,
        *,
        actor: str,
        at: datetime,
        text: str,
        target: int | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> int: ...

    def get(self, operation_id: int) -> tuple[Operation, dict[str, Any]]:
        """The operation and its payload (mention ids, old and new state: what undoing needs)."""
        ...

    def next_undo(self) -> int | None:
        """The operation that Ctrl+Z takes back now, None when there is none. Imports are not undone by it."""
        ...

    def next_redo(self) -> int | None: ...


class SuggestionRepository(Protocol):
    def packed(self, suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
        """The same, made ready for `save`: most of its work, to be done before the writing unit begins, so that no
        decision waits for it."""
        ...

    def save(self, suggestions: Sequence[Suggestion]) -> None:
        """Replace the stored suggestion of each mention."""
        ...

    def of_document(self, document_id: int) -> dict[int, Suggestion]: ...

    def get(self, mention_id: int) -> Suggestion | None: ...

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Suggestion]:
        """Mentions without a suggestion are absent."""
        ...

    def stale_documents(self, bundle_id: str, *, position: int = 0, ahead: int | None = None) -> list[int]:
        """Of the next `ahead` visible documents (None: all) that are not done, from the id `position` on in queue order
        and once round, those with an undecided mention whose suggestion is missing or has another stamp than
        (`bundle_id`, the document's revision)."""
        ...

    def make_stale(self, mention_types: Sequence[str]) -> None:
        """Every document with an undecided mention of one of these types counts as stale from now on."""
        ...


class MetaRepository(Protocol):
    """Small project-wide values: active bundle, type mapping, curator name, settings of the project."""

    def get(self, key: str) -> str | None: ...

    def set(self, key: str, value: str) -> None: ...

    def type_mapping(self) -> TypeMapping: ...

    def set_type_mapping(self, mapping: TypeMapping) -> None: ...


class UnitOfWork(Protocol):
    """One transaction; leaving the `with` block commits, an exception rolls everything back."""

    documents: DocumentRepository
    mentions: MentionRepository
    decisions: DecisionRepository
    operations: OperationRepository
    kb: KnowledgeBaseRepository
    suggestions: SuggestionRepository
    facets: FacetRepository
    contexts: ContextRepository
    efforts: EffortRepository
    notes: NoteRepository
    meta: MetaRepository
    rounds: RoundRepository
    records: RecordRepository
    statistics: StatisticsRepository
    provisional: ProvisionalRepository
    outcomes: OutcomeRepository
    imports: ImportRepository


class Disk(Protocol):
    """How far what was written is on the disk."""

    def settle(self) -> None:
        """Wait until all that was written is on the disk. Raises UserError where the disk fails."""
        ...

    @property
    def saving(self) -> Saving:
        """How many units were written, and how many of them are on the disk."""
        ...

    def on_saving(self, listener: Listener) -> Callable[[], None]:
        """Call `listener`, in another thread, after every sync of the disk; returns what ends that."""
        ...


class Store(Disk, Protocol):
    """An open project database. Units may be used from several threads, each unit from one."""

    @property
    def read_only(self) -> bool: ...

    @property
    def folder(self) -> Path: ...

    @property
    def written(self) -> int:
        """Grows with every writing unit that ended: what was read before stands while it is the same."""
        ...

    def read(self) -> AbstractContextManager[UnitOfWork]:
        """A read-only unit; never blocks on a writer."""
        ...

    def write(self) -> AbstractContextManager[UnitOfWork]:
        """A writing unit: kept whatever becomes of the program, and on the disk moments later.

        Raises UserError on a read-only project, on a full disk, and while an earlier unit cannot be put on the disk.
        """
        ...

    def close(self) -> None: ...

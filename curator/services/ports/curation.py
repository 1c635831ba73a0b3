"""Ports of curation: mentions with their comments, and decisions with their operation log and effort."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from curator.domain.attributes import AttributeEdit
from curator.domain.audit import Comment
from curator.domain.decisions import Decision, OperationKind, Shown, Verdict
from curator.domain.documents import Mention, MentionEdit, MentionOrigin, MentionShape, SourceMention, Split
from curator.domain.relations import Relation, StoredRelation


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the append-only log; an undo or redo names the operation it `target`s."""

    id: int
    kind: OperationKind
    actor: str
    at: datetime
    text: str
    target: int | None = None


@dataclass(frozen=True, slots=True)
class StepFilter:
    """A filter of operations; '', None and the empty set mean any. `words` occur in an operation's text, or in the
    identifiers of its entities."""

    actor: str = ""
    kinds: frozenset[OperationKind] = frozenset()
    document_id: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """An operation that is neither an undo nor a redo; `mentions` is the number of its mentions."""

    operation: Operation
    mentions: int


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of an operation since the previous one: keys and clicks, and milliseconds of work."""

    operation_id: int
    keys: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class SpentEffort:
    """An effort with its operation's number of `decisions`, their curator, and time."""

    operation_id: int
    keys: int
    milliseconds: int
    decisions: int
    curator: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RelationStep:
    """An entry of the log: an operation, undo or redo deleted, added or restored a row of a relation."""

    operation_id: int
    relation_id: int
    deleted: bool
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RelationEnding:
    """An entry of the log: a relation of the mention, described by `words`, ended because its other mention was
    deleted, or was restored with it (`deleted` is False)."""

    operation_id: int
    mention_id: int
    words: str
    deleted: bool
    actor: str
    at: datetime


class MentionRepository(Protocol):
    """Mentions, their changes, flags, comments, attributes and relations. A mention is never removed, only marked as
    deleted."""

    def get(self, mention_id: int) -> Mention:
        """The mention, even if deleted. Raises UserError if it does not exist."""
        ...

    def documents_of(self, mention_ids: Sequence[int]) -> dict[int, int]:
        """Mention id -> document id. Raises UserError if one does not exist."""
        ...

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Mention]:
        """Mentions by id, in the given order, including deleted ones. Raises UserError if one does not exist."""
        ...

    def of_document(self, document_id: int, *, deleted: bool = False) -> list[Mention]:
        """Mentions in text order (start, then longer first); including deleted ones on request."""
        ...

    def of_documents(self, document_ids: Sequence[int], *, deleted: bool = False) -> dict[int, list[Mention]]:
        """Document id -> its mentions in text order, including deleted ones on request; documents without mentions are
        absent."""
        ...

    def add_many(
        self, mentions: Mapping[int, Sequence[SourceMention]], *, origin: MentionOrigin
    ) -> dict[int, list[int]]:
        """Store mentions by document id and raise the revisions of the documents; returns their ids by document id, in
        order. Raises UserError if a document does not exist."""
        ...

    def add(
        self, document_id: int, mentions: Sequence[SourceMention], *, origin: MentionOrigin, deleted: bool = False
    ) -> list[int]:
        """Store mentions and raise the document's revision; returns their ids in order. `deleted`: store mentions made
        in a round, which do not change the document. Raises UserError if there is no such document."""
        ...

    def set_deleted(self, mention_ids: Sequence[int], deleted: bool) -> None:
        """Mark mentions as deleted or restore them, and raise the revisions of the documents that change. Raises
        UserError for an unknown mention."""
        ...

    def reshape(self, mention_id: int, after: MentionShape, *, operation_id: int) -> MentionEdit:
        """Give the mention other spans or another type, with the text of the document there; append the change and
        raise the document's revision. Raises UserError for an unknown mention."""
        ...

    def edits(self, mention_id: int) -> list[MentionEdit]:
        """Every change of the mention's spans or type, oldest first, including undone ones and the undo steps."""
        ...

    def edits_of_operation(self, operation_id: int) -> list[MentionEdit]:
        """Every change that the operation made, in order."""
        ...

    def first_shapes(self, document_id: int) -> dict[int, MentionShape]:
        """The original spans and types of the document's changed mentions, in its current text; other mentions are
        absent."""
        ...

    def restate(self, mention_id: int, *, record: int, raw_ids: str) -> None:
        """Set a mention's line in the source record (-1: none), and its identifiers there."""
        ...

    # --- flags and comments ---

    def flag_mentions(self, mention_ids: Sequence[int], flagged: bool) -> None:
        """Set or clear the flags; unknown ids are ignored."""
        ...

    def add_comment(self, document_id: int, mention_id: int | None, *, author: str, at: datetime, text: str) -> Comment:
        """Comment on a mention, or on the whole document if `mention_id` is None."""
        ...

    def get_comment(self, comment_id: int) -> Comment:
        """The comment, even if deleted. Raises UserError if there is no such comment."""
        ...

    def set_comments_deleted(self, comment_ids: Sequence[int], deleted: bool) -> None:
        """Mark comments as deleted or restore them; unknown ids are ignored."""
        ...

    def comments(self, document_id: int) -> list[Comment]:
        """Comments on the document and its mentions, oldest first, without deleted ones."""
        ...

    # --- attributes ---

    def append_attributes(
        self,
        values: Sequence[tuple[int, int, int | None]],
        *,
        curator: str,
        at: datetime,
        operation_id: int | None = None,
        round_id: int | None = None,
        behind: int = 0,
        note: str = "",
    ) -> None:
        """Append (mention id, attribute id, value id) as the current values; None clears. See `AttributeEdit`."""
        ...

    def attributes(
        self, mention_ids: Sequence[int], *, round_id: int | None = None, curator: str = ""
    ) -> dict[int, dict[int, int | None]]:
        """Mention id -> {attribute id: value id}, current values, including deleted ones, in the project, or by a
        curator in a round. None: cleared. Values never set are absent."""
        ...

    def attribute_edits(self, mention_id: int) -> list[AttributeEdit]:
        """Every change in the project, oldest first, including undo and redo."""
        ...

    def round_attributes(self, round_id: int, curator: str, *, after: int = 0) -> list[AttributeEdit]:
        """Every change by a curator in a round after the change with this id, oldest first."""
        ...

    def attribute_curators(self, round_id: int) -> list[str]:
        """Names of the curators who set attributes in the round."""
        ...

    def attribute_uses(self) -> dict[int, int]:
        """Value id -> number of mentions that have the value in the project, including deleted mentions."""
        ...

    # --- relations ---

    def add_relation(self, relation: Relation, *, author: str, at: datetime, deleted: bool = False) -> int:
        """Store a curator's relation, or, with its `source`, a change of a relation in the document's record; returns
        the row's id. `relation.id`, `author` and `at` are ignored."""
        ...

    def set_relations_deleted(self, relation_ids: Sequence[int], deleted: bool) -> None:
        """Mark rows as deleted or restore them; unknown ids are ignored."""
        ...

    def relations(self, document_ids: Sequence[int]) -> dict[int, list[StoredRelation]]:
        """Document id -> its rows, oldest first, including deleted ones; documents without rows are absent. Relations
        only in the record have no row."""
        ...

    def relations_about(self, mention_id: int, entity_ids: Sequence[str]) -> list[StoredRelation]:
        """Rows of the mention's document with this mention or one of these entities as an end, oldest first."""
        ...

    def relation_types(self) -> dict[str, int]:
        """Types of the relations that curators added, with their numbers."""
        ...

    def source_records(self, document_ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
        """Document id -> (format, `extra` of the file, record); unknown documents are absent."""
        ...


class DecisionRepository(Protocol):
    """Decisions, the log of their operations, and the operations' efforts. All three are append-only: the database
    refuses to change or remove an entry (InconsistentDataError)."""

    def expect(self, mention_ids: Sequence[int], *, actor: str) -> None:
        """Prepare for a decision about these mentions as the next operation of the unit: on a server, everything that
        it needs is read in one round trip. It changes no result."""
        ...

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
        """Append one decision for each mention and make it the mention's current one. CLEARED makes it undecided.
        `verdicts`, `shown` and `notes` are parallel to the ids: otherwise ValueError is raised. Raises UserError for an
        unknown mention."""
        ...

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided (never decided, or CLEARED) mentions are absent."""
        ...

    def current_of_document(self, document_id: int) -> dict[int, Decision]:
        """Current decisions of the document's mentions that are not deleted."""
        ...

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, including CLEARED ones."""
        ...

    def of_operation(self, operation_id: int) -> list[Decision]:
        """Every decision of the operation."""
        ...

    def links(self, split: Split, mention_types: Collection[str]) -> list[tuple[str, tuple[str, ...], int]]:
        """(mention type, entity ids, number) of the current links of a split's mentions of these types."""
        ...

    def linked_strings(self, splits: Sequence[Split]) -> list[tuple[str, tuple[str, ...], int]]:
        """(words of the mention, entity ids, number) of the current links of these splits."""
        ...

    def before_many(self, decisions: Sequence[Decision]) -> dict[int, Decision]:
        """For the decisions of one operation, by id, the decision that each replaced; absent if it was the first."""
        ...

    def count(self) -> int:
        """The number of all decisions ever made, including replaced and CLEARED ones."""
        ...

    # --- the log of operations ---

    def append_operation(
        self,
        kind: OperationKind,
        *,
        actor: str,
        at: datetime,
        text: str,
        target: int | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> int:
        """Append an operation, which goes onto the undo stack unless its actor is an import; returns its id. Raises
        UserError if an undo or redo does not target the next operation."""
        ...

    def operation(self, operation_id: int) -> tuple[Operation, dict[str, Any]]:
        """The operation and its payload (mention ids, old and new state, for undo). Raises UserError if there is no
        such operation."""
        ...

    def operations(self, operation_ids: Sequence[int]) -> dict[int, tuple[Operation, dict[str, Any]]]:
        """The same for several, by id; unknown ids are absent."""
        ...

    def relation_steps(self, *, after: int) -> tuple[list[RelationStep], int]:
        """Changes of rows of relations by operations with an id greater than `after`, including undo and redo, oldest
        first; and the id of the last operation of any kind, 0 if there is none."""
        ...

    def relation_endings(self, *, after: int) -> list[RelationEnding]:
        """Relations ended by deleting a mention in operations with an id greater than `after`, including undo and redo,
        oldest first."""
        ...

    def next_undo(self, actor: str = "") -> int | None:
        """The operation that undo reverses next; None if there is none. It never undoes imports. In a shared project,
        only among this actor's operations."""
        ...

    def next_redo(self, actor: str = "") -> int | None:
        """The operation that redo repeats next; None if there is none. In a shared project, only among this actor's
        operations."""
        ...

    def built_on(self, operation_id: int, actor: str) -> str:
        """The other curators who later decided or moved mentions of an operation in a shared project; '' if no one
        did."""
        ...

    def steps(self, where: StepFilter, *, limit: int, before: int | None = None) -> list[LoggedStep]:
        """Operations that are neither undo nor redo, newest first, with ids less than `before`."""
        ...

    def latest(self, operation_id: int) -> datetime:
        """The latest time of this operation and those before it. Raises UserError if there is no such operation."""
        ...

    def actors(self) -> list[str]:
        """Names of those who appended operations, without imports."""
        ...

    def undo_steps(self, *, down_to: int = 0) -> list[int]:
        """The operations that undo reverses, in order, with ids of at least `down_to`."""
        ...

    def redo_steps(self) -> list[int]:
        """The operations that redo repeats, in order."""
        ...

    def fixed_up_to(self, *, after: int = 0) -> int:
        """The last operation that undo cannot pass: it and all before it are permanent. 0 if there is none with an id
        of at least `after`."""
        ...

    def taken_back(self, operation_ids: Sequence[int]) -> set[int]:
        """The operations among these that were undone and not redone."""
        ...

    def numbers(self, operation_ids: Sequence[int]) -> dict[int, int]:
        """The number of decisions of each of these operations; those without decisions are absent."""
        ...

    # --- what operations cost ---

    def add_efforts(self, efforts: Sequence[Effort]) -> None:
        """Record operations' efforts; an operation's first record is kept. Raises InconsistentDataError for an unknown
        operation."""
        ...

    def efforts(self, *, curator: str | None = None) -> list[SpentEffort]:
        """Efforts, oldest first, of operations that decided something and were not undone later; of one curator if
        given."""
        ...

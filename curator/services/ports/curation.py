"""Ports of the work itself: mentions with their comments, and decisions with the log they belong to and their cost."""

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
    """Which operations are listed; '', None and the empty set mean any. `words` are part of an operation's text, or of
    the identifiers of the entities that it decided for."""

    actor: str = ""
    kinds: frozenset[OperationKind] = frozenset()
    document_id: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """An operation that is neither an undo nor a redo; `mentions` is how many it names."""

    operation: Operation
    mentions: int


@dataclass(frozen=True, slots=True)
class Effort:
    """What an operation cost since the one before: keys pressed and clicks, and milliseconds at work."""

    operation_id: int
    keys: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class SpentEffort:
    """An effort with what it was spent on: `decisions` of the operation, who took them, when."""

    operation_id: int
    keys: int
    milliseconds: int
    decisions: int
    curator: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RelationStep:
    """That an operation, or undoing or redoing one, deleted a row of a relation, or added or restored it."""

    operation_id: int
    relation_id: int
    deleted: bool
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RelationEnding:
    """That a relation of the mention, as `words` name it, ended because its other mention was deleted; or that it came
    back with that (`deleted` is False)."""

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
        """Deleted ones too. Raises UserError when it does not exist."""
        ...

    def documents_of(self, mention_ids: Sequence[int]) -> dict[int, int]:
        """Mention id -> document id. Raises UserError when one does not exist."""
        ...

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Mention]:
        """By id, in the order given, deleted ones too. Raises UserError when one does not exist."""
        ...

    def of_document(self, document_id: int, *, deleted: bool = False) -> list[Mention]:
        """Mentions in text order (start, then longer first); deleted ones too when asked."""
        ...

    def of_documents(self, document_ids: Sequence[int], *, deleted: bool = False) -> dict[int, list[Mention]]:
        """Document id -> its mentions in text order, deleted ones too when asked; documents without any are absent."""
        ...

    def add_many(
        self, mentions: Mapping[int, Sequence[SourceMention]], *, origin: MentionOrigin
    ) -> dict[int, list[int]]:
        """Store mentions by document id and raise the revisions of the documents; returns their ids by document id, in
        order. Raises UserError when a document does not exist."""
        ...

    def add(self, document_id: int, mentions: Sequence[SourceMention], *, origin: MentionOrigin) -> list[int]:
        """Store mentions and raise the document's revision; returns their ids in order. Raises UserError when there is
        no such document."""
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
        """Every change of the mention's spans or type, oldest first; undone ones and their undoing included."""
        ...

    def edits_of_operation(self, operation_id: int) -> list[MentionEdit]:
        """Every change that the operation made, in its order."""
        ...

    def first_shapes(self, document_id: int) -> dict[int, MentionShape]:
        """What the document's changed mentions were at first, in the text that it has now; the others are absent."""
        ...

    def restate(self, mention_id: int, *, record: int, raw_ids: str) -> None:
        """Set the line of the source record that a mention is in from now on (-1: none), and its identifiers there."""
        ...

    # --- flags and comments ---

    def flag_mentions(self, mention_ids: Sequence[int], flagged: bool) -> None:
        """Set or clear the flags; unknown ids are passed over."""
        ...

    def add_comment(self, document_id: int, mention_id: int | None, *, author: str, at: datetime, text: str) -> Comment:
        """Comment on a mention, or on the whole document where `mention_id` is None."""
        ...

    def get_comment(self, comment_id: int) -> Comment:
        """Deleted ones too. Raises UserError when there is no such comment."""
        ...

    def set_comments_deleted(self, comment_ids: Sequence[int], deleted: bool) -> None:
        """Mark comments as deleted or restore them; unknown ids are passed over."""
        ...

    def comments(self, document_id: int) -> list[Comment]:
        """Of the document and its mentions, oldest first; deleted ones are left out."""
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
        """Mention id -> {attribute id: value id}, current ones, deleted values included: of the project, or of a
        curator in a round. None: it was cleared. What was never set is absent."""
        ...

    def attribute_edits(self, mention_id: int) -> list[AttributeEdit]:
        """Every change in the project, oldest first, those of undo and redo included."""
        ...

    def round_attributes(self, round_id: int, curator: str, *, after: int = 0) -> list[AttributeEdit]:
        """Every change by a curator in a round behind the change of that id, oldest first."""
        ...

    def attribute_curators(self, round_id: int) -> list[str]:
        """Names of the curators who set attributes in the round."""
        ...

    def attribute_uses(self) -> dict[int, int]:
        """Value id -> number of mentions that have the value in the project, deleted mentions included."""
        ...

    # --- relations ---

    def add_relation(self, relation: Relation, *, author: str, at: datetime, deleted: bool = False) -> int:
        """Store a curator's relation, or with its `source` what becomes of one of the document's record; returns the
        row's id. `relation.id`, `author` and `at` are ignored."""
        ...

    def set_relations_deleted(self, relation_ids: Sequence[int], deleted: bool) -> None:
        """Mark rows as deleted or restore them; unknown ids are passed over."""
        ...

    def relations(self, document_ids: Sequence[int]) -> dict[int, list[StoredRelation]]:
        """Document id -> its rows, oldest first, deleted ones too; documents without rows are absent. What only the
        record states has none."""
        ...

    def relations_about(self, mention_id: int, entity_ids: Sequence[str]) -> list[StoredRelation]:
        """Rows of the mention's document with this mention or one of these entities as an end, oldest first."""
        ...

    def relation_types(self) -> dict[str, int]:
        """Types of the relations that curators added, with their number."""
        ...

    def source_records(self, document_ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
        """Document id -> (format, `extra` of the file, record); unknown documents are absent."""
        ...


class DecisionRepository(Protocol):
    """Decisions, the log of operations that they belong to, and what the operations cost. All three are append-only:
    the database refuses to change or remove an entry (InconsistentDataError)."""

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
        `verdicts`, `shown` and `notes` are parallel to the ids: ValueError where they are not. Raises UserError for an
        unknown mention."""
        ...

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided (never decided, or CLEARED) mentions are absent."""
        ...

    def current_of_document(self, document_id: int) -> dict[int, Decision]:
        """Current decisions of the document's mentions that are not deleted."""
        ...

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, CLEARED ones included."""
        ...

    def of_operation(self, operation_id: int) -> list[Decision]:
        """Every decision that the operation took."""
        ...

    def links(self, split: Split, mention_types: Collection[str]) -> list[tuple[str, tuple[str, ...], int]]:
        """(mention type, entity ids, number) of the current links of a split's mentions of these types."""
        ...

    def before_many(self, decisions: Sequence[Decision]) -> dict[int, Decision]:
        """For the decisions of one operation, by their ids, what each replaced; absent where it was the first."""
        ...

    def count(self) -> int:
        """Of all decisions ever taken, replaced and CLEARED ones included."""
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
        UserError when an undo or redo does not target the operation whose turn it is."""
        ...

    def operation(self, operation_id: int) -> tuple[Operation, dict[str, Any]]:
        """The operation and its payload (mention ids, old and new state: what undoing needs). Raises UserError when
        there is no such operation."""
        ...

    def relation_steps(self, *, after: int) -> tuple[list[RelationStep], int]:
        """What operations with a greater id than `after` did to rows of relations, undo and redo included, oldest
        first; and the id of the last operation of any kind, 0 without any."""
        ...

    def relation_endings(self, *, after: int) -> list[RelationEnding]:
        """What operations with a greater id than `after` ended by deleting a mention, undo and redo included, oldest
        first."""
        ...

    def next_undo(self) -> int | None:
        """The operation that undoing reverses next, None when there is none. Imports are not undone by it."""
        ...

    def next_redo(self) -> int | None:
        """The operation that redoing repeats next, None when there is none."""
        ...

    def steps(self, where: StepFilter, *, limit: int, before: int | None = None) -> list[LoggedStep]:
        """Operations that are neither undo nor redo, the newest first; of those with a smaller id than `before`."""
        ...

    def latest(self, operation_id: int) -> datetime:
        """The latest time of this operation and those before it. Raises UserError when there is no such operation."""
        ...

    def actors(self) -> list[str]:
        """Who appended operations, by name; imports are left out."""
        ...

    def undo_steps(self, *, down_to: int = 0) -> list[int]:
        """What undoing reverses, in its order, without ids that are smaller than `down_to`."""
        ...

    def redo_steps(self) -> list[int]:
        """What redoing repeats, in its order."""
        ...

    def fixed_up_to(self, *, after: int = 0) -> int:
        """The last operation that ended undoing: it and all before it stand for good. 0 where there is none among those
        from the id `after` on."""
        ...

    def taken_back(self, operation_ids: Sequence[int]) -> set[int]:
        """Of these operations those that were undone and not redone."""
        ...

    def numbers(self, operation_ids: Sequence[int]) -> dict[int, int]:
        """How many decisions each of these operations took; those without any are absent."""
        ...

    # --- what operations cost ---

    def add_efforts(self, efforts: Sequence[Effort]) -> None:
        """Record what operations cost; an operation's first record stays. Raises InconsistentDataError for an unknown
        operation."""
        ...

    def efforts(self, *, curator: str | None = None) -> list[SpentEffort]:
        """Oldest first, of operations that decided something and were not undone later; of one curator where given."""
        ...

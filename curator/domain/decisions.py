"""Decisions: what a curator decided about a mention, append-only, with the candidates that were shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """LINK and NIL are gold; REJECTED and SKIPPED do not count in evaluations.

    LINK, NIL and REJECTED decide a mention. SKIPPED leaves it for somebody else: the mention is neither decided nor
    undecided, and every count lists it separately. CLEARED is what undoing a mention's first decision appends: the
    mention is undecided again.
    """

    LINK = "link"
    NIL = "nil"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    CLEARED = "cleared"

    @property
    def words(self) -> str:
        """The state of a mention with this outcome, in English, to be translated for display."""
        return {Outcome.LINK: "linked", Outcome.NIL: "NIL", Outcome.CLEARED: "undecided"}.get(self, self.value)

    @property
    def decides(self) -> bool:
        """Whether a mention with this outcome counts as decided."""
        return self in (Outcome.LINK, Outcome.NIL, Outcome.REJECTED)


DECIDING = tuple(one.value for one in Outcome if one.decides)
"""The stored values of the outcomes that decide a mention."""


class NilReason(StrEnum):
    NOT_IN_KB = "not-in-kb"
    TOO_GENERAL = "too-general"
    TOO_SPECIFIC = "too-specific"


class RejectReason(StrEnum):
    NOT_AN_ENTITY = "not-an-entity"
    WRONG_SPAN = "wrong-span"


class SkipReason(StrEnum):
    AMBIGUOUS = "ambiguous"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The content of a decision. A composite mention links to several entities at once.

    Raises ValueError if outcome, entities and reason do not match.
    """

    outcome: Outcome
    entity_ids: tuple[str, ...] = ()
    reason: NilReason | RejectReason | SkipReason | None = None

    def __post_init__(self) -> None:
        wanted = {Outcome.NIL: NilReason, Outcome.REJECTED: RejectReason, Outcome.SKIPPED: SkipReason}
        kind = wanted.get(self.outcome)
        if (self.outcome is Outcome.LINK) != bool(self.entity_ids):
            raise ValueError(f"{self.outcome.value} does not go with entities {self.entity_ids!r}")
        if (kind is None) != (self.reason is None) or (kind is not None and not isinstance(self.reason, kind)):
            raise ValueError(f"{self.outcome.value} does not go with reason {self.reason!r}")

    @classmethod
    def link(cls, *entity_ids: str) -> Verdict:
        return cls(Outcome.LINK, tuple(entity_ids))

    @classmethod
    def nil(cls, reason: NilReason = NilReason.NOT_IN_KB) -> Verdict:
        return cls(Outcome.NIL, reason=reason)

    @classmethod
    def reject(cls, reason: RejectReason = RejectReason.NOT_AN_ENTITY) -> Verdict:
        return cls(Outcome.REJECTED, reason=reason)

    @classmethod
    def skip(cls, reason: SkipReason = SkipReason.UNSURE) -> Verdict:
        return cls(Outcome.SKIPPED, reason=reason)


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    entity_id: str
    score: float


RANK_UNKNOWN, KEPT_BACK_SAME, KEPT_BACK_OTHER, KEPT_BACK_SHOWN = -1, -2, -3, -4
"""Special ranks: it was not recorded whether NIL was first; the suggestion was hidden, and its first answer was the
decision, or was not; it was hidden until the curator asked for it, so the decision was made neither with nor without
suggestions."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the curator saw when deciding: candidates in order, and the bundle that ranked them ('' if none).
    `nil_first`: NIL was above the candidates, so Enter accepted it; None if not recorded. `unseen` is a suggestion that
    was hidden from the curator; `revealed`: the suggestion was hidden until the curator asked for it."""

    bundle_id: str
    candidates: tuple[ShownCandidate, ...]
    nil_score: float | None = None
    nil_first: bool | None = None
    unseen: Shown | None = None
    revealed: bool = False

    def rank_of(self, verdict: Verdict) -> int | None:
        """The rank in the list of the choice of a link or NIL decision: 1 is what Enter accepts, 0 means not in the
        list, `RANK_UNKNOWN` not recorded; one of the `KEPT_BACK` ranks if the list was hidden. None without a
        suggestion, and for other decisions."""
        if verdict.outcome not in (Outcome.LINK, Outcome.NIL):
            return None
        if self.unseen is not None:
            return KEPT_BACK_SAME if self.unseen.rank_of(verdict) == 1 else KEPT_BACK_OTHER
        if not (self.bundle_id or self.candidates):
            return None
        if self.revealed:
            return KEPT_BACK_SHOWN
        if verdict.outcome is Outcome.NIL:
            return RANK_UNKNOWN if self.nil_first is None else int(self.nil_first)
        places = self.places_of(verdict)
        return min(places) + int(bool(self.nil_first)) if places else 0

    def places_of(self, verdict: Verdict) -> tuple[int, ...]:
        """The numbers of the chosen candidates in the window, from 1; NIL has none. Empty if none was in the list or
        the list was hidden."""
        ids = [one.entity_id for one in self.candidates]
        return tuple(ids.index(one) + 1 for one in verdict.entity_ids if one in ids)


@dataclass(frozen=True, slots=True)
class Decision:
    """One appended decision. `curator` is a person's name, or `import:FILE` for gold that came with a file."""

    id: int
    mention_id: int
    verdict: Verdict
    curator: str
    at: datetime
    shown: Shown | None = None
    operation_id: int = 0
    note: str = ""

    @property
    def is_imported(self) -> bool:
        return self.curator.startswith("import:")


# What an operation changed: the message that all views listen to.


class ChangeKind(StrEnum):
    DECIDED = "decided"
    MENTIONS = "mentions"  # added, moved, retyped, deleted, restored
    DOCUMENT_STATE = "document_state"
    NOTES = "notes"  # flags and comments
    ATTRIBUTES = "attributes"  # of mentions, or the project's list of them
    RELATIONS = "relations"  # added, deleted, restored
    IMPORTED = "imported"
    KNOWLEDGE_BASE = "knowledge_base"
    SUGGESTIONS = "suggestions"
    OPINIONS = "opinions"  # a language model answered
    BUNDLE = "bundle"
    TYPE_MAPPING = "type_mapping"
    ENTITIES = "entities"  # provisional ones created, changed, deleted or replaced, with resulting decisions
    ROUND = "round"  # created, closed, reopened, or judgements were imported


STEPS = frozenset(
    {
        ChangeKind.DECIDED,
        ChangeKind.MENTIONS,
        ChangeKind.DOCUMENT_STATE,
        ChangeKind.NOTES,
        ChangeKind.ATTRIBUTES,
        ChangeKind.RELATIONS,
        ChangeKind.ENTITIES,
    }
)
"""Kinds of changes that are steps of a curator."""


class OperationKind(StrEnum):
    """The kind of an entry in the operation log; undo and redo have their own entries."""

    DECIDE = "decide"
    ADD_MENTION = "add_mention"
    DELETE_MENTION = "delete_mention"
    CHANGE_MENTION = "change_mention"  # its spans or its type
    SET_STATE = "set_state"
    FLAG = "flag"
    COMMENT = "comment"
    DELETE_COMMENT = "delete_comment"
    SET_ATTRIBUTE = "set_attribute"
    DEFINE_ATTRIBUTES = "define_attributes"  # the project's list of them
    ADD_RELATION = "add_relation"
    DELETE_RELATION = "delete_relation"
    MAKE_ENTITY = "make_entity"
    CHANGE_ENTITY = "change_entity"
    DELETE_ENTITY = "delete_entity"
    REMAP = "remap"  # decisions and provisional entities moved to entities of the current knowledge base
    TAKE_TEXT = "take_text"  # a newer text of a document with its mentions moved to it; or the former one restored
    WITHDRAW_IMPORT = "withdraw_import"  # its documents are hidden
    INTEND = "intend"  # an inconsistency was marked as intended, or the mark was removed
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class Change:
    """`text` describes it to the curator ("Linked lidocaine to Lidocaine"); `actor` did it.

    A step without an operation is a judgement in a round: it is not sent on the event bus; only the window that
    requested it shows it. The operation 0 is a step that is saved on this computer and not yet shared.
    """

    kind: ChangeKind
    actor: str
    text: str
    document_ids: tuple[int, ...] = ()
    mention_ids: tuple[int, ...] = ()
    operation_id: int | None = None


# How many of the commits are on disk.


@dataclass(frozen=True, slots=True)
class Saving:
    """`done` of the `asked` commits have been on disk since `at`; `why` is the error of the last sync, '' if it
    succeeded. In a shared project, `kept` steps are only on this computer, and `away` is the reason while the server
    does not answer."""

    asked: int = 0
    done: int = 0
    at: datetime | None = None
    why: str = ""
    kept: int = 0
    away: str = ""

    def holds(self, number: int) -> bool:
        """Whether the first `number` commits are on disk."""
        return self.done >= number


Listener = Callable[[Saving], None]


# Additional contents of the program's own files: who decided and commented, and when.


@dataclass(frozen=True, slots=True)
class FileDecision:
    verdict: Verdict
    curator: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileComment:
    author: str
    at: datetime
    text: str

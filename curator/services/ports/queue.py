"""What queries over mentions take and give: filters, rows of work, mentions in context."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import Facets


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """None means any. `text` matches external id or title, case-insensitively; `facets` filter mentions: a document is
    in the queue if one of its mentions matches."""

    state: DocumentState | None = None
    split: Split | None = None
    text: str = ""
    facets: Facets = field(default_factory=Facets)


@dataclass(frozen=True, slots=True)
class WorkRow:
    """An undecided mention with the data for ordering: `first` is its first suggestion, NIL if `is_nil`, '' without a
    candidate, and `probability` its probability; for NIL this is 1 minus the first candidate's. Without a suggestion or
    a candidate `probability` and `margin` are None."""

    mention_id: int
    document_id: int
    text: str
    type: str
    first: str
    probability: float | None
    margin: float | None
    is_nil: bool

    @property
    def place(self) -> tuple[int, int]:
        """The document and the mention."""
        return self.document_id, self.mention_id


@dataclass(frozen=True, slots=True)
class Head:
    """A suggestion in short form for one line: the first candidate ('' and zeros if there is none) and NIL. `fresh`:
    made by the active bundle for the current document."""

    entity_id: str
    name: str
    score: float
    probability: float
    nil_score: float
    is_nil: bool
    calibrated: bool
    expanded: str
    bundle_id: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class MentionContext:
    """A mention with the text around it. `verdict` is that of the current decision."""

    mention_id: int
    document_id: int
    external_id: str
    start: int
    left: str
    text: str
    right: str
    type: str
    verdict: Verdict | None
    curator: str
    head: Head | None


@dataclass(frozen=True, slots=True)
class MentionUse:
    """A mention currently linked to an entity, with the time of the decision; its context has no `head`.

    `suggested`: the linker has a suggestion for it. `probability` (0…1) is the suggestion's for the entity: 0.0 if it
    lists only others, None without a suggestion or without probabilities.
    """

    context: MentionContext
    at: datetime
    split: Split
    state: DocumentState
    suggested: bool
    probability: float | None


@dataclass(frozen=True, slots=True)
class Chance:
    """A mention whose first suggestion is an entity, with its `probability`."""

    mention_id: int
    document_id: int
    probability: float
    entity_id: str


@dataclass(frozen=True, slots=True)
class Tried:
    """The suggestion for a decided mention of the validation split, and whether it was right."""

    probability: float
    right: bool


@dataclass(frozen=True, slots=True)
class NilMention:
    """A mention that is decided NIL, or undecided with a NIL suggestion. `key` is its `domain.same_string.string_key`,
    `expanded` the long form of an abbreviation ('' if it is not one)."""

    mention_id: int
    document_id: int
    text: str
    type: str
    key: str
    expanded: str = ""

"""Ports of the queue over mentions: its filters, counts and order, mentions in context, and the suggestions that it is
ordered by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import FacetCube, Facets
from curator.domain.suggestions import Opinion, Suggestion


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


class QueueRepository(Protocol):
    """Queries over all mentions: counts by facet, matching mentions, orders, and mentions in context, always without
    deleted mentions and invisible documents."""

    def cube(self, where: QueueFilter, document_id: int | None = None) -> FacetCube:
        """Counts by all facets, of one document if given; `where.facets` is not applied, the rest is."""
        ...

    def documents(self, where: QueueFilter, among: Sequence[int] | None = None) -> dict[int, int]:
        """Document id -> number of its matching mentions, in queue order; only of `among` if given."""
        ...

    def mentions(self, where: QueueFilter, document_id: int | None = None) -> list[int]:
        """Ids of matching mentions in queue and text order, of one document if given."""
        ...

    def matches(self, mention_id: int, where: QueueFilter) -> bool:
        """Whether the mention matches the whole filter."""
        ...

    def decided_strings(self) -> dict[tuple[str, str], int]:
        """(text, type) -> number of current link and NIL decisions."""
        ...

    def decision_seconds(self, *, last: int = 500) -> tuple[list[float], list[float]]:
        """Seconds of the last single decisions: of those that linked to the first candidate shown, and of others."""
        ...

    def undecided(self, where: QueueFilter, *, limit: int) -> list[WorkRow]:
        """At most `limit` matching undecided mentions, the least certain suggestions first (those without candidates
        are least certain), unlinked ones last."""
        ...

    # --- mentions in context ---

    def identical(
        self,
        mention_id: int,
        *,
        document_id: int | None = None,
        where: QueueFilter | None = None,
        mention_type: str | None = None,
    ) -> list[int]:
        """Ids of the other mentions with the same string (`domain.same_string`) and type (or `mention_type`), in queue
        and text order: in one document, in a filter, or in all. Raises UserError for an unknown mention."""
        ...

    def uses(self, entity_id: str, mention_ids: Sequence[int]) -> list[MentionUse]:
        """The mentions in the given order, without undecided and deleted ones. The probabilities are those of the
        entity."""
        ...

    def contexts(self, mention_ids: Sequence[int], *, bundle_id: str) -> list[MentionContext]:
        """Contexts in the given order, without deleted and unknown mentions. `bundle_id`: the bundle whose suggestions
        are fresh."""
        ...

    def chances(self, where: QueueFilter, *, bundle_id: str) -> list[Chance]:
        """The filter's undecided mentions with a fresh suggestion of an entity, most certain first."""
        ...

    def unsuggested(self, where: QueueFilter, *, bundle_id: str) -> int:
        """The number of the filter's undecided mentions without a fresh suggestion."""
        ...

    def tried(self, *, bundle_id: str) -> list[Tried]:
        """The linked and NIL mentions of validation documents with a fresh suggestion of an entity, most certain
        first."""
        ...


class SuggestionRepository(Protocol):
    """The last suggestion of each mention, with a stamp that shows whether it is stale, and the last second opinion."""

    def packed(self, suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
        """The same, prepared for `save`: most of the work is done before the writing unit begins, so that no decision
        waits for it."""
        ...

    def save(self, suggestions: Sequence[Suggestion]) -> None:
        """Replace the stored suggestion of each mention. Raises UserError if a mention does not exist."""
        ...

    def of_document(self, document_id: int) -> dict[int, Suggestion]:
        """Suggestions by mention id, without deleted mentions, including stale ones."""
        ...

    def get(self, mention_id: int) -> Suggestion | None:
        """The suggestion, even if stale; None if there is none."""
        ...

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Suggestion]:
        """Suggestions by mention id; mentions without one are absent."""
        ...

    def stale_documents(self, bundle_id: str, *, position: int = 0, ahead: int | None = None) -> list[int]:
        """The documents with an undecided mention whose suggestion is missing or has another stamp than (`bundle_id`,
        the document's revision), among the next `ahead` visible documents (None: all) that are not done, in queue order
        from the id `position` once around."""
        ...

    def make_stale(self, mention_types: Sequence[str]) -> None:
        """Mark every document with an undecided mention of one of these types as stale."""
        ...

    def save_opinions(self, opinions: Sequence[Opinion]) -> None:
        """Replace the stored second opinion of each mention. Raises UserError if a mention does not exist."""
        ...

    def opinions(self, mention_ids: Sequence[int]) -> dict[int, Opinion]:
        """Second opinions by mention id; mentions without one are absent."""
        ...

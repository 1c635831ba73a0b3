"""Ports of the queue over mentions: what it may be narrowed to, its counts and order, mentions in context, and the
suggestions that it is ordered by."""

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
    """None means any. `text` matches external id or title, case-insensitively; `facets` are about mentions: a document
    is in the queue when one of its mentions matches."""

    state: DocumentState | None = None
    split: Split | None = None
    text: str = ""
    facets: Facets = field(default_factory=Facets)


@dataclass(frozen=True, slots=True)
class WorkRow:
    """An undecided mention with what an order needs: `first` is what its suggestion says first, NIL where `is_nil`
    and '' without a candidate, and `probability` how sure that is; for NIL that is what the first candidate leaves.
    Without a suggestion or a candidate `probability` and `margin` are None."""

    mention_id: int
    document_id: int
    text: str
    type: str
    first: str
    probability: float | None
    margin: float | None
    is_nil: bool


@dataclass(frozen=True, slots=True)
class Head:
    """A suggestion with what one line shows: the first candidate ('' and zeros where there is none) and NIL.
    `fresh`: made by the active bundle for the document as it is now."""

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
    """A mention with the characters around it, as they are in the text. `verdict` of the current decision."""

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
    """A mention that is linked to an entity now, with when that was decided; its context is without a head.

    `suggested`: the linker has a suggestion for it. `probability` (0…1) is what that gives the entity, NIL included:
    0.0 where it lists only others, None where there is no suggestion or none with probabilities.
    """

    context: MentionContext
    at: datetime
    split: Split
    state: DocumentState
    suggested: bool
    probability: float | None


@dataclass(frozen=True, slots=True)
class Chance:
    """A mention whose suggestion names an entity first; `probability` that it is the answer."""

    mention_id: int
    document_id: int
    probability: float
    entity_id: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What a suggestion said of a decided mention of the validation split, and whether it was right."""

    probability: float
    right: bool


class QueueRepository(Protocol):
    """What is asked over all mentions at once: counts by facet, matching mentions, orders, and mentions in context. All
    of it without deleted mentions and without documents that are not visible."""

    def cube(self, where: QueueFilter, document_id: int | None = None) -> FacetCube:
        """Numbers by all facets, of one document where given; `where.facets` is not applied, the rest is."""
        ...

    def documents(self, where: QueueFilter, among: Sequence[int] | None = None) -> dict[int, int]:
        """Document id -> number of its matching mentions, in queue order; of `among` only where given."""
        ...

    def mentions(self, where: QueueFilter, document_id: int | None = None) -> list[int]:
        """Ids of matching mentions in queue and text order, of one document where it is given."""
        ...

    def matches(self, mention_id: int, where: QueueFilter) -> bool:
        """Whether the whole filter chooses the mention."""
        ...

    def decided_strings(self) -> dict[tuple[str, str], int]:
        """(text, type) -> number of current link and NIL decisions."""
        ...

    def decision_seconds(self, *, last: int = 500) -> tuple[list[float], list[float]]:
        """Seconds that the last single decisions took: those that linked to the first candidate shown, and others."""
        ...

    def undecided(self, where: QueueFilter, *, limit: int) -> list[WorkRow]:
        """The matching undecided mentions with the least sure suggestions first (without candidates is least), those
        that the linker has not reached last, at most `limit`."""
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
        """Ids of the other mentions of the same string (`domain.same_string`) and type (or `mention_type`), in queue
        and text order: of one document, of what a filter shows, or of all. Raises UserError for an unknown mention."""
        ...

    def uses(self, entity_id: str, mention_ids: Sequence[int]) -> list[MentionUse]:
        """The mentions in the order given, if they have a decision; deleted ones are left out. The probabilities
        are those of the entity."""
        ...

    def contexts(self, mention_ids: Sequence[int], *, bundle_id: str) -> list[MentionContext]:
        """In the order given; mentions that are deleted or unknown are left out. `bundle_id`: whose suggestions are
        fresh."""
        ...

    def chances(self, where: QueueFilter, *, bundle_id: str) -> list[Chance]:
        """The undecided mentions that the filter shows with a fresh suggestion that names an entity, surest first."""
        ...

    def unsuggested(self, where: QueueFilter, *, bundle_id: str) -> int:
        """How many undecided mentions that the filter shows have no fresh suggestion."""
        ...

    def tried(self, *, bundle_id: str) -> list[Tried]:
        """The linked and NIL mentions of validation documents whose fresh suggestion names an entity, surest first."""
        ...


class SuggestionRepository(Protocol):
    """The last suggestion of each mention, with the stamp that says whether it is stale; the last second opinion."""

    def packed(self, suggestions: Sequence[Suggestion]) -> Sequence[Suggestion]:
        """The same, made ready for `save`: most of its work, to be done before the writing unit begins, so that no
        decision waits for it."""
        ...

    def save(self, suggestions: Sequence[Suggestion]) -> None:
        """Replace the stored suggestion of each mention. Raises UserError when a mention does not exist."""
        ...

    def of_document(self, document_id: int) -> dict[int, Suggestion]:
        """By mention id, of the mentions that are not deleted, stale ones included."""
        ...

    def get(self, mention_id: int) -> Suggestion | None:
        """Stale ones too; None where there is none."""
        ...

    def get_many(self, mention_ids: Sequence[int]) -> dict[int, Suggestion]:
        """By mention id; mentions without a suggestion are absent."""
        ...

    def stale_documents(self, bundle_id: str, *, position: int = 0, ahead: int | None = None) -> list[int]:
        """Of the next `ahead` visible documents (None: all) that are not done, from the id `position` on in queue order
        and once round, those with an undecided mention whose suggestion is missing or has another stamp than
        (`bundle_id`, the document's revision)."""
        ...

    def make_stale(self, mention_types: Sequence[str]) -> None:
        """Every document with an undecided mention of one of these types counts as stale from now on."""
        ...

    def save_opinions(self, opinions: Sequence[Opinion]) -> None:
        """Replace the stored second opinion of each mention. Raises UserError when a mention does not exist."""
        ...

    def opinions(self, mention_ids: Sequence[int]) -> dict[int, Opinion]:
        """Second opinions by mention id; mentions without one are absent."""
        ...

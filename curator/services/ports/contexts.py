"""Port of mentions in their context: what propagation and bulk acceptance show and reckon with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.decisions import Verdict
from curator.services.ports.queue_filter import QueueFilter


@dataclass(frozen=True, slots=True)
class Head:
    """A suggestion as far as one line shows it: the first candidate ('' and zeros where there is none) and NIL.
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
    """A mention with the characters around it, as they stand in the text. `verdict` of the current decision."""

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


class ContextRepository(Protocol):
    """All of it without deleted mentions and without documents that are still being imported."""

    def identical(
        self, mention_id: int, *, document_id: int | None = None, where: QueueFilter | None = None
    ) -> list[int]:
        """Ids of the other mentions of the same string (`domain.same_string`) and type, in queue and text order: of one
        document, of what a filter shows, or of all. Raises UserError for an unknown mention."""
        ...

    def of(self, mention_ids: Sequence[int], *, bundle_id: str) -> list[MentionContext]:
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

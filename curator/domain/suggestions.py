"""Suggestions: ranked candidates and a NIL estimate for one mention, stamped with what made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity with the scores of each stage (`lexical`, `names`, trained retrievers, `memory`, `ranker`).

    `probability` that it is the answer, NIL reckoned with. The very string was decided as this entity `decided_times`
    before, in `decided_documents` documents.
    """

    entity_id: str
    name: str
    types: tuple[str, ...]
    matched: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    probability: float = 0.0
    decided_times: int = 0
    decided_documents: int = 0


@dataclass(frozen=True, slots=True)
class NilEstimate:
    """`score` grows with the evidence that the entity is missing; `calibrated` is false before this project's
    validation split holds 30 NIL and 100 linked decisions."""

    score: float
    is_nil: bool
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a suggestion was computed from; one with another stamp than the current is stale."""

    bundle_id: str
    document_revision: int


class Band(StrEnum):
    """How much attention a suggestion deserves."""

    ACCEPT = "accept"
    REVIEW = "review"
    PROBABLY_NIL = "probably NIL"


ACCEPTABLE = 0.95
"""From this calibrated probability on, the first candidate is one to accept."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Ranked candidates, best first. `expanded` is the long form of an abbreviation ('' when not one)."""

    mention_id: int
    candidates: tuple[Candidate, ...]
    nil: NilEstimate
    stamp: Stamp
    expanded: str = ""

    @property
    def band(self) -> Band:
        """Uncalibrated probabilities never earn `ACCEPT`."""
        if self.nil.is_nil or not self.candidates:
            return Band.PROBABLY_NIL
        sure = self.nil.calibrated and self.candidates[0].probability >= ACCEPTABLE
        return Band.ACCEPT if sure else Band.REVIEW

    @property
    def expects_nil(self) -> bool:
        """Whether the linker expects that the knowledge base lacks the entity: known before anything is unpacked."""
        return self.nil.is_nil

    @property
    def margin(self) -> float | None:
        """Score difference between the first two candidates; None with fewer than two."""
        if len(self.candidates) < 2:
            return None
        return self.candidates[0].score - self.candidates[1].score

    @property
    def chance_margin(self) -> float | None:
        """The first candidate's probability less the second's (less 0 with one candidate); None without any."""
        if not self.candidates:
            return None
        behind = self.candidates[1].probability if len(self.candidates) > 1 else 0.0
        return self.candidates[0].probability - behind

"""Suggestions: ranked candidates and a NIL estimate for one mention, stamped with what made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity with the scores of each stage (`lexical`, `names`, trained retrievers, `ranker`) for one mention."""

    entity_id: str
    name: str
    types: tuple[str, ...]
    matched: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Ranked candidates, best first. `expanded` is the long form of an abbreviation ('' when not one)."""

    mention_id: int
    candidates: tuple[Candidate, ...]
    nil: NilEstimate
    stamp: Stamp
    expanded: str = ""

    @property
    def margin(self) -> float | None:
        """Score difference between the first two candidates; None with fewer than two."""
        if len(self.candidates) < 2:
            return None
        return self.candidates[0].score - self.candidates[1].score

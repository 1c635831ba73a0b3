"""Inputs and outputs of the mention memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Outcome = tuple[str, ...]
"""Primary ids of the entities decided; empty is NIL."""
NIL: Outcome = ()
SIMILAR = 0.85
SIMILAR_WEIGHT = 0.8
Place = tuple[str, str]
"""A decided mention: keys of its document and of itself."""


@dataclass(frozen=True, slots=True)
class RememberedDecision:
    """One decision: the mention's key, its normalised text (``normalise.sorted_key``), types, and outcome."""

    key: str
    text: str
    types: tuple[str, ...]
    ids: Outcome


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A mention to look up; ``own`` is its document's key, ``whole_document`` whether all decisions of this document
    are left out."""

    key: str
    text: str
    types: tuple[str, ...]
    own: str
    whole_document: bool = True


@dataclass(frozen=True, slots=True)
class Votes:
    """How often, and in how many documents, an entity (or NIL) was decided for this exact string."""

    times: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True)
class Recalled:
    """The memory's answer for one mention.

    By entity: ``votes`` of the equal string, their ``share`` in [0, 1] weighted by context, and the cosine of the
    ``nearest`` other string. The same for NIL: ``nil_votes``, ``nil_share``, ``nil_nearest``. ``total`` counts
    decisions of the equal string. ``popular``, for every candidate: the number of documents in which it was decided for
    any string; ``documents`` is the number of all remembered documents; both exclude the mention's own.
    """

    total: int = 0
    votes: Mapping[str, Votes] = field(default_factory=dict)
    share: Mapping[str, float] = field(default_factory=dict)
    nearest: Mapping[str, float] = field(default_factory=dict)
    popular: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    nil_votes: Votes = field(default_factory=Votes)
    nil_share: float = 0.0
    nil_nearest: float = 0.0

    def score(self, entity: str) -> float:
        """A score in [0, 1]: the share of the equal string's decisions, or, with lower values, the similarity of
        another string."""
        similar = max(0.0, (self.nearest.get(entity, 0.0) - SIMILAR) / (1.0 - SIMILAR))
        return max(self.share.get(entity, 0.0), SIMILAR_WEIGHT * similar)

    @property
    def entities(self) -> tuple[str, ...]:
        """All entities with a score, those of the equal string first."""
        return tuple(one for one in dict.fromkeys((*self.share, *self.nearest)) if self.score(one) > 0.0)


NOTHING = Recalled()

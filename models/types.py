"""Input and output of the linker: frozen dataclasses without NumPy and torch.

All offsets are half-open ranges of Unicode code points into ``DocumentInput.text``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """One record of the knowledge base."""

    id: str
    name: str
    synonyms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    alt_ids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred name, then the synonyms, without repeats or empty strings."""
        return tuple(dict.fromkeys(name for name in (self.name, *self.synonyms) if name.strip()))


@dataclass(frozen=True, slots=True)
class MentionInput:
    """One mention; several spans are the fragments of a discontinuous mention.

    ``types`` are types of the knowledge base, already mapped; empty means unrestricted. ``opinion`` is a language
    model's answer: an entity's id, '' for none of the candidates, None without an answer.
    """

    key: str
    spans: tuple[tuple[int, int], ...]
    types: tuple[str, ...] = ()
    opinion: str | None = None

    def surface(self, text: str) -> str:
        """The quoted text, fragments joined by one space."""
        return " ".join(text[start:end] for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """A document with the mentions to link."""

    key: str
    text: str
    mentions: tuple[MentionInput, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """A document with its decided mentions only, and the decision for each: primary ids, empty for NIL."""

    document: DocumentInput
    outcomes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """An entity for one mention; ``matched`` is its best matching name.

    ``scores`` by stage: "lexical", "names", the names of trained retrievers, "memory", "ranker". ``score`` falls with
    the rank. ``probability`` is that of being the answer, taking NIL into account. The exact string was linked to this
    entity ``decided_times`` before, in ``decided_documents`` other documents.
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
class CandidateList(Sequence[ScoredCandidate]):
    """Candidates in columns, as computed and sent; each candidate object is created on access.

    ``scores`` has one column for each stage, ``decided`` has pairs of (times, documents).
    """

    entity_ids: Sequence[str]
    names: Sequence[str]
    types: Sequence[tuple[str, ...]]
    matched: Sequence[str]
    score: Sequence[float]
    scores: Mapping[str, Sequence[float]]
    probability: Sequence[float]
    decided: Sequence[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.entity_ids)

    @overload
    def __getitem__(self, at: int) -> ScoredCandidate: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ScoredCandidate]: ...
    def __getitem__(self, at: int | slice) -> ScoredCandidate | Sequence[ScoredCandidate]:
        """Raises IndexError for an index out of range."""
        if isinstance(at, slice):
            return tuple(self[place] for place in range(*at.indices(len(self))))
        scores = {stage: column[at] for stage, column in self.scores.items()}
        own = (self.entity_ids[at], self.names[at], self.types[at], self.matched[at], self.score[at])
        return ScoredCandidate(*own, scores, self.probability[at], *self.decided[at])


NO_CANDIDATES = CandidateList((), (), (), (), (), {}, (), ())


@dataclass(frozen=True, slots=True)
class NilEstimate:
    """How likely it is that no entity fits: ``score`` in [0, 1], higher is more NIL."""

    score: float
    is_nil: bool
    calibrated: bool


@dataclass(frozen=True, slots=True)
class LinkedMention:
    """The answer for one mention, best candidate first.

    ``expanded`` is the surface with expanded abbreviations, empty if there are none.
    """

    key: str
    surface: str
    expanded: str
    candidates: CandidateList
    nil: NilEstimate


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    """The answers for one document, in the order of its mentions."""

    key: str
    mentions: tuple[LinkedMention, ...]


@dataclass(frozen=True, slots=True)
class DetectedMention:
    """A name of the knowledge base found in a text."""

    start: int
    end: int
    types: tuple[str, ...]
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a long job: ``done`` of ``total`` units of ``stage``."""

    stage: str
    done: int
    total: int

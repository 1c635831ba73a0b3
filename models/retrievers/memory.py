"""Mention memory: decisions that count from the next query on (in the spirit of MOLEMAN, KRISSBERT, kNN-BioEL).

A decision is remembered as a *trace*: the mention's text (with expanded abbreviations), its types, the decision
(entities, or NIL), the text's vector, and the mentions by document. For a mention, the memory gives for every entity
the share of equal strings that were linked to it, and the similarity of the nearest other string.

Safeguards. A document's own decisions can be left out (always in evaluation and fitting); a mention's own are always
left out. If equal strings were decided in several ways, those in similar contexts count more. Traces are never merged,
however many an entity has: a string would answer with another's decisions, even after its own were undone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from models.retrievers.recalled import NIL, NOTHING, Outcome, Place, Recalled, RecallQuery, RememberedDecision, Votes

FLOATS = NDArray[np.float32]
NEAR = 0.7
MAX_NEAR = 64
# Chosen on BC5CDR train: with 0, 4, 8, 16, 32, 92.4, 93.9, 93.1, 93.1, 92.4 % of the mentions with conflicting
# decisions were right.
CONTEXT_SHARPNESS = 4.0
ORDINARY_BACKGROUND = 0.3
"""The default encoder's background is about 0.2; the thresholds here were chosen with it."""
Likeness = Callable[[Place, Sequence[Place]], float]
"""The cosine of a mention's context to the most similar of some other contexts."""


@dataclass(slots=True, eq=False)
class Trace:
    """Decisions with the same outcome for equal strings; ``keys`` are the decided mentions by document."""

    row: int
    text: str
    types: tuple[str, ...]
    ids: Outcome
    keys: dict[str, list[str]] = field(default_factory=dict)

    def count(self, asked: RecallQuery) -> Votes:
        """Numbers of decisions and documents, without the query's own mention or its whole document."""
        own = self.keys.get(asked.own, [])
        left = 0 if asked.whole_document else len(own) - (asked.key in own)
        others = len(self.keys) - bool(own)
        times = sum(len(keys) for document, keys in self.keys.items() if document != asked.own)
        return Votes(times + left, others + bool(left))

    def answers(self, asked: RecallQuery) -> bool:
        """Whether ``count`` leaves any decision."""
        return any(document != asked.own for document in self.keys) or self.count(asked).times > 0

    def places(self, asked: RecallQuery) -> list[Place]:
        """The decided mentions, without those that ``count`` leaves out."""
        return [
            (document, key)
            for document, keys in self.keys.items()
            for key in keys
            if document != asked.own or not (asked.whole_document or key == asked.key)
        ]


class MentionMemory:
    """Decisions by document. ``dimension`` is the width of text vectors, which have length 1.

    ``background`` is the mean cosine of unrelated names under their encoder: with an encoder that gives all texts a
    high cosine, not everything must count as near. Cosines are rescaled so that a background above the ordinary one
    becomes 0.
    """

    def __init__(self, dimension: int, *, background: float = 0.0) -> None:
        self._above = max(0.0, background - ORDINARY_BACKGROUND)
        self._matrix: FLOATS = np.zeros((64, dimension), dtype=np.float32)
        self._traces: list[Trace | None] = []
        self._free: list[int] = []
        self._by_text: dict[str, set[int]] = defaultdict(set)
        self._by_document: dict[str, set[int]] = defaultdict(set)
        self._popular: dict[str, dict[str, int]] = defaultdict(dict)  # entity → document → decisions

    def __len__(self) -> int:
        """The number of remembered decisions."""
        return sum(len(keys) for trace in self._traces if trace for keys in trace.keys.values())

    @property
    def vectors(self) -> int:
        """The stored vectors: one per string with its types and outcome."""
        return sum(trace is not None for trace in self._traces)

    @property
    def documents(self) -> int:
        return len(self._by_document)

    def learn(self, document: str, decisions: Sequence[RememberedDecision], vectors: FLOATS) -> None:
        """Replace all decisions of ``document``; ``vectors`` are (decisions, d), one for each text.

        An undone decision is simply absent from the next call.
        """
        self.forget(document)
        for decided, vector in zip(decisions, vectors, strict=True):
            trace = self._trace(decided, vector)
            trace.keys.setdefault(document, []).append(decided.key)
            self._by_document[document].add(trace.row)
            for entity in decided.ids:
                self._popular[entity][document] = self._popular[entity].get(document, 0) + 1

    def forget(self, document: str) -> None:
        """Drop the decisions of one document; unknown documents are ignored."""
        for row in self._by_document.pop(document, set()):
            trace = self._traces[row]
            assert trace is not None
            del trace.keys[document]
            for entity in trace.ids:
                self._popular[entity].pop(document, None)
            if not trace.keys:
                self._drop(trace)

    def recall(
        self, asked: Sequence[RecallQuery], vectors: FLOATS, *, likeness: Likeness | None = None
    ) -> list[Recalled]:
        """One answer for each mention; ``vectors`` (m, d) are those of the texts. Without ``likeness`` contexts have no
        influence."""
        if not self._by_document or not asked:
            return [NOTHING] * len(asked)
        similar = np.asarray(vectors, dtype=np.float32) @ self._matrix[: len(self._traces)].T
        stretched = (similar - self._above) / max(1e-6, 1.0 - self._above)
        return [self._recall(one, stretched[at], likeness) for at, one in enumerate(asked)]

    def rivals(self, asked: RecallQuery) -> list[Place]:
        """The decided mentions of the equal string if it was decided in several ways, so that only contexts can
        distinguish them."""
        found = [(trace.ids, place) for trace in map(self._live, self._equal(asked)) for place in trace.places(asked)]
        return [place for _, place in found] if len({ids for ids, _ in found}) > 1 else []

    def _recall(self, asked: RecallQuery, similar: FLOATS, likeness: Likeness | None) -> Recalled:
        equal = self._equal(asked)
        counts = [(self._live(row), self._live(row).count(asked)) for row in equal]
        counts = [(trace, votes) for trace, votes in counts if votes.times]
        nearest = self._nearest(asked, similar, set(equal))
        share = _shares(counts, asked, likeness)
        return Recalled(
            total=sum(vote.times for _, vote in counts),
            votes=_by_entity(counts),
            share={e: sum(part for ids, part in share.items() if e in ids) for ids in share for e in ids},
            nearest={e: max(cosine for ids, cosine in nearest.items() if e in ids) for ids in nearest for e in ids},
            nil_votes=_added(vote for trace, vote in counts if trace.ids == NIL),
            nil_share=share.get(NIL, 0.0),
            nil_nearest=nearest.get(NIL, 0.0),
        )

    def counted(self, recalled: Recalled, entities: Iterable[str], *, without: str = "") -> Recalled:
        """The votes with the number of decided documents other than ``without``, and of those in which each entity was
        decided."""
        documents = len(self._by_document) - (without in self._by_document)
        if not documents:
            return recalled
        found = {entity: self._popular[entity] for entity in entities if entity in self._popular}
        counts = {entity: len(known) - (without in known) for entity, known in found.items()}
        return replace(recalled, documents=documents, popular={one: count for one, count in counts.items() if count})

    def _equal(self, asked: RecallQuery) -> list[int]:
        return [row for row in sorted(self._by_text.get(asked.text, ())) if _compatible(asked, self._live(row))]

    def _nearest(self, asked: RecallQuery, similar: FLOATS, equal: set[int]) -> dict[Outcome, float]:
        """Outcome → cosine of its nearest other string, at least ``NEAR``."""
        rows = np.flatnonzero(similar >= NEAR)
        best = rows[np.argsort(-similar[rows], kind="stable")[:MAX_NEAR]]
        found: dict[Outcome, float] = {}
        for row in best:
            trace = self._traces[row]
            if trace is None or int(row) in equal or trace.ids in found or not _compatible(asked, trace):
                continue
            if trace.answers(asked):
                found[trace.ids] = min(1.0, float(similar[row]))
        return found

    def _trace(self, decided: RememberedDecision, vector: FLOATS) -> Trace:
        for row in self._by_text.get(decided.text, ()):
            trace = self._live(row)
            if trace.ids == decided.ids and trace.types == decided.types:
                return trace
        trace = Trace(self._new_row(), decided.text, decided.types, decided.ids)
        self._traces[trace.row] = trace
        self._matrix[trace.row] = vector
        self._by_text[decided.text].add(trace.row)
        return trace

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        self._traces.append(None)
        if len(self._traces) > len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        return len(self._traces) - 1

    def _drop(self, trace: Trace) -> None:
        self._traces[trace.row] = None
        self._matrix[trace.row] = 0.0
        self._free.append(trace.row)
        self._by_text[trace.text].discard(trace.row)

    def _live(self, row: int) -> Trace:
        trace = self._traces[row]
        assert trace is not None
        return trace


def _compatible(asked: RecallQuery, trace: Trace) -> bool:
    """Whether both have types that allow the same entities; no types allow all."""
    return not asked.types or not trace.types or any(one in trace.types for one in asked.types)


def _shares(
    counts: Sequence[tuple[Trace, Votes]], asked: RecallQuery, likeness: Likeness | None
) -> dict[Outcome, float]:
    """Outcome → its share of the votes, weighted by the similarity of contexts if there are several outcomes; the
    shares sum to n / (n + ½)."""
    weight: dict[Outcome, float] = defaultdict(float)
    rivals = len({trace.ids for trace, _ in counts}) > 1
    for trace, votes in counts:
        like = likeness((asked.own, asked.key), trace.places(asked)) if rivals and likeness else 0.0
        weight[trace.ids] += votes.times * float(np.exp(CONTEXT_SHARPNESS * like))
    times, whole = sum(votes.times for _, votes in counts), sum(weight.values())
    return {ids: part / whole * times / (times + 0.5) for ids, part in weight.items()}


def _by_entity(counts: Sequence[tuple[Trace, Votes]]) -> dict[str, Votes]:
    entities = dict.fromkeys(entity for trace, _ in counts for entity in trace.ids)
    return {entity: _added(vote for trace, vote in counts if entity in trace.ids) for entity in entities}


def _added(votes: Iterable[Votes]) -> Votes:
    found = tuple(votes)
    return Votes(sum(vote.times for vote in found), sum(vote.documents for vote in found))

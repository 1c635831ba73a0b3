"""The quality of a part on its own: before training, at each validation, and after training.

A retriever searches all entities that a mention's types allow if their vectors are available (a frozen tower, with its
current projection). If they would have to be encoded first, and for SOM, it searches a pool: the gold entities and the
best candidates of the linker in use. A re-ranker orders the linker's first candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.encoders.encoders import normalized
from models.linker.tuning import average_precision
from models.vectors.index import VectorIndex
from training.data.document_splits import place
from training.data.domains import Domain
from training.data.examples import Example
from training.loop.towers import FloatArray, Towers
from training.losses.base import Similarity, scores
from training.negatives.kinship import Rows
from training.negatives.mined import gold_and_best
from training.tasks.vectors import at_rest, mention_vectors, pool_vectors

# The quality of a trained part alone, before and after training, on the same mentions.

Recall = tuple[float, float]


def search(
    mentions: FloatArray,
    entities: FloatArray,
    examples: Sequence[Example],
    kb: KnowledgeBase,
    *,
    similarity: Similarity,
    k: int,
) -> tuple[FloatArray, Rows]:
    """(m, k) scores and entity rows, best first, filled with −inf and −1 if there are fewer; the mentions' types
    restrict the candidates."""
    if similarity is Similarity.COSINE:
        mentions, entities = normalized(mentions), normalized(entities)
    index = VectorIndex.build(entities)
    scores = np.full((len(examples), k), -np.inf, dtype=np.float32)
    found = np.full((len(examples), k), -1, dtype=np.int64)
    for types in dict.fromkeys(example.types for example in examples):
        group = [number for number, example in enumerate(examples) if example.types == types]
        scores[group], found[group] = index.search(mentions[group], k, ranges=kb.ranges(types))
    return scores, found


def rerank(mentions: FloatArray, entities: FloatArray, candidates: Sequence[Sequence[int]]) -> list[list[int]]:
    """Each mention's candidate rows, nearest first by Euclidean distance; ties keep the given order."""
    ordered = []
    for vector, rows in zip(mentions, candidates, strict=True):
        apart = np.linalg.norm(entities[list(rows)] - vector, axis=1) if rows else np.zeros(0)
        ordered.append([rows[place] for place in np.argsort(apart, kind="stable")])
    return ordered


def recall(ranked: Sequence[Sequence[int]] | Rows, examples: Sequence[Example], *, k: int) -> Recall:
    """(recall@1, recall@k) by any-match over linked examples; 0 without any."""
    pairs = [(list(rows), example.gold) for rows, example in zip(ranked, examples, strict=True) if example.gold]
    if not pairs:
        return 0.0, 0.0
    first = sum(bool(set(rows[:1]) & set(gold)) for rows, gold in pairs)
    among = sum(bool(set(rows[:k]) & set(gold)) for rows, gold in pairs)
    return first / len(pairs), among / len(pairs)


POOL = 2000
VALIDATED = 300
"""Held-out mentions evaluated during training: enough for a curve."""
AT_ONCE = 64
LARGE = 1e30


@dataclass(frozen=True, slots=True)
class Figures:
    """Recall by any-match over linked mentions; `nil_aupr` of the first score as a sign of NIL, 0 without NIL."""

    recall_at_1: float
    recall_at_k: float
    nil_aupr: float

    def live(self) -> dict[str, float]:
        """The figures in the form of an event of the training phase."""
        return {"recall_at_1": self.recall_at_1, "recall_at_64": self.recall_at_k, "nil_aupr": self.nil_aupr}


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """`examples` are held out; `candidates` are the rows that the linker in use found for each, best first.

    With `ranks`, the part orders the first `first` of them; otherwise it retrieves `k` entities.
    """

    examples: Sequence[Example]
    candidates: Sequence[Sequence[int]]
    kb: KnowledgeBase
    similarity: Similarity
    ranks: bool
    first: int
    k: int

    def some(self) -> Judge:
        """The same judge with at most VALIDATED of the examples, chosen by a hash of their keys."""
        keep = sorted(range(len(self.examples)), key=lambda n: place(self.examples[n].key, salt="validated"))
        chosen = sorted(keep[:VALIDATED])
        examples, candidates = [self.examples[n] for n in chosen], [self.candidates[n] for n in chosen]
        return replace(self, examples=examples, candidates=candidates)

    def figures(self, towers: Towers, vectors: FloatArray | None = None) -> Figures:
        """Figures of the current towers; `vectors` [E, d] are those of all entities, if available."""
        if not self.examples:
            return Figures(0.0, 0.0, 0.0)
        if self.ranks:
            return self._figures(*self._reordered(towers, vectors))
        if vectors is not None and self.similarity is not Similarity.SOM:
            mentions = mention_vectors(towers, self.examples)
            found, rows = search(mentions, vectors, self.examples, self.kb, similarity=self.similarity, k=self.k)
            return self._figures(rows.tolist(), found[:, 0])
        return self._figures(*self._pooled(towers))

    def _reordered(self, towers: Towers, vectors: FloatArray | None) -> tuple[list[list[int]], FloatArray]:
        """The first candidates, nearest first, and the negated distance of the nearest."""
        own = [list(rows[: self.first]) for rows in self.candidates]
        known = vectors if vectors is not None else self._candidate_vectors(towers, own)
        mentions = mention_vectors(towers, self.examples)
        ordered = rerank(mentions, known, own)
        nearest = [
            -float(np.linalg.norm(known[rows[0]] - mention)) if rows else -np.inf
            for mention, rows in zip(mentions, ordered, strict=True)
        ]
        return ordered, np.asarray(nearest, dtype=np.float32)

    def _candidate_vectors(self, towers: Towers, own: Sequence[Sequence[int]]) -> FloatArray:
        """(E, d), filled only for candidate rows."""
        needed = sorted({row for rows in own for row in rows})
        found = pool_vectors(towers, needed)
        vectors = np.zeros((len(self.kb.entities), found.shape[1]), dtype=np.float32)
        vectors[needed] = found
        return vectors

    def _pooled(self, towers: Towers) -> tuple[list[list[int]], FloatArray]:
        """Rows of the pool, best first, and the best score."""
        pool = np.asarray(gold_and_best(self.examples, self.candidates, limit=POOL), dtype=np.int64)
        found = pool_scores(towers, self.examples, pool, similarity=self.similarity)
        for types in dict.fromkeys(example.types for example in self.examples):
            group = np.asarray([example.types == types for example in self.examples])
            found[np.ix_(group, ~Domain(self.kb.ranges(types)).holds(pool))] = -np.inf
        order = np.argsort(-found, axis=1, kind="stable")[:, : self.k]
        ranked = [
            [int(pool[at]) for at in line if np.isfinite(own[at])] for line, own in zip(order, found, strict=True)
        ]
        return ranked, found.max(axis=1, initial=-np.inf)

    def _figures(self, ranked: Sequence[Sequence[int]], best: FloatArray) -> Figures:
        at_1, at_k = recall(ranked, self.examples, k=self.first if self.ranks else self.k)
        nil = np.asarray([not example.gold for example in self.examples])
        return Figures(at_1, at_k, average_precision(-np.nan_to_num(best, neginf=-LARGE, posinf=LARGE), nil))


def pool_scores(
    towers: Towers, examples: Sequence[Example], pool: NDArray[np.int64], *, similarity: Similarity
) -> FloatArray:
    """(examples, pool) scores computed in evaluation mode without a graph; the networks' mode is restored."""
    tokens = similarity is Similarity.SOM
    found = np.zeros((len(examples), len(pool)), dtype=np.float32)
    with at_rest(towers.mention, towers.entity):
        entities = towers.entity_side(pool, tokens=tokens).whole()
        for start in range(0, len(examples), AT_ONCE):
            mentions = towers.mention_side(examples[start : start + AT_ONCE], tokens=tokens).whole()
            found[start : start + AT_ONCE] = scores(mentions, entities, similarity).float().cpu().numpy()
    return found

"""How good a trained part is by itself: before training against after, on the same mentions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.core.kb import KnowledgeBase
from models.encoders.encoders import normalized
from models.vectors.index import VectorIndex
from training.data.examples import Example
from training.loop.towers import FloatArray
from training.losses import Similarity
from training.negatives import Rows

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
    """(m, k) scores and entity rows, best first, −inf and −1 where there are fewer; candidates are restricted by the
    mentions' types."""
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

"""Coherence: what another mention of the document is likely to be is the likelier answer here too.

Documents keep to their subject: "the polyposis" after "familial adenomatous polyposis", "FMR1 deficiency" in a document
about fragile X syndrome. How likely a candidate is at its own mention is told by a softmax over the fused scores,
before any coherence; mentions of equal wording say nothing about each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.core import MentionQuery
from models.names import CandidateTable
from models.retrievers import DOCUMENT, MEMORY, FusionWeights
from models.text import sorted_key

FLOATS = NDArray[np.float32]
TEMPERATURE = 0.03
LEAST = 0.05
"""Less likely candidates of another mention are no evidence."""


def add_coherence(
    queries: Sequence[MentionQuery], tables: Sequence[CandidateTable], fusion: FusionWeights
) -> tuple[list[CandidateTable], list[FLOATS]]:
    """The mentions of one document with the stage "document", and what that were if nothing had been decided.

    (c,) each: the highest chance of a candidate at a mention of another wording, in [0, 1].
    """
    values = _coherence(queries, tables, fusion)
    decided = any(bool(table.scores[MEMORY].any()) for table in tables if MEMORY in table.scores)
    bare = [CandidateTable(t.rows, t.matched, {k: v for k, v in t.scores.items() if k != MEMORY}) for t in tables]
    alone = _coherence(queries, bare, fusion) if decided else values
    return [table.with_scores(DOCUMENT, own) for table, own in zip(tables, values, strict=True)], alone


def _coherence(
    queries: Sequence[MentionQuery], tables: Sequence[CandidateTable], fusion: FusionWeights
) -> list[FLOATS]:
    keys = [sorted_key(query.variants[0].text) if query.variants else "" for query in queries]
    best: dict[int, dict[str, float]] = defaultdict(dict)  # row → wording → its highest chance there
    for key, table in zip(keys, tables, strict=True):
        chances = _chances(fusion.fuse(table.scores))
        for at in np.flatnonzero(chances >= LEAST):
            known = best[int(table.rows[at])]
            known[key] = max(known.get(key, 0.0), float(chances[at]))
    return [
        np.asarray([_elsewhere(best.get(int(row), {}), key) for row in table.rows], dtype=np.float32)
        for key, table in zip(keys, tables, strict=True)
    ]


def _chances(fused: FLOATS) -> FLOATS:
    weights = np.exp((fused - fused.max(initial=-np.inf)) / TEMPERATURE)
    return np.asarray(weights / max(1e-9, float(weights.sum())), dtype=np.float32)


def _elsewhere(found: dict[str, float], key: str) -> float:
    return max((chance for other, chance in found.items() if other != key), default=0.0)

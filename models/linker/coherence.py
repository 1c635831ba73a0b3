"""Coherence: an entity that is likely at another mention of the document is more likely here too.

Documents stay on their subject: "the polyposis" after "familial adenomatous polyposis", "FMR1 deficiency" in a document
about fragile X syndrome. A softmax over the fused scores, before any coherence, gives the probability of a candidate at
its own mention. Mentions with the same wording do not count for each other. Entities broader or narrower than a likely
answer count as well: documents often name a disease and its kinds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.core import Hierarchy, MentionQuery
from models.names import CandidateTable
from models.rankers import Elsewhere
from models.retrievers import DOCUMENT, MEMORY, FusionWeights
from models.text import sorted_key

FLOATS = NDArray[np.float32]
TEMPERATURE = 0.03
LEAST = 0.05
"""Less likely candidates of another mention are no evidence."""
Chances = defaultdict[int, dict[str, float]]
"""Of an entity's row: by wording, the highest chance at a mention of that wording."""


def add_coherence(
    queries: Sequence[MentionQuery], tables: Sequence[CandidateTable], fusion: FusionWeights, hierarchy: Hierarchy
) -> tuple[list[CandidateTable], list[Elsewhere], list[Elsewhere]]:
    """The mentions of one document with the stage "document", what it rests on, and what that were if nothing had been
    decided."""
    values = _coherence(queries, tables, fusion, hierarchy)
    decided = any(bool(table.scores[MEMORY].any()) for table in tables if MEMORY in table.scores)
    bare = [CandidateTable(t.rows, t.matched, {k: v for k, v in t.scores.items() if k != MEMORY}) for t in tables]
    alone = _coherence(queries, bare, fusion, hierarchy) if decided else values
    found = [table.with_scores(DOCUMENT, own.same) for table, own in zip(tables, values, strict=True)]
    return found, values, alone


def _coherence(
    queries: Sequence[MentionQuery], tables: Sequence[CandidateTable], fusion: FusionWeights, hierarchy: Hierarchy
) -> list[Elsewhere]:
    keys = [sorted_key(query.variants[0].text) if query.variants else "" for query in queries]
    same: Chances = defaultdict(dict)
    for key, table in zip(keys, tables, strict=True):
        chances = _chances(fusion.fuse(table.scores))
        for at in np.flatnonzero(chances >= LEAST):
            _raise(same[int(table.rows[at])], key, float(chances[at]))
    below: Chances = defaultdict(dict)  # of entities broader than those
    for row, known in same.items():
        for above in hierarchy.above(row):
            for key, chance in known.items():
                _raise(below[above], key, chance)
    return [_elsewhere(table, key, same, below, hierarchy) for key, table in zip(keys, tables, strict=True)]


def _elsewhere(table: CandidateTable, key: str, same: Chances, below: Chances, hierarchy: Hierarchy) -> Elsewhere:
    rows = table.rows.tolist()
    other = {row: _highest(known, key) for row, known in same.items()}
    return Elsewhere(
        np.asarray([other.get(row, 0.0) for row in rows], dtype=np.float32),
        np.asarray([_highest(below[row], key) if row in below else 0.0 for row in rows], dtype=np.float32),
        np.asarray(
            [max((other[one] for one in hierarchy.above(row) if one in other), default=0.0) for row in rows],
            dtype=np.float32,
        ),
    )


def _raise(known: dict[str, float], key: str, chance: float) -> None:
    known[key] = max(known.get(key, 0.0), chance)


def _chances(fused: FLOATS) -> FLOATS:
    weights = np.exp((fused - fused.max(initial=-np.inf)) / TEMPERATURE)
    return np.asarray(weights / max(1e-9, float(weights.sum())), dtype=np.float32)


def _highest(known: dict[str, float], key: str) -> float:
    return max((chance for other, chance in known.items() if other != key), default=0.0)

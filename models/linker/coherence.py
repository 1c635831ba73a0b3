"""Coherence: an entity that is likely for another mention of the document is more likely here too.

Documents keep to one subject: "the polyposis" after "familial adenomatous polyposis", "FMR1 deficiency" in a document
about fragile X syndrome. A softmax over the fused scores, without coherence, gives the probability of a candidate for
its own mention. Mentions with the same wording do not count for each other. Entities broader or narrower than a likely
answer count as well: documents often name a disease and its kinds. What definitions say of each other is in
``models.linker.relations``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.core.queries import MentionQuery
from models.linker.relations import Relations
from models.names.candidates import CandidateTable
from models.rankers.conventions import Elsewhere
from models.retrievers.fusion import DOCUMENT, MEMORY, FusionWeights
from models.text.normalise import sorted_key

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
TEMPERATURE = 0.03
LEAST = 0.05
SURE = 0.5
"""Less likely candidates of another mention are not evidence; what definitions name must be surer."""
Chances = defaultdict[int, dict[int, float]]
"""By an entity's row and a wording's number: the highest probability at a mention of that wording."""


def add_coherence(
    text: str,
    queries: Sequence[MentionQuery],
    tables: Sequence[CandidateTable],
    fusion: FusionWeights,
    kb: KnowledgeBase,
    *,
    relates: bool = True,
) -> tuple[list[CandidateTable], list[Elsewhere], list[Elsewhere]]:
    """The mentions of one document, whose ``text`` is given, with the stage "document", its evidence, and the same with
    an empty memory. Mentions with the same wording and candidates need to be given only once. Without ``relates`` there
    are no relations: reading definitions takes time."""
    texts = [sorted_key(query.variants[0].text) if query.variants else "" for query in queries]
    number = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    keys = [number[text] for text in texts]
    values = _coherence(text, keys, tables, fusion, kb, relates=relates)
    decided = any(bool(table.scores[MEMORY].any()) for table in tables if MEMORY in table.scores)
    bare = [CandidateTable(t.rows, t.matched, {k: v for k, v in t.scores.items() if k != MEMORY}) for t in tables]
    alone = _coherence(text, keys, bare, fusion, kb, relates=relates) if decided else values
    found = [table.with_scores(DOCUMENT, own.same) for table, own in zip(tables, values, strict=True)]
    return found, values, alone


def _coherence(
    text: str,
    keys: Sequence[int],
    tables: Sequence[CandidateTable],
    fusion: FusionWeights,
    kb: KnowledgeBase,
    *,
    relates: bool,
) -> list[Elsewhere]:
    hierarchy = kb.hierarchy
    same: Chances = defaultdict(dict)
    for key, table in zip(keys, tables, strict=True):
        chances = _chances(fusion.fuse(table.scores))
        likely = np.flatnonzero(chances >= LEAST)
        for row, chance in zip(table.rows[likely].tolist(), chances[likely].tolist(), strict=True):
            _raise(same[row], key, chance)
    below: Chances = defaultdict(dict)  # by broader entities of those
    above: Chances = defaultdict(dict)  # by candidates narrower than those
    for row, known in same.items():
        for one in hierarchy.above(row):
            for key, chance in known.items():
                _raise(below[one], key, chance)
    for row in set().union(*(table.rows.tolist() for table in tables)):
        for one in hierarchy.above(row) & same.keys():
            for key, chance in same[one].items():
                _raise(above[row], key, chance)
    columns = [_Likely.of(one) for one in (same, below, above)]
    sure = {row: frozenset(key for key, chance in known.items() if chance >= SURE) for row, known in same.items()}
    relations = Relations(kb, text, {row: at for row, at in sure.items() if at}) if relates else None
    found = []
    for key, table in zip(keys, tables, strict=True):
        same_one, broader, narrower = (one.of_others(key, table.rows) for one in columns)
        found.append(Elsewhere(same_one, broader, narrower, None if relations is None else partial(relations.of, key)))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Likely:
    """(n,) each: entities, the highest probability of each, its wording, and the highest with any other wording."""

    rows: INTS
    best: FLOATS
    wording: INTS
    second: FLOATS

    @classmethod
    def of(cls, chances: Chances) -> _Likely:
        first_two = [sorted(known.items(), key=lambda one: -one[1])[:2] for known in chances.values()]
        return cls(
            np.asarray(list(chances), dtype=np.int64),
            np.asarray([two[0][1] for two in first_two], dtype=np.float32),
            np.asarray([two[0][0] for two in first_two], dtype=np.int64),
            np.asarray([two[1][1] if len(two) > 1 else 0.0 for two in first_two], dtype=np.float32),
        )

    def of_others(self, wording: int, rows: INTS) -> FLOATS:
        """(c,): the highest probability of some ascending rows at mentions of another wording, 0 without one."""
        found = np.zeros(len(rows), dtype=np.float32)
        if len(rows) and len(self.rows):
            place = np.minimum(np.searchsorted(rows, self.rows), len(rows) - 1)
            hit = rows[place] == self.rows
            found[place[hit]] = np.where(self.wording == wording, self.second, self.best)[hit]
        return found


def _raise(known: dict[int, float], key: int, chance: float) -> None:
    known[key] = max(known.get(key, 0.0), chance)


def _chances(fused: FLOATS) -> FLOATS:
    weights = np.exp((fused - fused.max(initial=-np.inf)) / TEMPERATURE)
    return np.asarray(weights / max(1e-9, float(weights.sum())), dtype=np.float32)

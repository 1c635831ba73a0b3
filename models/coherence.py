"""Coherence: an entity that another mention of the same document names outright is the likelier one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.candidates import LEXICAL, NAMES, CandidateTable
from models.fusion import DOCUMENT
from models.queries import MentionQuery

ANCHOR_SCORE = 0.97


def add_coherence(queries: Sequence[MentionQuery], tables: Sequence[CandidateTable]) -> list[CandidateTable]:
    """Coherence: 1 for an entity that another mention of the document names outright, else 0."""
    anchors: dict[int, set[tuple[object, ...]]] = {}
    for query, table in zip(queries, tables, strict=True):
        stage = table.scores.get(NAMES, table.scores.get(LEXICAL))
        if stage is None or not len(stage):
            continue
        for row in table.rows[stage >= ANCHOR_SCORE]:
            anchors.setdefault(int(row), set()).add((query.variants, query.types))
    result = []
    for query, table in zip(queries, tables, strict=True):
        own = (query.variants, query.types)
        values = [float(bool(anchors.get(int(row), set()) - {own})) for row in table.rows]
        result.append(table.with_scores(DOCUMENT, np.asarray(values, dtype=np.float32)))
    return result

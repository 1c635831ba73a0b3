"""The ranker in the pipeline: which candidates of which mentions it scores anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.candidates import CandidateTable, regroup
from models.fusion import FusionWeights
from models.stages import Stages
from models.types import DocumentInput

RANKER = "ranker"


def add_ranker(
    stages: Stages,
    fusion: FusionWeights,
    batch: Sequence[DocumentInput],
    found: Sequence[Sequence[CandidateTable]],
) -> list[list[CandidateTable]]:
    """Score the first candidates (by fusion without ranker) anew; the others get the worst score given."""
    ranker = stages.ranker
    assert ranker is not None
    pairs = [(d, m) for d in batch for m in d.mentions]
    tables = [table for group in found for table in group]
    real = [at for at, table in enumerate(tables) if len(table.rows)]
    tops = {at: np.argsort(-fusion.fuse(tables[at].scores), kind="stable") for at in real}
    chosen = {at: order[: stages.ranker_top_k] for at, order in tops.items()}
    scores = ranker.score([pairs[at] for at in real], [tables[at].rows[chosen[at]] for at in real])
    values_of = dict(zip(real, scores, strict=True))
    result = []
    for at, table in enumerate(tables):
        values = np.zeros(len(table.rows), dtype=np.float32)
        if at in values_of:
            values[:] = values_of[at].min()
            values[chosen[at]] = values_of[at]
        result.append(table.with_scores(RANKER, values))
    return regroup(result, found)

"""Trained retrievers in the pipeline: their candidates join those found by name, and every stage scores all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from models.candidates import CandidateTable, Lookup, PreparedLookup, regroup
from models.queries import MentionQuery
from models.stages import Stages
from models.types import DocumentInput


def add_trained(
    stages: Stages,
    batch: Sequence[DocumentInput],
    queries: Sequence[Sequence[MentionQuery]],
    prepared: Mapping[Lookup, PreparedLookup],
    *,
    k: int,
) -> list[list[CandidateTable]]:
    """Unite the trained retrievers' candidates with those by name, and score all by all."""
    pairs = [(d, m) for d in batch for m in d.mentions]
    flat = [query for group in queries for query in group]
    real = [at for at, query in enumerate(flat) if query.variants]
    rows = [prepared[(query.variants, query.types)].rows for query in flat]
    vectors = {r.name: r.towers.encode_mentions([pairs[at] for at in real]) for r in stages.trained}
    for retriever in stages.trained:
        for types in dict.fromkeys(flat[at].types for at in real):
            group = [place for place, at in enumerate(real) if flat[at].types == types]
            ranges = stages.kb.ranges(types)
            _, hits = retriever.search(vectors[retriever.name][group], k, ranges=ranges)
            for place, hit in zip(group, hits, strict=True):
                rows[real[place]] = np.union1d(rows[real[place]], hit[hit >= 0])
    place_of = {at: place for place, at in enumerate(real)}
    tables = []
    for at, query in enumerate(flat):
        table = prepared[(query.variants, query.types)].table(rows[at])
        for retriever in stages.trained:
            values = np.zeros(len(table.rows), dtype=np.float32)
            if at in place_of and len(values):
                values = retriever.score(vectors[retriever.name][place_of[at]], table.rows)
            table = table.with_scores(retriever.name, values)
        tables.append(table)
    return regroup(tables, queries)

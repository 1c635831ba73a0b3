"""Trained retrievers in the pipeline: their candidates join those found by name, and every stage scores all.

They are asked only about mentions that names do not settle: a text that is a name of exactly one entity needs no
context. Encoding a mention in its context takes longer than all else, and four mentions of five are settled in
biomedical abstracts and in wikis. If the decisions show that it helps, they are also asked where the memory does not
know the text, and it is part of another candidate's name: "Ezra" is a person, but may mean the "Book of Ezra".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from models.core.queries import MentionQuery
from models.linker.answering import EXACT
from models.linker.stages import Stages
from models.names.candidates import LEXICAL, CandidateTable, PreparedLookup, regroup
from models.rankers.combiner import words_in
from models.retrievers.biencoder import AskedMentions
from models.types import DocumentInput

INTS = NDArray[np.int64]
AT_ONCE = 128  # mentions whose encoded contexts are kept, 64 tokens each for SOM


def add_trained(
    stages: Stages,
    batch: Sequence[DocumentInput],
    queries: Sequence[Sequence[MentionQuery]],
    prepared: Sequence[Sequence[PreparedLookup]],
    *,
    k: int,
    doubted: Sequence[bool],
) -> list[list[CandidateTable]]:
    """Unite the trained retrievers' candidates with those by name, and score all by all.

    ``doubted`` says for each mention whether they are also asked if its text is the name of one candidate and part of
    another's.

    An empty mention has no wordings: like one that its name settles, it is neither searched for nor scored.
    """
    pairs = [(d, m) for d in batch for m in d.mentions]
    flat = [query for group in queries for query in group]
    lookups = [lookup for group in prepared for lookup in group]
    names = stages.kb.names
    settled = [is_settled(lookup, names, unless_part=doubt) for lookup, doubt in zip(lookups, doubted, strict=True)]
    open_ones = [at for at, query in enumerate(flat) if query.variants and not settled[at]]
    found: dict[int, CandidateTable] = {}
    for start in range(0, len(open_ones), AT_ONCE):
        part = open_ones[start : start + AT_ONCE]
        asked = {retriever.name: retriever.ask([pairs[at] for at in part]) for retriever in stages.trained}
        rows = _candidates(stages, asked, [flat[at] for at in part], [lookups[at].rows for at in part], k=k)
        for place, at in enumerate(part):
            found[at] = _scored(asked, place, lookups[at].table(rows[place]))
    tables = [found[at] if at in found else _unscored(stages, lookups[at]) for at in range(len(flat))]
    return regroup(tables, queries)


def is_settled(lookup: PreparedLookup, names: Sequence[str], *, unless_part: bool) -> bool:
    """Whether the text is a name of exactly one candidate, and with ``unless_part`` not part of the name of another."""
    table = lookup.table()
    exact = table.scores.get(LEXICAL, np.zeros(0, dtype=np.float32)) >= EXACT
    if int(exact.sum()) != 1:
        return False
    own = words_in(names[int(table.matched[exact][0])])
    return not (unless_part and any(own < words_in(names[at]) for at in table.matched[~exact].tolist()))


def _candidates(
    stages: Stages, asked: Mapping[str, AskedMentions], queries: Sequence[MentionQuery], rows: list[INTS], *, k: int
) -> list[INTS]:
    """Each mention's rows by name, and the rows that the trained retrievers find among its types."""
    for types in dict.fromkeys(query.types for query in queries):
        places = [place for place, query in enumerate(queries) if query.types == types]
        ranges = stages.kb.ranges(types)
        for mentions in asked.values():
            _, hits = mentions.search(places, k, ranges=ranges)
            for place, hit in zip(places, hits, strict=True):
                rows[place] = np.union1d(rows[place], hit[hit >= 0])
    return rows


def _scored(asked: Mapping[str, AskedMentions], place: int, table: CandidateTable) -> CandidateTable:
    for name, mentions in asked.items():
        values = mentions.score(place, table.rows) if len(table.rows) else np.zeros(0, dtype=np.float32)
        table = table.with_scores(name, values)
    return table


def _unscored(stages: Stages, lookup: PreparedLookup) -> CandidateTable:
    table = lookup.table()
    for retriever in stages.trained:
        table = table.with_scores(retriever.name, np.zeros(len(table.rows), dtype=np.float32))
    return table

"""When the ranker is asked, and that the mentions it is not asked about are left as they were."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from models.linker.reranking import MENTIONS_BETWEEN_LOOKS, RANKER, Doubt, lead, rerank
from models.linker.stages import Stages
from models.names.candidates import LEXICAL, NAMES, CandidateTable, regroup
from models.rankers.ranker import FLOATS, RerankRule, relative_by_softmax
from models.retrievers.biencoder import Mentions
from models.retrievers.fusion import RELATIVE, FusionWeights
from models.types import DocumentInput, MentionInput

FUSION = FusionWeights({NAMES: 1.0, LEXICAL: 0.0, RANKER: 1.0}, {RANKER: RELATIVE})


class Clock:
    """Seconds that pass only when a ranker works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class HighestRow:
    """A ranker that prefers high row numbers; each mention takes a second."""

    name = "highest"

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock
        self.asked: list[str] = []
        self.rows: list[list[int]] = []

    def score(self, mentions: Mentions, candidates: Sequence[NDArray[np.int64]]) -> list[FLOATS]:
        if self.clock is not None:
            self.clock.now += len(mentions)
        self.asked += [mention.key for _, mention in mentions]
        self.rows += [rows.tolist() for rows in candidates]
        return [rows.astype(np.float32) for rows in candidates]

    def relative(self, scores: FLOATS) -> FLOATS:
        return relative_by_softmax(scores)


def stages(ranker: HighestRow, rule: RerankRule) -> Stages:
    nothing = cast(Any, None)
    return Stages(nothing, nothing, (), ranker, rule, {RANKER: RELATIVE}, ())


def table(*names: float) -> CandidateTable:
    rows = np.arange(len(names), dtype=np.int64)
    return CandidateTable(rows, rows, {NAMES: np.asarray(names, dtype=np.float32)})


def document(key: str, mentions: int) -> DocumentInput:
    return DocumentInput(key, "text", tuple(MentionInput(f"{key}{n}", ((0, 1),)) for n in range(mentions)))


def add(
    loaded: Stages,
    batch: Sequence[DocumentInput],
    found: Sequence[Sequence[CandidateTable]],
    clock: Clock | None = None,
) -> list[list[CandidateTable]]:
    """The ranker over a batch whose other stage is NAMES alone."""
    pairs = [(document, mention) for document in batch for mention in document.mentions]
    tables = [one for group in found for one in group]
    doubts = [Doubt(np.argsort(-one.scores[NAMES]).tolist(), lead(one.scores[NAMES])) for one in tables]
    return regroup(rerank(loaded, pairs, tables, doubts, clock=clock or time.monotonic), found)


TABLES = [table(0.9, 0.5, 0.1), table(0.9, 0.88, 0.1, 0.05), table(0.7), table(), table(0.6, 0.6)]


def test_only_small_leads_are_asked_about_and_the_others_stay_as_they_were() -> None:
    ranker = HighestRow()
    loaded = stages(ranker, RerankRule(top_k=2, margin=0.05))
    (found,) = add(loaded, [document("d", 5)], [TABLES])
    assert ranker.asked == ["d1", "d4"]
    assert ranker.rows == [[0, 1], [0, 1]]
    for at in (0, 2, 3):
        assert not found[at].scores[RANKER].any()
        np.testing.assert_array_equal(FUSION.fuse(found[at].scores), FUSION.fuse(TABLES[at].scores))
    assert (loaded.tally.asked, loaded.tally.certain, loaded.tally.late) == (2, 3, 0)


def test_the_favourite_keeps_its_score_and_those_not_judged_stay_behind() -> None:
    ((_, found, *_),) = add(stages(HighestRow(), RerankRule(2)), [document("d", 5)], [TABLES])
    before, after = FUSION.fuse(TABLES[1].scores), FUSION.fuse(found.scores)
    odds = np.exp(-1.0)
    np.testing.assert_allclose(
        found.scores[RANKER], np.array([odds - 1, 0, odds - 1, odds - 1]) / (1 + odds), rtol=1e-5
    )
    assert after[1] == before[1]
    assert np.argsort(-after).tolist() == [1, 0, 2, 3]
    assert (after <= before).all()


def test_without_a_second_candidate_there_is_no_doubt() -> None:
    assert lead(table(0.9, 0.88).scores[NAMES]) == pytest.approx(0.02)
    for few in (table(0.4), table()):
        assert lead(few.scores[NAMES]) == float("inf")


def test_the_candidates_asked_about_are_the_first_of_the_linkers_order() -> None:
    ranker = HighestRow()
    doubts = [Doubt((2, 1, 0), 0.1), Doubt((0, 1, 2, 3), 0.8)]
    pairs = [(document("d", 2), MentionInput(key, ())) for key in "ab"]
    rerank(stages(ranker, RerankRule(2, margin=0.2)), pairs, TABLES[:2], doubts)
    assert ranker.asked == ["a"]
    assert ranker.rows == [[2, 1]]


def test_a_margin_below_zero_never_asks() -> None:
    ranker = HighestRow()
    (found,) = add(stages(ranker, RerankRule(margin=-1.0)), [document("d", 5)], [TABLES])
    assert ranker.asked == []
    assert not any(one.scores[RANKER].any() for one in found)


def test_the_time_budget_is_each_documents_own_and_doubtful_mentions_come_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    ranker = HighestRow(clock)
    loaded = stages(ranker, RerankRule(margin=0.5, seconds=5.0))
    leads = [0.30, 0.10, 0.20, 0.05, 0.40, 0.15, 0.25, 0.01, 0.45, 0.35]
    many = [table(0.9, 0.9 - own) for own in leads]
    with caplog.at_level(logging.WARNING, logger="models.linker.reranking"):
        first, second = add(loaded, [document("a", 10), document("b", 3)], [many, many[:3]], clock=clock)
    assert ranker.asked == ["a7", "a3", "a1", "a5", "a2", "a6", "a0", "a9", "b1", "b2", "b0"]
    assert [bool(one.scores[RANKER].any()) for one in first] == [n not in (4, 8) for n in range(10)]
    assert all(one.scores[RANKER].any() for one in second)
    np.testing.assert_array_equal(FUSION.fuse(first[8].scores), FUSION.fuse(many[8].scores))
    assert (loaded.tally.asked, loaded.tally.late, loaded.tally.seconds) == (11, 2, 11.0)
    assert loaded.tally.sentence() == (
        "The ranker was applied to 11 of 13 mentions, in 11.0 s; "
        "2 kept their order because their document's time limit was reached."
    )
    (record,) = caplog.records
    assert record.getMessage().startswith("The ranker's 5 s for one document were used up after 8 of 10")
    assert MENTIONS_BETWEEN_LOOKS == 4


def test_without_a_budget_all_mentions_share_one_call_and_the_answers_are_the_same() -> None:
    tables = [table(0.9, 0.9 - 0.01 * n, 0.3) for n in range(6)]
    batch, groups = [document("a", 4), document("b", 2)], [tables[:4], tables[4:]]
    one, other = (add(stages(HighestRow(), RerankRule(seconds=seconds)), batch, groups) for seconds in (None, 99.0))
    for left, right in zip([t for group in one for t in group], [t for group in other for t in group], strict=True):
        np.testing.assert_array_equal(left.scores[RANKER], right.scores[RANKER])

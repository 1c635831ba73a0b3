"""The ranker in the pipeline: which mentions it gets, and how its scores are used in fusion.

Margin rule: the ranker runs only if the calibrated margin is small (the first candidate's probability minus the
second's, both without the ranker). Time budget: within a document the smallest margins come first; when the time is up,
the remaining mentions keep their order.

Partial re-ranking: the stage ``ranker`` holds numbers in [−1, 0] for every candidate of every mention.

* A mention that the ranker did not get has 0 for all candidates: its fused scores are those without a ranker.
* For a mention that it got, the ranker's favourite has 0 and keeps its fused score; the others get lower scores. Since
  the weight is not in fusion's divisor (``models.retrievers.fusion.RELATIVE``), scores and NIL features of both kinds
  of mentions stay on one scale.
* Candidates beyond the first ``top_k`` get the lowest score given: they stay behind all scored candidates, in their
  order.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.linker.answering import Answerer, ScoredMention
from models.linker.stages import Stages
from models.names.candidates import CandidateTable
from models.rankers.ranker import FLOATS, Ranker
from models.types import DocumentInput, MentionInput

RANKER = "ranker"
MENTIONS_BETWEEN_LOOKS = 4
"""Mentions ranked between two checks of the time: enough for a full batch, few enough to stop in time."""
LOG = logging.getLogger(__name__)
Clock = Callable[[], float]
Pair = tuple[DocumentInput, MentionInput]


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """The other stages' order of a mention's candidates, as positions best first, and the lead of the first."""

    order: Sequence[int]
    lead: float


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A mention to rank: its position in the batch, its lead, and its first candidates as positions in its table."""

    at: int
    lead: float
    chosen: NDArray[np.intp]


def ask(
    stages: Stages, answerer: Answerer, scored: Sequence[ScoredMention], *, clock: Clock = time.monotonic
) -> list[ScoredMention]:
    """Add the ranker's scores to mentions scored by all other stages; mentions of one document are adjacent."""
    known = {id(one.document): {m.key: m for m in one.document.mentions} for one in scored}
    pairs = [(one.document, known[id(one.document)][one.query.key]) for one in scored]
    doubts = [doubt(answerer, one) for one in scored]
    tables = rerank(stages, pairs, [one.table for one in scored], doubts, clock=clock)
    return [replace(one, table=table) for one, table in zip(scored, tables, strict=True)]


def doubt(answerer: Answerer, mention: ScoredMention) -> Doubt:
    """The linker's order and its calibrated margin, without its ranker."""
    scores = {name: values for name, values in mention.table.scores.items() if name != RANKER}
    ranked = answerer.rank(replace(mention, table=replace(mention.table, scores=scores)))
    return Doubt(ranked.order, lead(ranked.probabilities))


def rerank(
    stages: Stages,
    pairs: Sequence[Pair],
    tables: Sequence[CandidateTable],
    doubts: Sequence[Doubt],
    *,
    clock: Clock = time.monotonic,
) -> list[CandidateTable]:
    """The tables with the stage ``ranker``; mentions of one document are adjacent."""
    assert stages.ranker is not None
    questions = _questions(stages, doubts)
    values = [np.zeros(len(table.rows), dtype=np.float32) for table in tables]
    for asked in _in_time(stages, pairs, questions, clock):
        rows = [tables[one.at].rows[one.chosen] for one in asked]
        given = stages.ranker.score([pairs[one.at] for one in asked], rows)
        for one, scores in zip(asked, given, strict=True):
            values[one.at] = _spread(stages.ranker, one, scores, size=len(values[one.at]))
    return [table.with_scores(RANKER, own) for table, own in zip(tables, values, strict=True)]


def lead(scores: FLOATS) -> float:
    """By how much the first of (c,) scores leads the second; infinite without a second one."""
    if len(scores) < 2:
        return float("inf")
    first_two = np.partition(scores, -2)[-2:]
    return float(first_two[1] - first_two[0])


def _questions(stages: Stages, doubts: Sequence[Doubt]) -> list[Question]:
    """The mentions within the rule's margin."""
    rule = stages.rule
    questions = [
        Question(at, own.lead, np.asarray(own.order[: rule.top_k], dtype=np.intp))
        for at, own in enumerate(doubts)
        if own.lead < np.inf and (rule.margin is None or own.lead <= rule.margin)
    ]
    stages.tally.certain += len(doubts) - len(questions)
    return questions


def _in_time(
    stages: Stages, pairs: Sequence[Pair], questions: Sequence[Question], clock: Clock
) -> Iterator[list[Question]]:
    """The questions in batches: all at once without a time budget, otherwise by document, smallest lead first."""
    limit, tally = stages.rule.seconds, stages.tally
    if limit is None:
        begun = clock()
        if questions:
            yield list(questions)
        tally.asked += len(questions)
        tally.seconds += clock() - begun
        return
    for group in _by_document(pairs, questions):
        begun, done = clock(), 0
        while done < len(group) and clock() - begun < limit:
            part = group[done : done + MENTIONS_BETWEEN_LOOKS]
            yield part
            done += len(part)
        tally.asked += done
        tally.late += len(group) - done
        tally.seconds += clock() - begun
        if done < len(group):
            LOG.warning(
                "The ranker's %g s for one document were used up after %d of %d doubtful mentions; the others keep "
                "their order.",
                limit,
                done,
                len(group),
            )


def _by_document(pairs: Sequence[Pair], questions: Sequence[Question]) -> Iterator[list[Question]]:
    """The questions of each document, smallest lead first."""
    groups: dict[int, list[Question]] = {}
    for one in questions:
        groups.setdefault(id(pairs[one.at][0]), []).append(one)
    for group in groups.values():
        yield sorted(group, key=lambda one: (one.lead, one.at))


def _spread(ranker: Ranker, one: Question, scores: FLOATS, *, size: int) -> FLOATS:
    """The stage's (size,) numbers: those of the scored candidates, and the lowest of these for the others."""
    relative = ranker.relative(scores)
    values = np.full(size, float(relative.min()), dtype=np.float32)
    values[one.chosen] = relative
    return values

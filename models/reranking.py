"""The ranker in the pipeline: which mentions it is asked about, and what its answers mean for fusion.

Margin rule: the ranker is asked only where the first candidate's lead on the fused scale is small. Time budget: within
a document the smallest leads come first; when the seconds are used up the rest keep their fused order.

What a partial re-ranking means: the stage ``ranker`` holds numbers in [−1, 0] for every candidate of every mention.

* A mention that was not asked about has 0 everywhere: its fused scores are those without a ranker.
* In a mention that was asked about the ranker's favourite has 0 and keeps its fused score; the others fall. Since the
  weight is not in fusion's divisor (``models.fusion.RELATIVE``), scores of both kinds of mentions stay on one scale,
  and so do the features that NIL is judged by.
* Candidates beyond the first ``top_k`` get the lowest number given: they stay behind every judged one, in their order.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.candidates import CandidateTable, regroup
from models.fusion import FusionWeights
from models.ranker import FLOATS, Ranker
from models.stages import Stages
from models.types import DocumentInput, MentionInput

RANKER = "ranker"
MENTIONS_BETWEEN_LOOKS = 4
"""Mentions asked about between two looks at the clock: enough for a full batch, little enough to stop in time."""
LOG = logging.getLogger(__name__)
Clock = Callable[[], float]
Pair = tuple[DocumentInput, MentionInput]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A mention to ask about: its place in the batch, its lead, its first candidates as positions in its table."""

    at: int
    lead: float
    chosen: NDArray[np.intp]


def add_ranker(
    stages: Stages,
    fusion: FusionWeights,
    batch: Sequence[DocumentInput],
    found: Sequence[Sequence[CandidateTable]],
    *,
    clock: Clock = time.monotonic,
) -> list[list[CandidateTable]]:
    """The tables of a batch of documents, in groups by document, with the stage ``ranker``."""
    pairs = [(document, mention) for document in batch for mention in document.mentions]
    tables = [table for group in found for table in group]
    order = [fused_without_ranker(fusion, table) for table in tables]
    return regroup(rerank(stages, pairs, tables, order, clock=clock), found)


def rerank(
    stages: Stages,
    pairs: Sequence[Pair],
    tables: Sequence[CandidateTable],
    order: Sequence[FLOATS],
    *,
    clock: Clock = time.monotonic,
) -> list[CandidateTable]:
    """The same for mentions one by one; mentions of one document stand together.

    ``order`` holds for each mention the (c,) scores by which its first candidates are taken and its lead is measured;
    any scores will do, such as calibrated probabilities, as long as the rule's margin was chosen on the same ones.
    """
    assert stages.ranker is not None
    questions = _questions(stages, order)
    values = [np.zeros(len(table.rows), dtype=np.float32) for table in tables]
    for asked in _in_time(stages, pairs, questions, clock):
        rows = [tables[one.at].rows[one.chosen] for one in asked]
        given = stages.ranker.score([pairs[one.at] for one in asked], rows)
        for one, scores in zip(asked, given, strict=True):
            values[one.at] = _spread(stages.ranker, one, scores, size=len(values[one.at]))
    return [table.with_scores(RANKER, own) for table, own in zip(tables, values, strict=True)]


def lead(order: FLOATS) -> float:
    """By how much the first of (c,) scores leads the second; infinite without a second one."""
    if len(order) < 2:
        return float("inf")
    first_two = np.partition(order, -2)[-2:]
    return float(first_two[1] - first_two[0])


def fused_without_ranker(fusion: FusionWeights, table: CandidateTable) -> FLOATS:
    """(c,) fused scores of all other stages."""
    return fusion.fuse({name: values for name, values in table.scores.items() if name != RANKER})


def _questions(stages: Stages, order: Sequence[FLOATS]) -> list[Question]:
    """The mentions within the rule's margin."""
    rule, questions = stages.rule, []
    for at, scores in enumerate(order):
        own = lead(scores)
        if own < np.inf and (rule.margin is None or own <= rule.margin):
            questions.append(Question(at, own, np.argsort(-scores, kind="stable")[: rule.top_k]))
    stages.tally.certain += len(order) - len(questions)
    return questions


def _in_time(
    stages: Stages, pairs: Sequence[Pair], questions: Sequence[Question], clock: Clock
) -> Iterator[list[Question]]:
    """The questions in parts: all at once without a time budget, otherwise document by document and doubtful first."""
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
    """The stage's (size,) numbers: the judged candidates' own, and the lowest of them for the others."""
    relative = ranker.relative(scores)
    values = np.full(size, float(relative.min()), dtype=np.float32)
    values[one.chosen] = relative
    return values

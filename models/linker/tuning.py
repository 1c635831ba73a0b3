"""Fitting a linker's weights, combiner and NIL on decided mentions, and evaluating it on others.

Gold is a set of primary entity ids for each (document key, mention key); the empty set is NIL. Mentions that are not in
it (rejected, skipped, undecided) are left out. Scored mentions never use their own document's decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.linker.answering import ScoredMention
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.rankers.combiner import FEATURES, Combiner, Labelled, default_combiner, fit_combiner
from models.rankers.nil import MIN_LINKED, MIN_NIL, NilModel, best_threshold, fit_nil
from models.rankers.stage_weights import (
    NO_NIL_WEIGHT,
    NO_WEIGHT,
    OPINION,
    StageChoice,
    as_choice,
    fit_both,
    fit_stage_weights,
)
from models.retrievers.fusion import FusionWeights, LabelledScores, fit_fusion
from models.retrievers.recalled import NOTHING
from models.types import DocumentInput, LinkedMention

Gold = Mapping[tuple[str, str], frozenset[str]]
MIN_FUSION = 100
MIN_COMBINER = 200
MIN_OPINIONS = 100
"""The least number of linked mentions with a second opinion for fitting the weight of opinions."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The fitted models, or the linker's own if there was too little data."""

    fusion: FusionWeights
    combiner: Combiner
    nil: NilModel


def tune(
    linker: Linker,
    documents: Iterable[DocumentInput],
    gold: Gold,
    *,
    stages: Sequence[str] | None = None,
    near: Combiner | None = None,
) -> Tuned:
    """Fit the combiner, its coefficients for each trained stage, then NIL with both, all on the same documents.

    The fusion weights of `stages` come first; none by default, since the weights of the untrained stages were chosen on
    far more mentions than a new project has, and trained stages are used in the combiner. The combiner stays close to
    the one shipped with the program, or to ``near``, which must not have been fitted on the same decisions.
    """
    scored = [m for m in linker.score(documents) if (m.document.key, m.query.key) in gold]
    return tune_scored(linker, scored, gold, stages=stages, near=near)


def tune_scored(
    linker: Linker,
    scored: Sequence[ScoredMention],
    gold: Gold,
    *,
    stages: Sequence[str] | None = None,
    near: Combiner | None = None,
    only_nil: bool = False,
) -> Tuned:
    """The same for already scored mentions. With fewer than 100 linked mentions the weights and coefficients of stages
    are not changed; with fewer than 200, or with ``only_nil``, neither is the combiner."""
    answers = [gold[mention.document.key, mention.query.key] for mention in scored]
    linked = [(mention, ids) for mention, ids in zip(scored, answers, strict=True) if ids]
    fusion, combiner = linker.fusion, linker.combiner
    if len(linked) >= MIN_FUSION:
        fusion = fit_fusion([label(mention, ids) for mention, ids in linked], start=fusion, stages=stages or ())
    if len(linked) >= MIN_COMBINER and not only_nil:
        present = linker.with_weights(fusion=fusion, combiner=combiner.ablated())
        learnt = learn_combiner(present, linked, near=near or default_combiner(linker.stages.names.stages))
        combiner = replace(learnt, stage_weights=combiner.stage_weights) if learnt is not None else combiner
    tuned = linker.with_weights(fusion=fusion, combiner=combiner)
    if len(linked) >= MIN_FUSION:
        own = [retriever.name for retriever in linker.stages.trained] + [RANKER] * (linker.stages.ranker is not None)
        for stage in own:
            tuned = fit_stage(tuned, linked, stage=stage)
        tuned = fit_opinion_weight(tuned, linked)
    is_nil = [not ids for ids in answers]
    tuned = tuned.with_weights(nil=learn_nil(tuned, scored, is_nil))
    for stage in tuned.combiner.stage_weights:
        tuned = fit_nil_weight(tuned, scored, is_nil, stage=stage)
    return Tuned(fusion, tuned.combiner, tuned.nil)


def fit_stage(linker: Linker, linked: Sequence[tuple[ScoredMention, frozenset[str]]], *, stage: str) -> Linker:
    """The linker whose combiner uses a trained stage to the extent that these mentions, which it did not learn from,
    support it.

    ``linked`` holds mentions with their gold ids. See ``models.rankers.stage_weights``.
    """
    probe = linker.with_weights(combiner=linker.combiner.with_stage_weights(stage, NO_WEIGHT))
    heads = [(probe.rank(mention).head, mention, ids) for mention, ids in linked]
    choices = [
        StageChoice(
            probe.combiner.logits(head.matrix, head.stages),
            head.stages[stage],
            np.asarray([mention.entity_ids[at] in ids for at in head.order], dtype=bool),
            mention.document.key,
            mention.query.types,
        )
        for head, mention, ids in heads
        if head is not None and stage in head.stages
    ]
    return linker.with_weights(combiner=linker.combiner.with_stage_weights(stage, fit_both(choices)))


def fit_opinion_weight(linker: Linker, linked: Sequence[tuple[ScoredMention, frozenset[str]]]) -> Linker:
    """The linker whose combiner uses a language model's second opinions to the extent that these mentions support it;
    mentions without an opinion have no influence. With fewer than 100 opinions, their coefficients do not change."""
    asked = [(mention, ids) for mention, ids in linked if mention.opinion is not None]
    return fit_stage(linker, asked, stage=OPINION) if len(asked) >= MIN_OPINIONS else linker


def fit_nil_weight(linker: Linker, scored: Sequence[ScoredMention], is_nil: Sequence[bool], *, stage: str) -> Linker:
    """The linker whose NIL model uses a trained stage to the extent that these mentions, which it did not learn from,
    support it.

    If fewer than 30 are NIL or fewer than 100 linked, or if NIL is only a threshold, NIL does not change.
    """
    if sum(is_nil) < MIN_NIL or len(is_nil) - sum(is_nil) < MIN_LINKED or not linker.nil.coefficients:
        return linker
    ablated = linker.nil.with_stage_weights(stage, None)
    probe = linker.with_weights(nil=ablated.with_stage_weights(stage, NO_NIL_WEIGHT))
    features = [probe.nil_features(mention) for mention in scored]
    choices = [
        as_choice(ablated.logit(one), np.asarray(one.stages[stage]), nil=nil, document=mention.document.key)
        for one, mention, nil in zip(features, scored, is_nil, strict=True)
        if stage in one.stages
    ]
    coefficients = fit_stage_weights(choices)
    if coefficients is None:
        return linker.with_weights(nil=ablated)
    weighted = ablated.with_stage_weights(stage, coefficients)
    threshold, _ = best_threshold(np.asarray([weighted.score(one) for one in features]), np.asarray(is_nil, dtype=bool))
    return linker.with_weights(nil=replace(weighted, threshold=threshold))


def learn_combiner(
    linker: Linker, linked: Sequence[tuple[ScoredMention, frozenset[str]]], *, near: Combiner | None = None
) -> Combiner | None:
    """Fitted on every mention twice, with and without the memory, so that it suits projects with many decisions and
    with none."""
    both = [(view, ids) for mention, ids in linked for view in _views(mention)]
    return fit_combiner([_head(linker, mention, ids) for mention, ids in both], near=near)


def learn_nil(linker: Linker, scored: Sequence[ScoredMention], is_nil: Sequence[bool]) -> NilModel:
    """Fitted on every mention with the memory and without; the threshold on the mentions as given."""
    features = [linker.nil_features(mention) for mention in scored]
    more = [
        (linker.nil_features(mention.without_memory()), nil)
        for mention, nil in zip(scored, is_nil, strict=True)
        if mention.recalled is not NOTHING
    ]
    return fit_nil(features, is_nil, default=linker.nil, more=more)


def _views(mention: ScoredMention) -> list[ScoredMention]:
    return [mention] if mention.recalled is NOTHING else [mention, mention.without_memory()]


def _head(linker: Linker, mention: ScoredMention, gold: frozenset[str]) -> Labelled:
    head = linker.rank(mention).head
    if head is None:
        return Labelled(np.zeros((0, len(FEATURES))), np.zeros(0, dtype=bool))
    return Labelled(head.matrix, np.asarray([mention.entity_ids[at] in gold for at in head.order], dtype=bool))


def label(mention: ScoredMention, gold: frozenset[str]) -> LabelledScores:
    """Which candidates are gold."""
    marks = np.asarray([entity_id in gold for entity_id in mention.entity_ids], dtype=bool)
    return LabelledScores(mention.table.scores, marks)


def evaluate(answers: Sequence[LinkedMention], gold: Sequence[frozenset[str]]) -> dict[str, float]:
    """Recall@1/5/64 over linked mentions by any-match; NIL precision, recall, F1 and auPR; accuracy over all."""
    linked = [(answer, ids) for answer, ids in zip(answers, gold, strict=True) if ids]
    figures = {"mentions": float(len(answers)), "linked": float(len(linked))}
    for k in (1, 5, 64):
        hits = sum(any(c.entity_id in ids for c in answer.candidates[:k]) for answer, ids in linked)
        figures[f"recall@{k}"] = hits / max(1, len(linked))
    truth = np.asarray([not ids for ids in gold], dtype=bool)
    called = np.asarray([answer.nil.is_nil for answer in answers], dtype=bool)
    right = int((truth & called).sum())
    precision, recall = right / max(1, int(called.sum())), right / max(1, int(truth.sum()))
    figures["nil_precision"], figures["nil_recall"] = precision, recall
    figures["nil_f1"] = 2 * precision * recall / max(1e-12, precision + recall)
    figures["nil_aupr"] = average_precision(np.asarray([answer.nil.score for answer in answers]), truth)
    correct = sum(
        answer.nil.is_nil == (not ids) and (not ids or answer.candidates[0].entity_id in ids)
        for answer, ids in zip(answers, gold, strict=True)
    )
    figures["accuracy_with_nil"] = correct / max(1, len(answers))
    return figures


def average_precision(scores: NDArray[np.floating], truth: NDArray[np.bool_]) -> float:
    """Area under the precision–recall curve of (n,) scores as a sum over distinct thresholds; 0 without positives."""
    if not truth.any():
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(truth[order])
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    precision = hits[ends] / (ends + 1)
    recall = hits[ends] / truth.sum()
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))

"""Fitting a linker's fusion weights and NIL on decided mentions, and measuring it on others.

Gold is a set of primary entity ids for each (document key, mention key); the empty set is NIL. A mention that
is absent (rejected, skipped, undecided) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from models.fusion import FusionWeights, LabelledScores, fit_fusion
from models.linker import Linker, ScoredMention
from models.nil import NilModel, fit_nil
from models.reranking import RANKER
from models.types import DocumentInput, LinkedMention

Gold = Mapping[tuple[str, str], frozenset[str]]
MIN_FUSION = 100


def tune(
    linker: Linker, documents: Iterable[DocumentInput], gold: Gold, *, stages: Sequence[str] | None = None
) -> tuple[FusionWeights, NilModel]:
    """Weights, then NIL under these weights, both on the same documents (the validation split).

    By default only the weights of trained stages and of the ranker are fitted: those of the untrained stages
    were chosen on far more mentions than a young project has.
    """
    scored = [m for m in linker.score(documents) if (m.document.key, m.query.key) in gold]
    return tune_scored(linker, scored, gold, stages=stages)


def tune_scored(
    linker: Linker, scored: Sequence[ScoredMention], gold: Gold, *, stages: Sequence[str] | None = None
) -> tuple[FusionWeights, NilModel]:
    """The same for mentions scored before. With fewer than 100 linked mentions the weights stay."""
    answers = [gold[mention.document.key, mention.query.key] for mention in scored]
    labelled = [label(mention, ids) for mention, ids in zip(scored, answers, strict=True) if ids]
    fusion = linker.fusion
    if len(labelled) >= MIN_FUSION:
        own = [retriever.name for retriever in linker.stages.trained] + [RANKER] * (linker.stages.ranker is not None)
        fusion = fit_fusion(labelled, start=linker.fusion, stages=own if stages is None else stages)
    tuned = linker.with_weights(fusion=fusion)
    features = [tuned.nil_features(mention) for mention in scored]
    return fusion, fit_nil(features, [not ids for ids in answers], default=linker.nil)


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
    """Area under the precision–recall curve as a sum over distinct thresholds; 0 without positives."""
    if not truth.any():
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(truth[order])
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    precision = hits[ends] / (ends + 1)
    recall = hits[ends] / truth.sum()
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))

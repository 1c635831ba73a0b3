"""Refitting a linker's fusion weights and NIL model on the documents set aside for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.fusion import FusionWeights, LabelledScores, fit_fusion
from models.linker import RANKER, Linker, ScoredMention
from models.nil import fit_nil
from models.types import LinkedMention
from training.gold import GoldSet

REFIT_ALL = 200
"""Linked mentions from which on all weights are refitted; with fewer only the new stage's."""


def refit(linker: Linker, scored: Sequence[ScoredMention], gold: GoldSet, *, stage: str) -> Linker:
    """The linker with weights and NIL model fitted on `scored`.

    The search starts from the present weights with weight 0 for the new `stage`, and changes one only for a gain: a
    stage that helps nothing keeps 0. A ranker's stage is fitted alone, as the others decide what it gets to see.
    """
    labels = {mention.key: mention for mention in gold.mentions}
    known = [(mention, labels[mention.query.key]) for mention in scored if mention.query.key in labels]
    labelled = [
        LabelledScores(mention.table.scores, np.isin(mention.entity_ids, label.ids))
        for mention, label in known
        if not label.nil
    ]
    start = FusionWeights(
        {**linker.fusion.weights, stage: 0.0}, linker.fusion.scales, fitted_on=linker.fusion.fitted_on
    )
    few = len(labelled) < REFIT_ALL or stage == RANKER
    fusion = fit_fusion(labelled, start=start, stages=[stage] if few else None)
    weighted = linker.with_weights(fusion=fusion)
    features = [weighted.nil_features(mention) for mention, _ in known]
    return weighted.with_weights(nil=fit_nil(features, [label.nil for _, label in known], default=linker.nil))


def cross_fitted(
    linker: Linker, folds: Sequence[Sequence[ScoredMention]], gold: GoldSet, *, stage: str, k: int
) -> list[LinkedMention]:
    """Answers in which each fold is linked under weights fitted on the other folds; one fold alone is fitted on
    itself."""
    found: list[LinkedMention] = []
    for number, fold in enumerate(folds):
        others = [mention for other, part in enumerate(folds) if other != number for mention in part]
        judge = refit(linker, others or fold, gold, stage=stage)
        found.extend(judge.finish(mention, k=k) for mention in fold)
    return found

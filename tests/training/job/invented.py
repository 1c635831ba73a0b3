"""Mentions with invented scores, and a linker that answers them with the real fusion, combiner and NIL model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from models.core.kb import KnowledgeBase
from models.core.queries import MentionQuery
from models.linker.answering import Answerer, Ranked, ScoredMention
from models.names.candidates import CandidateTable
from models.rankers.combiner import DEFAULT_COMBINER, Combiner
from models.rankers.nil import NilFeatures, NilModel
from models.retrievers.fusion import FusionWeights
from models.types import DocumentInput, EntityRecord, LinkedMention
from training.data.gold import GoldMention, GoldSet
from training.job.fitting import Refit

STAGE = "pel-pb"
CANDIDATES, A_DOCUMENT = 30, 6
KB = KnowledgeBase(tuple(EntityRecord(f"E{n:02}", f"entity number {n}", types=("Disease",)) for n in range(CANDIDATES)))
Stage = Callable[[np.random.Generator, int], np.ndarray]
"""(c,) scores of the stage for a mention, given where its gold stands."""


UNTRAINED = SimpleNamespace(names=SimpleNamespace(stages=("lexical", "names")), trained=(), ranker=None)


@dataclass(frozen=True)
class Weights:
    """What `refit` needs of a linker: its weights, and answers under them."""

    fusion: FusionWeights = field(default_factory=FusionWeights)
    combiner: Combiner = DEFAULT_COMBINER
    nil: NilModel = field(default_factory=lambda: NilModel(threshold=2.0))
    stages: Any = field(default_factory=lambda: UNTRAINED)

    def with_weights(self, **given: Any) -> Weights:
        return replace(self, **given)

    def _answerer(self) -> Answerer:
        return Answerer(KB, self.fusion, self.combiner, self.nil)

    def rank(self, mention: ScoredMention) -> Ranked:
        return self._answerer().rank(mention)

    def finish(self, mention: ScoredMention, *, k: int) -> LinkedMention:
        return self._answerer().answer(mention, k=k)

    def nil_features(self, mention: ScoredMention) -> NilFeatures:
        return self._answerer().nil_features(mention)


def oracle(_: np.random.Generator, gold: int) -> np.ndarray:
    """Right, by a tenth."""
    return np.where(np.arange(CANDIDATES) == gold, 0.6, 0.5)


def ignorant(draw: np.random.Generator, _: int) -> np.ndarray:
    return draw.uniform(0.2, 0.8, CANDIDATES)


def contrary(_: np.random.Generator, gold: int) -> np.ndarray:
    return np.where(np.arange(CANDIDATES) == gold, 0.4, 0.5)


def invented(count: int, stage: Stage, *, seed: int = 0, nil_every: int = 0) -> tuple[list[ScoredMention], GoldSet]:
    """Mentions of which the untrained stages put the right entity first in nine of ten, and NIL, near no name."""
    draw, mentions, gold = np.random.default_rng(seed), [], []
    for number in range(count):
        right = int(draw.integers(CANDIDATES))
        names = draw.uniform(0.2, 0.55, CANDIDATES)
        nil = bool(nil_every) and number % nil_every == 0
        names[right] = draw.normal(0.5 if nil else 0.82, 0.1 if nil else 0.19)
        lexical = np.clip(names + draw.normal(0, 0.08, CANDIDATES), 0, 0.99)
        scores = {
            "names": names,
            "lexical": lexical,
            STAGE: stage(draw, int(draw.integers(CANDIDATES)) if nil else right),
        }
        mentions.append(
            ScoredMention(
                DocumentInput(f"d{number // A_DOCUMENT}", "", ()),
                MentionQuery(str(number), "something", "something", (), ("Disease",)),
                CandidateTable(
                    np.arange(CANDIDATES),
                    np.arange(CANDIDATES),
                    {name: np.asarray(values, dtype=np.float32) for name, values in scores.items()},
                ),
                tuple(one.id for one in KB.entities),
            )
        )
        ids = () if nil else (f"E{right:02}",)
        gold.append(GoldMention(str(number), f"d{number // A_DOCUMENT}", "something", (), ids))
    return mentions, GoldSet(tuple(gold))


def sometimes_right(share: float) -> Stage:
    """Independent of the names: right in this share of mentions, by a tenth; else another is its favourite."""

    def stage(draw: np.random.Generator, gold: int) -> np.ndarray:
        favourite = gold if draw.random() < share else int(draw.integers(CANDIDATES))
        return np.where(np.arange(CANDIDATES) == favourite, 0.6, 0.5) + draw.normal(0, 0.005, CANDIDATES)

    return stage


def refit(linker: Any, scored: Iterable[ScoredMention], gold: GoldSet, **options: Any) -> Any:
    """The linker refitted on all of these mentions."""
    return Refit(linker, (tuple(scored),), gold, **options).fit()

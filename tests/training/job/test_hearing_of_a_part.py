"""What the combiner hears of a new stage: the real fusion, combiner and NIL model over invented scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.core.queries import MentionQuery
from models.linker.answering import Answerer, Ranked, ScoredMention
from models.names.candidates import CandidateTable
from models.rankers.combiner import DEFAULT_COMBINER, Combiner
from models.rankers.nil import NilFeatures, NilModel
from models.retrievers.fusion import FusionWeights
from models.types import DocumentInput, LinkedMention
from training.data.gold import GoldMention, GoldSet
from training.job.calibration import cross_fitted, refit

STAGE = "pel-pb"
CANDIDATES, A_DOCUMENT = 30, 6
KB: Any = SimpleNamespace(
    names=[f"entity number {n}" for n in range(CANDIDATES)],
    entities=[SimpleNamespace(id=f"E{n:02}", name=f"entity number {n}", types=("Disease",)) for n in range(CANDIDATES)],
)
Stage = Callable[[np.random.Generator, int], np.ndarray]
"""(c,) scores of the stage for a mention, given where its gold stands."""


@dataclass(frozen=True)
class Weights:
    """What `refit` needs of a linker: its weights, and answers under them."""

    fusion: FusionWeights = field(default_factory=FusionWeights)
    combiner: Combiner = DEFAULT_COMBINER
    nil: NilModel = field(default_factory=lambda: NilModel(threshold=2.0))

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
    """Mentions of which the untrained stages put the right entity first in nine of ten."""
    draw, mentions, gold = np.random.default_rng(seed), [], []
    for number in range(count):
        right = int(draw.integers(CANDIDATES))
        names = draw.uniform(0.2, 0.55, CANDIDATES)
        names[right] = draw.normal(0.82, 0.19)
        lexical = np.clip(names + draw.normal(0, 0.08, CANDIDATES), 0, 0.99)
        scores = {"names": names, "lexical": lexical, STAGE: stage(draw, right)}
        nil = bool(nil_every) and number % nil_every == 0
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


def right(linker: Any, mentions: Sequence[ScoredMention], gold: GoldSet) -> float:
    labels = {one.key: one.ids for one in gold.mentions}
    found = [linker.finish(one, k=1).candidates[0].entity_id in labels[one.query.key] for one in mentions]
    return sum(found) / len(found)


def test_an_oracle_with_a_small_lead_lifts_the_whole_linker() -> None:
    before: Any = Weights()
    taught, judged = invented(300, oracle), invented(600, oracle, seed=1)
    assert 0.91 < right(before, *judged) < 0.95
    after = refit(before, *taught, stage=STAGE)
    assert right(after, *judged) >= 0.98
    assert after.combiner.coefficients == DEFAULT_COMBINER.coefficients
    assert after.fusion == before.fusion


def test_what_the_fused_order_has_far_behind_is_reached() -> None:
    """The gold beyond the first twenty by name, which the combiner orders without a trained stage."""
    mentions, gold = invented(120, oracle)
    for mention, label in zip(mentions, gold.mentions, strict=True):
        at = int(label.ids[0][1:])
        for name in ("names", "lexical"):
            mention.table.scores[name][at] = 0.0
    before: Any = Weights()
    assert right(before, mentions, gold) == 0
    assert right(refit(before, mentions, gold, stage=STAGE), mentions, gold) >= 0.98


@pytest.mark.parametrize("stage", [ignorant, contrary])
def test_a_stage_that_helps_nothing_is_not_heard(stage: Stage) -> None:
    before: Any = Weights()
    taught, judged = invented(300, stage), invented(300, stage, seed=1)
    after = refit(before, *taught, stage=STAGE)
    assert not after.combiner.heard
    assert right(after, *judged) == right(before, *judged)


def test_a_few_documents_are_no_evidence() -> None:
    linker: Any = Weights()
    assert not refit(linker, *invented(4 * A_DOCUMENT, oracle), stage=STAGE).combiner.heard
    assert refit(linker, *invented(20 * A_DOCUMENT, oracle), stage=STAGE).combiner.heard


def test_each_fold_is_answered_under_what_the_others_say() -> None:
    """A stage that is right in the first half and wrong in the second: nobody's own documents speak for it."""
    linker: Any = Weights()
    mentions, gold = invented(240, oracle)
    other, other_gold = invented(240, contrary, seed=1)
    moved = [
        replace(one, document=DocumentInput(f"e{n // A_DOCUMENT}", "", ()), query=replace(one.query, key=f"e{n}"))
        for n, one in enumerate(other)
    ]
    labels = [replace(one, key=f"e{n}", document=f"e{n // A_DOCUMENT}") for n, one in enumerate(other_gold.mentions)]
    both = GoldSet((*gold.mentions, *labels))
    answers = cross_fitted(linker, [mentions, moved], both, stage=STAGE, k=1)
    alone = [linker.finish(one, k=1) for one in mentions]
    assert [one.candidates[0].entity_id for one in answers[:240]] == [one.candidates[0].entity_id for one in alone]


@pytest.mark.parametrize(("calibrated", "helps"), [(True, False), (True, True), (False, False)])
def test_nil_stays_where_it_was_calibrated_and_nothing_changes(calibrated: bool, helps: bool) -> None:
    old = NilModel(threshold=0.123, calibrated=calibrated)
    linker: Any = Weights(nil=old)
    mentions, gold = invented(240, oracle if helps else ignorant, nil_every=5)
    assert (refit(linker, mentions, gold, stage=STAGE).nil == old) is (calibrated and not helps)


def test_nil_calibrated_on_more_stays() -> None:
    old = NilModel(threshold=0.9, calibrated=True, fitted_nil=500, fitted_linked=5000)
    linker: Any = Weights(nil=old)
    mentions, gold = invented(240, oracle, nil_every=5)
    after = refit(linker, mentions, gold, stage=STAGE)
    assert after.combiner.heard
    assert after.nil == old

"""Only the new stage is weighed anew, and a useless one keeps the weight 0."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.rankers.nil import NilFeatures, NilModel
from models.retrievers.fusion import DEFAULT_WEIGHTS, FusionWeights
from models.retrievers.recalled import NOTHING
from training.data.gold import GoldMention, GoldSet
from training.job.refit import refit


class StandIn:
    """What `refit` needs of a linker: weights, a NIL model, and copies with others."""

    def __init__(self, fusion: FusionWeights, nil: NilModel) -> None:
        self.fusion, self.nil = fusion, nil

    def with_weights(self, *, fusion: FusionWeights | None = None, nil: NilModel | None = None) -> StandIn:
        return StandIn(fusion or self.fusion, nil or self.nil)

    def rank(self, mention: Any) -> Any:
        weights = np.exp(20 * self.fusion.fuse(mention.table.scores))
        return SimpleNamespace(probabilities=weights / weights.sum())

    def nil_features(self, mention: Any) -> NilFeatures:
        return NilFeatures(top=float(self.fusion.fuse(mention.table.scores).max()))


def scored(number: int, new_stage: list[float]) -> Any:
    """Two candidates; the untrained stages prefer the second, the gold is the first."""
    scores = {
        "names": np.asarray([0.6, 0.7], dtype=np.float32),
        "lexical": np.asarray([0.5, 0.5], dtype=np.float32),
        "pel-pb": np.asarray(new_stage, dtype=np.float32),
    }
    return SimpleNamespace(
        query=SimpleNamespace(key=str(number)),
        entity_ids=("gold", "other"),
        table=SimpleNamespace(scores=scores),
        recalled=NOTHING,
    )


def fitted(new_stage: list[float], count: int, *, right: int = 1000) -> FusionWeights:
    linker: Any = StandIn(FusionWeights(), NilModel(threshold=0.5))
    mentions = [scored(n, new_stage if n < right else new_stage[::-1]) for n in range(count)]
    gold = GoldSet(tuple(GoldMention(str(n), f"d{n // 6}", "x", (), ("gold",)) for n in range(count)))
    weights = refit(linker, mentions, gold, stage="pel-pb").fusion
    assert {name: weights.weights[name] for name in DEFAULT_WEIGHTS} == dict(DEFAULT_WEIGHTS), "the others stay"
    return weights


@pytest.mark.parametrize("count", [5, 400])
def test_a_stage_that_knows_better_gets_a_weight(count: int) -> None:
    assert fitted([0.9, 0.1], count).weights["pel-pb"] > 0


@pytest.mark.parametrize("count", [5, 400])
def test_a_stage_that_helps_nothing_keeps_none(count: int) -> None:
    assert fitted([0.1, 0.9], count).weights["pel-pb"] == 0


def test_a_gain_within_its_standard_error_is_none() -> None:
    one_document = fitted([0.9, 0.1], 6)
    assert one_document.weights["pel-pb"] > 0
    assert fitted([0.9, 0.1], 11, right=6).weights["pel-pb"] == 0, "as much worse in the second document"


@pytest.mark.parametrize(("calibrated", "helps"), [(True, False), (True, True), (False, False)])
def test_nil_stays_where_it_was_calibrated_and_nothing_changes(calibrated: bool, helps: bool) -> None:
    old = NilModel(threshold=0.123, calibrated=calibrated)
    linker: Any = StandIn(FusionWeights(), old)
    mentions = [scored(n, [0.9, 0.1] if helps else [0.1, 0.9]) for n in range(200)]
    nils = {n for n in range(200) if n % 5 == 0}
    gold = GoldSet(
        tuple(GoldMention(str(n), f"d{n // 6}", "x", (), () if n in nils else ("gold",)) for n in range(200))
    )
    assert (refit(linker, mentions, gold, stage="pel-pb").nil == old) is (calibrated and not helps)

"""Verdicts by plain cases, and with the real combiner over invented stages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from models.types import LinkedMention, NilEstimate, ScoredCandidate
from tests.training.job.invented import A_DOCUMENT, STAGE, Stage, Weights, invented, oracle, refit, sometimes_right
from training.data.gold import GoldMention, GoldSet
from training.job.fitting import Refit
from training.job.gate import (
    LIKELIHOOD,
    RECALL,
    RIGHT,
    ComponentQuality,
    Gain,
    GateOutcome,
    Part,
    gains_of,
    judge,
    likelihoods,
)

ALONE = ComponentQuality(0.4, 0.6, 0.8, 0.9)
GOLD = GoldSet(tuple(GoldMention(str(n), f"d{n // 4}", "x", (), ("A",) if n % 4 else ()) for n in range(80)))


def answers(right: Sequence[bool], *, sure: float = 0.8) -> list[LinkedMention]:
    """Of NIL mentions: flagged where right."""
    found = []
    for one, good in zip(GOLD.mentions, right, strict=True):
        nil = NilEstimate(sure if one.nil == good else 1 - sure, one.nil == good, True)
        other = ScoredCandidate("B", "b", (), "b", 1 - sure, {}, probability=(1 - sure) * (1 - nil.score))
        best = ScoredCandidate("A", "a", (), "a", sure, {}, probability=sure * (1 - nil.score))
        found.append(LinkedMention(one.key, "x", "x", (best, other) if good else (other, best), nil))
    return found


def shares(share: float) -> list[bool]:
    """Every fifth wrong, and so on, in all documents alike."""
    return [(n * share) % 1 < share for n in range(len(GOLD.mentions))]


@pytest.mark.parametrize(
    ("old", "new", "heard", "verdict"),
    [
        (0.6, 0.9, True, GateOutcome.PROMOTE),
        (0.9, 0.6, True, GateOutcome.REFUSED),
        (0.8, 0.8, True, GateOutcome.NO_GAIN),
        (0.9, 0.6, False, GateOutcome.NO_GAIN),
    ],
)
def test_verdicts(old: float, new: float, heard: bool, verdict: GateOutcome) -> None:
    result = judge(answers(shares(old)), answers(shares(new)), GOLD, Part("pel-pb", ALONE, heard))
    assert result.verdict is verdict
    assert "60.0 %" in result.sentence, "the part by itself"
    raw = json.loads(json.dumps(result.to_json()))
    assert raw["verdict"] == verdict.value
    assert set(raw["gains"]) == {LIKELIHOOD, RECALL, RIGHT}


def test_a_gain_of_one_document_is_none() -> None:
    before = [n >= 8 for n in range(80)]
    after = [n >= 4 for n in range(80)]
    result = judge(answers(before), answers(after), GOLD, Part("pel-pb", ALONE, True))
    assert result.gains[RIGHT].new > result.gains[RIGHT].old
    assert result.verdict is GateOutcome.NO_GAIN


def test_surer_answers_that_are_as_often_right_promote() -> None:
    """The likelihood is what rises; recall@1 and being right with NIL have not fallen."""
    right = [True] * 80
    result = judge(answers(right, sure=0.7), answers(right, sure=0.9), GOLD, Part("pel-pb", ALONE, True))
    assert result.verdict is GateOutcome.PROMOTE
    assert result.gains[RECALL] == Gain(1.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(("sure", "verdict"), [(0.995, GateOutcome.PROMOTE), (0.999, GateOutcome.NO_GAIN)])
def test_more_right_answers_promote_unless_the_decisions_became_less_likely(sure: float, verdict: GateOutcome) -> None:
    """Fewer mistakes, but surer ones: whether the decisions are more likely is open."""
    result = judge(answers(shares(0.75), sure=0.75), answers(shares(0.875), sure=sure), GOLD)
    likelihood = result.gains[LIKELIHOOD]
    assert result.gains[RIGHT].low > 0 > likelihood.low
    assert (likelihood.new >= likelihood.old) is (verdict is GateOutcome.PROMOTE)
    assert result.verdict is verdict


def test_likelihood_is_that_of_what_was_decided() -> None:
    found = likelihoods(answers([True] * 80), GOLD)
    linked, nil = 0.8 * (1 - 0.2), 0.8
    assert found[:4] == pytest.approx(np.log([nil, linked, linked, linked]))
    assert likelihoods([], GOLD) == pytest.approx(np.full(80, np.log(1e-3)))


def test_gains_are_differences_with_paired_intervals() -> None:
    gains = gains_of(answers(shares(0.75)), answers([True] * 80), GOLD)
    assert gains[RIGHT].old == pytest.approx(0.75)
    assert gains[RIGHT].new == 1.0
    assert gains[RIGHT].low <= 0.25 <= gains[RIGHT].high


@pytest.mark.parametrize(
    ("stage", "verdict"), [(oracle, GateOutcome.PROMOTE), (sometimes_right(0.0), GateOutcome.NO_GAIN)]
)
def test_what_is_judged_is_what_is_sealed(stage: Stage, verdict: GateOutcome) -> None:
    """With the real combiner: out of fold for the verdict, on all for the bundle."""
    linker: Any = Weights()
    mentions, gold = invented(40 * A_DOCUMENT, stage)
    folds = [[one for one in mentions if int(one.document.key[1:]) % 2 == at] for at in range(2)]
    old, new = (Refit(linker, folds, gold, name).answers(k=5) for name in ("", STAGE))
    sealed = refit(linker, mentions, gold, stage=STAGE)
    result = judge(old, new, gold, Part(STAGE, ALONE, STAGE in sealed.combiner.stage_weights))
    assert result.verdict is verdict

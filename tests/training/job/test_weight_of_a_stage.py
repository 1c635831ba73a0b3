"""What the combiner hears of a new stage: the real fusion, combiner and NIL model over invented scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from models.linker.answering import ScoredMention
from models.linker.tuning import fit_nil_weight
from models.rankers.combiner import DEFAULT_COMBINER
from models.rankers.nil import NilModel
from models.types import DocumentInput
from tests.training.job.invented import A_DOCUMENT, STAGE, Stage, Weights, contrary, ignorant, invented, oracle, refit
from training.data.gold import GoldSet
from training.job.fitting import Refit


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


@pytest.mark.soak
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
    assert not after.combiner.stage_weights
    assert right(after, *judged) == right(before, *judged)


def test_a_few_documents_are_no_evidence() -> None:
    linker: Any = Weights()
    assert not refit(linker, *invented(4 * A_DOCUMENT, oracle), stage=STAGE).combiner.stage_weights
    assert refit(linker, *invented(20 * A_DOCUMENT, oracle), stage=STAGE).combiner.stage_weights


@pytest.mark.soak
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
    answers = Refit(linker, (mentions, moved), both, STAGE).answers(k=1)
    alone = [linker.finish(one, k=1) for one in mentions]
    assert [one.candidates[0].entity_id for one in answers[:240]] == [one.candidates[0].entity_id for one in alone]


@pytest.mark.soak
@pytest.mark.parametrize("calibrated", [True, False])
def test_nil_stays_where_it_was_calibrated(calibrated: bool) -> None:
    old = NilModel(threshold=0.123, calibrated=calibrated)
    linker: Any = Weights(nil=old)
    after = refit(linker, *invented(480, oracle, nil_every=5), stage=STAGE)
    assert after.combiner.stage_weights
    assert (after.nil == old) is calibrated


@pytest.mark.soak
def test_nil_hears_a_stage_that_agrees() -> None:
    """A favourite among entities of which none fits is seldom the first by name; the model itself stays as it was."""
    before: Any = Weights()
    taught = invented(480, oracle, nil_every=5)
    after = refit(before, *taught, stage=STAGE)
    assert STAGE in after.nil.stage_weights
    assert refit(after, *taught, stage=STAGE).nil.stage_weights.keys() == {STAGE}
    _, agrees, _, rise, base = after.nil.stage_weights[STAGE]
    assert agrees + rise > 0
    assert base >= 0


@pytest.mark.soak
def test_nil_hears_nothing_of_a_part_that_is_not_heard() -> None:
    before: Any = Weights()
    heard = refit(before, *invented(480, oracle, nil_every=5), stage=STAGE)
    gone = refit(heard, *invented(480, ignorant, nil_every=5), stage=STAGE)
    assert not gone.combiner.stage_weights
    assert not gone.nil.stage_weights


@pytest.mark.soak
def test_few_nil_take_nothing_away_of_what_is_heard() -> None:
    """As when a bundle is calibrated on too few decisions: its NIL model stays whole."""
    linker: Any = Weights()
    linker = refit(linker, *invented(480, oracle, nil_every=5), stage=STAGE)
    mentions, gold = invented(240, oracle)
    assert linker.nil.stage_weights
    assert fit_nil_weight(linker, mentions, [one.nil for one in gold.mentions], stage=STAGE).nil == linker.nil


@pytest.mark.soak
def test_few_nil_teach_nothing_of_a_stage() -> None:
    before: Any = Weights(nil=NilModel(0.5, (1.0,) * 23, calibrated=True))
    after = refit(before, *invented(240, oracle), stage=STAGE)
    assert after.combiner.stage_weights
    assert after.nil == before.nil

"""How much a language model's answers count: the real fusion, combiner and NIL model over invented scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from models.linker.answering import ScoredMention
from models.linker.tuning import MIN_OPINIONS
from models.rankers.combiner import DEFAULT_COMBINER, Combiner
from models.rankers.stage_weights import NO_WEIGHT, OPINION
from tests.training.job.invented import CANDIDATES, KB, Weights, ignorant, invented
from training.data.gold import GoldSet
from training.job.fitting import fitted

IDS = [one.id for one in KB.entities]


def asked(count: int, right: float, *, seed: int = 0, of: int | None = None) -> tuple[list[ScoredMention], GoldSet]:
    """Mentions whose opinion is right in a share of `right`, else any candidate. `of`: only so many have one."""
    mentions, gold = invented(count, ignorant, seed=seed)
    draw = np.random.default_rng(seed + 100)
    said = []
    for at, (one, label) in enumerate(zip(mentions, gold.mentions, strict=True)):
        answer = label.ids[0] if draw.random() < right else IDS[int(draw.integers(CANDIDATES))]
        table = replace(one.table, scores={k: v for k, v in one.table.scores.items() if k in ("names", "lexical")})
        said.append(replace(one, table=table, opinion=answer if of is None or at < of else None))
    return said, gold


def right(linker: Any, mentions: Sequence[ScoredMention], gold: GoldSet) -> float:
    labels = {one.key: one.ids for one in gold.mentions}
    return float(
        np.mean([linker.finish(one, k=1).candidates[0].entity_id in labels[one.query.key] for one in mentions])
    )


def refitted(mentions: Sequence[ScoredMention], gold: GoldSet) -> Any:
    linker: Any = Weights()
    found = fitted(linker, mentions, gold)
    assert found is not None
    return found


def test_a_helpful_opinion_lifts_the_right_candidate_after_a_refit() -> None:
    taught, judged = asked(400, 0.9), asked(400, 0.9, seed=1)
    after = refitted(*taught)
    weights = [one for at, one in enumerate(after.combiner.stage_weights[OPINION]) if NO_WEIGHT[at] == 0]
    assert sum(weights) > 1.0
    assert right(after, *judged) >= right(Weights(), *judged) + 0.03
    doubted = next(
        (one, label.ids[0])
        for one, label in zip(judged[0], judged[1].mentions, strict=True)
        if one.opinion == label.ids[0] != Weights().finish(one, k=1).candidates[0].entity_id
    )
    mention, answer = doubted
    chance = {
        name: next(c.probability for c in after.finish(one, k=CANDIDATES).candidates if c.entity_id == answer)
        for name, one in (("asked", mention), ("not asked", replace(mention, opinion=None)))
    }
    assert chance["asked"] > chance["not asked"]


def test_a_random_opinion_gets_no_weight() -> None:
    after = refitted(*asked(400, 0.0))
    weights = [one for at, one in enumerate(after.combiner.stage_weights.get(OPINION, NO_WEIGHT)) if NO_WEIGHT[at] == 0]
    assert sum(weights) < 0.1


def test_too_few_opinions_are_not_fitted() -> None:
    assert OPINION not in refitted(*asked(400, 1.0, of=MIN_OPINIONS - 1)).combiner.stage_weights
    assert OPINION in refitted(*asked(400, 1.0, of=MIN_OPINIONS)).combiner.stage_weights


def test_a_linker_that_was_fitted_without_opinions_answers_as_if_there_were_none() -> None:
    before = Weights(combiner=Combiner.from_json(DEFAULT_COMBINER.to_json()) or DEFAULT_COMBINER)
    mentions, _ = asked(60, 0.5)
    silent = [replace(one, opinion=None) for one in mentions]
    assert [before.finish(one, k=64) for one in mentions] == [before.finish(one, k=64) for one in silent]
    assert OPINION not in json.dumps(before.combiner.to_json())


def test_a_mention_without_an_opinion_is_linked_as_by_the_same_linker_without_opinions() -> None:
    hearing = Weights(combiner=DEFAULT_COMBINER.with_stage_weights(OPINION, (0.8, 3.0, 1.0, 0.5, 0.5, 0.9, 1.0)))
    mentions, _ = asked(30, 0.5, of=0)
    assert [hearing.finish(one, k=64) for one in mentions] == [Weights().finish(one, k=64) for one in mentions]


@pytest.mark.parametrize(("opinion", "lifted"), [("E07", True), ("", False), ("X:1", False)])
def test_only_a_candidate_is_lifted(opinion: str, lifted: bool) -> None:
    """“None of these” and an entity that is no candidate leave the order of the candidates as it is."""
    hearing = Weights(combiner=DEFAULT_COMBINER.with_stage_weights(OPINION, (1.0, 50.0, 0.0, 0.0, 0.0, 1.0, 50.0)))
    [mention], _ = asked(1, 0.0)
    found = hearing.finish(replace(mention, opinion=opinion), k=64).candidates
    plain = hearing.finish(replace(mention, opinion=None), k=64).candidates
    assert (found[0].entity_id == "E07") is lifted
    if not lifted:
        assert [one.entity_id for one in found] == [one.entity_id for one in plain]

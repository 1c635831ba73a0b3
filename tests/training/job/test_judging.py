"""A part judged by itself: by all vectors, over a pool, and as a re-ranker."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.training.conftest import MakeSpec
from training.data.budget import Budget
from training.data.spec import TrainingSpec
from training.job.part_quality import VALIDATED, Judge, pool_scores
from training.job.preparation import Loaded, PreparedTowers, load, prepare, prepare_towers
from training.losses.base import Similarity
from training.negatives.mined import gold_and_best


def drain(work: Generator[Any, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


def prepared(make_spec: MakeSpec, recipe: str) -> tuple[Loaded, PreparedTowers]:
    loaded = drain(load(TrainingSpec.from_json(make_spec(recipe))))
    given = drain(prepare(loaded, Budget(None), shuffle_labels=False))
    return loaded, drain(prepare_towers(loaded, given, Budget(None)))


@pytest.mark.parametrize("recipe", ["pel-pb", "biencoder-dual"])
def test_a_pool_of_all_entities_is_the_search_of_all(make_spec: MakeSpec, recipe: str) -> None:
    loaded, towers = prepared(make_spec, recipe)
    everything = [tuple(range(len(loaded.kb.entities)))] * len(towers.held_out)
    judge = replace(towers.judge, candidates=everything)
    unfrozen = replace(towers.towers, entity_vectors=None)
    assert judge.figures(towers.towers, towers.vectors) == judge.figures(unfrozen)
    assert judge.figures(towers.towers, towers.vectors) == towers.before


def test_token_states_are_judged_over_the_pool(make_spec: MakeSpec) -> None:
    _, towers = prepared(make_spec, "amh-som")
    assert towers.vectors is None
    pool = np.asarray(gold_and_best(towers.held_out, towers.judge.candidates, limit=30))
    scores = pool_scores(towers.towers, towers.held_out, pool, similarity=Similarity.SOM)
    assert scores.shape == (len(towers.held_out), len(pool))
    one = pool_scores(towers.towers, towers.held_out[2:3], pool[:4], similarity=Similarity.SOM)
    np.testing.assert_allclose(one[0], scores[2, :4], rtol=1e-4)
    assert 0 <= towers.before.recall_at_1 <= towers.before.recall_at_k <= 1


def test_a_re_ranker_is_judged_among_the_linkers_candidates(make_spec: MakeSpec) -> None:
    _, towers = prepared(make_spec, "triplet")
    some = [rows[: towers.judge.first] for rows in towers.judge.candidates]
    among = np.mean([bool(set(own) & set(e.gold)) for own, e in zip(some, towers.held_out, strict=True) if e.gold])
    assert towers.before.recall_at_k == pytest.approx(among)
    unfrozen = replace(towers.towers, entity_vectors=None)
    assert towers.judge.figures(unfrozen) == towers.before


def test_the_pool_holds_all_gold_rows_and_then_the_best_in_turn(make_spec: MakeSpec) -> None:
    _, towers = prepared(make_spec, "pel-pb")
    one, two = (replace(towers.held_out[0], gold=gold) for gold in ((7,), (9,)))
    assert gold_and_best([one, two], [(1, 2, 3), (4,)], limit=5) == [1, 2, 4, 7, 9]
    assert gold_and_best([one, two], [(1, 2, 3), (4,)], limit=1) == [7, 9]


def test_only_some_mentions_are_looked_at_during_training_and_always_the_same(make_spec: MakeSpec) -> None:
    _, towers = prepared(make_spec, "pel-pb")
    many = [replace(towers.held_out[0], key=str(number)) for number in range(VALIDATED + 50)]
    judge = replace(towers.judge, examples=many, candidates=[()] * len(many))
    few = judge.some()
    assert len(few.examples) == len(few.candidates) == VALIDATED
    assert [one.key for one in few.examples] == [one.key for one in judge.some().examples]
    nobody = Judge([], [], judge.kb, judge.similarity, ranks=False, first=1, k=64)
    assert nobody.figures(towers.towers).live() == {"recall_at_1": 0.0, "recall_at_64": 0.0, "nil_aupr": 0.0}

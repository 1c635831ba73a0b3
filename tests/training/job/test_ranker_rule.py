"""The margin is chosen on scored mentions, and asking afterwards is the same as asking within the pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.linker.answering import ScoredMention
from models.linker.bundle import RankerSpec, publish
from models.linker.linker import Linker
from models.linker.reranking import RANKER, ask, doubt
from models.names.candidates import CandidateTable
from models.rankers.ranker import RerankRule
from models.types import DocumentInput
from tests.training.conftest import MakeSpec
from training.data.snapshot import read_snapshot
from training.job.job import run_training
from training.job.ranker_rule import (
    chosen_rule,
    rule_note,
    silent,
    with_margin,
    with_rule,
    without_ranker,
    without_time_limit,
)


@pytest.fixture
def trained(make_spec: MakeSpec) -> tuple[Linker, list[DocumentInput]]:
    spec = make_spec("prototype")
    list(run_training(spec))
    documents = [document.to_input() for document in read_snapshot(Path(spec["snapshot"])).documents]
    return Linker.load(publish(Path(spec["staging"])).path, device="cpu"), documents


@pytest.mark.soak
def test_asking_later_is_asking_within_the_pipeline(trained: tuple[Linker, list[DocumentInput]]) -> None:
    linker, documents = trained
    scored = list(silent(linker).score(documents))
    assert not any(one.table.scores[RANKER].any() for one in scored)
    rule = chosen_rule(with_rule(linker, RerankRule(4, share=0.25, seconds=9.0)), scored)
    assert rule.margin is not None
    assert (rule.top_k, rule.share, rule.seconds) == (4, 0.25, 9.0)
    ruled = with_rule(linker, replace(rule, seconds=None))
    later, within = ask(ruled.stages, ruled.answerer(), scored), list(ruled.score(documents))
    asked = sum(bool(one.table.scores[RANKER].any()) for one in later)
    assert len(scored) / 4 <= asked < len(scored) / 2
    for one, other in zip(later, within, strict=True):
        np.testing.assert_allclose(one.table.scores[RANKER], other.table.scores[RANKER], atol=1e-5)
    assert f"25 % of the {len(scored)} held-out mentions" in rule_note(rule, scored)
    assert "every mention" in rule_note(RerankRule(), scored)


@pytest.mark.soak
def test_the_margin_is_one_of_probabilities_without_the_ranker(trained: tuple[Linker, list[DocumentInput]]) -> None:
    linker, documents = trained
    asked = list(with_rule(linker, RerankRule(4)).score(documents))
    bare = without_ranker(linker)
    for one in asked:
        first, second, *_ = sorted(bare.rank(replace(one, table=_without_ranker(one))).probabilities, reverse=True)
        own = doubt(linker.answerer(), one)
        assert own.lead == pytest.approx(first - second)
        assert 0 <= own.lead <= 1


def _without_ranker(one: ScoredMention) -> CandidateTable:
    return replace(one.table, scores={name: values for name, values in one.table.scores.items() if name != RANKER})


@pytest.mark.soak
def test_views_of_a_linker_leave_it_as_it_was(trained: tuple[Linker, list[DocumentInput]]) -> None:
    linker, documents = trained
    hurried = with_rule(linker, replace(linker.stages.rule, seconds=0.0))
    assert without_time_limit(hurried).stages.rule.seconds is None
    assert hurried.stages.rule.seconds == 0
    assert hurried.stages.tally is not linker.stages.tally
    (bare, *_) = without_ranker(linker).link(documents)
    assert all(RANKER not in candidate.scores for mention in bare.mentions for candidate in mention.candidates)
    assert linker.stages.ranker is not None


def test_the_margin_is_written_into_the_manifests_entry() -> None:
    spec = RankerSpec("x", "cross", "rankers/x", (), 8, {"inputs": {"mention_tokens": 9}})
    ruled = with_margin(spec, 0.25)
    assert RerankRule.from_json(ruled.top_k, ruled.settings).margin == 0.25
    assert ruled.settings["inputs"] == {"mention_tokens": 9}
    again = with_margin(ruled, None)
    assert RerankRule.from_json(again.top_k, again.settings) == RerankRule(8)

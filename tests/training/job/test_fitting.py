"""Combiner and NIL fitted on the decisions: as a recipe of its own, beside a training, and twice on the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelError
from models.linker.bundle import Bundle, open_bundle, publish
from models.linker.linker import Linker
from models.linker.tuning import MIN_COMBINER
from models.rankers.combiner import DEFAULT_COMBINER
from models.types import DocumentInput
from resources.recipe_files import LEAST_REFITTED
from tests.training.conftest import MakeSpec, document_lines
from tests.training.job.invented import A_DOCUMENT, STAGE, Weights, invented, oracle, refit
from training.data.document_splits import MOST_IN_TURN, TURNS, in_turn
from training.data.snapshot import read_snapshot
from training.job.fitting import COMBINER_FITTED_ON, MIN_ORDER, CalibrationSet, InUse, fitted
from training.job.gate import RECALL, ComponentQuality, GateOutcome, Part, judge
from training.job.job import FITTED_ON, Refitted, of_both, run_training

DOCUMENTS = 45
ENOUGH = [*document_lines("train", DOCUMENTS - 10, seed=1), *document_lines("validation", 10, seed=2)]


def run(spec: Mapping[str, Any]) -> dict[str, Any]:
    *_, last = run_training(spec)
    result: dict[str, Any] = last.data["result"]
    return result


def conventions(make_spec: MakeSpec, **changes: Any) -> dict[str, Any]:
    return make_spec("conventions", **changes) | {"parameters": {}}


@pytest.fixture(autouse=True)
def few_links_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both combiner and NIL are refitted."""
    monkeypatch.setattr("training.job.job.MIN_ORDER", MIN_COMBINER)


@pytest.mark.soak
def test_no_network_is_trained_every_file_is_shared_and_the_same_decisions_again_are_no_gain(
    make_spec: MakeSpec, base_bundle: Bundle
) -> None:
    spec = conventions(make_spec, lines=ENOUGH)
    result = run(spec)
    bundle = open_bundle(spec["staging"], verify="full")
    old, new = base_bundle.manifest, bundle.manifest
    assert (new.kind, new.parent, new.retrievers) == ("conventions", old.id, old.retrievers)
    assert new.files == old.files
    assert all((bundle.path / name).samefile(base_bundle.path / name) for name in new.files)
    assert (new.combiner, new.nil) != (old.combiner, old.nil)
    assert len(new.training[FITTED_ON]) == DOCUMENTS
    assert new.training["folds"] == TURNS
    assert "alone" not in new.metrics
    assert new.metrics["links"] == result["metrics"]["gate"]["mentions"] >= LEAST_REFITTED
    assert result["verdict"] in set(GateOutcome)

    # the linker in use is fitted without each fold too: it would look better than it is on what it was fitted on
    published = publish(Path(spec["staging"]))
    again = conventions(make_spec, lines=ENOUGH, base=str(published.path))
    result = run(again)
    assert result["verdict"] == GateOutcome.NO_GAIN
    gains = result["metrics"]["gate"]["gains"].values()
    assert {(one["new"] - one["old"], one["low"], one["high"]) for one in gains} == {(0.0, 0.0, 0.0)}
    assert open_bundle(again["staging"]).manifest.combiner == published.manifest.combiner


@pytest.mark.soak
def test_with_few_links_only_nil_is_refitted(
    make_spec: MakeSpec, base_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.job.job.MIN_ORDER", MIN_ORDER)
    spec = conventions(make_spec, lines=ENOUGH)
    assert LEAST_REFITTED <= run(spec)["metrics"]["links"] < MIN_ORDER
    manifest = open_bundle(spec["staging"]).manifest
    assert "fewer than 1,000 links" in " ".join(manifest.training["notes"])
    assert manifest.nil != base_bundle.manifest.nil
    before, after = (Linker.load(path, device="cpu") for path in (base_bundle.path, Path(spec["staging"])))
    assert after.combiner == before.combiner


def test_too_few_decisions_are_refused_with_their_number(make_spec: MakeSpec) -> None:
    with pytest.raises(ModelError, match=r"125 linked mentions are not enough .* 200 are needed"):
        run(conventions(make_spec, lines=document_lines("train", 25, seed=1)))
    assert LEAST_REFITTED == MIN_COMBINER, "the window says before what the job would say after"


@pytest.mark.soak
def test_a_training_says_what_the_weights_alone_would_give(make_spec: MakeSpec) -> None:
    spec = make_spec("pel-pb", lines=ENOUGH)
    result = run(spec)
    manifest = open_bundle(spec["staging"]).manifest
    assert "without" in result["metrics"]
    assert len(manifest.training[FITTED_ON]) == DOCUMENTS, "the untrained stages learnt nothing from train documents"
    assert manifest.combiner
    assert "pel-pb" in result["message"]


@pytest.mark.soak
def test_documents_that_taught_a_stage_in_use_fit_nothing(make_spec: MakeSpec) -> None:
    spec = make_spec("pel-pb", lines=ENOUGH)
    run(spec)
    manifest = open_bundle(spec["staging"]).manifest
    heard = {"pel-pb": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)}
    from models.linker.bundle import seal  # as if the stage had been found worth hearing
    from models.rankers.combiner import Combiner

    combiner = Combiner.from_json(manifest.combiner)
    assert combiner is not None
    seal(Path(spec["staging"]), manifest.replace(combiner=replace(combiner, stage_weights=heard).to_json()))
    base = publish(Path(spec["staging"]))
    facts = run_facts(conventions(make_spec, lines=ENOUGH + more_validation(), base=str(base.path)))
    assert {key.partition("-")[0] for key in facts[FITTED_ON]} == {"validation", "later"}


def more_validation() -> list[dict[str, Any]]:
    lines = document_lines("validation", 40, seed=7)
    for line in lines:
        line["key"] = line["key"].replace("validation", "later")
        for mention in line["mentions"]:
            mention["key"] = f"later{mention['key']}"
    return lines


def run_facts(spec: dict[str, Any]) -> Mapping[str, Any]:
    run(spec)
    return open_bundle(spec["staging"]).manifest.training


def test_folds_in_turn(make_spec: MakeSpec) -> None:
    parts = in_turn(read_snapshot(Path(conventions(make_spec, lines=ENOUGH)["snapshot"])))
    assert [len(fold) for fold in parts.folds] == [DOCUMENTS // TURNS] * TURNS
    assert {one.key for one in parts.remembered} == {line["key"] for line in ENOUGH}
    many = document_lines("train", MOST_IN_TURN + 7, seed=3, per_document=1)
    parts = in_turn(read_snapshot(Path(conventions(make_spec, lines=many)["snapshot"])))
    assert (len(parts.held_out), len(parts.train), len(parts.remembered)) == (MOST_IN_TURN, 7, MOST_IN_TURN + 7)


def test_taught_leaves_out_a_fold_or_keeps_some_documents() -> None:
    mentions, _ = invented(4 * A_DOCUMENT, oracle)
    by = [tuple(mentions[start : start + A_DOCUMENT]) for start in range(0, len(mentions), A_DOCUMENT)]
    calibration = CalibrationSet(by[0], (by[1], by[2], by[3]))
    assert calibration.outside() == mentions
    assert calibration.outside(1) == [*by[0], *by[1], *by[3]]
    assert calibration.of({"d0", "d3"}) == CalibrationSet(by[0], ((), (), by[3]))
    assert calibration.documents == {"d0", "d1", "d2", "d3"}


def test_fewer_than_two_hundred_links_fit_nothing() -> None:
    linker: Any = Weights()
    mentions, gold = invented(210, oracle)
    assert fitted(linker, mentions[:199], gold) is None
    assert fitted(linker, mentions, gold) is not None


def test_weights_come_from_what_was_taught_and_hearing_from_what_was_held_out() -> None:
    linker: Any = Weights()
    calibration, gold = invented(300, oracle)
    held, held_gold = invented(240, oracle, seed=1)
    held = [
        replace(one, document=DocumentInput(f"e{n // A_DOCUMENT}", "", ()), query=replace(one.query, key=f"e{n}"))
        for n, one in enumerate(held)
    ]
    labels = tuple(
        replace(one, key=f"e{n}", document=f"e{n // A_DOCUMENT}") for n, one in enumerate(held_gold.mentions)
    )
    both = replace(gold, mentions=(*gold.mentions, *labels))
    after = refit(linker, held, both, stage=STAGE, calibration=CalibrationSet(tuple(calibration), ()))
    alone = fitted(linker, calibration, both)
    assert alone is not None
    assert after.combiner.coefficients == alone.combiner.coefficients
    assert STAGE in after.combiner.stage_weights


def test_the_sentence_says_what_the_part_added() -> None:
    linker: Any = Weights()
    mentions, gold = invented(240, oracle)
    old = [linker.finish(one, k=5) for one in mentions]
    heard = refit(linker, mentions, gold, stage=STAGE)
    new = [heard.finish(one, k=5) for one in mentions]
    alone = ComponentQuality(0.1, 0.2, 0.3, 0.4)
    told = judge(old, new, gold, Part(STAGE, alone, True, without=old))
    assert told.verdict is GateOutcome.PROMOTE
    assert f"would give {100 * told.gains[RECALL].old:.1f} %" in told.sentence
    silent = judge(old, new, gold, Part(STAGE, alone, False, without=new))
    assert silent.verdict is GateOutcome.PROMOTE
    assert f"“{STAGE}” is not used" in silent.sentence


def test_nil_alone_is_refitted_where_both_together_are_no_gain() -> None:
    scored, gold = invented(600, oracle, nil_every=5)
    old = [Weights().finish(one, k=8) for one in scored]
    better = refit(Weights(), (), gold, calibration=CalibrationSet(tuple(scored), ()), only_nil=True)
    assert better.combiner is DEFAULT_COMBINER
    assert better.nil.calibrated

    def refitted(linker: Any) -> Refitted:
        return Refitted(linker, gold, old, [linker.finish(one, k=8) for one in scored])

    same, nil = refitted(Weights()), refitted(better)
    assert of_both(same, nil) is nil
    assert of_both(nil, same) is nil
    assert of_both(refitted(Weights()), same) is same
    assert of_both(nil, refitted(better)).linker is better


def test_of_two_gains_the_one_with_more_fitted_must_be_the_better_one() -> None:
    scored, gold = invented(600, oracle, nil_every=5)
    old = [Weights().finish(one, k=8) for one in scored]
    nil = refit(Weights(), (), gold, calibration=CalibrationSet(tuple(scored), ()), only_nil=True)
    oracular = refit(nil, scored, gold, stage=STAGE)

    def refitted(linker: Any) -> Refitted:
        return Refitted(linker, gold, old, [linker.finish(one, k=8) for one in scored])

    simple, as_good, best = refitted(nil), refitted(nil), refitted(oracular)
    assert of_both(as_good, simple) is simple
    assert of_both(best, simple) is best


def test_nil_alone_is_judged_without_what_the_combiner_was_fitted_on() -> None:
    scored, gold = invented(900, oracle, nil_every=5)
    documents = sorted({one.document.key for one in scored})
    folds = tuple(tuple(one for one in scored if one.document.key in documents[at::3]) for at in range(3))
    calibration = CalibrationSet((), folds)
    linker: Any = refit(Weights(), (), gold, calibration=CalibrationSet(tuple(scored), ()))  # type: ignore[arg-type]
    facts: dict[str, Any] = {FITTED_ON: documents}
    assert InUse.of(linker, calibration, gold, facts).fit(0).combiner != linker.combiner
    old, nil = (InUse.of(linker, calibration, gold, facts, new_nil=new).answers(k=8) for new in (False, True))
    assert [one.candidates for one in old] == [one.candidates for one in nil], "the order of neither saw the fold"

    shipped: Any = Weights()
    only_nil = InUse.of(shipped, calibration, gold, {**facts, COMBINER_FITTED_ON: []}).fit(0)
    assert only_nil.combiner is DEFAULT_COMBINER, "what came with the program saw none of them"
    assert only_nil.nil.calibrated
    assert InUse.of(linker, calibration, gold, {}).fit(0) is linker


def test_all_documents_are_judged_in_folds_where_nothing_was_trained() -> None:
    scored, _ = invented(200, oracle)
    documents = sorted({one.document.key for one in scored})
    learnt = [one for one in scored if one.document.key in documents[:20]]
    rest = [one for one in scored if one.document.key not in documents[:20]]
    folds = CalibrationSet(tuple(learnt), (tuple(rest),)).in_folds()
    assert not folds.train
    assert len(folds.folds) == 5
    keys = [{one.document.key for one in fold} for fold in folds.folds]
    assert sum(map(len, keys)) == len(set.union(*keys)) == len(documents), "no document in two folds"
    assert sorted(one.query.key for one in folds.outside()) == sorted(one.query.key for one in scored)


def test_another_threshold_of_nil_alone_can_be_a_gain() -> None:
    scored, gold = invented(300, oracle)
    nil = Weights().nil
    often, never = Weights(nil=replace(nil, threshold=0.3)), Weights(nil=replace(nil, threshold=2.0))
    old, new = ([linker.finish(one, k=8) for one in scored] for linker in (often, never))
    assert any(one.nil.is_nil for one in old)
    assert judge(old, new, gold).verdict is GateOutcome.PROMOTE
    assert judge(new, old, gold).verdict is not GateOutcome.PROMOTE
    assert judge(old, old, gold).verdict is GateOutcome.NO_GAIN

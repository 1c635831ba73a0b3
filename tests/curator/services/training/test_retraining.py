"""Training, the gate's verdict, promotion and rollback, index builds; what a snapshot may hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curator.domain.decisions import Change, ChangeKind, RejectReason, Verdict
from curator.domain.documents import Split
from curator.domain.jobs import ActivationKind, GateVerdict, JobOutcome, JobState
from curator.domain.wording import UserError
from tests.curator.services.fakes import KB, World, document, finish, ignore

RECIPE = "pel-pb"
Train = Callable[[], JobOutcome]


@pytest.fixture
def indexed(world: World) -> World:
    world.kb()
    world.documents(3, gold=True)
    world.documents(2, first=10, name="v.pubtator", gold=True, split=Split.VALIDATION)
    world.documents(2, first=20, name="t.pubtator", gold=True, split=Split.TEST)
    world.index()
    return world


def train(world: World, **options: Any) -> JobOutcome:
    ended: list[JobOutcome] = []
    handle = world.project.retraining.start(RECIPE, on_progress=ignore, on_end=ended.append, **options)
    outcome = handle.wait(0)
    assert ended == [outcome]
    assert outcome is not None
    return outcome


def active(world: World) -> str:
    return next(one.id for one in world.project.retraining.bundles() if one.active)


def test_the_lexical_bundle_serves_before_the_full_one(indexed: World) -> None:
    kinds = [(kind, spec["stages"]) for kind, spec in indexed.jobs.started]
    assert kinds == [("index", ["lexical"]), ("index", ["lexical", "names"])]
    first, second = indexed.project.retraining.bundles()
    assert (first.active, second.active) == (False, True)
    assert not indexed.project.retraining.needs_index()
    assert list((indexed.project.folder / "jobs").iterdir()) == []


def test_a_failed_full_index_leaves_the_lexical_one(world: World) -> None:
    world.kb()
    built, failed = JobOutcome(JobState.DONE, "built"), JobOutcome(JobState.FAILED, "no memory")
    real, outcomes = world.jobs.work, [built, failed]

    def work(kind: str, spec: Any) -> JobOutcome:
        return real(kind, spec) if outcomes.pop(0) is built else failed

    world.jobs.work = work  # type: ignore[method-assign]
    ended: list[JobOutcome] = []
    world.project.retraining.build_index(on_progress=ignore, on_end=ended.append)
    assert ended == [failed]
    assert [one.stages for one in world.project.retraining.bundles()] == [("lexical",)]
    assert world.project.retraining.needs_index()
    assert not world.project.retraining.needs_index(lexical_only=True)
    assert list((world.project.folder / "bundles").glob(".staging-*")) == []


def test_an_index_built_anew_that_fails_leaves_the_full_one(indexed: World) -> None:
    before, failed = active(indexed), JobOutcome(JobState.FAILED, "no space")
    real = indexed.jobs.work
    indexed.jobs.work = lambda kind, spec: real(kind, spec) if spec["stages"] == ["lexical"] else failed  # type: ignore[method-assign]
    indexed.project.retraining.build_index(again=True, on_progress=ignore, on_end=ignore)
    assert len(indexed.project.retraining.bundles()) == 3, "the lexical one was built"
    assert active(indexed) == before


def test_an_index_does_not_replace_a_linker_that_the_disk_does_not_give(
    indexed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been trained. One whose files are gone is replaced."""
    before = active(indexed)
    manifest = indexed.project.folder / "bundles" / before / "manifest.json"
    real, broken = Path.open, True

    def read_small(path: Path) -> str:
        if broken and path == manifest:
            raise OSError(5, "Input/output error")
        with real(path, encoding="utf-8") as file:
            return file.read()

    monkeypatch.setattr("curator.jobs.bundles.read_small", read_small)
    ended: list[JobOutcome] = []
    indexed.project.retraining.build_index(on_progress=ignore, on_end=ended.append)
    assert "which may have been trained" in ended[0].message
    broken = False
    assert active(indexed) == before
    manifest.unlink()
    indexed.project.retraining.build_index(again=True, on_progress=ignore, on_end=ended.append)
    assert active(indexed) != before


def test_an_index_needs_a_knowledge_base(world: World) -> None:
    with pytest.raises(UserError, match="knowledge base"):
        world.project.retraining.build_index(on_progress=ignore, on_end=ignore)
    assert not world.project.retraining.needs_index()


def test_the_snapshot_holds_train_and_validation_and_never_test(indexed: World) -> None:
    train(indexed)
    splits = [one["split"] for one in indexed.jobs.seen]
    assert splits == ["train"] * 3 + ["validation"] * 2
    kind, spec = indexed.jobs.started[-1]
    assert kind == "train"
    assert spec["recipe"] == RECIPE
    assert spec["parameters"]["epochs"] >= 1
    assert not Path(spec["snapshot"]).exists(), "removed when the job has ended"


def test_only_links_and_nil_are_learnt(indexed: World) -> None:
    indexed.project.curation.decide(1, Verdict.reject(RejectReason.NOT_AN_ENTITY))
    indexed.project.curation.delete_mention(2)
    indexed.project.curation.decide(3, Verdict.link("MESH:D001145", "MESH:D006323"))
    train(indexed)
    mentions = indexed.jobs.seen[0]["mentions"]
    assert [(one["key"], one["gold"]) for one in mentions] == [
        ("1", None),
        ("3", {"ids": ["MESH:D001145", "MESH:D006323"], "nil": False}),
        ("4", {"ids": [], "nil": True}),
    ]
    assert mentions[1]["types"] == ["Disease"]
    assert mentions[1]["spans"] == [[49, 59]]


def test_what_was_shown_is_learnt_too(indexed: World) -> None:
    finish(indexed.project.suggestions.link_split(None))
    indexed.project.curation.decide(3, Verdict.link("MESH:D001145"))
    train(indexed)
    assert indexed.jobs.seen[0]["mentions"][2]["shown"] == ["MESH:D006323", "MESH:D001145"]
    assert indexed.jobs.seen[0]["mentions"][0]["shown"] == []


def test_a_better_bundle_serves_at_once_and_can_be_rolled_back(indexed: World) -> None:
    before = active(indexed)
    heard: list[Change] = []
    indexed.project.events.subscribe(heard.append)
    outcome = train(indexed)
    assert (outcome.result["active"], outcome.result["verdict"]) == (True, "promote")
    assert active(indexed) == outcome.result["bundle"]
    assert [one.kind for one in heard] == [ChangeKind.BUNDLE]
    earlier = indexed.project.retraining.earlier()
    assert earlier is not None
    assert earlier.id == before
    indexed.project.retraining.rollback()
    assert active(indexed) == before
    indexed.project.retraining.rollback()
    assert indexed.project.retraining.earlier() is None
    with pytest.raises(UserError, match="no earlier linker"):
        indexed.project.retraining.rollback()


def test_a_bundle_without_gain_is_kept_and_serves_when_the_curator_says_so(indexed: World) -> None:
    indexed.jobs.verdict = GateVerdict.NO_GAIN.value
    before = active(indexed)
    outcome = train(indexed)
    assert (outcome.result["active"], outcome.result["verdict"]) == (False, "no_gain")
    assert active(indexed) == before
    indexed.project.retraining.promote(outcome.result["bundle"])
    assert active(indexed) == outcome.result["bundle"]


def test_a_refused_bundle_is_kept_and_served_only_knowingly(indexed: World) -> None:
    verdict = GateVerdict.REFUSED
    before = active(indexed)
    indexed.jobs.verdict = verdict.value
    outcome = train(indexed)
    assert outcome.result["active"] is False
    assert active(indexed) == before
    kept = next(one for one in indexed.project.retraining.bundles() if one.id == outcome.result["bundle"])
    assert (kept.verdict, kept.recipe) == (verdict, RECIPE)
    with pytest.raises(UserError, match="reason"):
        indexed.project.retraining.promote(kept.id, reason=" ")
    assert active(indexed) == before
    indexed.project.retraining.promote(kept.id, reason="the rare names are right now")
    assert active(indexed) == kept.id
    last = indexed.project.retraining.activations()[-1]
    assert (last.bundle_id, last.kind, last.actor) == (kept.id, ActivationKind.CURATOR, "ada")
    assert last.reason == "the rare names are right now"


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED, JobState.CRASHED])
def test_a_job_that_does_not_end_well_changes_nothing(indexed: World, state: JobState) -> None:
    before = [one.id for one in indexed.project.retraining.bundles()], active(indexed)
    indexed.jobs.outcomes = [JobOutcome(state, "no")]
    assert train(indexed).state is state
    assert ([one.id for one in indexed.project.retraining.bundles()], active(indexed)) == before
    assert list((indexed.project.folder / "bundles").glob(".staging-*")) == []


def test_a_job_without_a_complete_bundle_fails_clearly(indexed: World) -> None:
    indexed.jobs.outcomes = [JobOutcome(JobState.DONE, "done")]
    outcome = train(indexed)
    assert outcome.state is JobState.FAILED
    assert "incomplete" in outcome.message


def test_a_bundle_of_another_knowledge_base_is_refused(indexed: World) -> None:
    old = active(indexed)
    indexed.kb(KB[:2], name="smaller.jsonl")
    indexed.jobs.kb_hash = "another"
    indexed.index()
    with pytest.raises(UserError, match="another knowledge base"):
        indexed.project.retraining.promote(old)
    indexed.project.retraining.rollback()
    with pytest.raises(UserError, match="no earlier linker"):
        indexed.project.retraining.rollback()


def test_a_preview_says_what_is_learnt_and_what_is_missing(world: World) -> None:
    world.kb()
    world.documents(3, gold=True)
    shown = world.project.retraining.preview(RECIPE)
    assert (shown.documents, shown.links, shown.left_out, shown.entities) == (3, 9, 3, 3)
    assert "at least 20 links" in shown.problem
    assert (shown.passed_over, shown.outside, shown.test_documents) == (0, 0, 0)
    world.documents(5, first=10, name="b.pubtator", gold=True)
    shown = world.project.retraining.preview(RECIPE)
    assert ("index" in shown.problem, shown.validation_decisions) == (True, 0), "a fifth of train judges"
    world.documents(2, first=30, name="v.pubtator", gold=True, split=Split.VALIDATION)
    shown = world.project.retraining.preview(RECIPE)
    assert (shown.validation_documents, shown.validation_decisions) == (2, 8)
    assert "index" in shown.problem
    world.index()
    shown = world.project.retraining.preview(RECIPE)
    assert shown.problem == ""
    assert shown.seconds == 0, "no run yet"
    train(world)
    assert world.project.retraining.preview(RECIPE).seconds == 240


def test_refitting_counts_both_splits_and_needs_two_hundred_links(world: World) -> None:
    world.kb()
    world.documents(3, gold=True)
    world.documents(2, first=30, name="v.pubtator", gold=True, split=Split.VALIDATION)
    shown = world.project.retraining.preview("conventions")
    assert (shown.in_turn, shown.documents, shown.links, shown.nils, shown.left_out) == (True, 5, 15, 5, 0)
    assert "200" in shown.problem
    assert world.project.retraining.problem("conventions") == shown.problem
    world.documents(62, first=100, name="c.pubtator", gold=True)
    assert "200" not in world.project.retraining.preview("conventions").problem


def test_a_preview_says_which_nil_decisions_the_loss_leaves_out(world: World) -> None:
    world.kb()
    world.documents(3, gold=True)
    preview = world.project.retraining.preview
    learning, leaving = preview("pel-pb", {"nil_negatives": True}), preview("pel-ce")
    assert (learning.nils, learning.left_out) == (3, 0)
    assert (leaving.nils, leaving.left_out) == (0, 3)


def test_unknown_recipes_and_parameters_are_named(indexed: World) -> None:
    with pytest.raises(UserError, match="pel-pb"):
        indexed.project.retraining.preview("nope")
    with pytest.raises(UserError, match="no parameter “speed”"):
        indexed.project.retraining.preview(RECIPE, {"speed": 1})
    with pytest.raises(UserError, match="epochs"):
        indexed.project.retraining.preview(RECIPE, {"epochs": -1})


def test_a_planted_test_entity_is_known_nowhere_else(world: World) -> None:
    """An entity with a unique surface form, linked in a `test` document only."""
    planted = {"id": "MESH:D777777", "name": "Zyxomorbosis", "types": ["Disease"]}
    world.kb([*KB, planted])
    world.documents(3, gold=True)
    world.documents(2, first=10, name="v.pubtator", gold=True, split=Split.VALIDATION)
    text = document(20).replace("blorbitis", "quuxopathy").replace("65\t74", "65\t75")
    text = text.replace("-1\n", "MESH:D777777\n")
    finish(world.project.importing.documents([world.write(text, name="t.pubtator")], gold=True, split=Split.TEST))
    world.index()
    finish(world.project.suggestions.link_split(Split.TRAIN))
    assert world.project.queue.counts().decisions_by_outcome
    outcome = train(world)
    assert outcome.state is JobState.DONE
    learnt = json.dumps(world.jobs.seen)
    assert "D777777" not in learnt
    assert "quuxopathy" not in learnt
    linked = [asked for asked in world.linker.asked for one in asked.documents if "quuxopathy" in one.text]
    assert linked == []
    stored = [view.suggestion for n in (1, 2, 3) for view in world.project.queue.open(n).mentions]
    assert stored
    assert all(one and "quuxopathy" not in {c.matched for c in one.candidates} for one in stored)
    shown = world.project.retraining.preview(RECIPE)
    assert (shown.links, shown.validation_decisions) == (9, 8)
    assert world.project.knowledge.propose_mapping().allowed["SpecificDisease"] == ("Disease",)

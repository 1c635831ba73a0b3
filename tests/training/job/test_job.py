"""The whole job on a tiny world: what it writes, what it says, and that it repeats itself bit for bit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from models.errors import ModelError
from models.linker.bundle import Bundle, open_bundle, publish
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.types import DocumentInput, MentionInput
from resources.recipe_files import Network, Role, recipe_ids
from tests.training.conftest import MakeSpec, document_lines
from training.data.progress import Event, Phase
from training.job.job import run_training
from training.job.recipes import load_recipe

RECIPES = tuple(name for name in recipe_ids() if not name.endswith("-quick"))
PARTS = [name for name in RECIPES if load_recipe(name).role in (Role.RETRIEVER, Role.RANKER)]
QUICK = ("curator", "pel-pb", "cross-encoder")
"""One of each kind: a linker, its retriever, its ranker; the others are for `make soak`."""


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def run(spec: dict[str, Any], **options: Any) -> tuple[list[Event], dict[str, Any]]:
    events = list(run_training(spec, **options))
    assert events[-1].phase is Phase.DONE
    return events, dict(events[-1].data["result"])


def weights(bundle: Bundle, stage: str, side: str) -> dict[str, torch.Tensor]:
    spec = bundle.manifest.retriever(stage) or bundle.manifest.ranker
    assert spec is not None
    return load_file(bundle.encoder_folder(spec.encoders[("mention", "entity").index(side)]) / "model.safetensors")


@pytest.mark.parametrize("name", [one if one in QUICK else pytest.param(one, marks=pytest.mark.soak) for one in PARTS])
def test_every_recipe_ends_in_a_complete_bundle(name: str, make_spec: MakeSpec, base_bundle: Bundle) -> None:
    spec = make_spec(name)
    events, result = run(spec)
    phases = list(dict.fromkeys(event.phase for event in events))
    assert phases == [phase for phase in Phase if phase in phases]
    assert {"loss", "learning_rate", "step"} <= set(next(e for e in events if "loss" in e.data).data)
    bundle = open_bundle(spec["staging"], verify="full")
    manifest = bundle.manifest
    assert manifest.id == result["bundle_id"]
    assert [stage.name for stage in manifest.retrievers][:2] == ["lexical", "names"]
    assert manifest.parent == base_bundle.manifest.id
    assert manifest.training["gate"] == {"verdict": result["verdict"], "message": result["message"]}
    assert manifest.training["kb_hash"] == base_bundle.manifest.kb_hash
    assert set(manifest.training["packages"]) >= {"python", "torch"}
    assert manifest.training["notes"]
    assert {"old", "new", "alone", "gate", "flips", "comparison", "queue", "links"} == set(manifest.metrics)
    json.dumps([event.to_json() for event in events])
    pair = load_recipe(name).network is Network.PAIR
    assert ("map.json" in manifest.files) is not pair
    if not pair:
        assert json.loads((bundle.path / "map.json").read_text())["points"]
    published = publish(Path(spec["staging"]))
    linker = _asking_all(Linker.load(published.path, device="cpu"))
    answer = next(iter(linker.link([DocumentInput("d", "heart failure", (MentionInput("m", ((0, 13),)),))])))
    scores = answer.mentions[0].candidates[0].scores
    ranks = load_recipe(name).role is Role.RANKER
    assert ("ranker" if ranks else published.manifest.retrievers[-1].name) in scores


def _asking_all(linker: Linker) -> Linker:
    """With a weight for every stage: one without is not asked."""
    stages = [*(retriever.name for retriever in linker.stages.trained), RANKER]
    weights = {**linker.fusion.weights, **dict.fromkeys(stages, 1.0)}
    return linker.with_weights(fusion=replace(linker.fusion, weights=weights))


@pytest.mark.soak
def test_equal_runs_are_equal_bit_for_bit(make_spec: MakeSpec) -> None:
    def trained(seed: int) -> dict[str, torch.Tensor]:
        spec = make_spec("pel-pb-mixed", parameters={"epochs": 2, "entity_tower": "train"}, seed=seed)
        run(spec)
        return weights(open_bundle(spec["staging"]), "pel-pb", "mention")

    one, again, other = trained(1), trained(1), trained(2)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_trained_towers_change_and_frozen_ones_are_shared(make_spec: MakeSpec, tiny_encoder: Path) -> None:
    before = load_file(tiny_encoder / "model.safetensors")
    spec = make_spec("pel-pb", parameters={"entity_tower": "train"})
    run(spec)
    for side in ("mention", "entity"):
        after = weights(open_bundle(spec["staging"]), "pel-pb", side)
        assert not [name for name, tensor in after.items() if torch.equal(tensor, before[name])]
    frozen = make_spec("pel-pb", parameters={"entity_tower": "frozen"})
    run(frozen)
    bundle = open_bundle(frozen["staging"])
    assert bundle.manifest.training["entity_tower"] == "frozen"
    assert bundle.manifest.retrievers[-1].encoders[1] == bundle.manifest.retrievers[1].encoders[0]
    assert len(list((bundle.path / "encoders").iterdir())) == 2


@pytest.mark.parametrize("recipe", ["pel-pb-quick", "prototype-quick"])
def test_a_quick_variant_trains_the_upper_half_of_both_towers(
    make_spec: MakeSpec, tiny_encoder: Path, recipe: str
) -> None:
    before = load_file(tiny_encoder / "model.safetensors")
    spec = make_spec(recipe, parameters={"epochs": 1})
    run(spec)
    for side in ("mention", "entity"):
        after = weights(open_bundle(spec["staging"]), recipe.removesuffix("-quick"), side)
        changed = {
            name.partition("layer.")[2][:1] for name, tensor in after.items() if not torch.equal(tensor, before[name])
        }
        assert changed == {"1"}, "the second of two layers; '' are the embeddings"


@pytest.mark.soak
def test_a_part_of_the_same_stage_is_replaced_and_others_stay(make_spec: MakeSpec) -> None:
    first = make_spec("amh-dual")
    run(first)
    once = publish(Path(first["staging"]))
    second = make_spec("pel-pb", base=str(once.path))
    run(second)
    twice = publish(Path(second["staging"]))
    third = make_spec("pel-pb-mixed", base=str(twice.path))
    run(third)
    names = [spec.name for spec in open_bundle(third["staging"], verify="full").manifest.retrievers]
    assert names == ["lexical", "names", "amh-dual", "pel-pb"]
    mention = once.manifest.retrievers[-1].encoders[0].path
    shared = Path(third["staging"]) / mention / "model.safetensors"
    assert shared.samefile(once.path / mention / "model.safetensors")


def test_closing_the_job_leaves_no_bundle(make_spec: MakeSpec) -> None:
    for stop in (Phase.LOAD, Phase.TRAIN, Phase.REFIT):
        spec = make_spec("pel-pb")
        work = run_training(spec)
        while next(work).phase is not stop:
            pass
        work.close()  # type: ignore[attr-defined]
        assert not list(Path(spec["staging"]).parent.glob("[!.]*"))
        if stop is not Phase.REFIT:
            with pytest.raises(ModelError, match="manifest"):
                open_bundle(spec["staging"])


@pytest.mark.soak
def test_the_time_budget_freezes_the_entity_tower_or_says_that_it_is_too_short(make_spec: MakeSpec) -> None:
    with pytest.raises(ModelError, match="time budget is too short"):
        run(make_spec("pel-pb", max_minutes=0.01))
    spec = make_spec("pel-pb", parameters={"epochs": 40}, max_minutes=0.5)
    run(spec)
    facts = open_bundle(spec["staging"]).manifest.training
    assert any("entity tower is" in text for text in facts["notes"])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"recipe": "pel"}, "Unknown recipe 'pel'"),
        ({"parameters": {"speed": 1}}, "no parameter 'speed'"),
        ({"parameters": {"learning_rate": 1e-2, "epochs": 0}}, "'epochs' cannot be 0"),
        ({"snapshot": ""}, "has no 'snapshot'"),
        ({"base": "/nowhere"}, "linker /nowhere was not found"),
        ({"device": "abacus"}, "not available"),
    ],
)
def test_bad_specifications(make_spec: MakeSpec, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        run({**make_spec("pel-pb"), **changes})


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "nothing to learn from"),
        (document_lines("train", 1, seed=1, per_document=40), "one document"),
        (document_lines("train", 2, seed=1, per_document=3), "6 linked mentions .* not enough"),
        ([*document_lines("train", 8, seed=1), *document_lines("test", 1, seed=1)], "never used for training"),
    ],
)
def test_decisions_that_cannot_be_learnt_from(make_spec: MakeSpec, lines: list[Any], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        run(make_spec("pel-pb", lines=lines))


def test_gold_outside_the_knowledge_base_is_nil(make_spec: MakeSpec) -> None:
    lines = document_lines("train", 8, seed=1) + document_lines("validation", 2, seed=2)
    for line in lines:
        for mention in line["mentions"]:
            mention["gold"] = {"ids": ["ELSEWHERE:1"], "nil": False}
    with pytest.raises(ModelError, match="is in the knowledge base"):
        run(make_spec("pel-pb", lines=lines))


def test_another_knowledge_base_is_refused(make_spec: MakeSpec) -> None:
    spec = make_spec("pel-pb")
    index = Path(spec["snapshot"]) / "snapshot.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"kb_hash": "other"}))
    with pytest.raises(ModelError, match="another knowledge base"):
        run(spec)


def test_without_validation_documents_are_held_out_and_it_is_said(make_spec: MakeSpec) -> None:
    spec = make_spec("pel-pb", lines=document_lines("train", 12, seed=1))
    run(spec)
    facts = open_bundle(spec["staging"]).manifest.training
    assert any("held out by hash" in text for text in facts["notes"])
    assert not set(facts["documents"]["train"]) & set(facts["documents"]["held_out"])

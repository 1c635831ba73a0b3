import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelError
from training.losses import CandidateCrossEntropy, Loss
from training.recipes import (
    LOSSES,
    PAIR_LOSSES,
    Hyperparameters,
    Network,
    Role,
    estimate,
    load_recipe,
    parse_recipe,
    recipe_ids,
)

FOLDER = Path(__file__).parents[2] / "resources" / "recipes"
IDS = ("amh-dual", "cross-encoder", "pel-pb", "pel-pb-mixed", "prototype")


def raw(name: str = "pel-pb") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return data


def test_the_recipes_of_this_program() -> None:
    assert recipe_ids() == IDS


@pytest.mark.parametrize("name", IDS)
def test_every_recipe_is_complete(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.summary.count(". ") == 1
    assert recipe.summary.endswith(".")
    assert all(parameter.help.endswith(".") for parameter in recipe.parameters)
    for values in (recipe.values(), recipe.values(recipe.paper)):
        if recipe.network is Network.PAIR:
            assert isinstance(recipe.make_pair_loss(values), CandidateCrossEntropy)
        else:
            assert isinstance(recipe.make_loss(values), Loss)
        assert isinstance(recipe.hyperparameters(values), Hyperparameters)
        assert recipe.inputs(values).mention_tokens == values["mention_tokens"]


def test_published_values() -> None:
    pel = load_recipe("pel-pb").paper
    assert (pel["learning_rate"], pel["batch_size"], pel["epochs"], pel["warmup"]) == (1e-5, 32, 7, 0.25)
    assert (pel["alpha"], pel["delta"], pel["negative_count"]) == (32, 0.0, 32)
    assert load_recipe("pel-pb-mixed").paper["mined_share"] == 0.5
    amh = load_recipe("amh-dual").paper
    assert (amh["learning_rate"], amh["batch_size"], amh["epochs"], amh["alpha"]) == (2e-5, 64, 30, 0.3)
    prototype = load_recipe("prototype").paper
    assert (prototype["learning_rate"], prototype["margin"], prototype["candidates"]) == (1e-5, 1.6, 64)
    cross = load_recipe("cross-encoder").paper
    assert (cross["learning_rate"], cross["batch_size"], cross["epochs"], cross["warmup"]) == (2e-5, 4, 5, 0.2)
    assert (cross["candidates"], cross["mention_tokens"] + cross["entity_tokens"]) == (16, 256)
    assert load_recipe("cross-encoder").values()["candidates"] == 8


def test_values_are_checked() -> None:
    recipe = load_recipe("pel-pb")
    assert recipe.values({"epochs": 9, "negatives": "mixed"})["negatives"] == "mixed"
    with pytest.raises(ModelError, match=r"no parameter 'epoch'.*epochs"):
        recipe.values({"epoch": 9})
    for name, value in [("epochs", 0), ("epochs", 1.5), ("epochs", "3"), ("negatives", "hard"), ("nil_negatives", 1)]:
        with pytest.raises(ModelError, match=f"'{name}' cannot be"):
            recipe.values({name: value})


def test_roles_and_stages() -> None:
    assert load_recipe("prototype").role is Role.RANKER
    assert load_recipe("pel-pb").stage == load_recipe("pel-pb-mixed").stage
    assert {load_recipe(name).loss for name in IDS} == {*LOSSES, *PAIR_LOSSES}


def broken(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(raw()), **changes}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (broken(speed=3), "unknown key 'speed' in Recipe"),
        ({k: v for k, v in raw().items() if k != "loss"}, "'loss' is missing"),
        (broken(loss="hinge"), "unknown loss 'hinge'"),
        (broken(role="judge"), "judge"),
        (broken(network="web"), "web"),
        (broken(network="pair"), "unknown loss 'proxy'. Known losses: cross-entropy"),
        ({**raw("cross-encoder"), "role": "retriever"}, "can only be a ranker"),
        ({**raw("cross-encoder"), "network": "towers"}, "unknown loss 'cross-entropy'"),
        (broken(cost={"fixed": 1}), "unknown key 'fixed' in Cost"),
        (
            broken(parameters=[{"name": "epochs", "kind": "int", "default": 1, "help": "x.", "max": 2}]),
            "unknown key 'max'",
        ),
        (broken(parameters=[{"name": "speed", "kind": "int", "default": 1, "help": "x."}]), "unknown key 'speed'"),
        (broken(paper={"gamma": 1}), "no parameter 'gamma'"),
        ([], "must be an object"),
    ],
)
def test_broken_recipes_name_what_is_wrong(data: Any, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        parse_recipe(data, where="broken.json")


def test_unknown_recipe_lists_the_known() -> None:
    with pytest.raises(ModelError, match="amh-dual, cross-encoder, pel-pb"):
        load_recipe("pel")


def test_estimate_grows_with_the_work() -> None:
    recipe = load_recipe("pel-pb")
    frozen, trained = (recipe.values({"entity_tower": tower}) for tower in ("frozen", "train"))
    base = estimate(recipe, frozen, decisions=1000, entities=10_000)
    assert estimate(recipe, frozen, decisions=2000, entities=10_000) > base
    assert estimate(recipe, trained, decisions=1000, entities=10_000) > base
    assert estimate(recipe, frozen, decisions=1000, entities=10_000, cached=10_000) < base
    assert estimate(recipe, frozen, decisions=1000, entities=10_000, speed=2) == pytest.approx(base / 2)


def test_recipes_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_recipe("pel-pb").title = "x"  # type: ignore[misc]

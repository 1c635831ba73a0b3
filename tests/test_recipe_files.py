"""Recipe files written out, and what their parameters cost."""

from __future__ import annotations

from typing import Any

import pytest

from resources.recipe_files import cost, expanded, read_recipe, recipe_ids

RAW: dict[str, Any] = {
    "id": "x",
    "title": "X",
    "loss": "proxy",
    "published": {"alpha": 32.0, "epochs": 7},
    "ours": {"clip": 1.0},
    "quick": {"epochs": 2},
}


def test_values_are_put_beside_their_descriptions() -> None:
    full, quick = expanded(RAW), expanded(RAW, quick=True)
    assert [one["name"] for one in full["parameters"]] == ["epochs", "clip", "alpha"]
    assert [one["default"] for one in full["parameters"]] == [7, 1.0, 32.0]
    assert [one["default"] for one in quick["parameters"]] == [2, 1.0, 32.0]
    assert [one["group"] for one in full["parameters"]] == ["training", "training", "loss"]
    assert full["paper"] == quick["paper"] == RAW["published"]
    assert (full["id"], quick["id"], full["quick"], quick["quick"]) == ("x", "x-quick", False, True)
    assert not {"published", "ours"} & {*full, *quick}


def test_a_parameter_that_is_nowhere_described_is_named() -> None:
    with pytest.raises(KeyError, match="speed"):
        expanded({**RAW, "ours": {"speed": 1}})
    with pytest.raises(KeyError, match="margin"):
        expanded({**RAW, "ours": {"margin": 1}})


def test_unknown_recipes_are_refused() -> None:
    for name in ("pel", "pel-quick", "curator-quick", "pel-pb-quick-quick"):
        with pytest.raises(KeyError, match=name):
            read_recipe(name)
    assert [read_recipe(name)["id"] for name in recipe_ids()] == list(recipe_ids())


def seconds(name: str, **changes: Any) -> dict[str, float]:
    recipe = read_recipe(name)
    values = {one["name"]: one["default"] for one in recipe["parameters"]}
    return cost(recipe, {**values, **changes})


def test_cost_follows_what_is_read() -> None:
    whole = seconds("pel-pb")
    assert seconds("pel-pb", mention_tokens=64)["seconds_per_decision"] == whole["seconds_per_decision"] / 2
    assert seconds("pel-pb", entity_tokens=64)["seconds_per_entity"] == whole["seconds_per_entity"] / 2
    assert seconds("pel-pb", sharing="batch")["seconds_per_decision_trained"] < whole["seconds_per_decision_trained"]
    assert seconds("pel-pb-fgsm")["seconds_per_decision_trained"] > 2 * whole["seconds_per_decision_trained"]
    pair = seconds("cross-encoder")
    assert pair["seconds_per_decision"] == pair["seconds_per_decision_trained"]
    assert seconds("cross-encoder", candidates=8)["seconds_per_decision"] == pair["seconds_per_decision"] / 2
    assert pair["seconds_per_entity"] == 0
    full, half = (seconds("names-full", layers=layers)["seconds_per_decision"] for layers in ("all", "upper-half"))
    assert full > half > seconds("names-full", layers="upper-half", synonyms=0.0)["seconds_per_decision"]

"""Recipe files written out."""

from __future__ import annotations

from typing import Any

import pytest

from resources.recipe_files import expanded, read_recipe, recipe_ids

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

"""Recipe files written out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resources import recipe_files
from resources.recipe_files import made, read_recipe, recipe_ids

RAW: dict[str, Any] = {
    **dict.fromkeys(("title", "summary", "citation", "system", "stage", "similarity", "pooling"), "x"),
    "id": "x",
    "role": "retriever",
    "loss": "proxy",
    "published": {"alpha": 32.0, "epochs": 7},
    "ours": {"clip": 1.0},
    "quick": {"epochs": 2},
}


def test_values_are_put_beside_their_descriptions() -> None:
    full, quick = made(RAW), made(RAW, quick=True)
    assert [one.name for one in full.parameters] == ["epochs", "clip", "alpha"]
    assert full.values() == {"epochs": 7, "clip": 1.0, "alpha": 32.0}
    assert quick.values() == {"epochs": 2, "clip": 1.0, "alpha": 32.0}
    assert [one.group for one in full.parameters] == ["training", "training", "loss"]
    assert full.paper == quick.paper == RAW["published"]
    assert (full.id, quick.id, full.quick, quick.quick) == ("x", "x-quick", False, True)


@pytest.mark.parametrize("name", ["speed", "margin"])
def test_a_parameter_that_is_nowhere_described_is_named(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        made({**RAW, "ours": {name: 1}})


def test_a_recipe_that_extends_another_says_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"id": "y", "extends": "x", "title": "Y", "published": {"alpha": None, "clip": 2.0}, "quick": {"clip": 3.0}}
    files = {"recipes/x.json": RAW, "recipes/y.json": own}
    catalogue = recipe_files._read("recipe-parameters.json")
    monkeypatch.setattr(recipe_files, "_read", lambda path: json.loads(json.dumps(files.get(path, catalogue))))
    found = made(recipe_files._written_out("y"))
    assert (found.id, found.title, found.loss) == ("y", "Y", "proxy")
    assert found.values() == {"epochs": 7, "clip": 2.0}
    assert found.paper == {"epochs": 7, "clip": 2.0}
    assert made(recipe_files._written_out("y"), quick=True).values() == {"epochs": 2, "clip": 3.0}


def test_unknown_recipes_are_refused() -> None:
    for name in ("pel", "pel-quick", "curator-quick", "pel-pb-quick-quick"):
        with pytest.raises(KeyError, match=name):
            read_recipe(name)
    assert [read_recipe(name).id for name in recipe_ids()] == list(recipe_ids())

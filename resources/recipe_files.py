"""The recipe files as plain data, for the window and for training alike.

`recipes/ID.json` names a system and gives each of its parameters a value: `published` ones come from its paper, `ours`
fill what the paper leaves open, `quick` ones replace both in a variant `ID-quick` that is sized for two processor
cores. What a parameter is, what it may be and what it does stands once, in `recipe-parameters.json`: under "training",
and under the recipe's own loss, regulariser and grouping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

QUICK = "-quick"
JUDGED_MENTIONS = 500
"""Held-out links that tune and judge a quick recipe: more would take longer than its training."""
SECONDS_PER_TRAINED_TOKEN = 0.0007
SECONDS_PER_ENCODED_TOKEN = 0.00017
SECONDS_BESIDE = 60.0
"""Measured on two cores with the six layers of the default encoder: forward and backward, forward alone, and what a job
does beside both (load, link, refit, compare)."""
FORWARD_AGAIN = {"fgsm": 2.5, "transformation": 2.0}
SECTIONS = {"training": "training", "losses": "loss", "regularisers": "regulariser", "groupings": "grouping"}


def recipe_ids() -> tuple[str, ...]:
    """All recipes, quick variants included, in alphabetical order."""
    return tuple(sorted(name for file in _files() for name in _variants(file)))


def read_recipe(name: str) -> dict[str, Any]:
    """One recipe, its parameters written out; KeyError for an unknown one."""
    file = name.removesuffix(QUICK) if name.removesuffix(QUICK) in _files() else name
    if file not in _files() or name not in _variants(file):
        raise KeyError(name)
    return expanded(_read(f"recipes/{file}.json"), quick=name != file)


def expanded(raw: Mapping[str, Any], *, quick: bool = False) -> dict[str, Any]:
    """The recipe with `parameters` (kind, default, range, help, group), `paper` (published values) and whether it is
    the `quick` variant, in place of its lists of values; KeyError names a parameter that is nowhere described."""
    catalogue = _described(raw)
    values = {**raw["published"], **raw["ours"]} | (dict(raw["quick"]) if quick else {})
    order = {name: place for place, name in enumerate(catalogue)}
    named = sorted(values.items(), key=lambda item: order[item[0]])
    kept = {key: value for key, value in raw.items() if key not in ("published", "ours", "quick")}
    parameters = [{"name": name, **catalogue[name], "default": value} for name, value in named]
    small = quick or not raw["published"]  # ours are made for small machines
    variant = {"id": raw["id"] + QUICK, "title": f"{raw['title']}, quick"} if quick else {}
    return {**kept, **variant, "parameters": parameters, "paper": dict(raw["published"]), "quick": small}


def cost(recipe: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, float]:
    """Seconds on two cores: `fixed_seconds`, for one decision in one epoch with a frozen and with a trained entity
    tower, and for one entity to be encoded. `recipe` tells role, network and regulariser."""
    mention, entity = int(values.get("mention_tokens", 0)), int(values.get("entity_tokens", 0))
    slower = FORWARD_AGAIN.get(str(recipe.get("regulariser") or ""), 1.0)
    if recipe.get("network") == "pair":
        tokens = float(values.get("learnt_share", 1.0)) * int(values["candidates"]) * (mention + entity)
        each = SECONDS_PER_TRAINED_TOKEN * tokens * slower
        return {
            "fixed_seconds": SECONDS_BESIDE,
            "seconds_per_decision": each,
            "seconds_per_decision_trained": each,
            "seconds_per_entity": 0.0,
        }
    others = 1.0 if recipe.get("role") == "ranker" else _negatives(values)
    return {
        "fixed_seconds": SECONDS_BESIDE,
        "seconds_per_decision": SECONDS_PER_TRAINED_TOKEN * mention,
        "seconds_per_decision_trained": SECONDS_PER_TRAINED_TOKEN * (mention + (1 + others) * entity) * slower,
        "seconds_per_entity": SECONDS_PER_ENCODED_TOKEN * entity,
    }


def _negatives(values: Mapping[str, Any]) -> float:
    """Entities drawn for one mention; those of a batch are shared."""
    count = float(values.get("negative_count", 0))
    return count if values.get("sharing") == "mention" else count / max(1, int(values.get("batch_size", 1)))


def _described(raw: Mapping[str, Any]) -> dict[str, Any]:
    """name -> description and group of every parameter that the recipe may have."""
    catalogue = _read("recipe-parameters.json")
    found: dict[str, Any] = {}
    for section, group in SECTIONS.items():
        own = catalogue[section] if section == "training" else catalogue[section].get(raw.get(group) or "", {})
        found |= {name: {**entry, "group": group} for name, entry in own.items()}
    return found


def _files() -> tuple[str, ...]:
    folder = resources.files("resources") / "recipes"
    return tuple(sorted(one.name.removesuffix(".json") for one in folder.iterdir() if one.name.endswith(".json")))


def _variants(file: str) -> list[str]:
    return [file, file + QUICK] if "quick" in _read(f"recipes/{file}.json") else [file]


def _read(path: str) -> Any:
    return json.loads((resources.files("resources") / path).read_text(encoding="utf-8"))

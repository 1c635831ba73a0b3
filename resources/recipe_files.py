"""The recipe files as plain data and what their parameters may be, for the window and for training alike.

`recipes/ID.json` names a system and gives each of its parameters a value: `published` ones come from its paper, `ours`
fill what the paper leaves open, `quick` ones replace both in a variant `ID-quick` that is sized for two processor
cores. A recipe without published values is sized for them too, unless it is `large`. What a parameter is, what it may
be and what it does is defined once, in `recipe-parameters.json`: under "training", and under the recipe's own loss,
regulariser and grouping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

QUICK = "-quick"
CONVENTIONS = "conventions"
"""The recipe that trains no network."""
LEAST_REFITTED = 200
"""Linked decisions from which on the weights of names, memory, hierarchy and NIL are refitted."""
JUDGED_MENTIONS = 2_000
"""Held-out links that tune and judge a quick recipe. With 500 links of wikis, 50 of them of words that are no name, a
retriever was not used that made the linker right for 5 points more of such links of an unseen wiki."""
FEW_HELD_OUT, TURNS = 500, 2
"""With fewer held-out links, a quick recipe is trained so many times more, each time without a part of the training
documents, to be judged on these too."""
SECTIONS = {"training": "training", "losses": "loss", "regularisers": "regulariser", "groupings": "grouping"}

Value = int | float | bool | str


class Kind(StrEnum):
    """The kind of a parameter's value."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a recipe. `group` is "training", or "loss", "regulariser" or "grouping", which it is handed to
    as it is; `paper` is the published value, None where there is none."""

    name: str
    kind: Kind
    default: Value
    help: str
    group: str = "training"
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    paper: Value | None = None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Parameter:
        """From an entry of `parameters` in `expanded`. Raises ValueError for an unknown kind."""
        return cls(**{**raw, "kind": Kind(raw["kind"]), "choices": tuple(raw.get("choices", ()))})

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()

    def converted(self, value: Any) -> Value | None:
        """The value in the parameter's type; None where the parameter may not have it."""
        if self.kind is Kind.CHOICE and value in self.choices:
            return str(value)
        if self.kind is Kind.BOOL and isinstance(value, bool):
            return value
        if self.kind in (Kind.INT, Kind.FLOAT) and isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        return None

    def _number(self, value: float) -> int | float | None:
        low = -float("inf") if self.minimum is None else self.minimum
        high = float("inf") if self.maximum is None else self.maximum
        if not low <= value <= high or (self.kind is Kind.INT and value != int(value)):
            return None
        return int(value) if self.kind is Kind.INT else float(value)


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
    """The recipe with `parameters` (the fields of `Parameter`), `paper` (published values) and whether it is
    the `quick` variant, in place of its lists of values; KeyError names a parameter that is nowhere described."""
    catalogue = _described(raw)
    values = {**raw["published"], **raw["ours"]} | (dict(raw["quick"]) if quick else {})
    order = {name: place for place, name in enumerate(catalogue)}
    named = sorted(values.items(), key=lambda item: order[item[0]])
    kept = {key: value for key, value in raw.items() if key not in ("published", "ours", "quick", "large")}
    paper = raw["published"]
    parameters = [
        {"name": name, **catalogue[name], "default": value, "paper": paper.get(name)} for name, value in named
    ]
    small = quick or not (paper or raw.get("large"))
    variant = {"id": raw["id"] + QUICK, "title": f"{raw['title']}, quick"} if quick else {}
    return {**kept, **variant, "parameters": parameters, "paper": dict(paper), "quick": small}


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

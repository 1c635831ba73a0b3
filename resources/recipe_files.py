"""Recipes: named, complete training configurations, for the window and for training alike.

`recipes/ID.json` names a system and gives each of its parameters a value: `published` ones come from its paper, `ours`
fill what the paper leaves open, `quick` ones replace both in a variant `ID-quick` that is sized for two processor
cores. A recipe without published values is sized for them too, unless it is `large`. One that `extends` another says
only what differs; null removes a value. What a parameter is, what it may be and what it does is defined once, in
`recipe-parameters.json`: under "training", and under the recipe's own loss, regulariser and grouping.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
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
GROUPS = ("published", "ours", "quick")
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


class Role(StrEnum):
    """The role of the trained network in the bundle. NAMES: the encoder of the stage over names. FIT: no network is
    trained."""

    NAMES = "names"
    RETRIEVER = "retriever"
    RANKER = "ranker"
    FIT = "fit"


class Network(StrEnum):
    """TOWERS: mention and entity are encoded apart. PAIR: one network reads both together (a cross-encoder). NONE: only
    the fits that follow every training."""

    TOWERS = "towers"
    PAIR = "pair"
    NONE = "none"


class WrongValueError(ValueError):
    """A parameter that the recipe does not have (`parameter` is None), or a value that it may not have."""

    def __init__(self, recipe: Recipe, name: str, value: Any, parameter: Parameter | None) -> None:
        self.recipe, self.name, self.value, self.parameter = recipe, name, value, parameter
        known = ", ".join(one.name for one in recipe.parameters)
        super().__init__(
            f"The recipe {recipe.id} has no parameter '{name}'. Its parameters are: {known}."
            if parameter is None
            else f"The parameter '{name}' cannot be {value!r}."
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """`stage` names the retriever or ranker in the bundle: recipes of one stage replace each other.

    `system` is the published system it belongs to, `quick`: it is sized for two processor cores. `loss`, `similarity`,
    `pooling`, `regulariser`, `grouping` (of the mentions of a dual-encoder re-ranker) and `mention` (how its vector is
    pooled) are words that `training` knows. A network that reads pairs leaves `similarity` unused; a recipe without a
    network has neither loss nor stage nor parameters.
    """

    id: str
    title: str
    summary: str
    citation: str
    system: str
    stage: str
    role: Role
    loss: str
    similarity: str
    pooling: str
    parameters: tuple[Parameter, ...]
    quick: bool = False
    network: Network = Network.TOWERS
    regulariser: str = ""
    grouping: str = ""
    mention: str = "text"

    @property
    def paper(self) -> dict[str, Value]:
        """The published value of each parameter that has one."""
        return {one.name: one.paper for one in self.parameters if one.paper is not None}

    def values(self, given: Mapping[str, Any] | None = None) -> dict[str, Value]:
        """Defaults overridden by `given`. Raises WrongValueError."""
        known = {one.name: one for one in self.parameters}
        values = {one.name: one.default for one in self.parameters}
        for name, value in (given or {}).items():
            found = known[name].converted(value) if name in known else None
            if found is None:
                raise WrongValueError(self, name, value, known.get(name))
            values[name] = found
        return values

    def group(self, group: str, values: Mapping[str, Value]) -> dict[str, Any]:
        """The part of `values` that belongs to "training", "loss", "regulariser" or "grouping"."""
        return {one.name: values[one.name] for one in self.parameters if one.group == group}


@cache
def recipe_ids() -> tuple[str, ...]:
    """All recipes, quick variants included, in alphabetical order."""
    return tuple(sorted(name for file in _files() for name in _variants(file)))


@cache
def read_recipe(name: str) -> Recipe:
    """One recipe; KeyError for an unknown one."""
    if name not in recipe_ids():
        raise KeyError(name)
    return made(_written_out(name.removesuffix(QUICK)), quick=name.endswith(QUICK))


def made(raw: Mapping[str, Any], *, quick: bool = False) -> Recipe:
    """The recipe of a file that extends none, or its `quick` variant; KeyError names a parameter that is nowhere
    described."""
    described = _described(raw)
    values = {**raw["published"], **raw["ours"]} | (dict(raw["quick"]) if quick else {})
    order = {name: place for place, name in enumerate(described)}
    parameters = tuple(
        replace(described[name], default=values[name], paper=raw["published"].get(name))
        for name in sorted(values, key=order.__getitem__)
    )
    kept = {key: value for key, value in raw.items() if key not in (*GROUPS, "large")}
    small = quick or not (raw["published"] or raw.get("large"))
    variant = {"id": raw["id"] + QUICK, "title": f"{raw['title']}, quick"} if quick else {}
    kinds = {"role": Role(raw["role"]), "network": Network(raw.get("network", Network.TOWERS))}
    return Recipe(**{**kept, **variant, **kinds}, parameters=parameters, quick=small)


def _written_out(file: str) -> dict[str, Any]:
    """The contents of a recipe's file with those of the recipe that it extends. A value that is published here is not
    ours there, and the other way round."""
    own = dict(_read(f"recipes/{file}.json"))
    if "extends" not in own:
        return own
    base = _written_out(own.pop("extends"))
    found = {**base, **own}
    for group in GROUPS:
        others = {name for other in GROUPS[:2] if other != group != "quick" for name in own.get(other, {})}
        kept = {name: value for name, value in base.get(group, {}).items() if name not in others}
        merged = {**kept, **own.get(group, {})}
        if merged or group in base:
            found[group] = {name: value for name, value in merged.items() if value is not None}
    return found


def _described(raw: Mapping[str, Any]) -> dict[str, Parameter]:
    """name -> description and group of every parameter that the recipe may have."""
    catalogue = _read("recipe-parameters.json")
    found: dict[str, Parameter] = {}
    for section, group in SECTIONS.items():
        own = catalogue[section] if section == "training" else catalogue[section].get(raw.get(group) or "", {})
        for name, entry in own.items():
            facts = {**entry, "kind": Kind(entry["kind"]), "choices": tuple(entry.get("choices", ()))}
            found[name] = Parameter(name, default=0, group=group, **facts)
    return found


def _files() -> tuple[str, ...]:
    folder = resources.files("resources") / "recipes"
    return tuple(sorted(one.name.removesuffix(".json") for one in folder.iterdir() if one.name.endswith(".json")))


def _variants(file: str) -> list[str]:
    return [file, file + QUICK] if "quick" in _written_out(file) else [file]


@cache
def _read(path: str) -> Any:
    return json.loads((resources.files("resources") / path).read_text(encoding="utf-8"))

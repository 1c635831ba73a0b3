"""Recipes as the dialog and the command line see them: read from `resources/recipes/*.json`, nothing trained here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from curator.domain.errors import UserError

_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "choice": "one of the choices"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a recipe, as the dialog shows it. `kind` is int, float, bool or choice; `paper` is the
    published value (None where there is none)."""

    name: str
    title: str
    help: str
    kind: str
    default: Any
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    paper: Any = None

    def check(self, value: Any) -> Any:
        """The value in its type. Raises UserError that says what is allowed."""
        if self.kind == "bool" and isinstance(value, bool):
            return value
        if self.kind == "choice" and value in self.choices:
            return value
        if self.kind in ("int", "float") and isinstance(value, (int, float)) and not isinstance(value, bool):
            low = -float("inf") if self.minimum is None else self.minimum
            high = float("inf") if self.maximum is None else self.maximum
            if low <= value <= high and (self.kind == "float" or value == int(value)):
                return int(value) if self.kind == "int" else float(value)
        allowed = f"one of {', '.join(self.choices)}" if self.choices else _KINDS[self.kind]
        if self.minimum is not None:
            allowed += f" of at least {self.minimum:g}"
        if self.maximum is not None:
            allowed += f"{' and' if self.minimum is not None else ' of'} at most {self.maximum:g}"
        raise UserError(f"The parameter “{self.name}” cannot be {value!r}; it must be {allowed}.")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named, complete training configuration. `cost` are seconds measured on two processor cores."""

    id: str
    title: str
    description: str
    citation: str = ""
    parameters: tuple[Parameter, ...] = ()
    cost: Mapping[str, float] = field(default_factory=dict)

    def values(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Defaults with `given` in their place. Raises UserError for an unknown name or a value out of range."""
        known = {one.name: one for one in self.parameters}
        for name in given or {}:
            if name not in known:
                raise UserError(f"The recipe {self.id} has no parameter “{name}”. It has: {', '.join(known)}.")
        defaults = {one.name: one.default for one in self.parameters}
        return defaults | {name: known[name].check(value) for name, value in (given or {}).items()}

    def parse(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Parameters written as text, on the command line for example. Raises UserError."""
        kinds = {one.name: one.kind for one in self.parameters}
        return self.values({name: _from_text(text, kinds.get(name, "")) for name, text in given.items()})


def load_recipes() -> list[Recipe]:
    """All recipes in alphabetical order of their ids."""
    folder = resources.files("resources") / "recipes"
    files = [one for one in folder.iterdir() if one.name.endswith(".json")] if folder.is_dir() else []
    found = [_recipe(json.loads(one.read_text(encoding="utf-8"))) for one in files]
    return sorted(found, key=lambda one: one.id)


def find_recipe(recipe_id: str) -> Recipe:
    """Raises UserError that lists the recipes there are."""
    recipes = load_recipes()
    found = next((one for one in recipes if one.id == recipe_id), None)
    if found is None:
        raise UserError(f"There is no recipe “{recipe_id}”. There are: {', '.join(one.id for one in recipes)}.")
    return found


def estimated_seconds(recipe: Recipe, values: Mapping[str, Any], *, decisions: int, entities: int) -> float:
    """By the recipe's own measurement; vectors of the untrained encoder are taken as cached."""
    cost = recipe.cost
    trained = values.get("entity_tower") == "train"
    each = cost.get("seconds_per_decision_trained" if trained else "seconds_per_decision", 0.0)
    encoding = entities * cost.get("seconds_per_entity", 0.0) * (2 if trained else 1)
    return cost.get("fixed_seconds", 0.0) + float(values.get("epochs", 1)) * decisions * each + encoding


def _recipe(raw: Mapping[str, Any]) -> Recipe:
    paper = raw.get("paper", {})
    return Recipe(
        id=raw["id"],
        title=raw["title"],
        description=raw.get("summary", ""),
        citation=raw.get("citation", ""),
        parameters=tuple(_parameter(one, paper.get(one["name"])) for one in raw.get("parameters", ())),
        cost=raw.get("cost", {}),
    )


def _parameter(raw: Mapping[str, Any], paper: Any) -> Parameter:
    return Parameter(
        name=raw["name"],
        title=raw.get("title") or raw["name"].replace("_", " ").capitalize(),
        help=raw.get("help", ""),
        kind=raw["kind"],
        default=raw["default"],
        minimum=raw.get("minimum"),
        maximum=raw.get("maximum"),
        choices=tuple(raw.get("choices", ())),
        paper=paper,
    )


def _from_text(text: str, kind: str) -> Any:
    if kind == "bool":
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.casefold(), text)
    if kind in ("int", "float"):
        try:
            return float(text) if kind == "float" or "." in text else int(text)
        except ValueError:
            return text
    return text

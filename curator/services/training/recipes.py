"""Recipes for the dialog and the command line, from `resources.recipe_files`; nothing is trained here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from curator.domain.wording import UserError, tr
from resources import recipe_files
from resources.recipe_files import Parameter, Value

FIT, NAMES, RETRIEVER, RANKER = "fit", "names", "retriever", "ranker"
ROLES = (FIT, NAMES, RETRIEVER, RANKER)
FIRST, CONTEXT = "names", "pel-pb-quick"
"""The recommended recipe, and the one recommended second where the names often do not decide."""
OWN = "Curator"
"""The system of the program's own recipe."""
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "choice": "one of the choices"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named, complete training configuration.

    `role` is what the trained network becomes: retriever or ranker. `system` names the published system it belongs to;
    `quick`: it is sized for two processor cores. `network` "pair" reads mention and entity together.
    """

    id: str
    title: str
    description: str
    citation: str = ""
    parameters: tuple[Parameter, ...] = ()
    role: str = "retriever"
    system: str = ""
    quick: bool = False
    network: str = "towers"
    regulariser: str = ""

    def published(self) -> dict[str, Any]:
        """The published value of each parameter that has one."""
        return {one.name: one.paper for one in self.parameters if one.paper is not None}

    def values(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Defaults overridden by `given`. Raises UserError for an unknown name or a value out of range."""
        known = {one.name: one for one in self.parameters}
        for name in given or {}:
            if name not in known:
                raise UserError(
                    tr(
                        "The recipe {id} has no parameter “{name}”. Available: {list}.",
                        id=self.id,
                        name=name,
                        list=", ".join(known),
                    )
                )
        defaults = {one.name: one.default for one in self.parameters}
        return defaults | {name: _checked(known[name], value) for name, value in (given or {}).items()}

    def learns_from_nil(self, given: Mapping[str, Any] | None) -> bool:
        """Whether NIL decisions are used in the loss, as is possible with the proxy loss; otherwise they are left
        out."""
        return bool(self.values(given).get("nil_negatives"))

    def parse(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Parameters from text, for example on the command line. Raises UserError."""
        kinds = {one.name: one.kind for one in self.parameters}
        return self.values({name: _from_text(text, kinds.get(name, "")) for name, text in given.items()})


def load_recipes() -> list[Recipe]:
    """All recipes, including quick variants, in alphabetical order of their ids."""
    return [_read(name) for name in recipe_files.recipe_ids()]


def find_recipe(recipe_id: str) -> Recipe:
    """The recipe. Raises UserError that lists the recipes."""
    known = recipe_files.recipe_ids()
    if recipe_id not in known:
        raise UserError(
            tr("There is no recipe “{recipe_id}”. Available: {list}.", recipe_id=recipe_id, list=", ".join(known))
        )
    return _read(recipe_id)


def grouped(recipes: Sequence[Recipe]) -> list[tuple[str, list[Recipe]]]:
    """(role, its recipes): no network, retrievers, rankers; within a role the quick ones first, then by system and
    title."""
    roles = sorted({one.role for one in recipes}, key=ROLES.index)
    return [(role, sorted((one for one in recipes if one.role == role), key=_place)) for role in roles]


def _place(recipe: Recipe) -> tuple[bool, bool, str, str]:
    """The sort key: the program's own recipe comes first."""
    return not recipe.quick, recipe.system != OWN, recipe.system, recipe.title.removesuffix(", quick")


@cache
def _read(recipe_id: str) -> Recipe:
    return _recipe(recipe_files.read_recipe(recipe_id))


def _recipe(raw: Mapping[str, Any]) -> Recipe:
    return Recipe(
        id=raw["id"],
        title=raw["title"],
        description=raw.get("summary", ""),
        citation=raw.get("citation", ""),
        parameters=tuple(Parameter.of(one) for one in raw.get("parameters", ())),
        role=raw.get("role", "retriever"),
        system=raw.get("system", ""),
        quick=bool(raw.get("quick", False)),
        network=raw.get("network", "towers"),
        regulariser=raw.get("regulariser") or "",
    )


def _checked(parameter: Parameter, value: Any) -> Value:
    """The value in the parameter's type. Raises UserError with the allowed values."""
    found = parameter.converted(value)
    if found is None:
        raise UserError(
            tr(
                "The parameter “{name}” cannot be {value!r}; it must be {allowed}.",
                name=parameter.name,
                value=value,
                allowed=_allowed(parameter),
            )
        )
    return found


def _allowed(parameter: Parameter) -> str:
    choices, low, high = parameter.choices, parameter.minimum, parameter.maximum
    kind = tr("one of {choices}", choices=", ".join(choices)) if choices else tr(_KINDS[parameter.kind])
    fields = {"kind": kind, "low": low, "high": high}
    if low is not None and high is not None:
        return tr("{kind} from {low:g} to {high:g}", **fields)
    if low is not None:
        return tr("{kind} of at least {low:g}", **fields)
    if high is not None:
        return tr("{kind} of at most {high:g}", **fields)
    return kind


def _from_text(text: str, kind: str) -> Any:
    if kind == "bool":
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.casefold(), text)
    if kind in ("int", "float"):
        try:
            return float(text) if kind == "float" or "." in text else int(text)
        except ValueError:
            return text
    return text

"""Recipes (`resources.recipe_files`) for the dialog and the command line; nothing is trained here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curator.domain.wording import UserError, tr
from resources.recipe_files import Parameter, Recipe, Role, Value, WrongValueError, read_recipe, recipe_ids

FIT, NAMES, RETRIEVER, RANKER = Role.FIT, Role.NAMES, Role.RETRIEVER, Role.RANKER
ROLES = (FIT, NAMES, RETRIEVER, RANKER)
FIRST, CONTEXT = "names", "pel-pb-quick"
"""The recommended recipe, and the one recommended second where the names often do not decide."""
OWN = "Curator"
"""The system of the program's own recipe."""
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "choice": "one of the choices"}


def checked_values(recipe: Recipe, given: Mapping[str, Any] | None) -> dict[str, Value]:
    """Defaults overridden by `given`. Raises UserError for an unknown name or a value out of range."""
    try:
        return recipe.values(given)
    except WrongValueError as wrong:
        raise UserError(_told(wrong)) from wrong


def parsed_values(recipe: Recipe, given: Mapping[str, str]) -> dict[str, Value]:
    """Parameters from text, for example on the command line. Raises UserError."""
    kinds = {one.name: one.kind for one in recipe.parameters}
    return checked_values(recipe, {name: _from_text(text, kinds.get(name, "")) for name, text in given.items()})


def learns_from_nil(recipe: Recipe, given: Mapping[str, Any] | None) -> bool:
    """Whether NIL decisions are used in the loss, as is possible with the proxy loss; otherwise they are left out."""
    return bool(checked_values(recipe, given).get("nil_negatives"))


def load_recipes() -> list[Recipe]:
    """All recipes, including quick variants, in alphabetical order of their ids."""
    return [read_recipe(name) for name in recipe_ids()]


def find_recipe(recipe_id: str) -> Recipe:
    """The recipe. Raises UserError that lists the recipes."""
    known = recipe_ids()
    if recipe_id not in known:
        raise UserError(
            tr("There is no recipe “{recipe_id}”. Available: {list}.", recipe_id=recipe_id, list=", ".join(known))
        )
    return read_recipe(recipe_id)


def grouped(recipes: Sequence[Recipe]) -> list[tuple[str, list[Recipe]]]:
    """(role, its recipes): no network, retrievers, rankers; within a role the quick ones first, then by system and
    title."""
    roles = sorted({one.role for one in recipes}, key=ROLES.index)
    return [(role, sorted((one for one in recipes if one.role == role), key=_place)) for role in roles]


def _place(recipe: Recipe) -> tuple[bool, bool, str, str]:
    """The sort key: the program's own recipe comes first."""
    return not recipe.quick, recipe.system != OWN, recipe.system, recipe.title.removesuffix(", quick")


def _told(wrong: WrongValueError) -> str:
    if wrong.parameter is None:
        return tr(
            "The recipe {id} has no parameter “{name}”. Available: {list}.",
            id=wrong.recipe.id,
            name=wrong.name,
            list=", ".join(one.name for one in wrong.recipe.parameters),
        )
    return tr(
        "The parameter “{name}” cannot be {value!r}; it must be {allowed}.",
        name=wrong.name,
        value=wrong.value,
        allowed=_allowed(wrong.parameter),
    )


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

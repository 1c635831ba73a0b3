"""Attributes of mentions: properties recorded in addition to the link, such as negation or whose disease it is.

A project defines attributes; each has a name and a few named values. Attributes and values have their own ids, so
renaming changes nothing that was recorded, and deleting only hides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from curator.domain.wording import UserError, tr

KEY = "attributes"
"""Key of the project's list of attributes."""
LONGEST = 60
"""The most characters of a name."""
MOST_VALUES = 9
"""The most values of an attribute: each is chosen with a digit."""
MOST = 12
"""The most attributes of a project: each is chosen with a letter."""


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """`id` is unique in the project. A `hidden` value was deleted: mentions keep it, but it is not shown. `former` are
    its earlier names."""

    id: int
    name: str
    hidden: bool = False
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """`types` are the mention types that have it; empty means all. `former` are its earlier names."""

    id: int
    name: str
    values: tuple[AttributeValue, ...]
    types: tuple[str, ...] = ()
    hidden: bool = False
    former: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[AttributeValue, ...]:
        """The values that can be chosen."""
        return tuple(one for one in self.values if not one.hidden)

    def fits(self, mention_type: str) -> bool:
        return not self.types or mention_type in self.types

    def value(self, value_id: int | None) -> AttributeValue | None:
        return next((one for one in self.shown if one.id == value_id), None)

    def named(self, name: str) -> AttributeValue | None:
        return next((one for one in self.shown if same_name(one.name, name)), None)


Given = tuple[tuple[Attribute, AttributeValue], ...]
"""The attributes of one mention with their values, in the project's order."""


@dataclass(frozen=True, slots=True)
class AttributeEdit:
    """One appended change of one attribute of one mention; `value_id` None: it was cleared. `round_id` is None in the
    project itself. `behind` is the id of the curator's last judgement in the round at that time, 0 without one; `note`
    is `undo` or `redo` in a round, else ''."""

    id: int
    mention_id: int
    attribute_id: int
    value_id: int | None
    curator: str
    at: datetime
    operation_id: int | None = None
    round_id: int | None = None
    behind: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scheme:
    """The attributes of a project in order, including deleted ones. Every change returns a new scheme or raises
    UserError."""

    attributes: tuple[Attribute, ...] = ()

    @property
    def shown(self) -> tuple[Attribute, ...]:
        return tuple(one for one in self.attributes if not one.hidden)

    def of_type(self, mention_type: str) -> tuple[Attribute, ...]:
        """The attributes that can be set for a mention of this type."""
        return tuple(one for one in self.shown if one.fits(mention_type))

    def get(self, attribute_id: int) -> Attribute:
        """The attribute, even if it is deleted. Raises UserError for an unknown id."""
        found = next((one for one in self.attributes if one.id == attribute_id), None)
        if found is None:
            raise UserError(tr("This project has no attribute {number}.", number=attribute_id))
        return found

    def named(self, name: str) -> Attribute:
        """The attribute with this name. Raises UserError, which lists the names, if there is none."""
        found = next((one for one in self.shown if same_name(one.name, name)), None)
        if found is None:
            names = ", ".join(one.name for one in self.shown) or tr("none")
            raise UserError(
                tr("This project has no attribute “{name}”. Its attributes: {names}.", name=name, names=names)
            )
        return found

    def given(self, chosen: Mapping[int, int | None]) -> Given:
        """The entries of {attribute id: value id} that are not deleted, in the order of the scheme."""
        pairs = ((one, one.value(chosen.get(one.id))) for one in self.shown)
        return tuple((one, value) for one, value in pairs if value is not None)

    # --- changes ---

    def with_attribute(self, name: str, values: Sequence[str], types: Iterable[str] = ()) -> Scheme:
        """The scheme with another attribute at the end."""
        _check_names([*(one.name for one in self.shown), name], what=tr("attribute"), most=MOST)
        _check_names(values, what=tr("value"), most=MOST_VALUES)
        first = self._next_value
        made = tuple(AttributeValue(first + at, one.strip()) for at, one in enumerate(values))
        number = 1 + max((one.id for one in self.attributes), default=0)
        new = Attribute(number, name.strip(), made, tuple(dict.fromkeys(types)))
        return Scheme((*self.attributes, _with_values(new)))

    def renamed(self, attribute_id: int, name: str) -> Scheme:
        others = [one.name for one in self.shown if one.id != attribute_id]
        _check_names([*others, name], what=tr("attribute"), most=MOST)
        return self._changed(attribute_id, lambda one: _renamed(one, name))

    def limited(self, attribute_id: int, types: Iterable[str]) -> Scheme:
        """The attribute limited to mentions of these types; without types, for all."""
        kept = tuple(dict.fromkeys(one.strip() for one in types if one.strip()))
        return self._changed(attribute_id, lambda one: replace(one, types=kept))

    def with_value(self, attribute_id: int, name: str) -> Scheme:
        names = [*(one.name for one in self.get(attribute_id).shown), name]
        _check_names(names, what=tr("value"), most=MOST_VALUES)
        new = AttributeValue(self._next_value, name.strip())
        return self._changed(attribute_id, lambda one: replace(one, values=(*one.values, new)))

    def value_renamed(self, value_id: int, name: str) -> Scheme:
        return self.values_renamed(self._owner(value_id).id, {value_id: name})

    def values_renamed(self, attribute_id: int, names: Mapping[int, str]) -> Scheme:
        """The scheme with new names by value id, changed at once: two values can swap names."""
        one = self.get(attribute_id)
        values = tuple(_renamed(each, names.get(each.id, each.name)) for each in one.values)
        _check_names([each.name for each in values if not each.hidden], what=tr("value"), most=MOST_VALUES)
        return self._changed(attribute_id, lambda one: replace(one, values=values))

    def value_hidden(self, value_id: int, hidden: bool) -> Scheme:
        owner = self._owner(value_id)
        changed = self._value_changed(owner, value_id, hidden=hidden)
        _check_names([one.name for one in changed.get(owner.id).shown], what=tr("value"), most=MOST_VALUES)
        return changed

    def hidden(self, attribute_id: int, hidden: bool) -> Scheme:
        changed = self._changed(attribute_id, lambda one: replace(one, hidden=hidden))
        _check_names([one.name for one in changed.shown], what=tr("attribute"), most=MOST)
        return changed

    def with_kept(self, name: str, types: Iterable[str] = ()) -> Scheme:
        """The scheme with another attribute, hidden and without values, for imported data."""
        number = 1 + max((one.id for one in self.attributes), default=0)
        return Scheme((*self.attributes, Attribute(number, name, (), tuple(types), hidden=True)))

    def with_kept_value(self, attribute_id: int, name: str) -> Scheme:
        """The scheme with another value, hidden."""
        new = AttributeValue(self._next_value, name, hidden=True)
        return self._changed(attribute_id, lambda one: replace(one, values=(*one.values, new)))

    def put_back(self, before: Scheme) -> Scheme:
        """The earlier scheme, with later additions hidden: no id is used twice."""
        known = {one.id for one in before.attributes}
        restored = tuple(_with_later(one, self) for one in before.attributes)
        later = tuple(replace(one, hidden=True) for one in self.attributes if one.id not in known)
        return Scheme((*restored, *later))

    # --- inside ---

    @property
    def _next_value(self) -> int:
        return 1 + max((value.id for one in self.attributes for value in one.values), default=0)

    def _owner(self, value_id: int) -> Attribute:
        found = next((one for one in self.attributes if any(value.id == value_id for value in one.values)), None)
        if found is None:
            raise UserError(tr("This project has no attribute value {number}.", number=value_id))
        return found

    def _changed(self, attribute_id: int, change: Callable[[Attribute], Attribute]) -> Scheme:
        self.get(attribute_id)
        return Scheme(tuple(change(one) if one.id == attribute_id else one for one in self.attributes))

    def _value_changed(self, owner: Attribute, value_id: int, **fields: Any) -> Scheme:
        values = tuple(replace(one, **fields) if one.id == value_id else one for one in owner.values)
        return self._changed(owner.id, lambda one: replace(one, values=values))


def same_name(one: str, other: str) -> bool:
    """Names are compared without case and outer white space."""
    return one.strip().casefold() == other.strip().casefold()


def alike(one: str, other: str) -> bool:
    """Like `same_name`, but a space equals an underscore, which many files use instead."""
    return same_name(one.replace("_", " "), other.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Preset:
    """An attribute that is offered; with English names, as in other tools and corpora."""

    name: str
    values: tuple[str, ...] = field(default=())


PRESETS = (
    Preset("negation", ("affirmed", "negated")),
    Preset("subject", ("patient", "family", "other")),
    Preset("time", ("current", "past", "future")),
    Preset("certainty", ("certain", "uncertain")),
)


Named = TypeVar("Named", Attribute, AttributeValue)


def called(known: Sequence[Named], name: str) -> Named | None:
    """The one with this name, else one with this earlier name."""
    now = next((one for one in known if one.name == name), None)
    return now or next((one for one in known if name in one.former), None)


def _renamed(one: Named, name: str) -> Named:
    """Renamed, with its earlier names."""
    return _of_names(one, name.strip(), (*one.former, one.name))


def _of_names(one: Named, name: str, former: Iterable[str]) -> Named:
    return replace(one, name=name, former=tuple(each for each in dict.fromkeys(former) if each != name))


def _with_later(one: Attribute, now: Scheme) -> Attribute:
    """The earlier attribute, with the later names of it and its values."""
    mine = next((each for each in now.attributes if each.id == one.id), one)
    values = {value.id: value for value in mine.values}
    known = {value.id for value in one.values}
    kept = tuple(_as_it_was(value, values.get(value.id, value)) for value in one.values)
    later = tuple(replace(value, hidden=True) for value in mine.values if value.id not in known)
    return replace(_as_it_was(one, mine), values=(*kept, *later))


def _as_it_was(before: Named, now: Named) -> Named:
    return _of_names(before, before.name, (*before.former, *now.former, now.name))


def _with_values(one: Attribute) -> Attribute:
    if not one.values:
        raise UserError(tr("The attribute “{name}” needs at least one value.", name=one.name))
    return one


def _check_names(names: Sequence[str], *, what: str, most: int) -> None:
    """Raises UserError for a name that is empty, too long, has a line break or a tab, or occurs twice."""
    seen: set[str] = set()
    for name in names:
        plain = name.strip()
        if not plain:
            raise UserError(tr("A name cannot be empty. Enter a name for the {what}.", what=what))
        if len(plain) > LONGEST or not plain.isprintable() or set(plain) & set("=|;"):
            raise UserError(
                tr(
                    "“{name}” cannot be a name: use at most {longest} characters, without line breaks and without "
                    "= | ; in it.",
                    name=plain[:LONGEST],
                    longest=LONGEST,
                )
            )
        if plain.casefold() in seen:
            raise UserError(tr("The name “{name}” is already used. Choose another name.", name=plain))
        seen.add(plain.casefold())
    if len(names) > most:
        raise UserError(tr("At most {most} are possible, so that each can be chosen by one key.", most=most))


# The stored form.


def dump_scheme(scheme: Scheme) -> str:
    """Canonical JSON."""
    return json.dumps(
        [
            {
                "id": one.id,
                "name": one.name,
                "types": list(one.types),
                "hidden": one.hidden,
                "values": [
                    {"id": value.id, "name": value.name, "hidden": value.hidden} | _had(value) for value in one.values
                ],
            }
            | _had(one)
            for one in scheme.attributes
        ],
        ensure_ascii=False,
    )


def _had(one: Attribute | AttributeValue) -> dict[str, list[str]]:
    return {"former": list(one.former)} if one.former else {}


def load_scheme(text: str) -> Scheme:
    """The scheme from the output of `dump_scheme`; '' is a scheme without attributes."""
    rows = json.loads(text) if text else []
    return Scheme(
        tuple(
            Attribute(
                row["id"],
                row["name"],
                tuple(
                    AttributeValue(one["id"], one["name"], one["hidden"], tuple(one.get("former", ())))
                    for one in row["values"]
                ),
                tuple(row["types"]),
                row["hidden"],
                tuple(row.get("former", ())),
            )
            for row in rows
        )
    )

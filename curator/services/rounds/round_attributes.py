"""Attributes in the file of a round: the definitions of the project that wrote it, and its curators' values.

A file refers to attributes and values by its project's numbers, and defines them in its header with their current and
former names. They are matched here by name, even if renamed since on either side; attributes deleted or unknown here
are kept hidden and reported. A project that has the round from a file gets the definitions instead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from curator.domain.attributes import (
    LONGEST,
    Attribute,
    AttributeEdit,
    AttributeValue,
    Scheme,
    dump_scheme,
    load_scheme,
    same_name,
)
from curator.domain.wording import UNPAIRED, UserError, ntr, tr
from curator.services.ports.storage import UnitOfWork

Named = TypeVar("Named", Attribute, AttributeValue)
OTHER_NAME = (
    "“{name}” has the name “{theirs}” in the file: it was renamed in one of the projects. It was read as “{name}”."
)
ONE_HIDDEN = (
    "{n} value of “{name}” is hidden: the attribute or value was deleted in this project, or never defined. It was "
    "kept; restoring it in Annotate › Attributes of the project shows it."
)
HIDDEN = (
    "{n:,} values of “{name}” are hidden: the attribute or value was deleted in this project, or never defined. They "
    "were kept; restoring them in Annotate › Attributes of the project shows them."
)
MOST_WORDS = 200
ADDED = "Added the attributes that the round uses: {names}"


def set_in_round(unit: UnitOfWork, round_id: int, curators: Sequence[str]) -> Iterator[AttributeEdit]:
    """The last value of each attribute of each mention by curator, including cleared ones; of all curators if none are
    named."""
    for name in unit.mentions.attribute_curators(round_id):
        if not curators or name in curators:
            last = {(one.mention_id, one.attribute_id): one for one in unit.mentions.round_attributes(round_id, name)}
            yield from last.values()


def head_of(scheme: Scheme) -> list[dict[str, Any]]:
    """The definitions, for the header of a file."""
    return list(json.loads(dump_scheme(scheme)))


def scheme_in(path: Path, head: Mapping[str, Any]) -> Scheme:
    """The definitions of a file; none for an older file. Raises UserError for damaged ones."""
    try:
        found = load_scheme(json.dumps(head.get("attributes", [])))
        _check(found)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UserError(
            tr(
                "{path}, line 1: the definitions of attributes are damaged ({error}). Ask for the file again; "
                "nothing was changed.",
                path=path,
                error=in_short(error),
            )
        ) from error
    return found


def _check(scheme: Scheme) -> None:
    """Raises ValueError for impossible definitions: numbers, names or types of the wrong kind."""
    rows: list[Sequence[Attribute | AttributeValue]] = [
        scheme.attributes,
        *(one.values for one in scheme.attributes),
    ]
    for one in (one for row in rows for one in row):
        names = (one.name, *one.former)
        if type(one.id) is not int or not all(is_name(name) and len(name) <= LONGEST for name in names):
            raise ValueError(f"{names[0]!r} is no attribute or value")
    if any(len({one.id for one in row}) < len(row) for row in rows):
        raise ValueError("a number is used twice")
    if not all(is_name(kind) for one in scheme.attributes for kind in one.types):
        raise ValueError("a type is no text")


def is_name(value: object) -> bool:
    """Whether a JSON value is a non-blank text that a database can store."""
    return isinstance(value, str) and bool(value.strip()) and not UNPAIRED.search(value)


def moment(text: str) -> datetime:
    """A time with its zone. Raises ValueError or TypeError for anything else."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found


def in_short(error: Exception) -> str:
    """What is wrong with a line, in short: an invalid value may be very long."""
    if isinstance(error, KeyError):
        return tr("“{name}” is missing", name=str(error.args[0])[:MOST_WORDS])
    return str(error)[:MOST_WORDS] if isinstance(error, ValueError) else tr("a value has the wrong form")


class FileScheme:
    """Finds the attributes and values of a file among those of this project, whose list `scheme` is; missing ones are
    added. With `adopt`, the file's definitions become this project's."""

    def __init__(self, here: Scheme, there: Scheme, *, adopt: bool) -> None:
        self.scheme = here
        self._there = there
        self._adopt = adopt
        self._found: dict[tuple[int, int | None], tuple[int, int | None]] = {}
        self._other_names: dict[tuple[str, str], None] = {}
        self._hidden: Counter[str] = Counter()
        if adopt:
            for one in there.shown:
                for value in one.shown:
                    self.place(one.id, value.id)
            self._hidden.clear()
            self._other_names.clear()
            self._found.clear()

    def place(self, attribute_id: int, value_id: int | None) -> tuple[int, int | None]:
        """(attribute, value) of this project for those of the file. Raises ValueError for numbers that it does not
        define."""
        key = attribute_id, value_id
        if key not in self._found:
            theirs = _numbered(self._there.attributes, attribute_id)
            own = self._attribute(theirs)
            self._found[key] = own.id, None if value_id is None else self._value(own, theirs, value_id).id
        self._count(*self._found[key])
        return self._found[key]

    def said(self) -> list[str]:
        """Notes for the curator, as sentences."""
        names = [tr(OTHER_NAME, name=own, theirs=theirs) for own, theirs in self._other_names]
        return [*names, *(ntr(ONE_HIDDEN, HIDDEN, n, name=name) for name, n in self._hidden.items())]

    def _attribute(self, theirs: Attribute) -> Attribute:
        own = _like(self.scheme.attributes, theirs)
        if own is not None:
            self._note(own, theirs)
            return own
        values = [one.name for one in theirs.shown]
        if self._adopt and not theirs.hidden:
            try:
                self.scheme = self.scheme.with_attribute(theirs.name, values, theirs.types)
            except UserError:  # this project has as many as it can have
                self.scheme = self.scheme.with_kept(theirs.name, theirs.types)
        else:
            self.scheme = self.scheme.with_kept(theirs.name, theirs.types)
        return self.scheme.attributes[-1]

    def _value(self, own: Attribute, theirs: Attribute, value_id: int) -> AttributeValue:
        value = _numbered(theirs.values, value_id)
        found = _like(own.values, value)
        if found is not None:
            self._note(found, value)
            return found
        if own.hidden or (self._adopt and not value.hidden):
            try:
                self.scheme = self.scheme.with_value(own.id, value.name)
            except UserError:
                self.scheme = self.scheme.with_kept_value(own.id, value.name)
        else:
            self.scheme = self.scheme.with_kept_value(own.id, value.name)
        return self.scheme.get(own.id).values[-1]

    def _note(self, own: Attribute | AttributeValue, theirs: Attribute | AttributeValue) -> None:
        if not same_name(own.name, theirs.name):
            self._other_names[own.name, theirs.name] = None

    def _count(self, attribute_id: int, value_id: int | None) -> None:
        """Values that are hidden here."""
        own = self.scheme.get(attribute_id)
        value = next((one for one in own.values if one.id == value_id), None)
        if value is not None and (own.hidden or value.hidden):
            self._hidden[f"{own.name}: {value.name}"] += 1


def _numbered(known: Sequence[Named], number: int) -> Named:
    found = next((one for one in known if one.id == number), None)
    if found is None:
        raise ValueError(f"the attribute or value {number} is not defined in line 1")
    return found


def _like(known: Sequence[Named], theirs: Named) -> Named | None:
    """The one with the same current or former name; deleted ones last."""
    ways: tuple[Callable[[Named], bool], ...] = (
        lambda own: same_name(own.name, theirs.name),
        lambda own: any(same_name(own.name, one) for one in theirs.former),
        lambda own: any(same_name(theirs.name, one) for one in own.former),
    )
    order = sorted(known, key=lambda own: own.hidden)
    return next(
        (own for hidden in (False, True) for way in ways for own in order if own.hidden == hidden and way(own)), None
    )


class AttributeReading:
    """Reads lines with attributes into a round."""

    def __init__(self, unit: UnitOfWork, round_id: int, scheme: FileScheme) -> None:
        self._unit = unit
        self._round = round_id
        self._scheme = scheme
        self._last: dict[str, dict[tuple[int, int], AttributeEdit]] = {}  # by curator, of a mention's attribute

    def take(self, mention_id: int, curator: str, line: Mapping[str, Any], *, behind: int) -> tuple[int, int]:
        """Append values later than the curator's here; returns the numbers of new and known values.

        `behind`: see `AttributeEdit`. Raises KeyError, TypeError or ValueError for an invalid line.
        """
        new = known = 0
        for theirs, their_value, at in _edits(line):
            attribute, value = self._scheme.place(theirs, their_value)
            last = self._of(curator).get((mention_id, attribute))
            if (last is None and value is None) or (last and (last.at >= at or last.value_id == value)):
                known += value is not None
                continue
            new += 1
            self._of(curator)[mention_id, attribute] = AttributeEdit(0, mention_id, attribute, value, curator, at)
            self._unit.mentions.append_attributes(
                [(mention_id, attribute, value)], curator=curator, at=at, round_id=self._round, behind=behind
            )
        return new, known

    def _of(self, curator: str) -> dict[tuple[int, int], AttributeEdit]:
        if curator not in self._last:
            there = self._unit.mentions.round_attributes(self._round, curator)
            self._last[curator] = {(one.mention_id, one.attribute_id): one for one in there}
        return self._last[curator]


def _edits(line: Mapping[str, Any]) -> list[tuple[int, int | None, datetime]]:
    """(attribute, value, when) of a line with attributes."""
    return [
        (int(one["attribute"]), None if one["value"] is None else int(one["value"]), moment(one["at"]))
        for one in line["attributes"]
    ]


def facts_of(edits: Iterable[AttributeEdit]) -> list[dict[str, Any]]:
    """The attributes in the form of a file's line."""
    return [{"attribute": one.attribute_id, "value": one.value_id, "at": one.at.isoformat()} for one in edits]

"""Attributes in imported files: their list, and their conversion to attributes of the project.

Files keep their attributes in the records of their documents, where they are not visible. They are read from there, so
that this works for old imports too. Values set or cleared by a curator do not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from curator.domain.attributes import Attribute, AttributeValue, Scheme, alike, same_name
from curator.domain.decisions import Change
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.curating.attributes import AttributeService, scheme_of
from curator.services.ports.files import FormatRegistry

Named = TypeVar("Named", Attribute, AttributeValue)
MOST_LOOKED_AT = 100
"""The number of values checked to see whether a project can have them."""
ONE_READ = "Read attributes of {n} mention from the files: {names}"
READ = "Read attributes of {n:,} mentions from the files: {names}"


@dataclass(frozen=True, slots=True)
class FileAttribute:
    """`values` are numbers of mentions by value; `known`: the project has an attribute of this name. `lacking` are the
    values that the project does not have; `unset` is the number of mentions without a value set or cleared in the
    project. `refusal` is the reason why a project cannot have it, such as too many values; else ''."""

    name: str
    values: Mapping[str, int]
    known: bool
    lacking: tuple[str, ...] = ()
    unset: int = 0
    refusal: str = ""

    @property
    def mentions(self) -> int:
        return sum(self.values.values())


class FileAttributes(Service):
    """Reads the attributes that formats keep in records. It takes seconds for thousands of
    documents."""

    def __init__(self, context: Context, formats: FormatRegistry, attributes: AttributeService) -> None:
        super().__init__(context)
        self._formats = formats
        self._attributes = attributes

    def found(self) -> list[FileAttribute]:
        """The attributes by name, of mentions that are not deleted."""
        stated = list(self._stated())
        counts: dict[str, Counter[str]] = {}
        for _, name, value in stated:
            counts.setdefault(name, Counter())[value] += 1
        scheme = self._attributes.scheme()
        own = {name: one for name in counts if (one := _of(scheme, name)) is not None}
        with self._store.read() as unit:
            had = unit.attributes.values([mention for mention, name, _ in stated if name in own]) if own else {}
        unset = Counter(
            name for mention, name, _ in stated if name not in own or own[name].id not in had.get(mention, ())
        )
        return [
            FileAttribute(
                name,
                counts[name],
                name in own,
                _lacking(own.get(name), counts[name]),
                unset[name],
                _refusal(scheme, name, list(counts[name])),
            )
            for name in sorted(counts)
        ]

    def read(self, names: Collection[str]) -> Change | None:
        """Add these attributes with their values to the project, and set them on mentions without a value, as one step;
        None if there was nothing to read. Raises UserError for a name that no file has, and for names or numbers of
        values that a project cannot have."""
        stated = [one for one in self._stated() if one[1] in names]
        missing = set(names) - {name for _, name, _ in stated}
        if missing:
            raise UserError(tr("No imported file has the attribute “{name}”.", name=min(missing)))
        values: dict[str, dict[str, None]] = {}
        for _, name, value in stated:
            values.setdefault(name, {})[value] = None
        with self._store.write() as unit:
            scheme = scheme_of(unit)
            for name, some in values.items():
                scheme = _with(scheme, name, list(some))
            steps = []
            for mention, name, value in stated:
                attribute = _of(scheme, name)
                chosen = attribute and _value(attribute, value)
                if attribute is not None and chosen is not None:
                    steps.append((mention, attribute.id, chosen.id))
            had = unit.attributes.values([mention for mention, _, _ in steps])
            new = [one for one in steps if one[1] not in had.get(one[0], {})]
            text = ntr(ONE_READ, READ, len({one[0] for one in new}), names=", ".join(sorted(names)))
            change = self._attributes.give_in(unit, new, text, scheme=scheme)
        return change and self._emit(change)

    def _stated(self) -> Iterator[tuple[int, str, str]]:
        """(mention, name, value) of every attribute in the records."""
        known = {one.name: one for one in self._formats.formats()}
        with self._store.read() as unit:
            files = [(known.get(file.format), unit.documents.ids_of_file(file.id)) for file in unit.files.all()]
            for form, ids in files:
                if form is None or not form.carries.attributes:
                    continue
                for document_id in ids:
                    found = form.attributes_in(unit.documents.raw(document_id))
                    for mention in unit.mentions.of_document(document_id) if found else ():
                        for name, value in found.get(mention.record, {}).items():
                            yield mention.id, name, value


def _of(scheme: Scheme, name: str) -> Attribute | None:
    """The project's attribute for a name in a file: the same name, else a similar one."""
    return _like(scheme.shown, name)


def _value(attribute: Attribute, name: str) -> AttributeValue | None:
    return _like(attribute.shown, name)


def _like(known: Sequence[Named], name: str) -> Named | None:
    return next((one for same in (same_name, alike) for one in known if same(one.name, name)), None)


def _lacking(attribute: Attribute | None, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(one for one in values if attribute is None or _value(attribute, one) is None))


def _with(scheme: Scheme, name: str, values: list[str]) -> Scheme:
    """The scheme with the attribute and its values. Raises UserError if a project cannot have them."""
    there = _of(scheme, name)
    if there is None:
        return scheme.with_attribute(name, _distinct(values))
    for value in _distinct(values):
        scheme = scheme if _value(there, value) is not None else scheme.with_value(there.id, value)
    return scheme


def _distinct(values: Iterable[str]) -> list[str]:
    """The values without those similar to an earlier one."""
    found: list[str] = []
    for value in values:
        found += [] if any(alike(value, one) for one in found) else [value]
    return found


def _refusal(scheme: Scheme, name: str, values: list[str]) -> str:
    try:
        _with(scheme, name, values[:MOST_LOOKED_AT])
    except UserError as error:
        return str(error)
    return ""

"""Denotations within a PubAnnotation document, and the many ways in which they state a type and an identifier."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curator.domain.curies import REGISTRIES, contract, usual_prefix
from curator.domain.id_fields import identifier_key
from curator.domain.relations import SourceEnd, SourceRelation
from curator.io.files.attributes import json_text, said_value
from curator.io.files.field_meanings import identifiers_in, is_empty, kind_in, other_texts
from curator.io.files.identifiers import read_id
from curator.io.files.idstyle import IdStyle
from curator.io.files.relations import unique_keys
from curator.io.files.source import plain_text

IDENTIFIER = "identifier"
ID_PREDICATES = frozenset(
    {IDENTIFIER, "identifiers", "resolved_to", "normalized_to", "normalised_to", "dbid", "concept_id", "entity_id"}
    | {"skos:exactmatch", "owl:sameas", "rdf:resource"}
)


class Home:
    """An object that has denotations, the document or one of its tracks, with its attributes by subject."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self._about: dict[object, list[dict[str, Any]]] = {}
        self._gone: set[int] = set()
        for one in objects(value.get("attributes")):
            self._about.setdefault(_hashable(one.get("subj")), []).append(one)

    def about(self, key: object) -> list[dict[str, Any]]:
        """The attributes of the denotation with this id."""
        return list(self._about.get(_hashable(key), ())) if key else []

    def add(self, key: object, attribute: dict[str, Any]) -> None:
        self.value.setdefault("attributes", []).append(attribute)
        self._about.setdefault(_hashable(key), []).append(attribute)

    def discard(self, key: object, attributes: Sequence[dict[str, Any]]) -> None:
        """Remove attributes of a denotation; from the list itself with `settle`."""
        self._gone |= {id(one) for one in attributes}
        if attributes:
            self._about[_hashable(key)] = [one for one in self.about(key) if id(one) not in self._gone]

    def settle(self) -> None:
        if self._gone:
            self.value["attributes"] = [one for one in self.value["attributes"] if id(one) not in self._gone]
            self._gone.clear()


@dataclass(frozen=True, slots=True)
class Denotation:
    value: dict[str, Any]
    home: Home

    def attributes(self) -> list[dict[str, Any]]:
        """Attributes with its identifiers."""
        return [one for one in self.home.about(self.value.get("id")) if is_identifier(one)]

    def others(self) -> list[dict[str, Any]]:
        """Other attributes."""
        return [one for one in self.home.about(self.value.get("id")) if not is_identifier(one)]

    def unread(self) -> dict[str, str]:
        """Values of the others that are not texts or numbers, as texts."""
        odd = {said_value(one.get("pred")): one.get("obj") for one in self.others()}
        return other_texts({name: value for name, value in odd.items() if not isinstance(value, str | float)}, ())

    def held(self) -> dict[str, str]:
        """The names and values of the others; the first of a repeated name."""
        found: dict[str, str] = {}
        for one in self.others():
            name, value = plain_text(said_value(one.get("pred"))), plain_text(said_value(one.get("obj")))
            if name and value:
                found.setdefault(name, value)
        return found


def _hashable(key: object) -> object:
    """A name; in a damaged file, the text of a list or of an object in its place."""
    return (json.dumps(key),) if isinstance(key, list | dict) else key


def may_have(raw: str, key: str) -> bool:
    """Whether a record can have this key: it is there, or something that may be it is behind an escape."""
    return f'"{key}"' in raw or "\\u" in raw


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def names(value: Mapping[str, Any], *fields: str) -> set[str | int]:
    """The names in these fields of an object; a list or an object is not a name."""
    return {one for name in fields if isinstance(one := value.get(name), str | int)}


def denotations(document: dict[str, Any]) -> list[Denotation]:
    """The denotations of the document itself and of its tracks, in order."""
    homes = [Home(one) for one in (document, *objects(document.get("tracks")))]
    return [Denotation(one, home) for home in homes for one in objects(home.value.get("denotations"))]


def relations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(key, relation, the object that it is in) of each, of the document itself and of its tracks, in their order."""
    homes = [document, *objects(document.get("tracks"))]
    found = [(one, home) for home in homes for one in objects(home.get("relations"))]
    keys = unique_keys([_relation_key(one) for one, _ in found])
    return [(key, one, home) for key, (one, home) in zip(keys, found, strict=True)]


def relations_of(raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG001 as every format's
    """The relations of a document's record. A relation between anything but two denotations cannot be edited."""
    if not may_have(raw, "relations"):
        return []
    document = json.loads(raw)
    records = {
        (id(found.home.value), str(found.value["id"])): record
        for record, found in reversed(list(enumerate(denotations(document))))
        if found.value.get("id") is not None
    }
    made = []
    for key, one, home in relations(document):
        names = [str(one.get(end, "")) for end in ("subj", "obj")]
        ends = tuple(
            SourceEnd(role, records[id(home), name]) if (id(home), name) in records else SourceEnd(role, name=name)
            for role, name in zip(("subj", "obj"), names, strict=True)
        )
        fixed = any(end.record < 0 for end in ends)
        made.append(SourceRelation(key, plain_text(str(one.get("pred", ""))) or "relation", ends, fixed))
    return made


def _relation_key(one: Mapping[str, Any]) -> str:
    return plain_text(str(one.get("id") or " ".join(str(one.get(name, "")) for name in ("subj", "pred", "obj"))))


def is_identifier(attribute: Mapping[str, Any]) -> bool:
    """Whether an attribute states identifiers, or that there are none."""
    named = str(attribute.get("pred", "")).lower() in ID_PREDICATES or _vocabulary(attribute) is not None
    return named and bool(_ids(attribute))


def _vocabulary(attribute: Mapping[str, Any]) -> str | None:
    """The vocabulary of an attribute's identifiers, see `identifier_key`."""
    return identifier_key(str(attribute.get("pred", "")), " ".join(_ids(attribute)))


def _ids(attribute: Mapping[str, Any]) -> list[str]:
    """The identifiers in an attribute; an empty one if it is empty."""
    value = attribute.get("obj")
    return [""] if is_empty(value) else identifiers_in(value)


def type_and_ids(found: Denotation, namespaces: Mapping[str, str]) -> tuple[str, list[str]]:
    """A denotation's type, and its identifiers as stated."""
    value = found.value.get("obj")
    whole = _words(value)
    described = [value] if isinstance(value, dict) else objects(value)
    if described and (inside := identifiers_in(value)) and not found.attributes():
        return kind_in([one.get("type") for one in described]) or inside[0].partition(":")[0], inside
    stated = [
        words if not (prefix := _vocabulary(one)) or ":" in words else f"{prefix}:{words}"
        for one in found.attributes()
        for words in _ids(one)
    ]
    if stated:
        return whole, stated
    if is_address(whole, namespaces):
        curie = _curie(whole, namespaces)
        return curie.partition(":")[0], [curie]
    head, colon, tail = whole.partition(":")
    if colon and head and any(ch.isdigit() for ch in tail) and not any(ch.isspace() for ch in tail):
        return head, list(IdStyle().split(tail, head))
    return whole, []


def is_address(text: str, namespaces: Mapping[str, str]) -> bool:
    """Whether an object is only an identifier: a web address that is known, or one with a known prefix."""
    head, colon, local = _curie(text, namespaces).partition(":")
    return bool(colon and local) and usual_prefix(head) in REGISTRIES and not any(ch.isspace() for ch in local)


def _curie(text: str, namespaces: Mapping[str, str]) -> str:
    head, colon, local = text.partition(":")
    if colon and head in namespaces:
        text = contract(namespaces[head] + local)
    elif "_base" in namespaces and "://" not in text:
        text = contract(namespaces["_base"] + text)
    return read_id(text)


def _words(value: object) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return plain_text("|".join(value))
    return (kind_in(value) if isinstance(value, dict) else "") or ("" if value is None else json_text(value))

"""Relations, events and coreferences of rows, and the record that keeps them with a document's attributes.

Ends are named by the mention's id, its number in the list, its offsets, or an identifier that mentions have. An event
and a coreference have any number of ends: they are shown, but cannot be edited.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from curator.domain.relations import LONGEST_TYPE, SourceEnd, SourceRelation
from curator.io.files.field_meanings import Unread, cancelling, is_empty, unread_fields
from curator.io.files.relations import unique_keys
from curator.io.files.source import plain_text

RELATIONS = ("relations", "relation", "rels")
EVENTS = ("events", "event_mentions")
COREFERENCES = ("coreferences", "coreference", "coref", "corefs", "coref_clusters")
ALL = (*RELATIONS, *EVENTS, *COREFERENCES)
_ENDS = (
    ("arg1_id", "arg2_id"),
    ("arg1", "arg2"),
    ("from_id", "to_id"),
    ("from", "to"),
    ("head_span", "child_span"),
    ("head_span", "tail_span"),
    ("head_id", "tail_id"),
    ("head", "tail"),
    ("head", "child"),
    ("h", "t"),
    ("subject_id", "object_id"),
    ("subject", "object"),
    ("subj", "obj"),
    ("source_id", "target_id"),
    ("source", "target"),
    ("entity1_id", "entity2_id"),
    ("entity1", "entity2"),
    ("e1", "e2"),
)
_ARGUMENTS = ("arguments", "args", "participants", "roles")
_MEMBERS = ("entity_ids", "mentions", "entities", "members", "spans", "ids")
_KEYS = ("id", "relation_id", "event_id")
_TYPES = ("type", "label", "labels", "relation", "relation_type", "rel", "predicate", "event_type", "r", "name")
_REFERENCES = ("ref_id", "entity_id", "mention_id", "id", "ref")
STARTS = ("start", "start_char", "begin", "start_offset", "offset")
STOPS = ("end", "end_char", "stop", "end_offset")


@dataclass(frozen=True, slots=True)
class Places:
    """How ends find mentions: their records by id and by offsets, their number, and the entity ids that they have."""

    by_key: Mapping[str, int]
    by_range: Mapping[tuple[int, int], int]
    size: int
    entities: Mapping[str, str]
    shift: int

    def end(self, value: object, role: str = "") -> SourceEnd | None:
        """The end with this id, number, identifier or offsets; None without such a mention."""
        if isinstance(value, Mapping):
            if (known := next((value[key] for key in _REFERENCES if not is_empty(value.get(key))), None)) is not None:
                return self.end(known, role)
            value = [_first_int(value, STARTS), _first_int(value, STOPS)]
        if isinstance(value, list):
            if len(value) == 1:
                return self.end(value[0], role)
            start, end = value if len(value) == 2 else (None, None)
            if type(start) is not int or type(end) is not int:
                return None
            record = self.by_range.get((start + self.shift, end + self.shift))
            return None if record is None else SourceEnd(role, record)
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        record = self.by_key.get(str(value))
        if record is None and not self.by_key and type(value) is int and 0 <= value < self.size:
            record = value
        if record is not None:
            return SourceEnd(role, record)
        entity = self.entities.get(str(value))
        return SourceEnd(role, entity=entity) if entity else None


def relations_of(value: Mapping[str, Any], places: Places, left: Unread) -> tuple[SourceRelation, ...]:
    """The relations, events and coreferences of a row, in this order. What has no ends is counted in `left`."""
    found: list[SourceRelation] = []
    for name in ALL:
        listed = value.get(name)
        elements: Sequence[object] = listed if isinstance(listed, list) else dicts(listed)
        if not elements and not is_empty(listed):
            left.relations[name] += not isinstance(listed, dict) or any(listed.values())
        read = _relation if name in RELATIONS else _event if name in EVENTS else _coreference
        for number, one in enumerate(elements, 1):
            if isinstance(one, Mapping) and (said := cancelling(one)):
                left.mentions[said] += 1
            elif (relation := read(one, places, f"{name[0].upper()}{number}", left)) is None:
                left.relations[name] += 1
            else:
                found.append(relation)
    keys = unique_keys([one.key for one in found])
    return tuple(replace(one, key=key) for key, one in zip(keys, found, strict=True))


def _relation(one: object, places: Places, key: str, left: Unread) -> SourceRelation | None:
    if isinstance(one, list) and len(one) == 3 and isinstance(one[2], str):
        one = dict(zip(("from", "to", "type"), one, strict=True))
    if not isinstance(one, Mapping):
        return None
    names = next((pair for pair in _ENDS if not (is_empty(one.get(pair[0])) or is_empty(one.get(pair[1])))), None)
    if names is None:
        return _event(one, places, key, left)
    first, second = (places.end(one[name]) for name in names)
    if first is None or second is None:
        return None
    notes = ", ".join(words_in(one.get("normalized")))
    used = (*_KEYS, *_TYPES, *names, "head", "child", "normalized")
    left.mention_fields.update(unread_fields(one, used))
    fixed = bool(first.entity) != bool(second.entity)
    return SourceRelation(_key(one, key), _type(one), (first, second), fixed=fixed, note=notes)


def _event(one: object, places: Places, key: str, left: Unread) -> SourceRelation | None:
    """An event: its trigger's words, and its arguments, of which those that are other events keep their names."""
    if not isinstance(one, Mapping):
        return None
    ends = []
    trigger = one.get("trigger")
    if words := " ".join(words_in(trigger.get("text") if isinstance(trigger, Mapping) else trigger)):
        ends.append(SourceEnd("trigger", name=words))
    name = next((name for name in _ARGUMENTS if isinstance(one.get(name), list)), "")
    for argument in one[name] if name else ():
        role = _type(argument, ("role", *_TYPES)) if isinstance(argument, Mapping) else ""
        end = places.end(argument, role)
        if end is None and isinstance(argument, Mapping):
            named = next((argument[key] for key in _REFERENCES if isinstance(argument.get(key), str | int)), "")
            end = SourceEnd(role, name=plain_text(str(named))) if named != "" else None
        if end is not None:
            ends.append(end)
    left.mention_fields.update(unread_fields(one, (*_KEYS, *_TYPES, name, "trigger")))
    return SourceRelation(_key(one, key), _type(one), tuple(ends), fixed=True) if ends else None


def _coreference(one: object, places: Places, key: str, left: Unread) -> SourceRelation | None:
    members: object = one
    if isinstance(one, Mapping):
        name = next((name for name in _MEMBERS if isinstance(one.get(name), list)), "")
        members = one.get(name)
        left.mention_fields.update(unread_fields(one, (*_KEYS, *_TYPES, name)))
    ends = [places.end(each) for each in members] if isinstance(members, list) else []
    kept = tuple(one for one in ends if one is not None)
    kind = _type(one, usual="coreference") if isinstance(one, Mapping) else "coreference"
    return SourceRelation(_key(one, key), kind, kept, fixed=True) if kept else None


def dicts(value: object) -> list[Mapping[str, Any]]:
    """A list of objects; also if it is stored as an object of lists, as in older versions."""
    if isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        size = min(map(len, value.values()))
        return [{key: one[at] for key, one in value.items()} for at in range(size)]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _first_int(one: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((one[name] for name in names if type(one.get(name)) is int), None)


def _key(one: object, usual: str) -> str:
    found = next((one[name] for name in _KEYS if not is_empty(one.get(name))), "") if isinstance(one, Mapping) else ""
    return plain_text(str(found)) if isinstance(found, str | int) and found != "" else usual


def _type(one: Mapping[str, Any], names: Sequence[str] = _TYPES, *, usual: str = "relation") -> str:
    found = next((one[name] for name in names if not is_empty(one.get(name))), "")
    return "/".join(words_in(found))[:LONGEST_TYPE] or usual


def words_in(value: object) -> list[str]:
    """The texts in a value: a text or number, an object's name or CURIE, or a list of these."""
    if isinstance(value, list):
        return [word for one in value for word in words_in(one)]
    if isinstance(value, Mapping):
        if not is_empty(value.get("db_id")):
            return [plain_text(f"{value.get('db_name') or ''}:{value['db_id']}".removeprefix(":"))]
        names = ("name", "text", "label", "value")
        return words_in(next((value[name] for name in names if not is_empty(value.get(name))), None))
    usable = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    return [plain_text(str(value))] if usable else []


# --- the record ---


def packed(
    relations: Sequence[SourceRelation], attributes: Mapping[int, Mapping[str, str]], written: Collection[int]
) -> tuple[str, int]:
    """The record of a document: its relations and its mentions' attributes, '' without any; and the number of relations
    left out, since the mention of an end is not in `written`."""
    kept = [one for one in relations if one.fixed or all(end.record < 0 or end.record in written for end in one.ends)]
    held = {str(record): dict(one) for record, one in attributes.items() if one and record in written}
    parts = {"relations": [asdict(one) for one in kept], "attributes": held}
    parts = {name: part for name, part in parts.items() if part}
    return (json.dumps(parts, ensure_ascii=False) if parts else ""), len(relations) - len(kept)


def relations_in(raw: str) -> list[SourceRelation]:
    """The relations of a record made by `packed`."""
    found = json.loads(raw).get("relations", ()) if raw else ()
    return [
        SourceRelation(
            one["key"], one["type"], tuple(SourceEnd(**end) for end in one["ends"]), one["fixed"], one["note"]
        )
        for one in found
    ]


def attributes_in(raw: str) -> dict[int, dict[str, str]]:
    """Record -> {name: value} of a record made by `packed`."""
    found = json.loads(raw).get("attributes", {}) if raw else {}
    return {int(record): dict(one) for record, one in found.items()}

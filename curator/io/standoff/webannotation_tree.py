"""The content of a W3C Web Annotation: its target's text and position, its type and its identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from curator.io.files.field_meanings import identifiers_in
from curator.io.files.identifiers import read_id
from curator.io.files.source import plain_text

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
NOT_MENTIONS = frozenset(
    {"commenting", "replying", "editing", "questioning", "moderating", "assessing", "bookmarking", "describing"}
)
NAMES_ENTITY = frozenset({"identifying", "linking"})
NAMES_TYPE = frozenset({"tagging", "classifying"})

ATTRIBUTE = "attribute"
"""The key of an attribute's name in a classifying body; its value is in `value`."""

DEEPEST = 20
"""Levels of nested selectors that are read."""
_FRAGMENT = re.compile(r"char=(\d+)(?:,(\d+))?")


def many(value: object) -> list[Any]:
    """A JSON-LD value, single or list, as a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def objects(value: object) -> list[dict[str, Any]]:
    return [one for one in many(value) if isinstance(one, dict)]


def is_a(value: object, kind: str) -> bool:
    return isinstance(value, dict) and kind in many(value.get("type", value.get("@type")))


def key_of(value: object) -> str:
    """The address of a resource, given as such or as an object."""
    if isinstance(value, dict):
        value = value.get("id", value.get("@id"))
    return value if isinstance(value, str) else ""


def motivations(annotation: dict[str, Any]) -> set[str]:
    return {one.removeprefix("oa:") for one in many(annotation.get("motivation")) if isinstance(one, str)}


# --- targets ---


def targets(annotation: dict[str, Any]) -> list[tuple[str, Any]]:
    """(address of the text, selectors) of each target; those of a list or a composite are a mention's fragments."""
    found = []
    for target in many(annotation.get("target")):
        members = objects(target.get("items")) if isinstance(target, dict) and "items" in target else [target]
        for one in members:
            if isinstance(one, str):
                address, _, fragment = one.partition("#")
                found.append((address, {"type": "FragmentSelector", "value": fragment} if fragment else None))
            elif isinstance(one, dict):
                found.append((key_of(one.get("source")) or key_of(one), one.get("selector")))
    return found


Place = tuple[int | None, int | None, str | None, str, str]


def place(selector: object) -> Place:
    """(start, end, exact, prefix, suffix) of the selectors of one target that are not refined; None for missing
    values."""
    return _place([one for one in _alternatives(selector) if not one.get("refinedBy")])


def _place(selectors: Sequence[dict[str, Any]]) -> Place:
    start = end = exact = None
    prefix = suffix = ""
    for one in selectors:
        if is_a(one, "TextPositionSelector") and type(one.get("start")) is int and type(one.get("end")) is int:
            start, end = one["start"], one["end"]
        elif is_a(one, "TextQuoteSelector") and isinstance(one.get("exact"), str):
            exact, prefix, suffix = one["exact"], str(one.get("prefix") or ""), str(one.get("suffix") or "")
        elif is_a(one, "FragmentSelector") and (found := _FRAGMENT.search(str(one.get("value")))):
            start = int(found[1][:18]) if start is None else start
            end = int((found[2] or found[1])[:18]) if end is None else end
    return start, end, exact, prefix, suffix


def selected(selector: object, text: str, depth: int = 0) -> tuple[int, int] | None:
    """The place in the text that refined selectors and ranges select; None if none of them selects one.

    A selector in `refinedBy` selects within the text that the refined one selects. A range ends before its
    `endSelector`.
    """
    for one in _alternatives(selector) if depth < DEEPEST else ():
        if is_a(one, "RangeSelector"):
            ends = [selected(one.get(name), text, depth + 1) for name in ("startSelector", "endSelector")]
            found = (ends[0][0], ends[1][0]) if ends[0] and ends[1] else None
        else:
            found = _found(_place([one]), text)
        if found is not None and one.get("refinedBy"):
            within = selected(one["refinedBy"], text[found[0] : found[1]], depth + 1)
            found = (found[0] + within[0], found[0] + within[1]) if within else None
        if found is not None and 0 <= found[0] < found[1] <= len(text):
            return found
    return None


def _found(stated: Place, text: str) -> tuple[int, int] | None:
    start, end, exact, prefix, suffix = stated
    if exact is None:
        return (start, end) if start is not None and end is not None else None
    if text.count(prefix + exact + suffix) != 1:
        return None
    at = text.index(prefix + exact + suffix) + len(prefix)
    return at, at + len(exact)


def _alternatives(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The selectors of a list or a choice: each selects the same."""
    for one in objects(value):
        if "items" in one and depth < DEEPEST:
            yield from _alternatives(one["items"], depth + 1)
        else:
            yield one


# --- bodies ---


def role(body: object, annotation: dict[str, Any]) -> str:
    """ "type", "id", "attribute" or '' of one body: by its purpose, else by what it is and the annotation's
    motivation."""
    if isinstance(body, dict) and all(isinstance(body.get(key), str) for key in (ATTRIBUTE, "value")):
        return ATTRIBUTE
    purposes = many(body.get("purpose")) if isinstance(body, dict) else []
    named = {str(one) for one in purposes} or motivations(annotation)
    if named & NAMES_ENTITY:
        return "id" if body_ids(body) else ""
    textual = isinstance(body, dict) and isinstance(body.get("value"), str)
    if named & NAMES_TYPE:
        return "type" if textual else "id" if body_ids(body) else ""
    return "" if textual or purposes or not body_ids(body) else "id"


def body_ids(body: object) -> list[str]:
    """The addresses that a body refers to, or its text."""
    if not isinstance(body, dict):
        return [body] if isinstance(body, str) and body else []
    stated = (body.get(key) for key in ("source", "value", "id", "@id"))
    return next((ids for one in stated if (ids := identifiers_in(one))), [])


def named_by(body: object, annotation: dict[str, Any]) -> str:
    """The purpose of a body, or the motivation of its annotation."""
    purposes = many(body.get("purpose")) if isinstance(body, dict) else []
    return str([*purposes, *sorted(motivations(annotation)), "body"][0])


def type_and_ids(annotation: dict[str, Any]) -> tuple[str, list[str]]:
    """The annotation's type, and its identifiers as stated."""
    kind, ids = "", []
    for body in bodies(annotation):
        what = role(body, annotation)
        if what == "type":
            kind = kind or str(body["value"])
        elif what == "id":
            ids += body_ids(body)
    return kind, ids


def bodies(annotation: dict[str, Any]) -> list[Any]:
    """A plain text (`bodyValue`) counts as a textual body."""
    found = many(annotation.get("body"))
    if isinstance(annotation.get("bodyValue"), str):
        found = [*found, {"type": "TextualBody", "value": annotation["bodyValue"]}]
    return found


def held_attributes(annotation: dict[str, Any]) -> dict[str, str]:
    """Names and values of the attributes; the first of a repeated name."""
    found: dict[str, str] = {}
    for body in bodies(annotation):
        if role(body, annotation) == ATTRIBUTE and body[ATTRIBUTE].strip() and body["value"].strip():
            found.setdefault(plain_text(body[ATTRIBUTE].strip()), plain_text(body["value"].strip()))
    return found


def put_attributes(annotation: dict[str, Any], changes: Mapping[str, str | None]) -> None:
    """Change, add or, for None, remove the bodies of these attributes."""
    made, left = list[Any](), dict(changes)
    for body in bodies(annotation):
        name = plain_text(body[ATTRIBUTE].strip()) if role(body, annotation) == ATTRIBUTE else ""
        if name not in changes:
            made.append(body)
        elif (value := left.pop(name, None)) is not None:
            made.append({**body, "value": value})
    annotation.pop("bodyValue", None)
    new = (
        {"type": "TextualBody", "purpose": "classifying", ATTRIBUTE: name, "value": value}
        for name, value in left.items()
        if value is not None
    )
    annotation["body"] = [*made, *new]


def new_bodies(kind: str, ids: list[str]) -> list[dict[str, Any]]:
    """Bodies for a type and identifiers; a NIL body for an empty identifier."""
    found: list[dict[str, Any]] = [{"type": "TextualBody", "purpose": "tagging", "value": kind}]
    for one in ids:
        if read_id(one):
            found.append({"type": "SpecificResource", "purpose": "identifying", "source": one})
        else:
            found.append({"type": "TextualBody", "purpose": "identifying", "value": one})
    return found

"""Inconsistencies that a curator marked as intended: what may be decided in several ways, and where.

Kept in the project (meta `inconsistencies.intended`, JSON: scope -> list of ways). A scope is a string and type in one
document or in the project, or an entity that the knowledge base no longer has; a way is a sorted list of entity ids,
empty for NIL. A decision that is none of the listed ways makes the inconsistency appear again.

Marking is an operation; its payload is {"intended": {"scope": …, "before": ways | null, "after": ways | null}}.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from curator.domain.inconsistencies import Way
from curator.services.ports import UnitOfWork

KEY = "inconsistencies.intended"


def string_scope(key: str, type_: str, document_id: int | None = None) -> str:
    """Of a string (`domain.same_string.string_key`) and type in a document, or in the project."""
    return json.dumps(["string", document_id, key, type_], ensure_ascii=False)


def entity_scope(entity_id: str) -> str:
    """Of an entity that is obsolete or gone."""
    return json.dumps(["entity", entity_id], ensure_ascii=False)


def intended_in(unit: UnitOfWork) -> dict[str, frozenset[Way]]:
    """The ways that are intended, by scope."""
    return {scope: frozenset(tuple(way) for way in ways) for scope, ways in _stored(unit).items()}


def is_intended(marks: Mapping[str, Collection[Way]], scope: str, ways: Iterable[Way]) -> bool:
    """Whether all of these ways are."""
    known = marks.get(scope)
    return known is not None and all(way in known for way in ways)


def intend(unit: UnitOfWork, scope: str, ways: Collection[Way] | None) -> dict[str, Any]:
    """Mark these ways of a scope, in place of what was marked of it, or with None take its mark away; returns the
    payload of the operation."""
    before = _stored(unit).get(scope)
    after = sorted(list(way) for way in ways) if ways is not None else None
    _set(unit, scope, after)
    return {"intended": {"scope": scope, "before": before, "after": after}}


def restore_intended(unit: UnitOfWork, payload: Mapping[str, Any], *, forward: bool) -> None:
    """Do again, or take back, what an operation marked."""
    if (mark := payload.get("intended")) is not None:
        _set(unit, str(mark["scope"]), mark["after" if forward else "before"])


def _set(unit: UnitOfWork, scope: str, ways: list[list[str]] | None) -> None:
    stored = _stored(unit)
    stored.pop(scope, None)
    if ways is not None:
        stored[scope] = ways
    unit.meta.set(KEY, json.dumps(stored, ensure_ascii=False))


def _stored(unit: UnitOfWork) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = json.loads(unit.meta.get(KEY) or "{}")
    return found

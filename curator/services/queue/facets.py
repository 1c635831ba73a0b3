"""Counts of the queue by facet, and the documents that match a filter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from curator.domain.attributes import KEY as ATTRIBUTES_KEY
from curator.domain.attributes import Scheme, called, load_scheme
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import Facet, FacetCube, Facets, attribute_value
from curator.domain.wording import UserError, tr
from curator.services.core.context import Service
from curator.services.ports.queue import QueueFilter

LARGE = 20_000
"""With at least this many mentions, counting takes longer than a frame and belongs in a background thread."""


class FacetService(Service):
    """Read-only and thread-safe."""

    def large(self) -> bool:
        with self._store.read() as unit:
            return unit.documents.counts().mentions > LARGE

    def cube(self, where: QueueFilter, document_id: int | None = None) -> FacetCube:
        """See `SqlQueue.cube`."""
        with self._store.read() as unit:
            return unit.queue.cube(where, document_id)

    def documents(self, where: QueueFilter, among: Sequence[int] | None = None) -> dict[int, int]:
        """Document id -> number of matching mentions, in queue order; others are absent."""
        with self._store.read() as unit:
            return unit.queue.documents(where, among)


# Named filters of the queue, stored in the project.

KEY = "saved_filters"  # JSON: name -> filter


class SavedFilters(Service):
    """Saved filters by name, in alphabetical order. Attributes and values renamed since have their new names."""

    def all(self) -> dict[str, QueueFilter]:
        with self._store.read() as unit:
            kept = json.loads(unit.meta.get(KEY) or "{}")
            scheme = load_scheme(unit.meta.get(ATTRIBUTES_KEY) or "")
        found = {}
        for name in sorted(kept, key=str.casefold):
            with suppress(AttributeError, TypeError, ValueError):  # of another program
                found[name] = filter_from_json(kept[name])
        return {name: _with_new_names(where, scheme) for name, where in found.items()}

    def save(self, name: str, where: QueueFilter) -> None:
        """Store a filter, replacing one with the same name. Raises UserError without a name."""
        if not name.strip():
            raise UserError(tr("Enter a name for the filter."))
        with self._store.write() as unit:
            kept = json.loads(unit.meta.get(KEY) or "{}")
            kept[name.strip()] = filter_as_json(where)
            unit.meta.set(KEY, json.dumps(kept, ensure_ascii=False))

    def delete(self, name: str) -> None:
        """Delete a filter; harmless if there is none."""
        with self._store.write() as unit:
            kept = json.loads(unit.meta.get(KEY) or "{}")
            if kept.pop(name, None) is not None:
                unit.meta.set(KEY, json.dumps(kept, ensure_ascii=False))


def _with_new_names(where: QueueFilter, scheme: Scheme) -> QueueFilter:
    values = where.facets.values(Facet.ATTRIBUTE)
    if not values:
        return where
    return replace(where, facets=where.facets.only(Facet.ATTRIBUTE, [_new_name(one, scheme) for one in values]))


def _new_name(chosen: str, scheme: Scheme) -> str:
    """A value of the facet with the current names of attribute and value; unchanged if there are none."""
    name, _, value = chosen.partition("=")
    attribute = called(scheme.shown, name)
    known = called(attribute.shown, value) if attribute is not None else None
    return attribute_value(attribute.name if attribute else name, known.name if known else value)


def filter_as_json(where: QueueFilter) -> dict[str, Any]:
    data: dict[str, Any] = {"text": where.text, "facets": where.facets.as_json()}
    if where.state is not None:
        data["state"] = where.state.value
    if where.split is not None:
        data["split"] = where.split.value
    return data


def filter_from_json(data: Mapping[str, Any]) -> QueueFilter:
    return QueueFilter(
        state=DocumentState(data["state"]) if "state" in data else None,
        split=Split(data["split"]) if "split" in data else None,
        text=str(data.get("text", "")),
        facets=Facets.from_json(data.get("facets", {})),
    )

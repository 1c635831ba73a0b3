"""Filters of the queue that the project keeps under names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from curator.domain.documents import DocumentState, Split
from curator.domain.errors import UserError
from curator.domain.facets import Facets
from curator.domain.wording import tr
from curator.services.ports import QueueFilter, Store

KEY = "saved_filters"  # JSON: name -> filter


class SavedFilters:
    """By name, in the order of the alphabet."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> dict[str, QueueFilter]:
        with self._store.read() as unit:
            kept = json.loads(unit.meta.get(KEY) or "{}")
        return {name: filter_from_json(kept[name]) for name in sorted(kept, key=str.casefold)}

    def save(self, name: str, where: QueueFilter) -> None:
        """Keep a filter, in place of one of the same name. Raises UserError without a name."""
        if not name.strip():
            raise UserError(tr("Give the filter a name to keep it under."))
        with self._store.write() as unit:
            kept = json.loads(unit.meta.get(KEY) or "{}")
            kept[name.strip()] = filter_as_json(where)
            unit.meta.set(KEY, json.dumps(kept, ensure_ascii=False))

    def delete(self, name: str) -> None:
        """Harmless where there is none."""
        with self._store.write() as unit:
            kept = json.loads(unit.meta.get(KEY) or "{}")
            if kept.pop(name, None) is not None:
                unit.meta.set(KEY, json.dumps(kept, ensure_ascii=False))


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

"""Counts of the queue by facet, and the documents that match a filter."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from curator.domain.attributes import KEY as ATTRIBUTES_KEY
from curator.domain.attributes import Scheme, called, load_scheme
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import UNDECIDED, Facet, FacetCube, Facets, attribute_value
from curator.domain.wording import UserError, tr
from curator.services.core.context import Service
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import Direction, QueueService
from curator.services.queue.seat import DocumentList, Lists

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


# Mentions that match the facets: in the open document, and the next ones in other documents.


class Matching:
    """`mentions` are those of the last checked document; None while no facet is set, when everything matches.

    `documents` have matches, in queue order, at the time of counting: one whose last match was decided since may be
    among them, and is skipped.
    """

    def __init__(self, queue: QueueService) -> None:
        """`queue` is the project's, which evaluates the facets."""
        self._queue = queue
        self._lists: Lists = queue.under
        self.where = QueueFilter()
        self.list: DocumentList = self._lists(self.where)
        self.mentions: frozenset[int] | None = None
        self._outside = False  # the filter excludes the last checked document
        self._documents: Sequence[int] | None = None

    def __bool__(self) -> bool:
        return self.mentions is not None

    def use(self, lists: Lists) -> None:
        """Use another list of documents: a round's, or the project's with additional mentions."""
        self._lists = lists
        self.list = lists(self.where)

    def set_filter(self, where: QueueFilter, documents: Sequence[int] | None) -> None:
        self.where, self._documents = where, documents
        self.list = self._lists(where)

    def look(self, document_id: int | None) -> None:
        """Find the document's mentions that currently match the facets, and whether the filter excludes it."""
        narrowed = document_id is not None and self.where != QueueFilter()
        ids = self.ids(document_id) if document_id is not None and narrowed else []
        self.mentions = frozenset(ids) if self.where.facets else None
        self._outside = narrowed and not ids

    @property
    def included(self) -> frozenset[int] | None:
        """The mentions of the last checked document that the filter includes; None if it includes all."""
        return frozenset() if self._outside else self.mentions

    def holds(self, mention_id: int) -> bool:
        return self.mentions is None or mention_id in self.mentions

    def ids(self, document_id: int) -> list[int]:
        """The matching mentions of any document, in text order."""
        return self._queue.mention_ids(self.where, document_id)

    def waits(self, mention_id: int) -> bool:
        """Whether the mention is undecided and matches the filter."""
        return self._queue.waits(mention_id, self.where)

    @property
    def reviewing(self) -> bool:
        """Whether the facets match only decided mentions, which are then reviewed."""
        states = self.where.facets.values(Facet.STATE)
        return bool(states) and UNDECIDED not in states

    def next_to_decide(self, document_id: int | None) -> tuple[int, int] | None:
        """(document, mention) of the first mention to decide after a document."""
        if self.mentions is None or self._documents is None:
            return self.list.next_undecided(document_id)
        for one in self._documents[bisect_right(self._documents, document_id or 0) :]:
            ids = self.ids(one)
            if ids and self.reviewing:
                return one, ids[0]
            waiting = next((mention for mention in ids if self.waits(mention)), None)
            if waiting is not None:
                return one, waiting
        return None

    def neighbour(self, document_id: int | None, direction: int) -> int | None:
        """The next or previous document; with facets, one that still has a match."""
        if self._documents is None or not self.where.facets:
            return self.list.neighbour(document_id, Direction(direction))
        place = document_id or 0
        if direction > 0:
            candidates = self._documents[bisect_right(self._documents, place) :]
        else:
            candidates = self._documents[: bisect_left(self._documents, place)][::-1]
        return next((one for one in candidates if self.ids(one)), None)

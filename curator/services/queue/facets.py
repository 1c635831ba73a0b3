"""Counts of the queue by facet, and the documents that hold what a filter shows."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.facets import FacetCube
from curator.services.ports import QueueFilter, Store

LARGE = 20_000
"""From so many mentions on, counting takes longer than a frame and belongs beside the window's thread."""


class FacetService:
    """Read-only. Everything here may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def large(self) -> bool:
        with self._store.read() as unit:
            return unit.documents.counts().mentions > LARGE

    def cube(self, where: QueueFilter, document_id: int | None = None) -> FacetCube:
        """See `ports.QueueRepository.cube`."""
        with self._store.read() as unit:
            return unit.queue.cube(where, document_id)

    def documents(self, where: QueueFilter, among: Sequence[int] | None = None) -> dict[int, int]:
        """Document id -> number of matching mentions, in queue order; those without any are absent."""
        with self._store.read() as unit:
            return unit.queue.documents(where, among)

"""Broader and narrower entities: the knowledge base as a tree, read a page at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from curator.domain.entities import TreeNode, TreePage
from curator.domain.wording import UserError, tr
from curator.services.core.context import Context, Service

PAGE = 100
"""Children of a node that are read at once."""
NOT_INDEXED = (
    "The hierarchy of this knowledge base is not indexed yet, and the project is open for reading only. Open the "
    "project for writing once, and browse the hierarchy there."
)
GONE = "The knowledge base has no entity {entity}. Search for its name instead."


@dataclass(frozen=True, slots=True)
class TreeWay:
    """The path from the top down to an entity: `nodes` begins with a topmost one and ends with the entity."""

    nodes: tuple[TreeNode, ...]

    @property
    def alone(self) -> bool:
        """Whether the entity is in no hierarchy: it has neither parents nor children."""
        return len(self.nodes) == 1 and not self.nodes[0].children


class HierarchyService(Service):
    """Each answer takes some milliseconds, except the first one if an earlier version of the program imported the
    knowledge base: it builds the index, so call it from a worker thread.

    Every method raises UserError if the index is missing and cannot be built.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._ready = False
        self._building = threading.Lock()  # allows other writers, but no second builder

    @property
    def ready(self) -> bool:
        """Whether the index is there, so that a read-only project can be browsed."""
        if not self._ready:  # every later version has its index
            with self._store.read() as unit:
                self._ready = unit.kb.has_hierarchy() and unit.kb.info() is not None
                return unit.kb.has_hierarchy()
        return True

    def narrower(self, entity_id: str | None = None, *, start: int = 0, count: int = PAGE) -> TreePage:
        """The entities directly below one, or the topmost: `count` of them after the first `start`, by name. An unknown
        id has none."""
        self.prepare()
        with self._store.read() as unit:
            return unit.kb.narrower(entity_id, start=start, count=count)

    def broader(self, entity_id: str) -> tuple[TreeNode, ...]:
        """The entities directly above one, by name."""
        self.prepare()
        with self._store.read() as unit:
            return tuple(unit.kb.broader(entity_id))

    def way(self, entity_id: str) -> TreeWay:
        """The shortest path down to an entity, by its primary or alternate id. Raises UserError if there is none."""
        self.prepare()
        with self._store.read() as unit:
            entity = unit.kb.get(entity_id)
            if entity is None:
                raise UserError(tr(GONE, entity=entity_id))
            nodes = [unit.kb.tree_node(one) for one in unit.kb.way_down(entity.id)]
        return TreeWay(tuple(one for one in nodes if one is not None) or (TreeNode(entity, 0, 0),))

    def prepare(self) -> None:
        """Build the index if it is missing."""
        if self.ready:
            return
        if self._store.read_only:
            raise UserError(tr(NOT_INDEXED))
        with self._building, self._store.write() as unit:
            unit.kb.build_hierarchy()

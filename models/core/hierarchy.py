"""The hierarchy of a knowledge base: the ancestors of entities, and their depth.

Only the few candidates of each mention are needed, so results are cached and calculated on demand: 3.4 million entities
would take minutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.types import EntityRecord

LEVELS = 3
"""The most steps up to a common ancestor; through the root, all diseases would be related."""
DEEPEST = 30


class Hierarchy:
    """The hierarchy by rows of ``entities``; ``rows`` maps ids to rows. An entity without known parents is at the top;
    a cycle is followed once."""

    def __init__(self, entities: Sequence[EntityRecord], rows: Mapping[str, int]) -> None:
        self._entities = entities
        self._rows = rows
        self._above: dict[int, frozenset[int]] = {}
        self._depth: dict[int, int] = {}

    def above(self, row: int) -> frozenset[int]:
        """The entities up to ``LEVELS`` above this one, excluding itself."""
        found = self._above.get(row)
        if found is None:
            level, seen = {row}, {row}
            for _ in range(LEVELS):
                level = {parent for one in level for parent in self._parents(one)} - seen
                seen |= level
            found = self._above[row] = frozenset(seen - {row})
        return found

    def depth(self, row: int) -> int:
        """Steps to the top by the shortest path, at most ``DEEPEST``."""
        found = self._depth.get(row)
        if found is None:
            level, seen, found = {row}, {row}, 0
            while found < DEEPEST and level and all(self._parents(one) for one in level):
                level = {parent for one in level for parent in self._parents(one)} - seen
                seen |= level
                found += bool(level)
            self._depth[row] = found
        return found

    def _parents(self, row: int) -> list[int]:
        rows = (self._rows.get(one) for one in self._entities[row].parents)
        return [one for one in rows if one is not None]

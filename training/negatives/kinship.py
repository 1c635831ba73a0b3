"""Identical entities: an entity that shares an id with the gold entity is not a negative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.text.normalise import sorted_key
from models.types import EntityRecord

Rows = NDArray[np.int64]


class Kinship:
    """For each entity the rows that share an id with it, itself included."""

    def __init__(self, entities: Sequence[EntityRecord]) -> None:
        holders: dict[str, list[int]] = {}
        for row, entity in enumerate(entities):
            for name in dict.fromkeys((entity.id, *entity.alt_ids)):
                holders.setdefault(name, []).append(row)
        self._kin: dict[int, set[int]] = {}
        for rows in holders.values():
            for row in rows if len(rows) > 1 else ():
                self._kin.setdefault(row, set()).update(rows)

    def of(self, rows: Iterable[int]) -> frozenset[int]:
        """All rows that are, or are aliases of, the given ones."""
        return frozenset(kin for row in rows for kin in self._kin.get(row, {row}))


class NameKinship:
    """Entities whose names must never be each other's negatives: those that share an id, entities that share a
    normalised name, ancestors and descendants. Pushing these apart made self-alignment on MeSH and OMIM worse."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._same = kb, Kinship(kb.entities)
        self._keys: dict[str, set[int]] = {}
        for name, entity in zip(kb.names, kb.name_entity.tolist(), strict=True):
            self._keys.setdefault(sorted_key(name), set()).add(entity)
        self._below: dict[int, set[int]] = {}
        for row in range(len(kb.entities)):
            for above in kb.hierarchy.above(row):
                self._below.setdefault(above, set()).add(row)

    def of(self, rows: Iterable[int]) -> frozenset[int]:
        """All rows related to the given ones, including these."""
        found: set[int] = set()
        for row in rows:
            found |= self._same.of([row]) | self._kb.hierarchy.above(row) | self._below.get(row, set())
            for name in self._kb.names[self._kb.name_starts[row] : self._kb.name_starts[row + 1]]:
                found |= self._keys[sorted_key(name)]
        return frozenset(found)


def eligible(gold: Sequence[Iterable[int]], candidates: Rows, kinship: Kinship) -> NDArray[np.bool_]:
    """Mask [B, N]: whether candidate row n may be a negative of mention b, whose gold rows are `gold[b]`.

    A NIL mention has no gold rows: every candidate is eligible.
    """
    mask = np.ones((len(gold), len(candidates)), dtype=bool)
    for number, rows in enumerate(gold):
        forbidden = kinship.of(rows)
        if forbidden:
            mask[number] = ~np.isin(candidates, np.fromiter(forbidden, dtype=np.int64))
    return mask

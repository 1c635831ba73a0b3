"""Entities that are one and the same: whoever shares an id with the gold entity is no negative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

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

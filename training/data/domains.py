"""Domains of entities: the world of a Wikia entity, or the semantic type of a biomedical entity.

T-Biencoder (2022, §3.4) draws the negatives of a mention from the domain of its gold entity, since lexically similar
entities of one kind are harder to distinguish. Both kinds of domain are the `types` of the entities: the world is the
type of an entity that was imported from ZESHEL documents. An entity with several types is in-domain with any of them;
an entity without types is its own domain (our reading), or all such entities form one domain (`Untyped.TOGETHER`).

A domain is a few ranges of rows, since the knowledge base stores entities of equal types next to each other. Drawing
from a domain and testing membership need no pass over the entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, Ranges

Rows = NDArray[np.int64]


class Untyped(StrEnum):
    """Whether each entity without a type is its own domain, or all such entities form one domain."""

    ALONE = "alone"
    TOGETHER = "together"


@dataclass(frozen=True, eq=False)
class Domain:
    """Rows of the knowledge base as half-open ranges, ascending, disjoint and not empty; compared by identity."""

    ranges: Ranges

    def __len__(self) -> int:
        return int(self._ends[-1]) if self.ranges else 0

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """[n] bool: for each of `rows` [n], whether it is in the domain."""
        if not self.ranges:
            return np.zeros(len(rows), dtype=bool)
        place = np.searchsorted(self._starts, rows, side="right") - 1
        inside: NDArray[np.bool_] = (place >= 0) & (rows < self._stops[np.maximum(place, 0)])
        return inside

    def draw(self, random: np.random.Generator, count: int, *, without: Rows) -> Rows:
        """`count` distinct rows, uniform over those of the domain that are not in `without`; fewer if there are fewer.

        It draws extra rows to make up for those that `without` removes, so enough are always left.
        """
        places = random.choice(len(self), min(count + len(without), len(self)), replace=False)
        rows = self.at(places)
        fresh: Rows = rows[~np.isin(rows, without)][:count]
        return fresh

    def at(self, places: Rows) -> Rows:
        """The rows at the given places of the domain, counted from 0 over its ranges."""
        if not self.ranges:
            return np.empty(0, dtype=np.int64)
        number = np.searchsorted(self._ends, places, side="right")
        rows: Rows = self._stops[number] - (self._ends[number] - places)
        return rows

    @cached_property
    def _starts(self) -> Rows:
        return np.array([start for start, _ in self.ranges], dtype=np.int64)

    @cached_property
    def _stops(self) -> Rows:
        return np.array([stop for _, stop in self.ranges], dtype=np.int64)

    @cached_property
    def _ends(self) -> Rows:
        """Cumulative number of rows up to the end of each range."""
        return np.cumsum(self._stops - self._starts)


class Domains:
    """The domains of a knowledge base. Equal domains are the same object."""

    def __init__(self, kb: KnowledgeBase, *, untyped: Untyped = Untyped.ALONE) -> None:
        self.kb, self.untyped = kb, Untyped(untyped)
        self._known: dict[tuple[str, ...], Domain] = {}
        self._alone: dict[int, Domain] = {}

    @cached_property
    def everything(self) -> Domain:
        """All rows."""
        return Domain(self.kb.ranges(()))

    def of(self, gold: Iterable[int], types: Sequence[str] = ()) -> Domain:
        """The domain of a mention: rows that share a type with any of its gold rows.

        A NIL mention has no gold row; its domain is the rows that its `types` allow, or all rows without types.
        """
        rows = tuple(gold)
        if not rows:
            return self._of_types(tuple(sorted(types))) if types else self.everything
        named = sorted({kind for row in rows for kind in self.kb.entities[row].types})
        untyped = [row for row in rows if not self.kb.entities[row].types]
        if untyped and self.untyped is Untyped.TOGETHER:
            return joined(self._of_types(tuple(named)), self._without_type) if named else self._without_type
        own = [self._alone.setdefault(row, Domain(((row, row + 1),))) for row in untyped]
        return joined(*([self._of_types(tuple(named))] if named else []), *own)

    def _of_types(self, types: tuple[str, ...]) -> Domain:
        if types not in self._known:
            self._known[types] = Domain(self.kb.ranges(types))
        return self._known[types]

    @cached_property
    def _without_type(self) -> Domain:
        rows = [row for row, entity in enumerate(self.kb.entities) if not entity.types]
        return joined(*(Domain(((row, row + 1),)) for row in rows))


def joined(*domains: Domain) -> Domain:
    """All rows of the domains; a single domain is returned as it is."""
    if len(domains) == 1:
        return domains[0]
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(span for domain in domains for span in domain.ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return Domain(tuple(merged))


def common(first: Ranges, second: Ranges) -> Ranges:
    """The rows that are in both, as ascending and disjoint ranges."""
    found: list[tuple[int, int]] = []
    at = other = 0
    while at < len(first) and other < len(second):
        start, stop = max(first[at][0], second[other][0]), min(first[at][1], second[other][1])
        if start < stop:
            found.append((start, stop))
        if first[at][1] <= second[other][1]:
            at += 1
        else:
            other += 1
    return tuple(found)

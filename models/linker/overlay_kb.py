"""The knowledge base of a bundle, with entities added, changed or removed since it was built.

Rows keep their numbers: a removed or changed entity leaves a dead row, and a new entity is appended. Only two arrays of
numbers are copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from models.core.kb import IntArray, KnowledgeBase, Ranges
from models.core.stored_kb import RowSequence
from models.types import EntityRecord

GONE = EntityRecord("", "")


@dataclass(frozen=True, eq=False)
class LiveKnowledgeBase(KnowledgeBase):
    """``base``, then ``added`` entities; rows of ``dead`` ones answer with an empty record and empty names.

    No range holds a dead row of ``added``; the stages filter dead rows of ``base`` themselves, so that its ranges do
    not change and the stages' caches for each range stay valid.
    """

    base: KnowledgeBase
    added: tuple[EntityRecord, ...]
    dead: frozenset[int]
    starts: IntArray
    owners: IntArray

    @classmethod
    def of(cls, kb: KnowledgeBase) -> LiveKnowledgeBase:
        """The knowledge base without changes."""
        if isinstance(kb, LiveKnowledgeBase):
            return kb
        entities = LiveEntities(kb.entities, (), frozenset())
        return cls(entities, kb, (), frozenset(), kb.name_starts, kb.name_entity)

    def changed(self, new: Sequence[EntityRecord], dead: Iterable[int]) -> LiveKnowledgeBase:
        """A copy with ``new`` entities appended and without the rows ``dead``; this one does not change."""
        counts = np.asarray([len(entity.names) for entity in new], dtype=np.int64)
        starts = np.concatenate([self.starts, self.starts[-1] + np.cumsum(counts)])
        owners = np.concatenate([self.owners, np.repeat(len(self.entities) + np.arange(len(new)), counts)])
        added, gone = (*self.added, *new), self.dead.union(dead)
        return LiveKnowledgeBase(LiveEntities(self.base.entities, added, gone), self.base, added, gone, starts, owners)

    @cached_property
    def names(self) -> Sequence[str]:
        return LiveNames(self)

    @cached_property
    def name_starts(self) -> IntArray:
        return self.starts

    @cached_property
    def name_entity(self) -> IntArray:
        return self.owners

    @cached_property
    def rows(self) -> Mapping[str, int]:
        return LiveRows(self)

    @cached_property
    def resolved(self) -> Mapping[str, str]:
        return LiveIds(self)

    @cached_property
    def alternates(self) -> Mapping[str, tuple[str, ...]]:
        found = {alt: self._living(alt, owners) for alt, owners in self.base.alternates.items()}
        for entity in self._live_added():
            found |= {alt: tuple(dict.fromkeys((*found.get(alt, ()), entity.id))) for alt in entity.alt_ids}
        return {alternate: owners for alternate, owners in found.items() if owners}

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the base, even if a type's last entity was removed, and of added entities."""
        return tuple(sorted({*self.base.types, *(kind for entity in self._live_added() for kind in entity.types)}))

    @cached_property
    def added_rows(self) -> dict[str, int]:
        """Primary id → row of the living added entities."""
        first = len(self.base.entities)
        return {e.id: first + at for at, e in enumerate(self.added) if first + at not in self.dead}

    def ranges(self, types: Sequence[str]) -> Ranges:
        wanted, first = set(types), len(self.base.entities)
        found: list[tuple[int, int]] = []
        for row, entity in enumerate(self.added, start=first):
            if row in self.dead or (wanted and wanted.isdisjoint(entity.types)):
                continue
            if found and found[-1][1] == row:
                found[-1] = (found[-1][0], row + 1)
            else:
                found.append((row, row + 1))
        return (*self.base.ranges(types), *found)

    def name_rows(self, rows: Sequence[int]) -> IntArray:
        """All names of the given entity rows."""
        starts = self.name_starts
        parts = [np.arange(starts[row], starts[row + 1]) for row in rows]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def _live_added(self) -> list[EntityRecord]:
        return [self.entities[row] for row in self.added_rows.values()]

    def _living(self, alternate: str, owners: Sequence[str]) -> tuple[str, ...]:
        """The entities that are still living and still have the alternate id."""
        living = (owner for owner in owners if owner in self.rows)
        return tuple(owner for owner in living if alternate in self.entities[self.rows[owner]].alt_ids)


@dataclass(frozen=True, eq=False)
class LiveEntities(RowSequence[EntityRecord]):
    base: Sequence[EntityRecord]
    added: tuple[EntityRecord, ...]
    dead: frozenset[int]

    def __len__(self) -> int:
        return len(self.base) + len(self.added)

    def at(self, place: int) -> EntityRecord:
        if place in self.dead:
            return GONE
        return self.base[place] if place < len(self.base) else self.added[place - len(self.base)]


@dataclass(frozen=True, eq=False)
class LiveNames(RowSequence[str]):
    kb: LiveKnowledgeBase

    def __len__(self) -> int:
        return int(self.kb.name_starts[-1])

    def at(self, place: int) -> str:
        entity = int(self.kb.name_entity[place])
        if entity in self.kb.dead:
            return ""
        base = self.kb.base
        if entity < len(base.entities):
            return base.names[place]
        return self.kb.added[entity - len(base.entities)].names[place - int(self.kb.name_starts[entity])]

    def __iter__(self) -> Iterator[str]:
        hidden = set(self.kb.name_rows(sorted(self.kb.dead)).tolist())
        names = chain(self.kb.base.names, *(entity.names for entity in self.kb.added))
        return ("" if at in hidden else name for at, name in enumerate(names))


@dataclass(frozen=True, eq=False)
class LiveRows(Mapping[str, int]):
    """Primary id → entity row, for entities that are not deleted."""

    kb: LiveKnowledgeBase

    def __getitem__(self, entity_id: str) -> int:
        row = self.kb.added_rows.get(entity_id)
        if row is None:
            row = self.kb.base.rows[entity_id]
            if row in self.kb.dead:
                raise KeyError(entity_id)
        return row

    def __iter__(self) -> Iterator[str]:
        old = (entity_id for entity_id, row in self.kb.base.rows.items() if row not in self.kb.dead)
        return chain(old, self.kb.added_rows)

    def __len__(self) -> int:
        return len(self.kb.entities) - len(self.kb.dead)


@dataclass(frozen=True, eq=False)
class LiveIds(Mapping[str, str]):
    """Alternate and primary id → primary id, for entities that are not deleted; looked up without listing those of the
    base."""

    kb: LiveKnowledgeBase

    @cached_property
    def added_alternates(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for row in self.kb.added_rows.values():
            entity = self.kb.entities[row]
            found |= {alt: (*found.get(alt, ()), entity.id) for alt in entity.alt_ids}
        return found

    def __getitem__(self, entity_id: str) -> str:
        if entity_id in self.kb.rows:
            return entity_id
        kb = self.kb
        owners = (*kb.base.alternates.get(entity_id, ()), *self.added_alternates.get(entity_id, ()))
        for owner in owners:
            if owner in kb.rows and entity_id in kb.entities[kb.rows[owner]].alt_ids:
                return owner
        raise KeyError(entity_id)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(chain(self.kb.alternates, self.kb.rows)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, entity_id: Any) -> bool:
        return self.get(entity_id) is not None

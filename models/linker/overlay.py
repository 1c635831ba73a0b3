"""Entities added, changed or removed since a bundle was built, in every stage, effective from the next query on.

The bundle's own indexes stay frozen. What is added is kept behind them (`GrownIndex` for vectors, names with the frozen
idf in ``LiveLexical``); removed rows are left out. A trained encoder encodes new entities like the others. A retraining
or a rebuild of the index moves everything to the new bundle's own indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.core.kb import IntArray, KnowledgeBase, Ranges
from models.core.stored_kb import RowSequence
from models.errors import ModelError, say
from models.linker.stages import Stages
from models.names.candidates import NameCandidates, NameStage
from models.names.lexical import LexicalRetriever, TfIdf
from models.names.lexical_merged import WordRetriever
from models.names.names import NamesRetriever
from models.rankers.cross_encoder import CrossEncoder
from models.rankers.dual_ranker import DualRanker, encode_ranker_entities
from models.rankers.ranker import Ranker
from models.types import EntityRecord
from models.vectors.grown import added_rows, base_ranges, best_living, rows_of_both
from models.vectors.index import merge

# The knowledge base with these changes. Rows keep their numbers: a removed or changed entity leaves a dead row, and a
# new entity is appended. Only two arrays of numbers are copied.


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


FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EntityChange:
    """A prepared change: the entities to append, the resulting knowledge base, and the rows to remove."""

    new: tuple[EntityRecord, ...]
    kb: LiveKnowledgeBase
    dead_entities: INTS
    dead_names: INTS

    @property
    def new_names(self) -> list[str]:
        return [name for entity in self.new for name in entity.names]


def change_entities(stages: Stages, *, upsert: Iterable[EntityRecord] = (), remove: Iterable[str] = ()) -> Stages:
    """The stages after removing entities by their primary ids, then adding entities or changing those with the same
    ids.

    The old ``stages`` still answer as before. Raises ModelError, and changes nothing, if an entity to remove does not
    exist, or an entity to add has no id or no name.
    """
    change = entity_change(stages.kb, list(upsert), list(remove))
    if not change.new and not len(change.dead_entities):
        return stages
    names = {name: _changed_names(stage, change) for name, stage in stages.names.stages.items()}
    defined = np.concatenate([stages.names.has_definition, [bool(entity.definition) for entity in change.new]])
    return replace(
        stages,
        kb=change.kb,
        names=NameCandidates(change.kb, names, defined.astype(bool)),
        trained=tuple(retriever.changed(change.new, change.dead_entities) for retriever in stages.trained),
        ranker=None if stages.ranker is None else _grown_ranker(stages.ranker, change),
    )


def entity_change(kb: KnowledgeBase, upsert: Sequence[EntityRecord], remove: Sequence[str]) -> EntityChange:
    """The prepared change; ``kb`` itself does not change. Raises ModelError like `change_entities`."""
    for entity in upsert:
        if not entity.id or not entity.names:
            raise ModelError(say("The entity {id!r} has no id or no name. It needs both.", id=entity.id))
    if unknown := [entity_id for entity_id in remove if entity_id not in kb.rows]:
        raise ModelError(
            say("The entity {unknown!r} cannot be removed because it is not in the knowledge base.", unknown=unknown[0])
        )
    gone = set(remove)
    latest = {entity.id: entity for entity in upsert}
    new = tuple(e for e in latest.values() if e.id in gone or e.id not in kb.rows or kb.entities[kb.rows[e.id]] != e)
    dead = sorted({kb.rows[entity_id] for entity_id in (*gone, *(e.id for e in new)) if entity_id in kb.rows})
    after = LiveKnowledgeBase.of(kb).changed(new, dead)
    return EntityChange(new, after, np.asarray(dead, dtype=np.int64), after.name_rows(dead))


def _changed_names(stage: NameStage, change: EntityChange) -> NameStage:
    if isinstance(stage, NamesRetriever):
        return stage.changed(change.new_names, change.dead_names)
    if isinstance(stage, WordRetriever):  # later names are searched by characters
        words = LiveLexical.over(stage.words, change.kb.base).changed([], change.dead_names)
        return replace(stage, chars=_changed_names(stage.chars, change), words=words)
    if not isinstance(stage, LiveLexical) and not (
        isinstance(stage, LexicalRetriever) and isinstance(stage.tfidf, TfIdf)
    ):
        raise ModelError(say("This lexical stage cannot take new names. Rebuild the linker."))
    return LiveLexical.over(stage, change.kb.base).changed(change.new_names, change.dead_names)


def _grown_ranker(ranker: Ranker, change: EntityChange) -> Ranker:
    if isinstance(ranker, CrossEncoder):
        return replace(ranker, kb=change.kb)
    if not isinstance(ranker, DualRanker) or ranker.entity is None:
        raise ModelError(say("The ranker “{name}” cannot take new entities. Rebuild the linker.", name=ranker.name))
    vectors = encode_ranker_entities(ranker.entity, change.new, settings=ranker.settings)
    return replace(ranker, entities=GrownRows.behind(ranker.entities, vectors))


@dataclass(frozen=True, slots=True, eq=False)
class GrownRows:
    """Rows of ``base``, a memory-mapped matrix, then of ``added``."""

    base: Any
    added: FLOATS

    @classmethod
    def behind(cls, rows: Any, vectors: FLOATS) -> GrownRows:
        if isinstance(rows, GrownRows):
            return cls(rows.base, np.concatenate([rows.added, vectors]))
        return cls(rows, vectors)

    def __len__(self) -> int:
        return len(self.base) + len(self.added)

    def __getitem__(self, rows: INTS) -> FLOATS:
        return rows_of_both(self.base.__getitem__, self.added, len(self.base), rows)


@dataclass(frozen=True, slots=True, eq=False)
class LiveLexical:
    """A lexical stage over ``size`` names and ``added`` names (m, terms) weighted with its frozen idf, without the
    ``dead`` name rows. Results are exact."""

    base: NameStage
    size: int
    added: sparse.csr_matrix
    dead: INTS

    @classmethod
    def over(cls, base: NameStage, kb: KnowledgeBase) -> LiveLexical:
        if isinstance(base, LiveLexical):
            return base
        return cls(base, len(kb.names), base.encode([]), np.zeros(0, dtype=np.int64))

    def changed(self, names: Sequence[str], dead: INTS) -> LiveLexical:
        """A copy with names appended and without the rows ``dead``."""
        added = sparse.vstack([self.added, self.encode(names)], format="csr") if names else self.added
        return replace(self, added=added, dead=np.union1d(self.dead, dead))

    def encode(self, texts: Sequence[str]) -> Any:
        return self.base.encode(texts)

    def search(self, queries: Any, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """Like the base's: (q, k) scores and name rows, best first, ties by row; 0 and −1 for names without a common
        term."""
        old, new = base_ranges(ranges, self.size), added_rows(ranges, self.size, self.added.shape[0], self.dead)
        parts = (
            [best_living(lambda most: self.base.search(queries, most, ranges=old), k, old, self.dead)] if old else []
        )
        if len(new):
            scores = (queries @ self.added[new - self.size].T).toarray().astype(np.float32)
            parts.append((scores, np.where(scores > 0, new, -1)))
        scores, rows = merge(parts, queries=queries.shape[0], k=k)
        return np.where(rows < 0, np.float32(0), scores), rows

    def score(self, queries: Any, rows: INTS) -> FLOATS:
        new = rows >= self.size
        scores = np.zeros((queries.shape[0], len(rows)), dtype=np.float32)
        if not new.all():
            scores[:, ~new] = self.base.score(queries, rows[~new])
        if new.any():
            scores[:, new] = (queries @ self.added[rows[new] - self.size].T).toarray()
        return scores

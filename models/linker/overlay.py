"""Entities added, changed or removed since a bundle was built, in every stage, effective from the next query on.

The bundle's own indexes stay frozen. New entities are in small additional indexes: vectors in a ``DynamicIndex``, names
with the frozen idf in ``LiveLexical``. Removed ones get tombstones. A trained encoder encodes new entities like the
others. A retraining or a rebuild of the index moves everything to the new bundle's own indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.core.kb import KnowledgeBase, Ranges
from models.errors import ModelError, say
from models.linker.overlay_kb import LiveKnowledgeBase
from models.linker.stages import Stages
from models.names.candidates import NameCandidates, NameStage
from models.names.lexical import LexicalRetriever, TfIdf
from models.names.lexical_merged import WordRetriever
from models.names.names import NamesRetriever
from models.rankers.cross_encoder import CrossEncoder
from models.rankers.dual_ranker import DualRanker, encode_ranker_entities
from models.rankers.ranker import Ranker
from models.retrievers.biencoder import BiencoderRetriever
from models.types import EntityRecord
from models.vectors.dynamic import growing
from models.vectors.index import merge

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
SPARE = 32


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

    The old ``stages`` still answer as before, except for removed entities; only the newest stages can be changed again
    (ValueError otherwise). Raises ModelError, and changes nothing, if an entity to remove does not exist, or an entity
    to add has no id or no name.
    """
    change = entity_change(stages.kb, list(upsert), list(remove))
    if not change.new and not len(change.dead_entities):
        return stages
    # everything that can fail is done before the first index is touched
    _check_newest(stages)
    untrained = {name: _prepare_names(stage, change) for name, stage in stages.names.stages.items()}
    trained = [(retriever, retriever.encode_new(change.new)) for retriever in stages.trained]
    ranker = None if stages.ranker is None else _grown_ranker(stages.ranker, change)
    defined = np.concatenate([stages.names.has_definition, [bool(entity.definition) for entity in change.new]])
    grown: dict[str, NameStage] = {name: stage.apply(change) for name, stage in untrained.items()}
    retrievers = tuple(retriever.changed(encoded, change.dead_entities) for retriever, encoded in trained)
    names = NameCandidates(change.kb, grown, defined.astype(bool))
    return replace(stages, kb=change.kb, names=names, trained=retrievers, ranker=ranker)


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


@dataclass(frozen=True, slots=True, eq=False)
class _PreparedNames:
    """A stage over names with encoded new names that are not yet added."""

    stage: NameStage
    encoded: Any

    def apply(self, change: EntityChange) -> NameStage:
        stage = self.stage
        if isinstance(stage, NamesRetriever):
            index = growing(stage.index)
            index.add(self.encoded)
            index.remove(change.dead_names)
            return replace(stage, index=index)
        if isinstance(stage, WordRetriever):
            assert isinstance(stage.chars, LiveLexical)
            assert isinstance(stage.words, LiveLexical)
            chars = stage.chars.changed(self.encoded, change.dead_names)
            return replace(stage, chars=chars, words=stage.words.without(change.dead_names))
        assert isinstance(stage, LiveLexical)
        return stage.changed(self.encoded, change.dead_names)


def _prepare_names(stage: NameStage, change: EntityChange) -> _PreparedNames:
    if isinstance(stage, WordRetriever):
        words = _living(stage.words, change, grows=False)
        live = replace(stage, chars=_living(stage.chars, change), words=words)
        return _PreparedNames(live, live.chars.encode(change.new_names))
    if not isinstance(stage, NamesRetriever):
        stage = _living(stage, change)
    return _PreparedNames(stage, stage.encode(change.new_names))


def _living(stage: NameStage, change: EntityChange, *, grows: bool = True) -> LiveLexical:
    return stage if isinstance(stage, LiveLexical) else LiveLexical.over(stage, change.kb.base, grows=grows)


def _check_newest(stages: Stages) -> None:
    """Growing indexes are shared between the stages before and after a change: a row number must not be used twice."""
    names, entities = int(stages.kb.name_starts[-1]), len(stages.kb.entities)  # listing all names takes a second
    untrained = [len(one.index) == names for one in stages.names.stages.values() if isinstance(one, NamesRetriever)]
    trained = [len(one.index) == entities for one in stages.trained if isinstance(one, BiencoderRetriever)]
    if not all(untrained + trained):
        raise ValueError("entities were changed through another linker over the same stages already")


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
        size = len(self.base)
        found = np.zeros((len(rows), self.base.shape[1]), dtype=np.float32)
        found[rows < size] = self.base[rows[rows < size]]
        found[rows >= size] = self.added[rows[rows >= size] - size]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LiveLexical:
    """A lexical stage over ``size`` names and ``added`` names (m, terms) weighted with its frozen idf, without the
    ``dead`` name rows.

    The base is searched for more than ``k`` names if dead names could rank above living ones, so results are exact.
    """

    base: NameStage
    size: int
    added: sparse.csr_matrix
    dead: INTS

    @classmethod
    def over(cls, base: NameStage, kb: KnowledgeBase, *, grows: bool = True) -> LiveLexical:
        """Raises ModelError if it ``grows`` and weights names and mentions differently (BM25), since it cannot add
        names."""
        if grows and not (isinstance(base, LexicalRetriever) and isinstance(base.tfidf, TfIdf)):
            raise ModelError(say("This lexical stage cannot take new names. Rebuild the linker."))
        return cls(base, len(kb.names), base.encode([]), np.zeros(0, dtype=np.int64))

    def changed(self, encoded: sparse.csr_matrix, dead: INTS) -> LiveLexical:
        added = sparse.vstack([self.added, encoded], format="csr")
        return replace(self.without(dead), added=added)

    def without(self, dead: INTS) -> LiveLexical:
        return replace(self, dead=np.union1d(self.dead, dead))

    def encode(self, texts: Sequence[str]) -> Any:
        return self.base.encode(texts)

    def search(self, queries: Any, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """Like the base's: (q, k) scores and name rows, best first, ties by row; 0 and −1 for names without a common
        term."""
        old = tuple((start, min(stop, self.size)) for start, stop in ranges if start < self.size)
        parts = [self._search_base(queries, k, old)] if old else []
        parts.append(self._search_added(queries, ranges))
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

    def _search_base(self, queries: Any, k: int, ranges: Ranges) -> tuple[FLOATS, INTS]:
        bounds = np.searchsorted(self.dead, np.asarray(ranges, dtype=np.int64))
        dead = int((bounds[:, 1] - bounds[:, 0]).sum())
        most = k + dead
        fetch = min(most, k + SPARE) if dead else k
        while True:
            scores, rows = self.base.search(queries, fetch, ranges=ranges)
            alive = (rows >= 0) & ~np.isin(rows, self.dead)
            if fetch == most or bool(((alive.sum(axis=1) >= k) | (rows[:, -1] < 0)).all()):
                return scores, np.where(alive, rows, -1)
            fetch = min(most, 2 * fetch)

    def _search_added(self, queries: Any, ranges: Ranges) -> tuple[FLOATS, INTS]:
        spans = [np.arange(max(start, self.size), stop) for start, stop in ranges if stop > self.size]
        rows = np.setdiff1d(np.concatenate(spans), self.dead) if spans else np.zeros(0, dtype=np.int64)
        scores = (queries @ self.added[rows - self.size].T).toarray().astype(np.float32)
        return scores, np.where(scores > 0, rows, -1)

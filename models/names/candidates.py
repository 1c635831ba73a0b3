"""Candidates of the untrained stages: found by name, scored exactly by every stage.

A candidate found by one stage gets its true score from all others. A stage's score of an entity is the
maximum over its names and over the mention's wordings, each with its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, Ranges
from models.core.queries import MentionQuery, Variant
from models.names.names import NamesRetriever
from models.vectors.coarse import First

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
Item = TypeVar("Item")
LEXICAL = "lexical"
NAMES = "names"
PREFERRED = "preferred"
DEFINITION = "definition"
Lookup = tuple[tuple[Variant, ...], tuple[str, ...]]
NAMES_PER_ENTITY = 5
MOST_KNOWN = 4096  # lookups, about 10 KiB each
MOST_TABLES = 4  # of a lookup: without and with the memory's entities


class NameStage(Protocol):
    """A retriever over names: encodes texts to rows of a matrix, searches, scores given names."""

    def encode(self, texts: Sequence[str]) -> Any: ...

    def search(self, queries: Any, k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]: ...

    def score(self, queries: Any, rows: INTS) -> FLOATS: ...


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTable:
    """The candidates of one mention: ascending entity ``rows`` (c,), the ``matched`` names (c,), ``scores`` by
    stage."""

    rows: INTS
    matched: INTS
    scores: dict[str, FLOATS]

    def with_scores(self, name: str, values: FLOATS) -> CandidateTable:
        return replace(self, scores={**self.scores, name: np.asarray(values, dtype=np.float32)})


@dataclass(frozen=True, slots=True, eq=False)
class NameCandidates:
    """The untrained stages together, over one knowledge base."""

    kb: KnowledgeBase
    stages: dict[str, NameStage]
    has_definition: NDArray[np.bool_]
    known: dict[tuple[Lookup, int], PreparedLookup] = field(default_factory=dict)
    """Earlier results, valid while nothing is added to these stages; copies start empty."""

    def find(self, queries: Sequence[MentionQuery], *, k: int) -> dict[Lookup, PreparedLookup]:
        """Search every distinct (wordings, types) once; at least ``k`` entities if there are that many."""
        lookups = list(dict.fromkeys((query.variants, query.types) for query in queries))
        found = {lookup: self.known.get((lookup, k)) for lookup in lookups}
        new = [lookup for lookup, prepared in found.items() if prepared is None]
        made = self._find(new, k=k) if new else {}
        if len(self.known) + len(made) > MOST_KNOWN:
            self.known.clear()
        self.known.update(((lookup, k), prepared) for lookup, prepared in made.items())
        return {lookup: made[lookup] if prepared is None else prepared for lookup, prepared in found.items()}

    def _find(self, lookups: Sequence[Lookup], *, k: int) -> dict[Lookup, PreparedLookup]:
        texts = list(dict.fromkeys(variant.text for variants, _ in lookups for variant in variants))
        number = {text: row for row, text in enumerate(texts)}
        encoded = {name: stage.encode(texts) for name, stage in self.stages.items()}
        found: dict[Lookup, list[INTS]] = {lookup: [] for lookup in lookups}
        for types in dict.fromkeys(types for _, types in lookups):
            group = [lookup for lookup in lookups if lookup[1] == types]
            self._search(group, number, encoded, found, k=k)
        return {
            lookup: PreparedLookup(
                self,
                _union(rows),
                {name: matrix[[number[v.text] for v in lookup[0]]] for name, matrix in encoded.items()},
                np.asarray([variant.weight for variant in lookup[0]], dtype=np.float32),
            )
            for lookup, rows in found.items()
        }

    def _search(
        self,
        group: Sequence[Lookup],
        number: dict[str, int],
        encoded: dict[str, Any],
        found: dict[Lookup, list[INTS]],
        *,
        k: int,
    ) -> None:
        ranges = self.kb.name_ranges(group[0][1])
        wanted = sorted({number[variant.text] for variants, _ in group for variant in variants})
        place = {row: at for at, row in enumerate(wanted)}
        if not ranges or not wanted:
            return
        for name, stage in self.stages.items():
            first = {"first": First(self.kb.name_entity, k)} if isinstance(stage, NamesRetriever) else {}
            _, rows = stage.search(encoded[name][wanted], NAMES_PER_ENTITY * k, ranges=ranges, **first)
            for lookup in group:
                for variant in lookup[0]:
                    hits = rows[place[number[variant.text]]]
                    found[lookup].append(_first(self.kb.name_entity[hits[hits >= 0]], k))


@dataclass(frozen=True, slots=True, eq=False)
class PreparedLookup:
    """The found ``rows`` of one lookup, and its encoded wordings, with which any entity can be scored."""

    source: NameCandidates
    rows: INTS
    encoded: dict[str, Any]
    weights: FLOATS
    made: dict[bytes, CandidateTable] = field(default_factory=dict)

    def table(self, rows: INTS | None = None) -> CandidateTable:
        """Exact scores of every stage for ascending ``rows`` (by default those found); the same table is returned each
        time."""
        entities = self.rows if rows is None else rows
        found = self.made.get(key := entities.tobytes())
        if found is None:
            if len(self.made) >= MOST_TABLES:
                self.made.clear()
            found = self.made[key] = self._table(entities)
        return found

    def _table(self, entities: INTS) -> CandidateTable:
        if not len(entities):
            return CandidateTable(entities, entities, {name: _empty() for name in self._columns()})
        starts = self.source.kb.name_starts
        counts = starts[entities + 1] - starts[entities]
        firsts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        names = np.repeat(starts[entities] - firsts, counts) + np.arange(int(counts.sum()))
        scores: dict[str, FLOATS] = {}
        total = np.zeros(len(names), dtype=np.float32)
        for name, stage in self.source.stages.items():
            by_name = (stage.score(self.encoded[name], names) * self.weights[:, None]).max(axis=0)
            scores[name] = np.maximum.reduceat(by_name, firsts)
            total += by_name
            scores[PREFERRED] = by_name[firsts]  # of the last stage, which is the dense one if there is one
        scores[DEFINITION] = self.source.has_definition[entities].astype(np.float32)
        return CandidateTable(entities, names[_argmax_in_groups(total, firsts, counts)], scores)

    def _columns(self) -> tuple[str, ...]:
        return (*self.source.stages, PREFERRED, DEFINITION)


def _argmax_in_groups(values: FLOATS, firsts: INTS, counts: INTS) -> INTS:
    """(groups,) position of each group's first maximum."""
    best = np.repeat(np.maximum.reduceat(values, firsts), counts)
    group = np.repeat(np.arange(len(firsts)), counts)
    hits = np.flatnonzero(values == best)
    _, first = np.unique(group[hits], return_index=True)
    result: INTS = hits[first]
    return result


def _first(entities: INTS, k: int) -> INTS:
    """The first ``k`` distinct entities in order."""
    _, at = np.unique(entities, return_index=True)
    return entities[np.sort(at)[:k]]


def _union(rows: Sequence[INTS]) -> INTS:
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)


def regroup(items: Sequence[Item], like: Sequence[Sequence[object]]) -> list[list[Item]]:
    """A flat list cut into groups as long as those of ``like``."""
    source = iter(items)
    return [list(islice(source, len(group))) for group in like]


def _empty() -> FLOATS:
    return np.zeros(0, dtype=np.float32)

"""A knowledge base that stays in its file, for millions of entities, of which a linker reads few at a time.

In memory an entity takes some 900 bytes, so that 3.4 million take 3 GB; here each takes some 50 bytes of numbers, and
its record is parsed on each access (microseconds). The interface is that of `KnowledgeBase`; a test compares them. To
order entities, only their keys are sorted.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from abc import abstractmethod
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from models.core.file_io import atomic_path
from models.core.kb import (
    IntArray,
    KnowledgeBase,
    by_line,
    checked,
    line_of,
    load_kb,
    read_kb,
    write_kb,
)
from models.types import EntityRecord

# Sequences that create their rows on access.

T_co = TypeVar("T_co", covariant=True)


class RowSequence(Sequence[T_co]):
    """Negative indexes and slices, implemented with `at` for one index from the front."""

    @abstractmethod
    def at(self, place: int) -> T_co: ...

    @overload
    def __getitem__(self, row: int) -> T_co: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[T_co]: ...
    def __getitem__(self, row: int | slice) -> T_co | Sequence[T_co]:
        """Raises IndexError for an index out of range."""
        if isinstance(row, slice):
            return self.between(*row.indices(len(self)))
        place = int(row) + len(self) if row < 0 else int(row)
        if not 0 <= place < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.at(place)

    def between(self, first: int, last: int, step: int) -> Sequence[T_co]:
        return tuple(self.at(place) for place in range(first, last, step))


LARGE = 256 << 20
"""A knowledge base whose file is at least this large, in bytes, is not loaded into memory: some 800,000 entities."""


def open_kb(path: Path) -> KnowledgeBase:
    """A ``kb.jsonl`` that this package wrote, in memory or, if it is large, in its file. Raises ModelError if it cannot
    be read."""
    try:
        large = path.stat().st_size >= LARGE
    except OSError:
        large = False  # reading it raises the error
    return StoredKnowledgeBase.open(path) if large else load_kb(path)


def ordered(source: Path, target: Path) -> tuple[KnowledgeBase, str]:
    """Write JSON lines of entities to ``target`` in canonical order; returns the knowledge base and its hash.

    Raises ModelError for a repeated id, an entity without a name, and a line that is not an entity.
    """
    if source.suffix == ".gz" or source.stat().st_size < LARGE:
        kb = read_kb(source)
        return kb, write_kb(kb, target)
    found = _order_in_file(source, target)
    return StoredKnowledgeBase.open(target), found


def _order_in_file(source: Path, target: Path) -> str:
    keys: list[tuple[tuple[str, ...], str, int]] = []
    signatures: dict[tuple[str, ...], tuple[str, ...]] = {}
    for offset, entity in checked(by_line(source)):
        types = tuple(sorted(entity.types))
        keys.append((signatures.setdefault(types, types), entity.id, offset))
    keys.sort()
    digest = hashlib.sha256()
    with source.open("rb") as lines, atomic_path(target) as beside, beside.open("wb") as handle:
        for _, _, offset in keys:
            lines.seek(offset)
            line = line_of(lines.readline())
            digest.update(line)
            handle.write(line)
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class StoredEntities(RowSequence[EntityRecord]):
    """Records of a memory-mapped file, by the offsets of their lines."""

    content: mmap.mmap
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def at(self, place: int) -> EntityRecord:
        return record_of(self.content[self.offsets[place] : self.offsets[place + 1]])


def record_of(line: bytes) -> EntityRecord:
    """The record of a line that this package wrote."""
    raw = json.loads(line)
    return EntityRecord(
        raw["id"],
        raw["name"],
        tuple(raw["synonyms"]),
        tuple(raw["types"]),
        raw["definition"],
        tuple(raw["alt_ids"]),
        tuple(raw.get("parents", ())),
    )


@dataclass(frozen=True, eq=False)
class StoredKnowledgeBase(KnowledgeBase):
    """``counts`` are the numbers of names of each entity; ``hashes`` are the ascending hashes of ids, and ``by_hash``
    their entities."""

    counts: NDArray[np.int32]
    defined: NDArray[np.bool_]
    hashes: NDArray[np.int64]
    by_hash: NDArray[np.int64]
    other_ids: Mapping[str, tuple[str, ...]]
    grouped: list[tuple[int, int, frozenset[str]]]

    @classmethod
    def open(cls, path: Path) -> StoredKnowledgeBase:
        """Reads the file once. Raises ModelError naming file and line."""
        offsets, counts, defined, hashes = array("q"), array("i"), array("b"), array("q")
        other_ids: dict[str, tuple[str, ...]] = {}
        groups: list[tuple[int, int, frozenset[str]]] = []
        for row, (offset, entity) in enumerate(by_line(path)):
            offsets.append(offset)
            counts.append(len(entity.names))
            defined.append(bool(entity.definition))
            hashes.append(hash(entity.id))
            for alternate in entity.alt_ids:
                other_ids[alternate] = (*other_ids.get(alternate, ()), entity.id)
            signature = frozenset(entity.types)
            if groups and groups[-1][2] == signature:
                groups[-1] = (groups[-1][0], row + 1, groups[-1][2])
            else:
                groups.append((row, row + 1, signature))
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        offsets.append(len(content))
        unsorted = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        return cls(
            StoredEntities(content, np.frombuffer(offsets, dtype=np.int64)),
            np.frombuffer(counts, dtype=np.int32),
            np.frombuffer(defined, dtype=np.bool_),
            unsorted[order],
            order,
            other_ids,
            groups,
        )

    @cached_property
    def names(self) -> Sequence[str]:
        return StoredNames(self)

    @cached_property
    def name_starts(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @cached_property
    def has_definition(self) -> NDArray[np.bool_]:
        return self.defined

    @cached_property
    def rows(self) -> Mapping[str, int]:
        return StoredRows(self)

    @cached_property
    def alternates(self) -> Mapping[str, tuple[str, ...]]:
        return self.other_ids

    @cached_property
    def resolved(self) -> Mapping[str, str]:
        return StoredIds(self)

    @cached_property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({kind for _, _, signature in self.grouped for kind in signature}))

    @cached_property
    def _groups(self) -> list[tuple[int, int, frozenset[str]]]:
        return self.grouped


@dataclass(frozen=True, eq=False)
class StoredNames(RowSequence[str]):
    kb: StoredKnowledgeBase

    def __len__(self) -> int:
        return int(self.kb.name_starts[-1])

    def at(self, place: int) -> str:
        starts = self.kb.name_starts
        entity = int(np.searchsorted(starts, place, side="right")) - 1
        return self.kb.entities[entity].names[place - int(starts[entity])]

    def between(self, first: int, last: int, step: int) -> Sequence[str]:
        return tuple(self._running(first, last)) if step == 1 else super().between(first, last, step)

    def __iter__(self) -> Iterator[str]:
        return (name for entity in self.kb.entities for name in entity.names)

    def _running(self, first: int, last: int) -> Iterator[str]:
        if first >= last:
            return
        starts = self.kb.name_starts
        entity = int(np.searchsorted(starts, first, side="right")) - 1
        at = int(starts[entity])
        while at < last:
            for name in self.kb.entities[entity].names:
                if first <= at < last:
                    yield name
                at += 1
            entity += 1


@dataclass(frozen=True, eq=False)
class StoredRows(Mapping[str, int]):
    """Primary id → entity row, by its hash; the record confirms the match."""

    kb: StoredKnowledgeBase

    def __getitem__(self, entity_id: str) -> int:
        wanted = hash(entity_id)
        at = int(np.searchsorted(self.kb.hashes, wanted))
        while at < len(self.kb.hashes) and int(self.kb.hashes[at]) == wanted:
            row = int(self.kb.by_hash[at])
            if self.kb.entities[row].id == entity_id:
                return row
            at += 1
        raise KeyError(entity_id)

    def __iter__(self) -> Iterator[str]:
        return (entity.id for entity in self.kb.entities)

    def __len__(self) -> int:
        return len(self.kb.entities)


@dataclass(frozen=True, eq=False)
class StoredIds(Mapping[str, str]):
    """Alternate and primary id → primary id; a primary id wins over the same alternate one."""

    kb: StoredKnowledgeBase

    def __getitem__(self, entity_id: str) -> str:
        return entity_id if entity_id in self.kb.rows else self.kb.alternates[entity_id][0]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(chain(self.kb.alternates, self.kb.rows)))

    def __len__(self) -> int:
        return len(self.kb.rows) + sum(one not in self.kb.rows for one in self.kb.alternates)

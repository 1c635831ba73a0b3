"""The knowledge base inside a bundle: ``kb.jsonl``, in an order that makes type restriction cheap.

Entities with the same types are adjacent. So every restriction by type is a short list of row ranges, of entities and
of names, and exact search over a range needs no filter.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.core.file_io import atomic_path
from models.core.hierarchy import Hierarchy
from models.errors import ModelError, say
from models.types import EntityRecord

KB_FILE = "kb.jsonl"
Ranges = tuple[tuple[int, int], ...]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class KnowledgeBase:
    """Entities ordered by (types, id); names are numbered entity by entity, the preferred name first."""

    entities: Sequence[EntityRecord]

    @cached_property
    def names(self) -> Sequence[str]:
        return tuple(name for entity in self.entities for name in entity.names)

    @cached_property
    def name_starts(self) -> IntArray:
        """(entities + 1,) index of each entity's first name."""
        return np.concatenate([[0], np.cumsum([len(entity.names) for entity in self.entities])]).astype(np.int64)

    @cached_property
    def name_entity(self) -> IntArray:
        """(names,) the entity of each name."""
        return np.repeat(np.arange(len(self.entities)), np.diff(self.name_starts)).astype(np.int64)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Primary id → entity row."""
        return {entity.id: row for row, entity in enumerate(self.entities)}

    @cached_property
    def alternates(self) -> Mapping[str, tuple[str, ...]]:
        """Alternate id → the entities that have it, in order; usually one."""
        found: dict[str, tuple[str, ...]] = {}
        for entity in self.entities:
            for alternate in entity.alt_ids:
                found[alternate] = (*found.get(alternate, ()), entity.id)
        return found

    @cached_property
    def resolved(self) -> Mapping[str, str]:
        """Alternate and primary id → primary id; a primary id wins over the same alternate one."""
        alternate = {alternate: owners[0] for alternate, owners in self.alternates.items()}
        return alternate | {entity.id: entity.id for entity in self.entities}

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the entities."""
        return Hierarchy(self.entities, self.rows)

    @cached_property
    def has_definition(self) -> NDArray[np.bool_]:
        """(entities,) whether each has a definition."""
        return np.asarray([bool(entity.definition) for entity in self.entities], dtype=bool)

    @cached_property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({kind for entity in self.entities for kind in entity.types}))

    def prepare(self) -> None:
        """Compute the cached properties now, so that the first change is as fast as later ones."""
        _ = self.rows, self.resolved, self.name_starts, self.name_entity, self._groups

    def ranges(self, types: Sequence[str]) -> Ranges:
        """Half-open ranges of entity rows that have one of ``types``; all rows without types.

        An unknown type gives no rows.
        """
        if not types:
            return ((0, len(self.entities)),) if self.entities else ()
        wanted = set(types)
        found: list[tuple[int, int]] = []
        for start, stop, signature in self._groups:
            if wanted.isdisjoint(signature):
                continue
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], stop)
            else:
                found.append((start, stop))
        return tuple(found)

    def name_ranges(self, types: Sequence[str]) -> Ranges:
        """The same as ranges of name rows."""
        starts = self.name_starts
        return tuple((int(starts[a]), int(starts[b])) for a, b in self.ranges(types) if starts[a] < starts[b])

    @cached_property
    def _groups(self) -> list[tuple[int, int, frozenset[str]]]:
        groups: list[tuple[int, int, frozenset[str]]] = []
        for row, entity in enumerate(self.entities):
            signature = frozenset(entity.types)
            if groups and groups[-1][2] == signature:
                groups[-1] = (groups[-1][0], row + 1, signature)
            else:
                groups.append((row, row + 1, signature))
        return groups


def order_entities(entities: Iterable[EntityRecord]) -> KnowledgeBase:
    """A knowledge base in canonical order; raises ModelError for a repeated id or an entity without a name."""
    ordered = sorted(entities, key=lambda entity: (sorted(entity.types), entity.id))
    return KnowledgeBase(tuple(entity for _, entity in checked(enumerate(ordered))))


def checked(placed: Iterable[tuple[int, EntityRecord]]) -> Iterator[tuple[int, EntityRecord]]:
    """The same (place, entity) pairs, checked: raises ModelError for a repeated id, an entity without a name, or no
    entity."""
    seen: set[str] = set()
    for place, entity in placed:
        if entity.id in seen:
            raise ModelError(
                say("The knowledge base contains the id {id!r} twice. Remove one of the two entities.", id=entity.id)
            )
        if not entity.names:
            raise ModelError(say("The entity {id!r} has no name. Give it one or remove it.", id=entity.id))
        seen.add(entity.id)
        yield place, entity
    if not seen:
        raise ModelError(say("The knowledge base is empty. Import one with at least one entity."))


def read_kb(path: Path) -> KnowledgeBase:
    """Read JSON lines (plain or gzip) with the fields of EntityRecord; others are ignored.

    Raises ModelError naming file and line.
    """
    return order_entities(record for _, record in by_line(path))


def load_kb(path: Path) -> KnowledgeBase:
    """Read a ``kb.jsonl`` that this package wrote: canonical order and validity are assumed."""
    same: dict[Any, Any] = {}  # most entities have the types of others, and parents that are entities
    return KnowledgeBase(tuple(_sharing(record, same) for _, record in by_line(path)))


def _sharing(record: EntityRecord, same: dict[Any, Any]) -> EntityRecord:
    """The record with texts and lists that equal those of others in the same place of memory."""
    types = same.setdefault(record.types, record.types)
    parents = tuple(same.setdefault(one, one) for one in record.parents)
    return replace(record, id=same.setdefault(record.id, record.id), types=types, parents=parents)


def record_from_json(raw: dict[str, Any]) -> EntityRecord:
    """One entity from a line of ``kb.jsonl``; raises ModelError if id or name is missing or a field has a wrong
    type."""
    try:
        record = _from_json(raw)
        if not (isinstance(record.id, str) and record.id and isinstance(record.name, str)):
            raise ValueError("id and name must be texts")
        lists = (record.synonyms, record.types, record.alt_ids, record.parents)
        if not all(isinstance(item, str) for one in lists for item in one):
            raise ValueError("synonyms, types, alternate ids and parents must be texts")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            say("Not a valid entity of a knowledge base: {raw!r} ({error}).", raw=raw, error=error)
        ) from error
    return record


def record_to_json(record: EntityRecord) -> dict[str, Any]:
    """The fields of one line of ``kb.jsonl``."""
    return _to_json(record)


def write_kb(kb: KnowledgeBase, path: Path) -> str:
    """Write canonical ``kb.jsonl`` atomically; returns its SHA-256, the knowledge base's hash."""
    digest = hashlib.sha256()
    with atomic_path(path) as beside, beside.open("wb") as handle:
        for entity in kb.entities:
            line = json.dumps(_to_json(entity), ensure_ascii=False).encode() + b"\n"
            digest.update(line)
            handle.write(line)
    return digest.hexdigest()


def line_of(line: bytes) -> bytes:
    """An entity's line in the form that ``write_kb`` writes."""
    return json.dumps(_to_json(_from_json(json.loads(line))), ensure_ascii=False).encode() + b"\n"


def by_line(path: Path) -> Iterator[tuple[int, EntityRecord]]:
    """(offset, entity) of every line, plain or gzip; an offset counts uncompressed bytes. Raises ModelError naming file
    and line."""
    number, place = 0, 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    yield place, _from_json(json.loads(line))
                place += len(line)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            say(
                "{path}, line {number}: not a valid entity of a knowledge base ({error}).",
                path=path,
                number=number,
                error=error,
            )
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise ModelError(
            say(
                "The knowledge base {path} cannot be read after line {number} ({error}).",
                path=path,
                number=number,
                error=error,
            )
        ) from error


def _from_json(raw: dict[str, Any]) -> EntityRecord:
    return EntityRecord(
        raw["id"],
        raw["name"],
        tuple(raw.get("synonyms") or ()),
        tuple(raw.get("types") or ()),
        raw.get("definition") or "",
        tuple(raw.get("alt_ids") or ()),
        tuple(raw.get("parents") or ()),
    )


def _to_json(entity: EntityRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": entity.id,
        "name": entity.name,
        "synonyms": entity.synonyms,
        "types": entity.types,
        "definition": entity.definition,
        "alt_ids": entity.alt_ids,
    }
    # only if there are any: a knowledge base without a hierarchy keeps its earlier bytes and hash
    return fields | ({"parents": entity.parents} if entity.parents else {})

"""Entities of the knowledge base, and the mapping from a corpus's mention types to the entities' types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entity:
    """A record of the knowledge base. `id` is a CURIE such as `MESH:D008012` or a Wikia document id."""

    id: str
    name: str
    synonyms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    alt_ids: tuple[str, ...] = ()
    tree_numbers: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """An entity found by knowledge-base search; `matched` is the name, synonym or alternate id that matched."""

    entity: Entity
    matched: str
    rank: float


@dataclass(frozen=True, slots=True)
class KnowledgeBaseInfo:
    """The active knowledge base; `content_hash` changes when any entity changes."""

    name: str
    content_hash: str
    entities: int
    names: int
    definitions: int
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TypeMapping:
    """Corpus type -> knowledge-base types that its candidates are restricted to; an empty tuple restricts nothing."""

    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def types_for(self, mention_type: str) -> tuple[str, ...]:
        return self.allowed.get(mention_type, ())

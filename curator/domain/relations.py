"""Relations: what holds between mentions, or between entities, of one document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

LONGEST_TYPE = 100
"""Characters of a relation's type."""


class RelationKind(StrEnum):
    """MENTIONS: between two mentions. ENTITIES: between two entities, wherever the document names them. EVENT: any
    other number of ends, or an end that is neither; it is shown and kept as its file has it."""

    MENTIONS = "mentions"
    ENTITIES = "entities"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class SourceEnd:
    """One end as a document's record states it: the mention with this record, or an entity, or (neither) something
    else, of which `name` is what the record calls it."""

    role: str = ""
    record: int = -1
    entity: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SourceRelation:
    """A relation as a document's record states it. `key` finds it again there and is its own within the document.

    `fixed`: it is no relation of two ends, so that it is shown and kept, but not deleted. `note` is what else the
    record says of it, for people.
    """

    key: str
    type: str
    ends: tuple[SourceEnd, ...]
    fixed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class RelationEnd:
    """A mention by its id, or an entity by its identifier; an end of an event may be neither, then it has a `name`."""

    role: str = ""
    mention_id: int | None = None
    entity_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a stored document, from its first end to its second.

    `source` is its key in the document's record, '' for one that a curator added. `id` is its row's in the project, 0
    for one that only the record states. `author` and `at` are of the curator who added it.
    """

    id: int
    document_id: int
    type: str
    ends: tuple[RelationEnd, ...]
    source: str = ""
    fixed: bool = False
    note: str = ""
    author: str = ""
    at: datetime | None = None

    @property
    def name(self) -> str:
        """How people and files call it: unique within its document."""
        return self.source or f"+{self.id}"

    @property
    def kind(self) -> RelationKind:
        if not self.fixed and len(self.ends) == 2:
            if all(one.mention_id is not None for one in self.ends):
                return RelationKind.MENTIONS
            if all(one.entity_id for one in self.ends):
                return RelationKind.ENTITIES
        return RelationKind.EVENT

    @property
    def mention_ids(self) -> tuple[int, ...]:
        return tuple(one.mention_id for one in self.ends if one.mention_id is not None)

    @property
    def entity_ids(self) -> tuple[str, ...]:
        return tuple(one.entity_id for one in self.ends if one.entity_id)

    def says_the_same(self, other: Relation) -> bool:
        """The same type between the same ends in the same direction; roles apart."""
        return self.type == other.type and _places(self) == _places(other)

    def with_mentions(self, ids: Mapping[int, int]) -> Relation:
        """With other mentions in place of those that `ids` names."""
        ends = (
            replace(one, mention_id=ids.get(one.mention_id, one.mention_id)) if one.mention_id is not None else one
            for one in self.ends
        )
        return replace(self, ends=tuple(ends))

    def touches(self, mention_id: int, entity_ids: Collection[str] = ()) -> bool:
        """Whether it is about the mention, or about one of the entities that it is linked to."""
        return mention_id in self.mention_ids or any(one in entity_ids for one in self.entity_ids)


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A row of the project: a relation that a curator added, or one of the record that was deleted."""

    relation: Relation
    deleted: bool


@dataclass(frozen=True, slots=True)
class RelationEdit:
    """That a curator added or restored a relation, or deleted it. `words` say from what to what, and the type.
    `with_mention`: it ended with another mention, which was deleted, or came back with that."""

    words: str
    deleted: bool
    curator: str
    at: datetime
    with_mention: bool = False


def _places(relation: Relation) -> list[tuple[int | None, str, str]]:
    return [(one.mention_id, one.entity_id, one.name) for one in relation.ends]

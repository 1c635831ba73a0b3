"""Relations between mentions, or between entities, of one document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

LONGEST_TYPE = 100
"""The most characters of a relation's type."""


class RelationKind(StrEnum):
    """MENTIONS: between two mentions. ENTITIES: between two entities, at all their mentions in the document. EVENT: any
    other number of ends, or an end that is neither; it is shown and kept as in its file."""

    MENTIONS = "mentions"
    ENTITIES = "entities"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class SourceEnd:
    """One end as stated in a document's record: the mention with this record, an entity, or something else with this
    `name` in the record."""

    role: str = ""
    record: int = -1
    entity: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SourceRelation:
    """A relation as stated in a document's record. `key` identifies it within the document.

    `fixed`: it is not a relation of two ends, so it is shown and kept, but cannot be deleted. `note` is additional
    information in the record, for display.
    """

    key: str
    type: str
    ends: tuple[SourceEnd, ...]
    fixed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class RelationEnd:
    """A mention by its id, or an entity by its identifier; an end of an event may be neither; then it has a `name`."""

    role: str = ""
    mention_id: int | None = None
    entity_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a stored document, from its first end to its second.

    `source` is its key in the document's record, '' if a curator added it. `id` is its row's id in the project, 0 if
    only the record states it. `author` and `at` are the curator who added it and the time.
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
        """The name in files and for users: unique within its document."""
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
        """Whether it has the same type, ends and direction, ignoring roles."""
        return self.type == other.type and _places(self) == _places(other)

    def with_mentions(self, ids: Mapping[int, int]) -> Relation:
        """The relation with the mentions in `ids` replaced by others."""
        ends = (
            replace(one, mention_id=ids.get(one.mention_id, one.mention_id)) if one.mention_id is not None else one
            for one in self.ends
        )
        return replace(self, ends=tuple(ends))

    def touches(self, mention_id: int, entity_ids: Collection[str] = ()) -> bool:
        """Whether one of its ends is the mention or an entity that the mention is linked to."""
        return mention_id in self.mention_ids or any(one in entity_ids for one in self.entity_ids)


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A row of the project: a relation added by a curator, or a deleted relation of the record."""

    relation: Relation
    deleted: bool


@dataclass(frozen=True, slots=True)
class RelationEdit:
    """An edit of a relation: added, restored or deleted. `words` describe its ends and type. `with_mention`: it was
    deleted or restored together with a mention at its end."""

    words: str
    deleted: bool
    curator: str
    at: datetime
    with_mention: bool = False


def _places(relation: Relation) -> list[tuple[int | None, str, str]]:
    return [(one.mention_id, one.entity_id, one.name) for one in relation.ends]

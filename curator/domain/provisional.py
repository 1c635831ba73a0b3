"""Entities that curators made for what the knowledge base lacks, until a version of it has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from curator.domain.entities import Entity
from curator.domain.errors import UserError
from curator.domain.wording import tr

PREFIX = "NEW:"
LONGEST = 300
"""Characters of a name or synonym."""


def is_new(entity_id: str) -> bool:
    """Whether an id has the form of a provisional entity's. A knowledge base that was exported with its provisional
    entities holds such ids too."""
    return entity_id.startswith(PREFIX)


def id_of(number: int) -> str:
    return f"{PREFIX}{number:04}"


def number_of(entity_id: str) -> int:
    """The number in a provisional entity's id; 0 where it is none of ours."""
    rest = entity_id.removeprefix(PREFIX)
    return int(rest) if is_new(entity_id) and rest.isascii() and rest.isdigit() else 0


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """What a curator says of a new entity; `tidied` is what is stored."""

    name: str
    types: tuple[str, ...] = ()
    definition: str = ""
    synonyms: tuple[str, ...] = ()

    def tidied(self) -> EntityDraft:
        """White space collapsed, empty and repeated synonyms and those equal to the name left out.

        Raises UserError for an empty name and for a name or synonym that is far too long.
        """
        name = _tidy(self.name)
        if not name:
            raise UserError(tr("A new entity needs a name; nothing was saved."))
        synonyms = {one.casefold(): one for one in map(_tidy, reversed(self.synonyms)) if one}
        kept = tuple(one for key, one in reversed(synonyms.items()) if key != name.casefold())
        for one in (name, *kept):
            if len(one) > LONGEST:
                raise UserError(
                    tr(
                        "A name holds at most {longest} characters; “{one}…” has {number}.",
                        longest=LONGEST,
                        one=one[:40],
                        number=len(one),
                    )
                )
        types = tuple(dict.fromkeys(one for one in map(_tidy, self.types) if one))
        return EntityDraft(name, types, self.definition.strip(), kept)

    def entity(self, entity_id: str) -> Entity:
        return Entity(entity_id, self.name, self.synonyms, self.types, self.definition)


@dataclass(frozen=True, slots=True)
class ProvisionalEntity:
    """An entity that a curator made. `successor` is the id of the entity that took its place; its own id once a version
    of the knowledge base holds it under that id."""

    entity: Entity
    author: str
    at: datetime
    deleted: bool = False
    successor: str | None = None

    @property
    def id(self) -> str:
        return self.entity.id

    @property
    def living(self) -> bool:
        """Whether it can be linked to."""
        return not self.deleted and self.successor is None

    @property
    def draft(self) -> EntityDraft:
        one = self.entity
        return EntityDraft(one.name, one.types, one.definition, one.synonyms)


def _tidy(text: str) -> str:
    return " ".join(text.split())

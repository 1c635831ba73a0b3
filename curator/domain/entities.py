"""Entities of the knowledge base, and the mapping from a corpus's mention types to the entities' types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from curator.domain.curies import checked_identifier
from curator.domain.wording import UserError, tr


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
class ObsoleteEntity:
    """A term that a knowledge base keeps only to name its replacement: `replaced_by`, or possibly one of `consider`. It
    is never a candidate."""

    id: str
    name: str
    types: tuple[str, ...] = ()
    definition: str = ""
    replaced_by: tuple[str, ...] = ()
    consider: tuple[str, ...] = ()

    @property
    def entity(self) -> Entity:
        """The obsolete entity as an entity."""
        return Entity(self.id, self.name, types=self.types, definition=self.definition)


@dataclass(frozen=True, slots=True)
class Replacement:
    """The certain and the possible replacements of an obsolete entity; replacements that are obsolete themselves are
    resolved."""

    old: ObsoleteEntity
    replaced_by: tuple[Entity, ...] = ()
    consider: tuple[Entity, ...] = ()


class MatchKind(StrEnum):
    """How an entity was found, in the order of the results. MEANING: the linker suggests it for the text."""

    IDENTIFIER = "identifier"
    EXACT = "exact name"
    NAME = "name"
    SPELLING = "similar spelling"
    MEANING = "meaning"
    SOME_WORDS = "some of the words"
    DEFINITION = "definition"

    @property
    def by_name(self) -> bool:
        """Whether all that was typed is an identifier or a name, or nearly: the others are only leads."""
        return self in (MatchKind.IDENTIFIER, MatchKind.EXACT, MatchKind.NAME, MatchKind.SPELLING)


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """An entity found by knowledge-base search; `matched` is the name, synonym or alternate id that matched.
    `probability` is the linker's, for a match by MEANING."""

    entity: Entity
    matched: str
    rank: float
    kind: MatchKind = MatchKind.NAME
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class TreeNode:
    """An entity in the hierarchy: the number of its children, and of all its descendants, each counted once; None if
    the hierarchy is too large to count them."""

    entity: Entity
    children: int
    below: int | None


@dataclass(frozen=True, slots=True)
class TreePage:
    """Some children of an entity, in the order of their names; `total` is the number of all children."""

    nodes: tuple[TreeNode, ...]
    total: int


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


@dataclass(frozen=True, slots=True)
class Branches:
    """Mention type -> entities: for its mentions, only these and their descendants are suggested and found. The entry
    '' is for all types without their own entry. Without an entry, a type is not restricted."""

    of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of_type(self, mention_type: str) -> tuple[str, ...]:
        return self.of.get(mention_type) or self.of.get("", ())


class Matches(list[EntityMatch]):
    """The results of a search; `left_out` is the number of matching entities outside the branches. With `obsolete`, the
    query is its id, and the results are its replacements."""

    left_out: int = 0
    obsolete: ObsoleteEntity | None = None


# Entities created by curators because the knowledge base lacks them, until a version of it has them.

PREFIX = "NEW:"
LONGEST = 300
"""The most characters of a name or synonym."""


def is_new(entity_id: str) -> bool:
    """Whether an id has the form of the project's own ids. A knowledge base that was exported with its provisional
    entities has such ids too."""
    return entity_id.startswith(PREFIX)


def id_of(number: int) -> str:
    return f"{PREFIX}{number:04}"


def number_of(entity_id: str) -> int:
    """The number in a provisional entity's id; 0 if it is not one of ours."""
    rest = entity_id.removeprefix(PREFIX)
    return int(rest) if is_new(entity_id) and rest.isascii() and rest.isdigit() else 0


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """A curator's description of a new entity; `tidied` is stored. `id` is its identifier in a registry, missing from
    this knowledge base; '' if it gets one of the project's ids."""

    name: str
    types: tuple[str, ...] = ()
    definition: str = ""
    synonyms: tuple[str, ...] = ()
    id: str = ""

    def tidied(self) -> EntityDraft:
        """White space collapsed, empty and repeated synonyms and those equal to the name left out.

        Raises UserError for an empty name, a name or synonym that is far too long, and an identifier that does not have
        its registry's form.
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
        id_ = checked_identifier(self.id) if self.id.strip() else ""
        return EntityDraft(name, types, self.definition.strip(), kept, id_)

    def entity(self, entity_id: str) -> Entity:
        return Entity(entity_id, self.name, self.synonyms, self.types, self.definition)


@dataclass(frozen=True, slots=True)
class ProvisionalEntity:
    """An entity created by a curator. `successor` is the id of the entity that took its place; its own id once a
    version of the knowledge base holds it under that id."""

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
        return EntityDraft(one.name, one.types, one.definition, one.synonyms, "" if is_new(one.id) else one.id)


def _tidy(text: str) -> str:
    return " ".join(text.split())


# The sources of a knowledge base, in the order in which they were added, and differences between versions.


OTHERS = "*"
"""In a mapping from types: all other types."""


@dataclass(frozen=True, slots=True)
class KnowledgeSource:
    """One source of a knowledge base. The curator gave `release`, `licence` and `prefix`; `types` maps the file's types
    to the types of its entities here, `*` meaning all others; `own` maps these types to the prefix of the vocabulary of
    their identifiers without a prefix, given or recognised, `*` meaning all others; `columns` are the chosen columns of
    a table. `languages`, `vocabularies`, `only_types` and `suppressed` select the parts of the file to read, as in
    `KbOptions`. `left_out` is the number of entities whose ids an earlier source has."""

    name: str
    format: str = ""
    path: str = ""
    release: str = ""
    licence: str = ""
    prefix: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    only_types: tuple[str, ...] = ()
    suppressed: bool = False
    own: Mapping[str, str] = field(default_factory=dict)
    entities: int = 0
    left_out: int = 0

    def vocabulary_of(self, types: Sequence[str]) -> str:
        """The prefix of the identifiers without one of entities with these types; '' if it is not known."""
        return next((self.own[one] for one in (types[0] if types else "", OTHERS) if one in self.own), "")


WIKI = "mediawiki"
"""The format of the sources and documents of wikis. Their identifiers are titles, which name a page only together with
the wiki: the type of its entities and mentions."""


@dataclass(frozen=True, slots=True)
class KbChanges:
    """Numbers of entities of a version that are new, changed, and gone, and of gone entities that are now alternate ids
    of others."""

    new: int
    changed: int
    gone: int
    merged: int

    @property
    def obsolete(self) -> int:
        """Gone without a successor."""
        return self.gone - self.merged

"""One line of the audit trail: who did what and when, what was suggested, and what it replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.documents import Span
from curator.domain.entities import Entity


class AuditKind(StrEnum):
    """DECISION: a verdict of the project, also one that undoing brought back. JUDGEMENT: a verdict given in a round.
    ATTRIBUTE: a value of an attribute, of the project or given in a round. OPERATION: any other step, such as a new
    mention or a document's state."""

    DECISION = "decision"
    JUDGEMENT = "judgement"
    ATTRIBUTE = "attribute"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class AuditMention:
    """The mention of an entry, in its current state."""

    id: int
    document_id: int
    document: str
    spans: tuple[Span, ...]
    text: str
    type: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`id` is that of the decision, judgement or operation. `operation` is the step it belongs to (None: it came with a
    file or belongs to a round), `step` its kind (`decide`, `undo`, …), `target` the step that an undo or redo is about.
    `actor` did it, `curator` is whose verdict it is: undoing brings back another's. `replaces` is the id of the
    mention's verdict before, `before` that verdict."""

    kind: AuditKind
    id: int
    at: datetime
    actor: str
    step: str = ""
    operation: int | None = None
    target: int | None = None
    text: str = ""
    mention: AuditMention | None = None
    curator: str = ""
    verdict: Verdict | None = None
    note: str = ""
    shown: Shown | None = None
    replaces: int | None = None
    before: Verdict | None = None
    round: str = ""


# Comments: what curators say to each other about a mention or a document.


@dataclass(frozen=True, slots=True)
class Comment:
    """On a mention, or on the whole document where `mention_id` is None. A deleted one stays in the records."""

    id: int
    document_id: int
    mention_id: int | None
    author: str
    at: datetime
    text: str
    deleted: bool = False


# Inconsistencies: current decisions that contradict each other, or that the knowledge base no longer supports.

Way: TypeAlias = tuple[str, ...]
"""What a mention is linked to: the sorted ids of its entities; empty for NIL."""


class InconsistencyKind(StrEnum):
    """In the order in which they are listed. Strings are compared by `domain.same_string` and type."""

    DOCUMENT = "document"  # one string is linked to different entities in one document
    HIERARCHY = "hierarchy"  # … and one of these entities is broader than another
    OBSOLETE = "obsolete"  # the entity is obsolete, or the knowledge base no longer has it
    NIL = "nil"  # one string is linked in one place and NIL in another
    PROJECT = "project"  # one string is linked to different entities in different documents


def way_of(verdict: Verdict) -> Way:
    ids = verdict.entity_ids
    return ids if len(ids) < 2 else tuple(sorted(set(ids)))


@dataclass(frozen=True, slots=True)
class DecidedPlace:
    """A mention with its current decision, a link or NIL. `key` is the `domain.same_string.string_key` of its text."""

    mention_id: int
    document_id: int
    external_id: str
    text: str
    key: str
    type: str
    verdict: Verdict
    curator: str

    @property
    def way(self) -> Way:
        return way_of(self.verdict)


@dataclass(frozen=True, slots=True)
class DecidedWay:
    """One of the decisions that contradict each other, with its mentions in text order."""

    verdict: Verdict
    places: tuple[DecidedPlace, ...]

    @property
    def way(self) -> Way:
        return way_of(self.verdict)


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """`ways` begins with the most frequent one; an obsolete entity has one way for each decision that names it.

    `document_id` and `external_id` say in which document it is, None and '' of one that is in several. `text` is the
    most frequent spelling, or the obsolete entity's name. `scope` is what it is remembered by once it is `intended`.
    `entity_id` is the obsolete entity, '' for the other kinds; `obsolete`: the knowledge base calls it so, else it does
    not have it. `replacements` are the known entities to link to instead.
    """

    kind: InconsistencyKind
    scope: str
    text: str
    type: str
    ways: tuple[DecidedWay, ...]
    document_id: int | None = None
    external_id: str = ""
    entity_id: str = ""
    obsolete: bool = False
    replacements: tuple[Entity, ...] = ()
    intended: bool = False

    @property
    def places(self) -> tuple[DecidedPlace, ...]:
        """Of the rarest way first: it is most often the wrong one."""
        return tuple(place for way in reversed(self.ways) for place in way.places)

    @property
    def curators(self) -> tuple[str, ...]:
        return tuple(sorted({place.curator for place in self.places}))

    def is_of(self, kind: InconsistencyKind) -> bool:
        """What is linked to several entities and also NIL is of both kinds."""
        return kind is self.kind or (
            kind is InconsistencyKind.NIL and any(one.verdict.outcome is Outcome.NIL for one in self.ways)
        )


@dataclass(frozen=True, slots=True)
class Inconsistencies:
    """All of a project, and the names of the entities in them."""

    rows: tuple[Inconsistency, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def chosen(
        self, *, kind: InconsistencyKind | None = None, curator: str = "", words: str = "", intended: bool = False
    ) -> list[Inconsistency]:
        """Those of a kind, with a decision of a curator, with these words in a string, entity or document; the
        `intended` ones instead of the others."""
        wanted = words.casefold().split()
        return [
            one
            for one in self.rows
            if one.intended is intended
            and (kind is None or one.is_of(kind))
            and (not curator or curator in one.curators)
            and (not wanted or self._has(one, wanted))
        ]

    def curators(self) -> tuple[str, ...]:
        return tuple(sorted({name for one in self.rows for name in one.curators}))

    def _has(self, one: Inconsistency, words: list[str]) -> bool:
        ids = [id_ for way in one.ways for id_ in way.way]
        texts = {text for place in one.places for text in (place.text, place.external_id)}
        held = " ".join([one.text, *texts, *ids, *(self.names.get(id_, "") for id_ in ids)]).casefold()
        return all(word in held for word in words)


@dataclass(frozen=True, slots=True)
class OtherDecision:
    """What mentions of the same string and type as one are decided as: how many in its document and in the project,
    itself not counted."""

    verdict: Verdict
    here: int
    everywhere: int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What contradicts the decision or first candidate of a mention: `number` of the `of` other decisions about its
    string in the document (`here`) or the project. `names` are those of the verdict's entities."""

    text: str
    verdict: Verdict
    names: tuple[str, ...]
    here: bool
    number: int
    of: int

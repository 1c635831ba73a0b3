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
    """DECISION: a verdict of the project, including verdicts restored by undo. JUDGEMENT: a verdict given in a round.
    ATTRIBUTE: a value of an attribute, in the project or in a round. OPERATION: any other step, such as a new mention
    or a document's state."""

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
    """`id` is that of the decision, judgement or operation. `operation` is its step (None: it came with a file or
    belongs to a round), `step` the step's kind (`decide`, `undo`, …), `target` the step that was undone or redone.
    `actor` did it, `curator` is the author of the verdict: undo can restore another curator's. `replaces` is the id of
    the mention's previous verdict, `before` that verdict."""

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


# Comments: curators' remarks about a mention or a document.


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a mention, or on the whole document if `mention_id` is None. Deleted comments stay in the
    records."""

    id: int
    document_id: int
    mention_id: int | None
    author: str
    at: datetime
    text: str
    deleted: bool = False


# Inconsistencies: current decisions that contradict each other, or that the knowledge base no longer supports.

Way: TypeAlias = tuple[str, ...]
"""The link of a mention: the sorted ids of its entities; empty for NIL."""


class InconsistencyKind(StrEnum):
    """The kinds, in the order of the list. Strings are compared by `domain.same_string` and type."""

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
    """One of the contradicting decisions, with its mentions in text order."""

    verdict: Verdict
    places: tuple[DecidedPlace, ...]

    @property
    def way(self) -> Way:
        return way_of(self.verdict)


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """`ways` begins with the most frequent decision; an obsolete entity has one way for each decision that names it.

    `document_id` and `external_id` identify its document; None and '' if it is in several. `text` is the most frequent
    spelling, or the obsolete entity's name. `scope` identifies it when it is marked as `intended`. `entity_id` is the
    obsolete entity, '' for the other kinds; `obsolete`: the knowledge base marks it as obsolete, else it does not
    contain it. `replacements` are the known entities to link to instead.
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
        """All mentions, of the rarest way first: it is most often the wrong one."""
        return tuple(place for way in reversed(self.ways) for place in way.places)

    @property
    def curators(self) -> tuple[str, ...]:
        return tuple(sorted({place.curator for place in self.places}))

    def is_of(self, kind: InconsistencyKind) -> bool:
        """Whether it is of this kind; a string linked to several entities and also to NIL is of both kinds."""
        return kind is self.kind or (
            kind is InconsistencyKind.NIL and any(one.verdict.outcome is Outcome.NIL for one in self.ways)
        )


@dataclass(frozen=True, slots=True)
class Inconsistencies:
    """All inconsistencies of a project, and the names of their entities."""

    rows: tuple[Inconsistency, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def chosen(
        self, *, kind: InconsistencyKind | None = None, curator: str = "", words: str = "", intended: bool = False
    ) -> list[Inconsistency]:
        """The inconsistencies of a kind, with a decision of a curator, with these words in a string, entity or
        document; with `intended`, only those marked as intended, else the others."""
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
    """Decisions for other mentions with the same string and type: their numbers in the document and in the project."""

    verdict: Verdict
    here: int
    everywhere: int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A contradiction to the decision or first candidate of a mention: `number` of the `of` other decisions about its
    string in the document (`here`) or the project. `names` are the names of the verdict's entities."""

    text: str
    verdict: Verdict
    names: tuple[str, ...]
    here: bool
    number: int
    of: int

"""Shared by the readers of knowledge bases.

Terms of ontologies, from any syntax, as entities.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from curator.domain.curies import contract, curie
from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.reading import SourceReader
from curator.io.files.report import Report, first_of
from curator.io.files.source import Source
from curator.services.ports.files import KbOptions


class KbReader(SourceReader, ABC):
    """See `ports.KnowledgeBaseReader`. The class is the format: its names, how it is recognised, and the sentence that
    refuses other files. A subclass yields its `entities`."""

    title: str
    refusal: str
    chooses: frozenset[str] = frozenset()
    """The `KbOptions` that it supports."""

    def __init__(self, path: Path, options: KbOptions | None = None) -> None:
        super().__init__(path)
        self.options = options or KbOptions()

    @staticmethod
    @abstractmethod
    def sniff(head: bytes) -> bool:
        """Whether a text file has this format, by its first bytes."""

    @classmethod
    def sniff_path(cls, path: Path) -> bool:  # noqa: ARG003
        """Whether a source without text, a folder or workbook, has this format."""
        return False

    @classmethod
    def open(cls, path: Path, options: KbOptions | None = None) -> Self:
        """Raises UserError for a missing, empty, truncated or foreign file."""
        if not cls.sniff(Source(path).head()):
            raise UserError(tr(cls.refusal, path=path))
        return cls(path, options).prepared()

    def prepared(self) -> Self:
        self.prepare()
        return self

    def __iter__(self) -> Iterator[Entity]:
        self.problems, self.obsolete = Report(), []
        count = 0
        for count, entity in enumerate(self.checked(), 1):  # noqa: B007
            yield entity
        if not count:
            why = first_of(self.problems)
            raise UserError(tr("{path} contains no usable entity{why}", path=self.path, why=why))

    def checked(self) -> Iterator[Entity]:
        """The entities that can be stored, each id once."""
        return first_of_each(self.entities(), self.problems)

    @abstractmethod
    def entities(self) -> Iterator[tuple[int, Entity]]:
        """The entities with their lines, 0 if unknown. At the end, the reports are complete."""


Record = TypeVar("Record", Entity, ObsoleteEntity)
CONTROL = re.compile("[\x00-\x1f\x7f]")
_CONTROL_OF_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Without tabs and line ends, which a definition may have."""
_OTHER_IDS = ("alt_ids", "parents", "tree_numbers", "replaced_by", "consider")


def without_controls(record: Record, line: int, problems: Report) -> Record | None:
    """The record without control characters, which SQLite and PostgreSQL do not handle everywhere.

    None, with a problem, if its identifier has one, or its name nothing else. Texts lose theirs, and other identifiers
    with one are left out.
    """
    every = {one.name: getattr(record, one.name) for one in fields(record)}
    lists: dict[str, tuple[str, ...]] = {key: value for key, value in every.items() if isinstance(value, tuple)}
    texts = record.id, record.name, *(text for values in lists.values() for text in values)
    if CONTROL.search("".join(texts)) is None and _CONTROL_OF_TEXT.search(record.definition) is None:
        return record
    name, definition = _spaced(record.name), _CONTROL_OF_TEXT.sub(" ", record.definition)
    if not name or CONTROL.search(record.id) is not None:
        text = tr(
            "entity {id}: its identifier contains control characters, or its name nothing else", id=repr(record.id)
        )
        problems.set_aside(text, line)
        return None
    text = tr(
        "entity {id}: control characters were removed, and other identifiers that contain them left out", id=record.id
    )
    problems.repaired(text, line)
    clean: dict[str, Any] = {
        key: tuple(one for one in values if CONTROL.search(one) is None)
        if key in _OTHER_IDS
        else clean_names(map(_spaced, values), besides=name if key == "synonyms" else "")
        for key, values in lists.items()
    }
    return replace(record, name=name, definition=definition.strip(), **clean)


def keep_obsolete(read: ObsoleteEntity, line: int, kept: list[ObsoleteEntity], problems: Report) -> None:
    """Add it to `kept`. See `without_controls`."""
    if (old := without_controls(read, line, problems)) is not None:
        kept.append(old)


def _spaced(text: str) -> str:
    return " ".join(CONTROL.sub(" ", text).split())


def first_of_each(found: Iterable[tuple[int, Entity]], problems: Report) -> Iterator[Entity]:
    """Entities with their lines (0 if unknown), each id once: the first is used, the others are reported. See also
    `without_controls`."""
    lines: dict[str, int] = {}
    for line, read in found:
        entity = without_controls(read, line, problems)
        if entity is None:
            continue
        if entity.id in lines:
            text = tr(
                "entity {id} ({name}) was already defined in line {lines}; that definition is kept",
                id=entity.id,
                name=entity.name,
                lines=lines[entity.id],
            )
            if not line:
                text = tr(
                    "entity {id} ({name}) was already defined; that definition is kept", id=entity.id, name=entity.name
                )
            problems.set_aside(text, line)
            continue
        lines[entity.id] = line
        yield entity


def clean_names(names: Iterable[str], besides: str = "") -> tuple[str, ...]:
    """Stripped names, without empty ones, duplicates and `besides`."""
    stripped = (name.strip() for name in names)
    return tuple(dict.fromkeys(name for name in stripped if name and name != besides))


THING = "http://www.w3.org/2002/07/owl#Thing"
"""The class of everything: as a parent, it says nothing."""


@dataclass(slots=True)
class OntologyTerm:
    """One class or concept as in its file; `replaced_by` is used for deprecated ones."""

    id: str
    name: str = ""
    names: list[str] = field(default_factory=list)
    definition: str = ""
    types: list[str] = field(default_factory=list)
    alt_ids: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    deprecated: bool = False
    replaced_by: list[str] = field(default_factory=list)
    consider: list[str] = field(default_factory=list)


def term_id(text: str, namespaces: Mapping[str, str] | None = None) -> str:
    """The id of a term given as a web address or as a CURIE; `namespaces` as in `contract`."""
    return curie(contract(text, namespaces))


def successors(terms: Iterable[OntologyTerm]) -> dict[str, list[str]]:
    """For each term that replaces others, the deprecated ids that lead to it, following chains. Only ids are kept."""
    one = {term.id: term.replaced_by[0] for term in terms if term.deprecated and len(set(term.replaced_by)) == 1}
    return inverted(one)


def inverted(successor: dict[str, str]) -> dict[str, list[str]]:
    """Ids by the end of their chain of successors; circular chains are ignored."""
    found: dict[str, list[str]] = {}
    for obsolete in successor:
        seen, target = {obsolete}, successor[obsolete]
        while target in successor and target not in seen:
            seen.add(target)
            target = successor[target]
        found.setdefault(target, []).append(obsolete)
    return found


ONE_OBSOLETE = {
    "term": "{n} obsolete term is kept only to be replaced; an id with exactly one replacement leads to it",
    "class": "{n} obsolete class is kept only to be replaced; an id with exactly one replacement leads to it",
    "concept": "{n} obsolete concept is kept only to be replaced; an id with exactly one replacement leads to it",
}
OBSOLETE = {
    "term": "{n:,} obsolete terms are kept only to be replaced; ids with exactly one replacement lead to it",
    "class": "{n:,} obsolete classes are kept only to be replaced; ids with exactly one replacement lead to it",
    "concept": "{n:,} obsolete concepts are kept only to be replaced; ids with exactly one replacement lead to it",
}
ONE_UNNAMED = {
    "term": "{n} term without a name was skipped",
    "class": "{n} class without a name was skipped",
    "concept": "{n} concept without a name was skipped",
}
UNNAMED = {
    "term": "{n:,} terms without a name were skipped",
    "class": "{n:,} classes without a name were skipped",
    "concept": "{n:,} concepts without a name were skipped",
}


def entities(
    terms: Iterable[OntologyTerm],
    replaced: Mapping[str, list[str]],
    problems: Report,
    obsolete: list[ObsoleteEntity],
    *,
    nameless: Literal["term", "class", "concept"] = "term",
) -> Iterator[tuple[int, Entity]]:
    """The entities, without lines. `replaced` has the deprecated ids that lead to a term, as `successors` finds them;
    `obsolete` gets the deprecated terms."""
    deprecated, unnamed = 0, 0
    obsolete.clear()
    for term in terms:
        if term.deprecated:
            deprecated += 1
            keep_obsolete(_obsolete_of(term), 0, obsolete, problems)
        elif not term.name:
            unnamed += 1
        else:
            yield 0, entity_of(term, replaced.get(term.id, ()))
    if deprecated:
        text = ntr(ONE_OBSOLETE[nameless], OBSOLETE[nameless], deprecated)
        problems.note(text)
    if unnamed:
        text = ntr(ONE_UNNAMED[nameless], UNNAMED[nameless], unnamed)
        problems.set_aside(text)


def _obsolete_of(term: OntologyTerm) -> ObsoleteEntity:
    return ObsoleteEntity(
        term.id,
        term.name or term.id,
        types=clean_names(term.types),
        definition=term.definition,
        replaced_by=clean_names(term.replaced_by, besides=term.id),
        consider=clean_names(term.consider, besides=term.id),
    )


def entity_of(term: OntologyTerm, replaced: Iterable[str] = ()) -> Entity:
    return Entity(
        term.id,
        term.name,
        synonyms=clean_names(term.names, besides=term.name),
        types=clean_names(term.types),
        definition=term.definition,
        alt_ids=clean_names([*term.alt_ids, *replaced], besides=term.id),
        parents=clean_names((one for one in term.parents if one != THING), besides=term.id),
    )

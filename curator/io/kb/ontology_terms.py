"""Terms of ontologies, from any syntax, as entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from curator.domain.curies import contract, curie
from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import ntr
from curator.io.files.report import Report
from curator.io.kb.base import clean_names, keep_obsolete

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

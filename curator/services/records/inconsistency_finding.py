"""Finds the inconsistencies of a project in one reading unit: see `domain.audit` for the kinds.

A string that is decided in several ways within one document is listed for that document, and also for the project if it
concerns other documents. Broader entities are read upwards in the hierarchy, level by level: a node with 200,000
children takes no longer than one with two, and cycles are followed once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import TypeVar

from curator.domain.audit import (
    DecidedPlace,
    DecidedWay,
    Inconsistencies,
    Inconsistency,
    InconsistencyKind,
    Way,
)
from curator.domain.audit import InconsistencyKind as Kind
from curator.domain.decisions import Outcome
from curator.domain.same_string import string_key
from curator.services.curating.notes import entity_scope, intended_in, is_intended, string_scope
from curator.services.knowledge.remap_plan import RemapKind, Remapping, lost
from curator.services.ports.storage import UnitOfWork

MOST_ABOVE = 200_000
"""The most entities visited on the way up; beyond it two entities count as unrelated."""
ORDER = list(InconsistencyKind)
T = TypeVar("T")


def find(unit: UnitOfWork) -> Inconsistencies:
    """Every inconsistency: by kind, then most frequent first."""
    return _listed(unit, [*_with_hierarchy(unit, list(_strings(unit.kb.divided()))), *_gone(unit)])


def find_first(unit: UnitOfWork) -> Inconsistencies:
    """The first part of the list: strings linked to several entities in one document, which are faster to find."""
    strings = _with_hierarchy(unit, list(_strings(unit.kb.divided(in_document=True))))
    return _listed(unit, [one for one in strings if one.kind in (Kind.DOCUMENT, Kind.HIERARCHY)])


def _listed(unit: UnitOfWork, rows: Iterable[Inconsistency]) -> Inconsistencies:
    marks = intended_in(unit)
    rows = [replace(one, intended=is_intended(marks, one.scope, (way.way for way in one.ways))) for one in rows]
    rows.sort(key=lambda one: (ORDER.index(one.kind), -len(one.places), one.text.casefold(), one.external_id))
    return Inconsistencies(tuple(rows), names_of(unit, {id_ for one in rows for way in one.ways for id_ in way.way}))


def string_of(unit: UnitOfWork, mention_id: int, every: Inconsistencies) -> Inconsistency | None:
    """The inconsistency of `every` about the mention: its link to an obsolete entity, or else its string, in its
    document or in the project. If there is none, all decisions about the string as one inconsistency; None if it is not
    decided anywhere. Raises UserError for an unknown mention."""
    for one in every.rows:
        if one.entity_id and any(place.mention_id == mention_id for place in one.places):
            return one
    mention = unit.mentions.get(mention_id)
    key = string_key(mention.text)
    listed = {one.scope: one for one in every.rows}
    for document_id in (mention.document_id, None):
        scope = string_scope(key, mention.type, document_id)
        if scope in listed:
            return listed[scope]
    places = unit.kb.decided_alike(mention_id)
    return _divided(places, Kind.PROJECT, string_scope(key, mention.type)) if places else None


def names_of(unit: UnitOfWork, entity_ids: Collection[str]) -> dict[str, str]:
    """Names of the entities, including removed ones; unknown ones are absent."""
    found = {one: entity.name for one, entity in unit.kb.get_many(sorted(entity_ids)).items()}
    missing = [one for one in entity_ids if one not in found]
    former = {one: unit.kb.former(one) for one in missing}
    return found | {one: entity.name for one, entity in former.items() if entity is not None}


# --- one string, several ways ---


def _strings(divided: Iterable[DecidedPlace]) -> Iterator[Inconsistency]:
    for (key, type_), group in groupby(divided, key=lambda one: (one.key, one.type)):
        places = list(group)
        documents: defaultdict[int, list[DecidedPlace]] = defaultdict(list)
        for one in places:
            documents[one.document_id].append(one)
        for document_id, own in documents.items():
            if len({one.way for one in own}) > 1:
                scope = string_scope(key, type_, document_id)
                yield _divided(own, Kind.DOCUMENT, scope, document_id, own[0].external_id)
        if len(documents) > 1 and len({one.way for one in places}) > 1:
            yield _divided(places, Kind.PROJECT, string_scope(key, type_))


def _divided(
    places: Sequence[DecidedPlace], kind: Kind, scope: str, document_id: int | None = None, external_id: str = ""
) -> Inconsistency:
    ways = _ways(places)
    if sum(one.verdict.outcome is Outcome.LINK for one in ways) < 2:
        kind = Kind.NIL
    return Inconsistency(kind, scope, _spelling(places), places[0].type, ways, document_id, external_id)


def _ways(places: Iterable[DecidedPlace]) -> tuple[DecidedWay, ...]:
    """The ways, most frequent first; a way's verdict is the most frequent one with the same entities."""
    found: defaultdict[Way, list[DecidedPlace]] = defaultdict(list)
    for one in places:
        found[one.way].append(one)
    ordered = sorted(found.values(), key=lambda own: -len(own))
    return tuple(DecidedWay(_most([one.verdict for one in own]), tuple(own)) for own in ordered)


def _spelling(places: Sequence[DecidedPlace]) -> str:
    return " ".join(_most([one.text for one in places]).split())


def _most(values: Sequence[T]) -> T:
    """The most frequent one; of equals the first."""
    return values[0] if values.count(values[0]) == len(values) else Counter(values).most_common(1)[0][0]


# --- broader and narrower ---


def _with_hierarchy(unit: UnitOfWork, found: Sequence[Inconsistency]) -> Iterator[Inconsistency]:
    wanted = {id_ for one in found if one.kind is Kind.DOCUMENT for way in one.ways for id_ in way.way}
    parents = _climbed(unit, wanted)
    above = {one: _above(one, parents) for one in wanted}
    for one in found:
        related = one.kind is Kind.DOCUMENT and any(
            _broader(first.way, second.way, above) for first, second in combinations(one.ways, 2)
        )
        yield replace(one, kind=Kind.HIERARCHY) if related else one


def _climbed(unit: UnitOfWork, entity_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The parents of these and of all their ancestors."""
    found: dict[str, tuple[str, ...]] = {}
    level = set(entity_ids)
    while level and len(found) < MOST_ABOVE:
        read = unit.kb.parents(sorted(level))
        found |= {one: read.get(one, ()) for one in level}
        level = {parent for above in read.values() for parent in above} - found.keys()
    return found


def _above(entity_id: str, parents: Mapping[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    waiting = list(parents.get(entity_id, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += parents.get(one, ())
    return found


def _broader(first: Way, second: Way, above: Mapping[str, set[str]]) -> bool:
    """Whether an entity of one is above an entity of the other."""
    return any(
        one != other and (one in above.get(other, ()) or other in above.get(one, ()))
        for one in first
        for other in second
    )


# --- obsolete and gone ---


def _gone(unit: UnitOfWork) -> Iterator[Inconsistency]:
    if unit.kb.info() is None:  # without a knowledge base nothing can be missing from it
        return
    lines = lost(unit)
    obsolete = unit.kb.obsolete([line.key for line in lines])
    for line in lines:
        places = unit.kb.decided_places(unit.kb.linked_to([line.key]))
        if places:
            yield _lost_entity(line, places, obsolete=line.key in obsolete or line.kind is not RemapKind.OBSOLETE)


def _lost_entity(line: Remapping, places: Sequence[DecidedPlace], *, obsolete: bool) -> Inconsistency:
    documents = {one.document_id: one.external_id for one in places}
    only = next(iter(documents)) if len(documents) == 1 else None
    return Inconsistency(
        Kind.OBSOLETE,
        entity_scope(line.key),
        line.name,
        ", ".join(line.types),
        _ways(places),
        only,
        documents[only] if only is not None else "",
        entity_id=line.key,
        obsolete=obsolete,
        replacements=((line.proposed,) if line.proposed is not None else ()) + line.others,
    )

"""Inconsistencies of the project: listed, marked as intended, settled, and shown while deciding."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import TypeVar

from curator.domain.audit import (
    Contradiction,
    DecidedPlace,
    DecidedWay,
    Inconsistencies,
    Inconsistency,
    InconsistencyKind,
    OtherDecision,
    Way,
    way_of,
)
from curator.domain.audit import InconsistencyKind as Kind
from curator.domain.decisions import Change, Decision, OperationKind, Outcome, Verdict
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.curating.deciding import redecide, step_in, unchanged
from curator.services.curating.notes import entity_scope, intend, intended_in, is_intended, string_scope
from curator.services.knowledge.remapping import RemapKind, Remapping, lost
from curator.services.ports.queue import MentionContext
from curator.services.ports.storage import UnitOfWork

NOTHING = "No mention was chosen. Tick those that you want to change."
THE_SAME = "These mentions already have this decision. Choose another entity; nothing was changed."
INTENDED = "Marked the decisions about “{text}” as intended"
NOT_INTENDED = "The decisions about “{text}” are no longer marked as intended"
ONE_SETTLED = "Changed {n} decision about “{text}” to {after}"
SETTLED = "Changed {n:,} decisions about “{text}” to {after}"
NOTE = "Was {before}; changed to {after} in the list of inconsistencies"


class InconsistencyService(Service):
    def find(self) -> Inconsistencies:
        """All inconsistencies of the current decisions. 0.2 s for 10,000 decisions: call it from a worker thread."""
        with self._store.read() as unit:
            return find(unit)

    def find_first(self) -> Inconsistencies:
        """The first rows of `find`, for a list that shows the others later. Call it from a worker thread."""
        with self._store.read() as unit:
            return find_first(unit)

    def of_string(self, mention_id: int, every: Inconsistencies) -> tuple[Inconsistencies, Inconsistency | None]:
        """The inconsistency of `every` about the mention's string, in its document or else in the project; if there is
        none, all decisions about the string as one, or None without decisions. `every` is returned with the names of
        its entities. Call it from a worker thread."""
        with self._store.read() as unit:
            if mention_id not in unit.mentions.get_many([mention_id]):
                return every, None
            found = string_of(unit, mention_id, every)
            unnamed = {id_ for way in found.ways for id_ in way.way} - every.names.keys() if found is not None else ()
            return replace(every, names={**every.names, **names_of(unit, unnamed)}), found

    def contexts(self, mention_ids: Sequence[int]) -> list[MentionContext]:
        """The mentions with the text around them, in the given order, without deleted ones."""
        with self._store.read() as unit:
            return unit.queue.contexts(mention_ids, bundle_id="")

    def mark(self, one: Inconsistency, *, intended: bool) -> Change:
        """Mark it as intended, so that it is only listed again with a different decision, or remove the mark. This is
        one undoable step. Raises UserError while the curator judges in a round."""
        self._refuse_in_round()
        text = tr(INTENDED if intended else NOT_INTENDED, text=one.text)
        first = one.places[0]
        with self._store.write() as unit:
            payload = intend(unit, one.scope, {way.way for way in one.ways} if intended else None)
            change = step_in(
                unit,
                OperationKind.INTEND,
                text,
                {"mentions": [first.mention_id], **payload},
                curator=self._curator(),
                clock=self._clock,
                documents=[first.document_id],
            )
        return self._emit(change)

    def settle(self, one: Inconsistency, mention_ids: Collection[int], to: Verdict) -> Change:
        """Decide some mentions of an inconsistency differently, as one operation; each decision gets a note. In a link
        to an obsolete entity only that entity is replaced.

        Raises UserError if nothing is chosen, if a mention is not in the inconsistency or was decided or deleted since,
        if nothing would change, if the entity is unknown, and while the curator judges in a round; then nothing is
        changed.
        """
        self._refuse_in_round()
        wanted = set(mention_ids)
        listed = {place.mention_id: place for place in one.places if place.mention_id in wanted}
        if not wanted:
            raise UserError(tr(NOTHING))
        with self._store.write() as unit:
            ways = {id_: place.way for id_, place in listed.items()}
            now = unchanged(unit, ways, by=way_of, missing=len(wanted) - len(listed))
            verdicts = {id_: _settled(now[id_].verdict, one.entity_id, to) for id_ in listed}
            moved = {id_: new for id_, new in verdicts.items() if way_of(new) != listed[id_].way}
            if not moved:
                raise UserError(tr(THE_SAME))
            change = self._decide(unit, one, moved, now)
        return self._emit(change)

    def _decide(
        self, unit: UnitOfWork, one: Inconsistency, verdicts: dict[int, Verdict], now: dict[int, Decision]
    ) -> Change:
        every = [*verdicts.values(), *(now[id_].verdict for id_ in verdicts)]
        names = names_of(unit, {id_ for verdict in every for id_ in verdict.entity_ids})
        before = {id_: decided_words(now[id_].verdict, names) for id_ in verdicts}
        after = {id_: decided_words(verdict, names) for id_, verdict in verdicts.items()}
        return redecide(
            unit,
            verdicts,
            now,
            {id_: NOTE.format(before=before[id_], after=after[id_]) for id_ in verdicts},
            curator=self._curator(),
            clock=self._clock,
            text=ntr(ONE_SETTLED, SETTLED, len(verdicts), text=one.text, after=", ".join(sorted(set(after.values())))),
        )

    def contradiction(self, mention_id: int, verdict: Verdict) -> Contradiction | None:
        """What contradicts a decision about a mention, or the candidate that Enter accepts: another decision about the
        same string in the document, else the most frequent one in the project. None if nothing does, or if it is
        intended. Raises UserError for an unknown mention. A few milliseconds: call it from a worker thread."""
        if verdict.outcome not in (Outcome.LINK, Outcome.NIL):
            return None
        with self._store.read() as unit:
            found = unit.links.other_decisions(mention_id)
            if all(way_of(one.verdict) == way_of(verdict) for one in found):
                return None
            return _contradiction(unit, mention_id, verdict, found)

    def contradiction_of_current(self, mention_id: int) -> Contradiction | None:
        """What contradicts the current decision of a mention; None if it is undecided or deleted. A few milliseconds:
        call it from a worker thread."""
        with self._store.read() as unit:
            decision = unit.decisions.current([mention_id]).get(mention_id)
        return None if decision is None else self.contradiction(mention_id, decision.verdict)


def decided_words(verdict: Verdict, names: dict[str, str]) -> str:
    """The entities of a link with their names, or NIL."""
    if verdict.outcome is Outcome.NIL:
        return "NIL"
    return " + ".join(f"{one} {names.get(one, '')}".strip() for one in verdict.entity_ids)


def _settled(before: Verdict, entity_id: str, to: Verdict) -> Verdict:
    """The new verdict; for an obsolete entity in a link to several, only that one is replaced, or removed for NIL."""
    if not entity_id:
        return to
    kept = dict.fromkeys(id_ for one in before.entity_ids for id_ in (to.entity_ids if one == entity_id else (one,)))
    return Verdict.link(*kept) if kept else to


def _contradiction(
    unit: UnitOfWork, mention_id: int, verdict: Verdict, found: Sequence[OtherDecision]
) -> Contradiction | None:
    mention = unit.mentions.get(mention_id)
    marks, own = intended_in(unit), way_of(verdict)
    for document_id in (mention.document_id, None):
        number = {one: one.here if document_id is not None else one.everywhere for one in found}
        sums: dict[tuple[str, ...], int] = {}
        for one, count in number.items():
            sums[way_of(one.verdict)] = sums.get(way_of(one.verdict), 0) + count
        most = max(sums, key=lambda way: sums[way])
        rivals = {way: count for way, count in sums.items() if way != own and count}
        if not rivals or (document_id is None and sums[most] <= sums.get(own, 0)):  # the project's majority agrees
            continue
        way = max(rivals, key=lambda one: rivals[one])
        scope = string_scope(string_key(mention.text), mention.type, document_id)
        if is_intended(marks, scope, [own, way]):
            continue
        other = next(one.verdict for one in found if way_of(one.verdict) == way)
        names = names_of(unit, other.entity_ids)
        listed = tuple(names.get(one, "") for one in other.entity_ids)
        return Contradiction(mention.text, other, listed, document_id is not None, rivals[way], sum(sums.values()))
    return None


# Finds the inconsistencies of a project in one reading unit: see `domain.audit` for the kinds.
#
# A string that is decided in several ways within one document is listed for that document, and also for the project if
# it concerns other documents. Broader entities are read upwards in the hierarchy, level by level: a node with 200,000
# children takes no longer than one with two, and cycles are followed once.

MOST_ABOVE = 200_000
"""The most entities visited on the way up; beyond it two entities count as unrelated."""
ORDER = list(InconsistencyKind)
T = TypeVar("T")


def find(unit: UnitOfWork) -> Inconsistencies:
    """Every inconsistency: by kind, then most frequent first."""
    return _listed(unit, [*_with_hierarchy(unit, list(_strings(unit.links.divided()))), *_gone(unit)])


def find_first(unit: UnitOfWork) -> Inconsistencies:
    """The first part of the list: strings linked to several entities in one document, which are faster to find."""
    strings = _with_hierarchy(unit, list(_strings(unit.links.divided(in_document=True))))
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
    places = unit.links.decided_alike(mention_id)
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
        places = unit.links.decided_places(unit.links.linked_to([line.key]))
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

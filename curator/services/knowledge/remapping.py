"""Moves decisions to entities of a new version of the knowledge base, one or many at once, and only on request."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from curator.domain.decisions import Change, Decision, NilReason, OperationKind, Outcome, Verdict
from curator.domain.entities import Entity, KnowledgeBaseInfo, ObsoleteEntity, Replacement
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.curating.deciding import joined_note
from curator.services.curating.entity_steps import Edit, entity_step
from curator.services.knowledge.provisional import moved
from curator.services.ports.queue import NilMention
from curator.services.ports.storage import UnitOfWork

NOTHING = "None of the ticked lines can be changed. Tick lines that have an entity to move to."
CHANGED = "The entity {id} is no longer in the knowledge base. Reopen the list; nothing was changed."


class RemapService(Service):
    def plan(self) -> RemapPlan:
        """The plan. It reads every decided string: call it from a worker thread."""
        with self._store.read() as unit:
            return plan_of(unit)

    def apply(self, lines: Sequence[Remapping], *, to: Mapping[str, str] | None = None) -> Change:
        """Move the decisions of the lines to their proposals, or to the entities in `to` by key, as one operation; each
        decision gets a note. Lines without an entity are left out.

        For decisions that changed since, the current state counts. Raises UserError if nothing is left to do, for an
        entity that no longer exists, and while the curator judges in a round.
        """
        self._refuse_in_round()
        with self._store.write() as unit:
            step = _Step(unit, dict(to or {}))
            for line in lines:
                step.take(line)
            if not step.edits and not step.verdicts:
                raise UserError(tr(NOTHING))
            change = entity_step(
                unit,
                OperationKind.REMAP,
                step.edits,
                step.verdicts,
                curator=self._curator(),
                clock=self._clock,
                text=_words(len(step.verdicts), len(step.edits)),
                notes=step.notes,
            )
        return self._emit(change)


class _Step:
    """Verdicts, notes and entities of one operation being built."""

    def __init__(self, unit: UnitOfWork, to: Mapping[str, str]) -> None:
        self._unit = unit
        self._to = to
        info = unit.kb.info()
        self._now = info.name if info is not None else ""
        self.verdicts: dict[int, Verdict] = {}
        self.notes: dict[int, str] = {}
        self.edits: list[Edit] = []

    def take(self, line: Remapping) -> None:
        target = self._target(line)
        if target is None:
            return
        if line.kind is RemapKind.RESOLVED:
            provisional = self._unit.kb.provisional(line.key)
            if not provisional.living:
                return
            self.edits.append((provisional, replace(provisional, successor=target.id)))
        for decision in self._decisions(line):
            self._decide(decision, line, target)

    def _target(self, line: Remapping) -> Entity | None:
        wanted = self._to.get(line.key) or (line.proposed.id if line.proposed is not None else None)
        if wanted is None:
            return None
        found = self._unit.kb.get_many([wanted]).get(wanted)
        if found is None:
            raise UserError(tr(CHANGED, id=wanted))
        return found

    def _decisions(self, line: Remapping) -> list[Decision]:
        """The current decisions of the line; NILs only if they are still NIL."""
        if line.kind is not RemapKind.NIL:
            return list(self._unit.decisions.current(self._unit.links.linked_to([line.key])).values())
        mentions = self._unit.mentions.get_many(line.mention_ids)
        current = self._unit.decisions.current([one.id for one in mentions.values() if not one.deleted])
        return [one for one in current.values() if one.verdict.outcome is Outcome.NIL]

    def _decide(self, decision: Decision, line: Remapping, target: Entity) -> None:
        before = self.verdicts.get(decision.mention_id, decision.verdict)
        if line.kind is RemapKind.NIL:
            verdict, from_ = Verdict.link(target.id), "NIL"
        else:
            verdict, from_ = moved(before, {line.key: target.id}), f"{line.key} “{line.name}”"
        if verdict == decision.verdict:  # the knowledge base contains the provisional entity under its id
            return
        note = f"Moved from {from_} to {target.id} “{target.name}” with {self._now}"
        self.verdicts[decision.mention_id] = verdict
        self.notes[decision.mention_id] = joined_note(self.notes.get(decision.mention_id, decision.note), note)


def _words(decisions: int, entities: int) -> str:
    moved = ntr("one decision", "{n:,} decisions", decisions)
    if not entities:
        return tr("Moved {moved} to entities of the current knowledge base", moved=moved)
    new = ntr("one new entity", "{n:,} new entities", entities)
    return tr("Replaced {new} and moved {moved} to entities of the current knowledge base", new=new, moved=moved)


# The decisions that a new version of the knowledge base affects, line by line.
#
# * Links to ids that the version lacks, with the entity that has the id among its alternate ones or that the knowledge
#   base names as the replacement of an obsolete one; else with the only entity of a common type that has exactly the
#   old name or a synonym. Possible replacements (`consider`) are never proposed. * Provisional entities that are now in
#   the version, by their id, name or a synonym, with a common type.
# * Strings decided NIL before the update that are exactly a name or synonym of an entity of an allowed type, unless
#   they already were in the previous version, as the curator knew then.
#
# If several entities match, none is proposed; all are listed. Names are compared in lower case and by
# `domain.same_string`.

UPDATE = "kb.update"
"""JSON: {"before": name of the version before, "decisions": their number when it was replaced, "known": [[string, type,
entity id], …]}."""
Pair = tuple[str, str, str]
"""The string and type of a NIL, and an entity with that name."""


class RemapKind(StrEnum):
    """Why a line is in the list."""

    MERGED = "merged"  # the id is an alternate id of another entity now
    OBSOLETE = "obsolete"  # the id is gone
    RESOLVED = "resolved"  # a provisional entity is in the knowledge base now
    NIL = "nil"  # a NIL is in the knowledge base now


@dataclass(frozen=True, slots=True)
class Remapping:
    """One line. `key` is an entity id, or the string and type of a NIL; `proposed` the entity to move to, None if there
    is none or if one of several (`others`) must be chosen."""

    kind: RemapKind
    key: str
    name: str
    types: tuple[str, ...]
    mentions: int
    proposed: Entity | None = None
    others: tuple[Entity, ...] = ()
    mention_ids: tuple[int, ...] = ()  # for a NIL; for the others they are read when it is applied


@dataclass(frozen=True, slots=True)
class RemapPlan:
    """`before` and `now` are the names of the two versions."""

    before: str
    now: str
    lines: tuple[Remapping, ...]

    @property
    def mentions(self) -> int:
        return sum(one.mentions for one in self.lines)


def plan_of(unit: UnitOfWork) -> RemapPlan:
    info = unit.kb.info()
    if info is None:
        return RemapPlan("", "", ())
    lines = (*lost(unit), *_resolved(unit), *_nils(unit))
    return RemapPlan(_stored(unit).get("before", ""), info.name, tuple(sorted(lines, key=_order)))


@dataclass(frozen=True, slots=True)
class Replaced:
    """Data kept from a version while the next one replaces it."""

    info: KnowledgeBaseInfo
    linked: dict[str, Entity]
    known: tuple[Pair, ...]


def before_update(unit: UnitOfWork) -> Replaced | None:
    """Call it before a version becomes active; None for the first version."""
    info = unit.kb.info()
    if info is None:
        return None
    ids = sorted({one for ids in unit.links.by_entity() for one in ids})
    listed = {(*line.key.split("\t"), entity.id) for line in _nils(unit) for entity in _targets(line)}
    known = tuple(pair for pair in _pairs(_nil_matches(unit)) if pair not in listed)
    return Replaced(info, unit.kb.get_many(ids), known)


def after_update(unit: UnitOfWork, replaced: Replaced) -> None:
    """Keep the names of linked entities that the new version lacks, and the NIL strings that were names before."""
    held = unit.kb.held(replaced.linked)
    ours = {one.id for one in unit.kb.all_provisional(retired=True)}
    unit.kb.retire([one for one in replaced.linked.values() if one.id not in held and one.id not in ours])
    kept = {"before": replaced.info.name, "decisions": unit.decisions.count(), "known": replaced.known}
    unit.meta.set(UPDATE, json.dumps(kept, ensure_ascii=False))


def _stored(unit: UnitOfWork) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unit.meta.get(UPDATE) or "{}")
    return found


def lost(unit: UnitOfWork) -> list[Remapping]:
    """Links to ids that no longer exist, each with its proposal."""
    numbers: dict[str, int] = defaultdict(int)
    for ids, number in unit.links.by_entity().items():
        for one in ids:
            numbers[one] += number
    held = unit.kb.held(numbers)  # only ids: reading thousands of records would take longer than everything else
    missing = [one for one in numbers if one not in held]
    there = unit.kb.get_many(missing)
    gone = [one for one in missing if one not in there]
    successors, obsolete = unit.kb.successors(gone), unit.kb.obsolete(gone)
    kept = unit.kb.retired(gone)
    named = _Names(unit, [name for entity in kept.values() for name in _names(entity)])
    found = []
    for one in gone:
        old = kept.get(one) or unit.kb.former(one) or Entity(one, one)
        new = replacement(unit, obsolete[one]) if one in obsolete else None
        instead, choices = (new.replaced_by, new.consider) if new is not None else ((), ())
        heirs = _entities(unit, successors.get(one, ())) or instead
        kind = RemapKind.MERGED if heirs else RemapKind.OBSOLETE
        if choices and not heirs:
            found.append(Remapping(kind, one, old.name, old.types, numbers[one], others=choices))
        else:
            line = _line(kind, one, old.name, old.types, numbers[one], heirs or named.of(old))
            found.append(replace(line, others=(*line.others, *(entity for entity in choices if entity not in heirs))))
    return found


def replacement(unit: UnitOfWork, old: ObsoleteEntity) -> Replacement:
    """The replacements; missing and circular ones are left out."""
    found = []
    for first in (old.replaced_by, old.consider):
        ids, seen, level = dict[str, None](), {old.id}, list(first)
        while level:
            further = unit.kb.obsolete(level)
            ids |= dict.fromkeys(one for one in level if one not in further)
            seen |= set(level)
            level = [one for old in further.values() for one in old.replaced_by if one not in seen]
        found.append(_entities(unit, list(ids)))
    return Replacement(old, found[0], tuple(one for one in found[1] if one not in found[0]))


def _resolved(unit: UnitOfWork) -> list[Remapping]:
    """Provisional entities that the active version has now."""
    provisional = unit.kb.all_provisional()
    held = unit.kb.held([one.id for one in provisional])
    named = _Names(unit, [name for one in provisional for name in _names(one.entity)])
    links = unit.links.by_entity() if provisional else {}
    found = []
    for one in provisional:
        heirs = _entities(unit, [one.id]) if one.id in held else named.of(one.entity)
        if heirs:
            number = sum(n for ids, n in links.items() if one.id in ids)
            found.append(_line(RemapKind.RESOLVED, one.id, one.entity.name, one.entity.types, number, heirs))
    return found


def _nils(unit: UnitOfWork) -> list[Remapping]:
    """NIL strings that became names with the last update."""
    stored = _stored(unit)
    known = {tuple(one) for one in stored.get("known", ())}
    found = []
    for group, entities in _nil_matches(unit, until=int(stored.get("decisions", 0))) if stored else ():
        if any((group.key, group.type, one.id) not in known for one in entities):
            key = f"{group.key}\t{group.type}"
            line = _line(RemapKind.NIL, key, group.text, (group.type,), len(group.ids), entities)
            found.append(replace(line, mention_ids=group.ids))
    return found


def _pairs(matches: Iterable[tuple[_NilString, tuple[Entity, ...]]]) -> Iterator[Pair]:
    return ((group.key, group.type, entity.id) for group, found in matches for entity in found)


def _targets(line: Remapping) -> tuple[Entity, ...]:
    return (line.proposed,) if line.proposed is not None else line.others


@dataclass(frozen=True, slots=True)
class _NilString:
    """Mentions decided NIL as not in the knowledge base, of one string and type."""

    key: str
    type: str
    text: str
    names: tuple[str, ...]
    ids: tuple[int, ...]


def _nil_matches(unit: UnitOfWork, *, until: int | None = None) -> list[tuple[_NilString, tuple[Entity, ...]]]:
    """NIL strings with the entities of that name; with `until`, only of decisions up to this number."""
    groups = _nil_strings(unit, until)
    mapping = unit.meta.type_mapping()
    named = _Names(unit, [name for group in groups for name in group.names])
    pairs = [(group, named.of_names(group.names, mapping.types_for(group.type))) for group in groups]
    return [(group, found) for group, found in pairs if found]


def _nil_strings(unit: UnitOfWork, until: int | None) -> list[_NilString]:
    mentions = unit.links.nils(decided=True)
    current = unit.decisions.current([one.mention_id for one in mentions])
    groups: dict[tuple[str, str], list[NilMention]] = defaultdict(list)
    for one in mentions:
        decision = current.get(one.mention_id)
        if decision is None or (until is not None and decision.id > until):
            continue
        if decision.verdict.reason is NilReason.NOT_IN_KB:
            groups[one.key, one.type].append(one)
    return [
        _NilString(
            key,
            type_,
            members[0].text,
            tuple(dict.fromkeys(name for one in members for name in (one.text, one.expanded) if name)),
            tuple(one.mention_id for one in members),
        )
        for (key, type_), members in groups.items()
    ]


class _Names:
    """Entities of the active version by exact names, looked up all at once."""

    def __init__(self, unit: UnitOfWork, names: Iterable[str]) -> None:
        spelt = {form for name in names for form in _forms(name)}
        self._ids = unit.kb.named(sorted(spelt))
        every = sorted({one for ids in self._ids.values() for one in ids})
        self._entities = unit.kb.get_many(every)

    def of(self, entity: Entity) -> tuple[Entity, ...]:
        """Entities by the name; if none is found, by the synonyms."""
        return self.of_names([entity.name], entity.types) or self.of_names(entity.synonyms, entity.types)

    def of_names(self, names: Iterable[str], types: Sequence[str]) -> tuple[Entity, ...]:
        """Entities with these names and a common type, if both have types; exact names before those equal by
        `same_string`."""
        names = list(names)
        for forms in ([(name,) for name in names], [_forms(name) for name in names]):
            ids = dict.fromkeys(one for spelt in forms for form in spelt for one in self._ids.get(form, ()))
            found = tuple(self._entities[one] for one in ids if _share(types, self._entities[one].types))
            if found:
                return found
        return ()


def _forms(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((name, string_key(name))))


def _names(entity: Entity) -> tuple[str, ...]:
    return (entity.name, *entity.synonyms)


def _share(one: Sequence[str], other: Sequence[str]) -> bool:
    return not one or not other or not set(one).isdisjoint(other)


def _entities(unit: UnitOfWork, ids: Sequence[str]) -> tuple[Entity, ...]:
    found = unit.kb.get_many(ids)
    return tuple(found[one] for one in ids if one in found)


def _line(
    kind: RemapKind, key: str, name: str, types: tuple[str, ...], mentions: int, found: tuple[Entity, ...]
) -> Remapping:
    """The line; a single entity is proposed, several are not."""
    if len(found) == 1:
        return Remapping(kind, key, name, types, mentions, proposed=found[0])
    return Remapping(kind, key, name, types, mentions, others=found)


def _order(line: Remapping) -> tuple[int, int, str]:
    return list(RemapKind).index(line.kind), -line.mentions, line.name.casefold()

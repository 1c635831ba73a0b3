"""Provisional entities: created from NIL mentions, linked like any other, edited, merged, deleted.

Each action is one operation, undone and redone together with its decisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from curator.domain.decisions import Change, Decision, OperationKind, Outcome, Shown, Verdict
from curator.domain.entities import Entity, EntityDraft, ProvisionalEntity
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, tr
from curator.services.core.context import Service
from curator.services.core.keys import active_bundle
from curator.services.curating.deciding import joined_note
from curator.services.curating.entity_steps import entity_step
from curator.services.ports.queue import MentionContext
from curator.services.ports.storage import UnitOfWork

GONE = "The new entity {id} “{name}” was already deleted or replaced; nothing was changed."
TAKEN = "{id} is already here: “{name}” ({known}). Link to it instead; nothing was changed."
ITSELF = "“{name}” cannot be merged with itself. Choose another entity."
MANY_DELETED = "Deleted the new entity {id} “{name}”; {mentions:,} mentions are no longer linked to it"
MERGED = "Merged {id} “{old}” into {into} “{new}”"
MOVED_NOTE = "{id} “{old}” was merged into {into} “{new}”"
DELETED_NOTE = "{id} “{old}” was deleted"


@dataclass(frozen=True, slots=True)
class NewEntity:
    """A provisional entity that can be linked to, with the number of mentions that are linked to it."""

    found: ProvisionalEntity
    mentions: int


@dataclass(frozen=True, slots=True)
class Made:
    entity_id: str
    change: Change


class ProvisionalService(Service):
    # --- what there is ---

    def all(self) -> list[NewEntity]:
        """All provisional entities that can be linked to, in the order of their ids."""
        with self._store.read() as unit:
            entities = unit.kb.all_provisional()
            links = unit.links.by_entity() if entities else {}
        numbers: dict[str, int] = {}
        for ids, number in links.items():
            for one in ids:
                numbers[one] = numbers.get(one, 0) + number
        return [NewEntity(one, numbers.get(one.id, 0)) for one in entities]

    def contexts(self, entity_id: str) -> list[MentionContext]:
        """The mentions that are linked to an entity, with the text around them."""
        with self._store.read() as unit:
            ids = unit.links.linked_to([entity_id])
            return unit.queue.contexts(ids, bundle_id=active_bundle(unit.meta))

    def same_named(self, name: str) -> list[Entity]:
        """Entities with this name or synonym, equal or in the same normalised form (`string_key`): those of the
        knowledge base, then provisional ones. An entity of a knowledge base that was made here is in it once."""
        key = string_key(name)
        if not key:
            return []
        with self._store.read() as unit:
            exact = unit.kb.named([name]).get(name, ())
            ids = list(dict.fromkeys([*exact, *unit.kb.same_named(name)]))
            known = unit.kb.get_many(ids)
            ours = [one.entity for one in unit.kb.all_provisional() if one.id not in known]
        return [
            *(known[one] for one in ids if one in known),
            *(one for one in ours if key in map(string_key, (one.name, *one.synonyms))),
        ]

    # --- what a curator does ---

    def make(
        self, draft: EntityDraft, mention_ids: Sequence[int] = (), *, shown: Mapping[int, Shown] | None = None
    ) -> Made:
        """Make an entity and link the mentions to it. Raises UserError for a draft that `tidied` refuses, an identifier
        that is already used, an unknown or deleted mention, and while the curator judges in a round."""
        self._refuse_in_round()
        tidied = draft.tidied()
        with self._store.write() as unit:
            former = _free(unit, tidied.id) if tidied.id else None
            id_ = tidied.id or unit.kb.next_provisional_id()
            made = ProvisionalEntity(tidied.entity(id_), self._curator(), self._clock.now())
            link = Verdict.link(made.id)
            text = _made_words(made.entity, len(mention_ids))
            verdicts = dict.fromkeys(mention_ids, link)
            change = self._step(unit, OperationKind.MAKE_ENTITY, [(former, made)], verdicts, text, shown=shown)
        return Made(made.id, self._emit(change))

    def edit(self, entity_id: str, draft: EntityDraft) -> Change:
        """Change an entity's name, types, definition or synonyms; its links stay. Raises UserError."""
        self._refuse_in_round()
        with self._store.write() as unit:
            before = _living(unit, entity_id)
            after = replace(before, entity=draft.tidied().entity(entity_id))
            text = tr("Changed the new entity {entity_id} “{name}”", entity_id=entity_id, name=after.entity.name)
            change = self._step(unit, OperationKind.CHANGE_ENTITY, [(before, after)], {}, text)
        return self._emit(change)

    def delete(self, entity_id: str) -> Change:
        """Delete an entity; mentions linked only to it become NIL. Raises UserError."""
        self._refuse_in_round()
        with self._store.write() as unit:
            before = _living(unit, entity_id)
            found = _linked(unit, entity_id)
            verdicts = {one: moved(found[one].verdict, {entity_id: None}) for one in found}
            text = _deleted_words(before.entity, len(verdicts))
            note = DELETED_NOTE.format(id=entity_id, old=before.entity.name)
            notes = {one: joined_note(found[one].note, note) for one in found}
            after = replace(before, deleted=True)
            change = self._step(unit, OperationKind.DELETE_ENTITY, [(before, after)], verdicts, text, notes=notes)
        return self._emit(change)

    def merge(self, entity_id: str, into: str) -> Change:
        """Replace it by another entity, provisional or of the knowledge base; decisions move.

        Raises UserError.
        """
        self._refuse_in_round()
        with self._store.write() as unit:
            before = _living(unit, entity_id)
            target = unit.kb.get_many([into]).get(into)
            if target is None:
                raise UserError(
                    tr("There is no entity {into} to merge with. Search for the right identifier.", into=into)
                )
            if into == entity_id:
                raise UserError(tr(ITSELF, name=target.name))
            found = _linked(unit, entity_id)
            words = {"id": entity_id, "old": before.entity.name, "into": into, "new": target.name}
            verdicts = {one: moved(found[one].verdict, {entity_id: into}) for one in found}
            notes = {one: joined_note(found[one].note, MOVED_NOTE.format(**words)) for one in found}
            edit = (before, replace(before, successor=into))
            text = tr(MERGED, **words)
            change = self._step(unit, OperationKind.REMAP, [edit], verdicts, text, notes=notes)
        return self._emit(change)

    # --- inside ---

    def _step(
        self,
        unit: UnitOfWork,
        kind: OperationKind,
        edits: Sequence[tuple[ProvisionalEntity | None, ProvisionalEntity]],
        verdicts: Mapping[int, Verdict],
        text: str,
        *,
        notes: Mapping[int, str] | None = None,
        shown: Mapping[int, Shown] | None = None,
    ) -> Change:
        who = self._curator()
        return entity_step(
            unit, kind, edits, verdicts, curator=who, clock=self._clock, text=text, notes=notes, shown=shown
        )


def moved(verdict: Verdict, to: Mapping[str, str | None]) -> Verdict:
    """The verdict with entities replaced, those mapped to None removed; NIL if none is left."""
    ids = [to.get(one, one) for one in verdict.entity_ids]
    kept = tuple(dict.fromkeys(one for one in ids if one is not None))
    return Verdict.link(*kept) if kept else Verdict.nil()


def _linked(unit: UnitOfWork, entity_id: str) -> dict[int, Decision]:
    current = unit.decisions.current(unit.links.linked_to([entity_id]))
    return {one: found for one, found in current.items() if found.verdict.outcome is Outcome.LINK}


def _living(unit: UnitOfWork, entity_id: str) -> ProvisionalEntity:
    found = unit.kb.provisional(entity_id)
    if not found.living:
        raise UserError(tr(GONE, id=entity_id, name=found.entity.name))
    return found


def _free(unit: UnitOfWork, entity_id: str) -> ProvisionalEntity | None:
    """An earlier entity with this identifier that is no longer in use, if any. Raises UserError if one in use has
    it."""
    known = unit.kb.get(entity_id)
    if known is not None:
        raise UserError(tr(TAKEN, id=entity_id, name=known.name, known=known.id))
    return next((one for one in unit.kb.all_provisional(retired=True) if one.id == entity_id), None)


def _made_words(entity: Entity, mentions: int) -> str:
    words = {"id": entity.id, "name": entity.name}
    if not mentions:
        return tr("Created the new entity {id} “{name}”", **words)
    if mentions == 1:
        return tr("Created the new entity {id} “{name}” and linked the mention to it", **words)
    return tr("Created the new entity {id} “{name}” and linked {mentions:,} mentions to it", mentions=mentions, **words)


def _deleted_words(entity: Entity, mentions: int) -> str:
    words = {"id": entity.id, "name": entity.name}
    if not mentions:
        return tr("Deleted the new entity {id} “{name}”", **words)
    if mentions == 1:
        return tr("Deleted the new entity {id} “{name}”; one mention is no longer linked to it", **words)
    return tr(MANY_DELETED, mentions=mentions, **words)

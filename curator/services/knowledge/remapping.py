"""Moves decisions to entities of a new version of the knowledge base, one or many at once, and only on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from curator.domain.decisions import Change, Decision, OperationKind, Outcome, Verdict
from curator.domain.entities import Entity
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.curating.entity_steps import Edit, entity_step
from curator.services.knowledge.provisional import joined_note, moved
from curator.services.knowledge.remap_plan import RemapKind, Remapping, RemapPlan, plan_of
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
            return list(self._unit.decisions.current(self._unit.kb.linked_to([line.key])).values())
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

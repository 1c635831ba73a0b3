"""Undo and redo by appending: nothing that was recorded is ever changed.

The payload of an operation names the mentions it touched and `states`, [[document id, old state, new state], …]; the
decisions it made are read back by its id. An undo restores what stood before each of them, with its curator and what
was shown then; who undid it is in the operation log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curator.domain.decisions import Change, ChangeKind, Decision, OperationKind, Outcome, Verdict
from curator.domain.documents import DocumentState
from curator.domain.wording import tr
from curator.services.curating.attributes import restore_attributes
from curator.services.curating.entity_steps import restore_entities
from curator.services.curating.mention_edits import restore_in
from curator.services.curating.notes import restore_intended, restore_notes
from curator.services.curating.relations import restore_relations
from curator.services.ports import Clock, Operation, UnitOfWork

KINDS = {
    OperationKind.DECIDE: ChangeKind.DECIDED,
    OperationKind.ADD_MENTION: ChangeKind.MENTIONS,
    OperationKind.DELETE_MENTION: ChangeKind.MENTIONS,
    OperationKind.CHANGE_MENTION: ChangeKind.MENTIONS,
    OperationKind.SET_STATE: ChangeKind.DOCUMENT_STATE,
    OperationKind.FLAG: ChangeKind.NOTES,
    OperationKind.COMMENT: ChangeKind.NOTES,
    OperationKind.DELETE_COMMENT: ChangeKind.NOTES,
    OperationKind.SET_ATTRIBUTE: ChangeKind.ATTRIBUTES,
    OperationKind.DEFINE_ATTRIBUTES: ChangeKind.ATTRIBUTES,
    OperationKind.ADD_RELATION: ChangeKind.RELATIONS,
    OperationKind.DELETE_RELATION: ChangeKind.RELATIONS,
    OperationKind.MAKE_ENTITY: ChangeKind.ENTITIES,
    OperationKind.CHANGE_ENTITY: ChangeKind.ENTITIES,
    OperationKind.DELETE_ENTITY: ChangeKind.ENTITIES,
    OperationKind.REMAP: ChangeKind.ENTITIES,
    OperationKind.INTEND: ChangeKind.NOTES,
}


class Undoer:
    """Takes operations back and does them again inside a caller's unit."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def undo(self, unit: UnitOfWork, *, actor: str) -> Change | None:
        target = unit.decisions.next_undo()
        return None if target is None else self._apply(unit, target, actor=actor, forward=False)

    def redo(self, unit: UnitOfWork, *, actor: str) -> Change | None:
        target = unit.decisions.next_redo()
        return None if target is None else self._apply(unit, target, actor=actor, forward=True)

    def _apply(self, unit: UnitOfWork, target: int, *, actor: str, forward: bool) -> Change:
        operation, payload = unit.decisions.operation(target)
        text = tr("Redid: {step}" if forward else "Undid: {step}", step=operation.text)
        new = unit.decisions.append_operation(
            OperationKind.REDO if forward else OperationKind.UNDO,
            actor=actor,
            at=self._clock.now(),
            text=text,
            target=target,
            payload={},
        )
        self._restore_decisions(unit, target, new, actor=actor, forward=forward)
        if operation.kind is OperationKind.CHANGE_MENTION:
            restore_in(unit, target, payload.get("deleted", ()), operation_id=new, forward=forward)
        else:
            _restore_mentions(unit, operation, payload, forward=forward)
        restore_entities(unit, payload, forward=forward)
        restore_attributes(unit, payload, actor=actor, at=self._clock.now(), operation_id=new, forward=forward)
        restore_intended(unit, payload, forward=forward)
        documents = _restore_states(unit, payload.get("states", ()), forward=forward)
        documents += restore_notes(unit, operation.kind, payload, forward=forward)
        documents += restore_relations(unit, payload, forward=forward)
        mentions = tuple(payload.get("mentions", ()))
        documents += unit.mentions.documents_of(mentions).values()
        return Change(KINDS[operation.kind], actor, text, tuple(dict.fromkeys(documents)), mentions, new)

    def _restore_decisions(self, unit: UnitOfWork, target: int, new: int, *, actor: str, forward: bool) -> None:
        made = unit.decisions.of_operation(target)
        if not made:
            return
        replaced = {} if forward else unit.decisions.before_many(made)
        wanted = [one if forward else replaced.get(one.id) for one in made]
        for name in dict.fromkeys(_name(one, actor) for one in wanted):
            part = [(m, w) for m, w in zip(made, wanted, strict=True) if _name(w, actor) == name]
            unit.decisions.append(
                [m.mention_id for m, _ in part],
                [w.verdict if w else Verdict(Outcome.CLEARED) for _, w in part],
                curator=name,
                at=self._clock.now(),
                operation_id=new,
                shown=[w.shown if w else None for _, w in part],
                notes=[w.note if w else "" for _, w in part],
            )


def _name(decision: Decision | None, actor: str) -> str:
    return decision.curator if decision else actor


def _restore_mentions(unit: UnitOfWork, operation: Operation, payload: dict[str, Any], *, forward: bool) -> None:
    if KINDS[operation.kind] is ChangeKind.MENTIONS:
        deleting = operation.kind is OperationKind.DELETE_MENTION
        unit.mentions.set_deleted(payload["mentions"], deleting if forward else not deleting)


def _restore_states(unit: UnitOfWork, states: Sequence[Sequence[Any]], *, forward: bool) -> list[int]:
    wanted = {int(document_id): DocumentState(new if forward else old) for document_id, old, new in states}
    unit.documents.set_states(wanted)
    return list(wanted)

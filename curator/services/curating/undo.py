"""Undo and redo by appending: records are never changed.

The payload of an operation names the mentions it touched and `states`, [[document id, old state, new state], …]; the
decisions it made are read back by its id. An undo restores the previous decision of each mention, with its curator and
the candidates shown then; the operation log records who undid it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from curator.domain.decisions import Change, ChangeKind, Decision, OperationKind, Outcome, Verdict
from curator.domain.documents import DocumentState
from curator.domain.jobs import Progress
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.curating.attributes import restore_attributes
from curator.services.curating.deciding import KINDS
from curator.services.curating.entity_steps import restore_entities
from curator.services.curating.mention_edits import restore_in
from curator.services.curating.notes import restore_intended, restore_notes
from curator.services.curating.relations import restore_relations
from curator.services.ports.curation import Operation
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

MOVED_ON = "Something else was done in the project meanwhile; nothing was changed. Choose the step again."
BUILT_ON = (
    "“{text}” cannot be undone or redone: {who} has decided or changed the same mention since. Decide it again instead."
)
AT_ONCE = 10
"""Steps of a long journey per transaction: some 30 ms, in which no one else can write."""
BACK_AND_FORTH = (OperationKind.UNDO, OperationKind.REDO)


def changes_of(unit: UnitOfWork, operation_ids: Sequence[int]) -> list[Change]:
    """Operations that somebody else appended, for their announcement, with a handful of queries."""
    found = unit.operations.get_many(operation_ids)
    again = {one.id: one.target for one, _ in found.values() if one.kind in BACK_AND_FORTH and one.target}
    found |= unit.operations.get_many([one for one in again.values() if one not in found]) if again else {}
    done = {one: found[again.get(one, one)] for one in operation_ids}
    named = [one for _, payload in done.values() for one in payload.get("mentions", ())]
    try:
        documents = unit.mentions.documents_of(named)
    except UserError:  # another program's step may name any numbers
        documents = {}
        for one in named:
            with suppress(UserError):
                documents |= unit.mentions.documents_of([one])
    return [_change(found[one][0], done[one][0].kind, done[one][1], documents) for one in operation_ids]


def _change(
    operation: Operation, kind: OperationKind, payload: Mapping[str, Any], documents: Mapping[int, int]
) -> Change:
    mentions = tuple(one for one in payload.get("mentions", ()) if one in documents)
    named = [*(documents[one] for one in mentions), *(one[0] for one in payload.get("states", ()))]
    named += [*payload.get("documents", ()), *([payload["document"]] if "document" in payload else [])]
    which = KINDS.get(kind, ChangeKind.IMPORTED)
    return Change(which, operation.actor, operation.text, tuple(dict.fromkeys(named)), mentions, operation.id)


@dataclass(frozen=True, slots=True)
class Journey:
    """Going to a step: undo these operations, or redo them (`forward`), in this order. `decisions` is the number of
    their decisions. `refusal` is the reason why it is impossible; '' if it is possible."""

    to: Operation
    forward: bool
    operations: tuple[int, ...]
    decisions: int
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Walked:
    """The progress: the change, None for nothing, and the number of steps left."""

    change: Change | None
    left: int


class Undoer:
    """Undoes and redoes operations inside a caller's unit."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def undo(self, unit: UnitOfWork, *, actor: str) -> Change | None:
        target = unit.operations.next_undo(actor)
        return None if target is None else self._apply(unit, target, actor=actor, forward=False)

    def redo(self, unit: UnitOfWork, *, actor: str) -> Change | None:
        target = unit.operations.next_redo(actor)
        return None if target is None else self._apply(unit, target, actor=actor, forward=True)

    def one(self, unit: UnitOfWork, target: int, *, actor: str, forward: bool) -> Change | None:
        """Undo or redo this operation; None if another one is next."""
        turn = unit.operations.next_redo(actor) if forward else unit.operations.next_undo(actor)
        return self._apply(unit, target, actor=actor, forward=forward) if turn == target else None

    def _apply(self, unit: UnitOfWork, target: int, *, actor: str, forward: bool) -> Change:
        operation, payload = unit.operations.get(target)
        if who := unit.operations.built_on(target, actor):
            raise UserError(tr(BUILT_ON, who=who, text=operation.text))
        text = tr("Redid: {step}" if forward else "Undid: {step}", step=operation.text)
        new = unit.operations.append(
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


# Going back over many steps, or forward again.


class Walker(Service):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._undoer = Undoer(context.clock)

    def go(self, journey: Journey) -> Change:
        """Undo or redo the journey's operations in one transaction.

        Raises UserError if it is refused or something was done since; then nothing is changed.
        """
        if journey.refusal:
            raise UserError(journey.refusal)
        with self._store.write() as unit:
            made = self._taken(unit, journey, journey.operations)
            if len(made) < len(journey.operations):
                raise UserError(tr(MOVED_ON))
        return self._announced(made, forward=journey.forward)

    def walk(self, journey: Journey) -> Generator[Progress, None, Walked]:
        """The same a few steps at a time, so that other writers do not wait long. If the generator is closed, or
        something else is done meanwhile, it ends after a whole step: earlier steps stay undone or redone.

        Raises UserError if the journey is refused; then nothing is changed.
        """
        if journey.refusal:
            raise UserError(journey.refusal)
        made: list[Change] = []
        change, every = None, len(journey.operations)
        try:
            for start in range(0, every, AT_ONCE):
                yield Progress("steps", start, every)
                with self._store.write() as unit:
                    made += self._taken(unit, journey, journey.operations[start : start + AT_ONCE])
                if len(made) < min(start + AT_ONCE, every):
                    break
        finally:
            if made:
                change = self._announced(made, forward=journey.forward)
        return Walked(change, every - len(made))

    def _taken(self, unit: UnitOfWork, journey: Journey, operations: Sequence[int]) -> list[Change]:
        """Undo or redo these, up to the first that is not the next to be undone or redone."""
        made: list[Change] = []
        for target in operations:
            change = self._undoer.one(unit, target, actor=self._curator(), forward=journey.forward)
            if change is None:
                break
            made.append(change)
        return made

    def _announced(self, made: Sequence[Change], *, forward: bool) -> Change:
        found = _joined(made)
        for one in found:
            self._events.emit(one)
        number = len(made)
        words = ntr("Redid {n} step", "Redid {n:,} steps", number) if forward else ""
        return replace(found[-1], text=words or ntr("Undid {n} step", "Undid {n:,} steps", number))


def _joined(changes: Sequence[Change]) -> list[Change]:
    """One change of each kind, so that listeners are called once for a long journey."""
    found: dict[str, list[Change]] = {}
    for one in changes:
        found.setdefault(one.kind, []).append(one)
    return [
        replace(
            group[-1],
            document_ids=tuple(dict.fromkeys(one for change in group for one in change.document_ids)),
            mention_ids=tuple(dict.fromkeys(one for change in group for one in change.mention_ids)),
        )
        for group in found.values()
    ]

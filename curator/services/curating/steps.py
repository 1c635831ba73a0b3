"""The history of steps: what was done, by whom and when; undo and redo up to a step.

A step is an operation of the log that is neither an undo nor a redo; imports, which are not operations, are listed as
steps without a number. Going back undoes everything after a step, one operation after the other, in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import accumulate
from typing import Any

from curator.domain.decisions import OperationKind
from curator.domain.documents import ImportKind, ImportRecord
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import CachedAnswer, Context
from curator.services.curating.undo import Journey, Walker
from curator.services.ports.curation import LoggedStep, Operation, StepFilter
from curator.services.ports.queue import MentionContext
from curator.services.ports.storage import UnitOfWork

IMPORT = "import:"
"""Prefix of the name of an actor that is an import."""
MOST_MENTIONS = 2000
"""The most mentions of a step that are shown in context."""
NO_STEP = "There is no step {number} in this project. Edit › History of steps lists them."
ALREADY = "The project is already at step {number}: no step after it can be undone, and none up to it redone."
GONE = (
    "Step {number} ({text}) was undone, and other steps came after that, so it cannot be redone. Choose a step that is "
    "not undone."
)
FIXED = (
    "You cannot go back to step {number} ({text}): a newer text of a document was taken, or an import was undone, "
    "after it. Steps before that cannot be undone."
)
SOMEBODY = "{who} took step {number} ({text}). Only your own steps can be undone or redone together."
IMPORTED = (
    "After step {number} ({text}), documents were imported ({names}). Steps before an import cannot be undone together."
)
TRAINED = (
    "The linker {linker} was trained after step {number} ({text}) and learned from what was decided by then. Steps "
    "that a training used cannot be undone together."
)
AS_FAR = "You can go as far as step {number}."
ONE_BY_ONE = "To undo such a step knowingly, undo the steps one at a time."
NOTHING_MOVED = "Nothing was changed."


class StepState(StrEnum):
    DONE = "done"
    REDOABLE = "undone"  # redoing reaches it
    UNDONE = "undone for good"  # other steps came after it was undone
    FIXED = "permanent"  # it is done, and undoing does not reach it


class StepKind(StrEnum):
    """The filters of the list."""

    DECISIONS = "decisions"
    MENTIONS = "mentions"
    STATES = "document states"
    NOTES = "flags and comments"
    ATTRIBUTES = "attributes"
    RELATIONS = "relations"
    ENTITIES = "entities"
    IMPORTS = "imports"

    @property
    def operations(self) -> frozenset[OperationKind]:
        return _OPERATIONS[self]


_OPERATIONS = {
    StepKind.DECISIONS: frozenset({OperationKind.DECIDE}),
    StepKind.MENTIONS: frozenset(
        {OperationKind.ADD_MENTION, OperationKind.DELETE_MENTION, OperationKind.CHANGE_MENTION}
    ),
    StepKind.STATES: frozenset({OperationKind.SET_STATE}),
    StepKind.NOTES: frozenset(
        {OperationKind.FLAG, OperationKind.COMMENT, OperationKind.DELETE_COMMENT, OperationKind.INTEND}
    ),
    StepKind.ATTRIBUTES: frozenset({OperationKind.SET_ATTRIBUTE, OperationKind.DEFINE_ATTRIBUTES}),
    StepKind.RELATIONS: frozenset({OperationKind.ADD_RELATION, OperationKind.DELETE_RELATION}),
    StepKind.ENTITIES: frozenset(
        {OperationKind.MAKE_ENTITY, OperationKind.CHANGE_ENTITY, OperationKind.DELETE_ENTITY, OperationKind.REMAP}
    ),
    StepKind.IMPORTS: frozenset({OperationKind.TAKE_TEXT, OperationKind.WITHDRAW_IMPORT}),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the history. `number` is the id of its operation; None: an import. `mentions` is their number."""

    number: int | None
    at: datetime
    actor: str
    kind: OperationKind | None
    text: str
    mentions: int
    state: StepState


@dataclass(frozen=True, slots=True)
class StepPage:
    """`beyond`: the step from which the next page begins; None if there is none. `here`: the last step to undo."""

    steps: tuple[Step, ...]
    beyond: Operation | None
    here: int | None = None


@dataclass(frozen=True, slots=True)
class Training:
    """A linker that was trained on decisions, and the time."""

    linker: str
    at: datetime


class StepService(Walker):
    """`trainings` returns the trained linkers, and may read files."""

    def __init__(self, context: Context, *, trainings: Callable[[], Sequence[Training]] = lambda: ()) -> None:
        super().__init__(context)
        self._trainings = trainings
        self._imports = CachedAnswer(context.store, lambda unit: _batches(unit.imports.all()))

    # --- the list ---

    def page(self, where: StepFilter, *, limit: int, after: Operation | None = None) -> StepPage:
        """At most `limit` steps, the newest first, and the imports among them; older ones than `after`. It may scan the
        log: call it from a worker thread."""
        imports = self._imports.get()
        with self._store.read() as unit:
            found = unit.operations.steps(where, limit=limit, before=after.id if after is not None else None)
            states = _states(unit, [one.operation for one in found])
            here = unit.operations.next_undo(self._curator())
            file_id = unit.documents.get(where.document_id).source_file_id if where.document_id is not None else None
            places = _places(unit, [one.operation for one in found])
        beyond = replace(found[-1].operation, at=places[-1]) if len(found) == limit else None
        lines = [(at, _step(one, states[one.operation.id])) for at, one in zip(places, found, strict=True)]
        shown = [one for one in imports if _import_passes(one, where, file_id)]
        lines += [
            (at, _import_step(one))
            for one in shown
            if (at := one[0].at) is not None
            and (after is None or at < after.at)
            and (beyond is None or at >= beyond.at)
        ]
        lines.sort(key=lambda line: line[0], reverse=True)  # stable: simultaneous operations keep their order
        return StepPage(tuple(step for _, step in lines), beyond, here)

    def actors(self) -> list[str]:
        """Who took steps, by name."""
        with self._store.read() as unit:
            return unit.operations.actors()

    def operation(self, number: int) -> Operation:
        """The operation of a step. Raises UserError if there is no such step."""
        with self._store.read() as unit:
            return _operation(unit, number)[0]

    def contexts(self, number: int) -> tuple[list[MentionContext], int]:
        """The mentions of a step in their contexts, if they exist, at most `MOST_MENTIONS`; and the number of the
        others. Raises UserError if there is no such step."""
        with self._store.read() as unit:
            ids = _mentions(_operation(unit, number)[1])
            return unit.queue.contexts(ids[:MOST_MENTIONS], bundle_id=""), max(len(ids) - MOST_MENTIONS, 0)

    def place(self, number: int) -> tuple[int, int | None] | None:
        """The document and mention where a step was taken, the first that still exists; None if there is none. Raises
        UserError if there is no such step."""
        with self._store.read() as unit:
            _, payload = _operation(unit, number)
            found = unit.queue.contexts(_mentions(payload)[:MOST_MENTIONS], bundle_id="")
            if found:
                return found[0].document_id, found[0].mention_id
            named = [*payload.get("documents", ()), *(one[0] for one in payload.get("states", ()))]
            named += [payload["document"]] if "document" in payload else []
            visible = unit.documents.rows_of([int(one) for one in named])
        return (visible[0].document_id, None) if visible else None

    # --- back and forth ---

    def journey(self, number: int) -> Journey:
        """The operations that going to a step would undo or redo, and obstacles. It may read files: call it from a
        worker thread.

        Raises UserError if there is no such step, if it is the current one, or if it cannot be reached at all.
        """
        trainings = self._trainings()
        imports = self._imports.get()
        with self._store.read() as unit:
            to, _ = _operation(unit, number)
            operations, forward = _way(unit, to)
            logged = _logged(unit, operations)
            taken = unit.operations.numbers(operations)
            if not forward:
                logged = [replace(one, at=at) for at, one in zip(_places(unit, logged), logged, strict=True)]
        refusal = self._refusal(logged, forward=forward, imports=imports, trainings=trainings, taken=taken)
        return Journey(to, forward, tuple(operations), sum(taken.values()), refusal)

    def _refusal(
        self,
        steps: Sequence[Operation],
        *,
        forward: bool,
        imports: Sequence[Sequence[ImportRecord]],
        trainings: Sequence[Training],
        taken: dict[int, int],
    ) -> str:
        """The first obstacle, and how far the journey can go; '' if there is none."""
        me, reach = self._curator(), None
        for step in steps:
            why = ""
            if step.actor != me:
                why = tr(SOMEBODY, who=step.actor, number=step.id, text=step.text)
            elif not forward:
                why = _in_between(step, imports, trainings if step.id in taken else ())
            if why:
                # undo stops after the obstacle, redo before it
                stop = reach if forward else (step.id if step is not steps[0] else None)
                far = tr(AS_FAR, number=stop) if stop is not None else ""
                return " ".join(one for one in (why, far, tr(ONE_BY_ONE), tr(NOTHING_MOVED)) if one)
            reach = step.id
        return ""


def _in_between(step: Operation, imports: Sequence[Sequence[ImportRecord]], trainings: Sequence[Training]) -> str:
    for batch in imports:
        if (at := batch[0].at) is not None and at > step.at:
            return tr(IMPORTED, names=_file_names(batch), number=step.id, text=step.text)
    for one in trainings:
        if one.at > step.at:
            return tr(TRAINED, linker=one.linker, number=step.id, text=step.text)
    return ""


def _way(unit: UnitOfWork, to: Operation) -> tuple[list[int], bool]:
    """The operations to undo, or redo (True), so that `to` is the last step. Raises UserError if it cannot be
    reached."""
    redo = unit.operations.redo_steps()
    if to.id in redo:
        return redo[: redo.index(to.id) + 1], True
    undo = unit.operations.undo_steps(down_to=to.id)
    if not undo or undo[-1] != to.id:
        gone = unit.operations.taken_back([to.id])
        raise UserError(tr(GONE if gone else FIXED, number=to.id, text=to.text))
    if len(undo) == 1:
        raise UserError(tr(ALREADY, number=to.id))
    return undo[:-1], False


def _logged(unit: UnitOfWork, numbers: Sequence[int]) -> list[Operation]:
    """The operations in the given order, read with one query."""
    last, first = max(numbers), min(numbers)
    found = unit.operations.steps(StepFilter(), limit=last - first + 1, before=last + 1)
    logged = {one.operation.id: one.operation for one in found}
    return [logged[one] for one in numbers]


def _operation(unit: UnitOfWork, number: int) -> tuple[Operation, Mapping[str, Any]]:
    try:
        operation, payload = unit.operations.get(number)
    except UserError as error:
        raise UserError(tr(NO_STEP, number=number)) from error
    if operation.target is not None:
        raise UserError(tr(NO_STEP, number=number))
    return operation, payload


def _mentions(payload: Mapping[str, Any]) -> list[int]:
    return [int(one) for one in payload.get("mentions", ())]


# --- lines of the list ---


def _places(unit: UnitOfWork, operations: Sequence[Operation]) -> list[datetime]:
    """The times used to sort operations, newest first, among imports and trainings: if the clock was set back, the time
    of the operations before."""
    if not operations:
        return []
    before = unit.operations.latest(operations[-1].id)
    return list(accumulate((one.at for one in reversed(operations)), max, initial=before))[:0:-1]


def _states(unit: UnitOfWork, operations: Sequence[Operation]) -> dict[int, StepState]:
    """The states of steps: a step is current unless undone; undo reaches it unless it came with an import or texts
    changed since."""
    if not operations:
        return {}
    ids = [one.id for one in operations]
    redo, gone = set(unit.operations.redo_steps()), unit.operations.taken_back(ids)
    fixed = unit.operations.fixed_up_to(after=min(ids))
    states: dict[int, StepState] = {}
    for one in operations:
        if one.id in gone:
            states[one.id] = StepState.REDOABLE if one.id in redo else StepState.UNDONE
        else:
            states[one.id] = StepState.FIXED if one.id <= fixed or one.actor.startswith(IMPORT) else StepState.DONE
    return states


def _step(logged: LoggedStep, state: StepState) -> Step:
    one = logged.operation
    return Step(one.id, one.at, one.actor, one.kind, one.text, logged.mentions, state)


def _batches(records: Sequence[ImportRecord]) -> list[list[ImportRecord]]:
    """The files of one import together; an undone import has its own step in the log."""
    found: dict[tuple[int, int], list[ImportRecord]] = {}
    for one in records:
        if one.kind is not ImportKind.WITHDRAWN and one.at is not None:
            found.setdefault((one.batch, 0 if one.batch else one.id), []).append(one)
    return list(found.values())


def _import_passes(batch: Sequence[ImportRecord], where: StepFilter, file_id: int | None) -> bool:
    return (
        (not where.kinds or OperationKind.WITHDRAW_IMPORT in where.kinds)
        and (not where.actor or batch[0].curator == where.actor)
        and (file_id is None or any(one.file.id == file_id for one in batch))
        and (not where.words or any(where.words.casefold() in one.file.name.casefold() for one in batch))
    )


def _import_step(batch: Sequence[ImportRecord]) -> Step:
    first = batch[0]
    assert first.at is not None
    documents = sum(one.counts.get("documents", 0) for one in batch)
    text = tr("Imported {names}: {documents}", names=_file_names(batch), documents=_documents(documents))
    mentions = sum(one.counts.get("mentions", 0) for one in batch)
    return Step(None, first.at, first.curator, None, text, mentions, StepState.FIXED)


def _file_names(batch: Sequence[ImportRecord]) -> str:
    return ", ".join(one.file.name for one in batch[:3]) + (", …" if len(batch) > 3 else "")


def _documents(number: int) -> str:
    return ntr("{n:,} document", "{n:,} documents", number)

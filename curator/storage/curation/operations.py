"""The append-only log of operations, the undo and redo stacks derived from it, and the effort of each operation.

History is linear, as in an editor: an operation after an undo empties the redo stack. Operations of an import (actor
`import:FILE`) are in the log but on neither stack. Operations that change the texts of earlier steps clear both:
earlier steps could not be undone safely.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    func,
    insert,
    literal,
    or_,
    select,
    text,
)

from curator.domain.decisions import OperationKind
from curator.domain.wording import UserError, tr
from curator.services.ports.curation import (
    Effort,
    LoggedStep,
    Operation,
    RelationEnding,
    RelationStep,
    SpentEffort,
    StepFilter,
)
from curator.storage.db.ahead import answer
from curator.storage.db.columns import StoredObject, enum_of, json_of, payload_of, time_of
from curator.storage.db.dialects import POSTGRESQL, among, any_of, in_each, insert_new, mentions_listed, of, spoken
from curator.storage.db.hash_chain import link
from curator.storage.db.rows import chunks, ids_of
from curator.storage.db.schema import DecisionRow, EffortRow, MentionEditRow, MentionRow, OperationRow

_IMPORT = "import:"
_BARRIERS = (OperationKind.TAKE_TEXT, OperationKind.WITHDRAW_IMPORT)
_ENDING = tuple(one.value for one in _BARRIERS)

_LAST = select(OperationRow.id, OperationRow.undo_after, OperationRow.redo_after)
_LAST = _LAST.order_by(OperationRow.id.desc()).limit(1)
END = _LAST.add_columns(OperationRow.hash)
OWN_LAST = _LAST.where(or_(OperationRow.actor == bindparam("actor"), *(OperationRow.kind == one for one in _ENDING)))
"""The last operation among those of an actor, and those that empty all stacks."""
_INSERT = insert(OperationRow)
_BEFORE = _LAST.where(OperationRow.id < bindparam("before"))
_BACK_AND_FORTH = (OperationKind.UNDO.value, OperationKind.REDO.value)
_STEPS = (
    select(
        OperationRow.id,
        OperationRow.kind,
        OperationRow.actor,
        OperationRow.at,
        OperationRow.text,
        func.coalesce(mentions_listed(OperationRow.payload), 0),
    )
    .where(OperationRow.kind.not_in(_BACK_AND_FORTH))
    .order_by(OperationRow.id.desc())
)
_REDO_STEPS = text(
    "WITH RECURSIVE entries (id) AS (SELECT (SELECT redo_after FROM operations ORDER BY id DESC LIMIT 1) UNION ALL"
    " SELECT (SELECT redo_after FROM operations AS one WHERE one.id < entries.id ORDER BY one.id DESC LIMIT 1)"
    " FROM entries WHERE entries.id IS NOT NULL)"
    " SELECT operations.target FROM entries JOIN operations ON operations.id = entries.id ORDER BY entries.id DESC"
)
_OPERATIONS = select(
    OperationRow.id,
    OperationRow.kind,
    OperationRow.actor,
    OperationRow.at,
    OperationRow.text,
    OperationRow.target,
    OperationRow.payload,
).where(among(OperationRow.id))
_LATEST = select(func.max(OperationRow.at)).where(OperationRow.id <= bindparam("id"))
_in_document = spoken(
    "in_document",
    sqlite="({0} != 'decide' AND (json_extract({1}, '$.document') = {2}"
    " OR EXISTS (SELECT 1 FROM json_each({1}, '$.mentions') AS one JOIN mentions"
    " ON mentions.id = one.value WHERE mentions.document_id = {2})"
    " OR EXISTS (SELECT 1 FROM json_each({1}, '$.documents') AS one WHERE one.value = {2})"
    " OR EXISTS (SELECT 1 FROM json_each({1}, '$.states') AS one"
    " WHERE json_extract(one.value, '$[0]') = {2})))",
    postgresql="({0} != 'decide' AND (CAST(CAST({1} AS JSON) ->> 'document' AS BIGINT) = {2}"
    " OR EXISTS (SELECT 1 FROM json_array_elements_text(CAST({1} AS JSON) -> 'mentions') AS one (value) JOIN mentions"
    " ON mentions.id = CAST(one.value AS BIGINT) WHERE mentions.document_id = {2})"
    " OR EXISTS (SELECT 1 FROM json_array_elements_text(CAST({1} AS JSON) -> 'documents') AS one (value)"
    " WHERE CAST(one.value AS BIGINT) = {2})"
    " OR EXISTS (SELECT 1 FROM json_array_elements(CAST({1} AS JSON) -> 'states') AS one (value)"
    " WHERE CAST(one.value ->> 0 AS BIGINT) = {2})))",
)
"""Whether a step other than a decision, with its kind and payload, was made in a document."""


_RELATION_STEPS = in_each(
    sqlite="SELECT one.id, relation.value, (step.key = 'deleted') = (one.kind != 'undo'), one.actor, one.at"
    " FROM operations AS one JOIN operations AS done ON done.id = coalesce(one.target, one.id)"
    " JOIN json_each(done.payload, '$.relations') AS step JOIN json_each(step.value) AS relation"
    " WHERE one.id > :after AND done.kind IN ('add_relation', 'delete_relation', 'change_mention')"
    " ORDER BY one.id, step.key DESC",
    postgresql="SELECT one.id, CAST(relation.value AS BIGINT), (step.key = 'deleted') = (one.kind != 'undo'),"
    " one.actor, one.at FROM operations AS one JOIN operations AS done ON done.id = coalesce(one.target, one.id)"
    " CROSS JOIN LATERAL json_each(CAST(done.payload AS JSON) -> 'relations') AS step (key, value)"
    " CROSS JOIN LATERAL json_array_elements_text(step.value) WITH ORDINALITY AS relation (value, place)"
    " WHERE one.id > :after AND done.kind IN ('add_relation', 'delete_relation', 'change_mention')"
    ' ORDER BY one.id, step.key COLLATE "C" DESC, relation.place',
)
_RELATION_ENDINGS = in_each(
    sqlite="SELECT one.id, mention.value, json_extract(ended.value, '$.text'), one.kind != 'undo', one.actor, one.at"
    " FROM operations AS one JOIN operations AS done ON done.id = coalesce(one.target, one.id)"
    " JOIN json_each(done.payload, '$.ended') AS ended JOIN json_each(ended.value, '$.mentions') AS mention"
    " WHERE one.id > :after AND done.kind = 'delete_mention' ORDER BY one.id, ended.key",
    postgresql="SELECT one.id, CAST(mention.value AS BIGINT), ended.value ->> 'text', one.kind != 'undo', one.actor,"
    " one.at FROM operations AS one JOIN operations AS done ON done.id = coalesce(one.target, one.id)"
    " CROSS JOIN LATERAL json_array_elements(CAST(done.payload AS JSON) -> 'ended') WITH ORDINALITY"
    " AS ended (value, place)"
    " CROSS JOIN LATERAL json_array_elements_text(ended.value -> 'mentions') WITH ORDINALITY AS mention (value, place)"
    " WHERE one.id > :after AND done.kind = 'delete_mention' ORDER BY one.id, ended.place, mention.place",
)


class SqlOperations:
    """The append-only log of operations: the database refuses to change or remove one (InconsistentDataError)."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.appended: list[int] = []
        """The operations of this unit."""

    def append(
        self,
        kind: OperationKind,
        *,
        actor: str,
        at: datetime,
        text: str,
        target: int | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> int:
        """Append an operation, which goes onto the undo stack unless its actor is an import; returns its id. Raises
        UserError if an undo or redo does not target the next operation."""
        last, *stacks, before = next(iter(answer(self._conn, END)), (0, None, None, None))
        if self._own_stacks and not actor.startswith(_IMPORT):
            stacks = list(self._last(actor=actor)[1:])
        new_id = last + 1
        undo_after, redo_after = self._stacks_after(new_id, stacks, kind, actor=actor, target=target)
        values = {
            "id": new_id,
            "kind": kind.value,
            "actor": actor,
            "at": at.isoformat(),
            "text": text,
            "target": target,
            "payload": json.dumps(dict(payload or {}), ensure_ascii=False),
            "undo_after": undo_after,
            "redo_after": redo_after,
        }
        self._conn.execute(_INSERT, {**values, "hash": link(before, values.values())})
        self.appended.append(new_id)
        return new_id

    @property
    def _own_stacks(self) -> bool:
        """Whether each curator undoes only their own steps, as in shared projects."""
        return self._conn.dialect.name == POSTGRESQL

    def get(self, operation_id: int) -> tuple[Operation, dict[str, Any]]:
        """The operation and its payload (mention ids, old and new state, for undo). Raises UserError if there is no
        such operation."""
        found = self.get_many([operation_id])
        if operation_id not in found:
            raise UserError(tr("There is no operation {operation_id} in this project.", operation_id=operation_id))
        return found[operation_id]

    def get_many(self, operation_ids: Sequence[int]) -> dict[int, tuple[Operation, dict[str, Any]]]:
        """The same for several, by id; unknown ids are absent."""
        return {
            one: (_logged(one, kind, actor, at, said, target), _payload(one, payload))
            for one, kind, actor, at, said, target, payload in self._conn.execute(_OPERATIONS, ids_of(operation_ids))
        }

    def relation_steps(self, *, after: int) -> tuple[list[RelationStep], int]:
        """Changes of rows of relations by operations with an id greater than `after`, including undo and redo, oldest
        first; and the id of the last operation of any kind, 0 if there is none."""
        last = self._last()[0]
        rows = self._conn.execute(of(self._conn, _RELATION_STEPS), {"after": after}) if last > after else ()
        steps = [
            RelationStep(operation, relation, bool(deleted), actor, time_of(at, "operations", operation))
            for operation, relation, deleted, actor, at in rows
        ]
        return steps, last

    def relation_endings(self, *, after: int) -> list[RelationEnding]:
        """Relations ended by deleting a mention in operations with an id greater than `after`, including undo and redo,
        oldest first."""
        rows = self._conn.execute(of(self._conn, _RELATION_ENDINGS), {"after": after})
        return [
            RelationEnding(operation, mention, words, bool(deleted), actor, time_of(at, "operations", operation))
            for operation, mention, words, deleted, actor, at in rows
        ]

    def next_undo(self, actor: str = "") -> int | None:
        """The operation that undo reverses next; None if there is none. It never undoes imports. In a shared project,
        only among this actor's operations."""
        return self._last(actor=actor)[1]

    def next_redo(self, actor: str = "") -> int | None:
        """The operation that redo repeats next; None if there is none. In a shared project, only among this actor's
        operations."""
        return self._redo_target(self._last(actor=actor)[2])

    def built_on(self, operation_id: int, actor: str) -> str:
        """The other curators who later decided or moved mentions of an operation in a shared project; '' if no one
        did."""
        if not self._own_stacks:
            return ""
        mine = select(DecisionRow.mention_id).where(DecisionRow.operation_id == operation_id)
        edited = select(MentionEditRow.mention_id).where(MentionEditRow.operation_id == operation_id)
        later = [
            select(OperationRow.id, OperationRow.actor)
            .join(row, row.operation_id == OperationRow.id)
            .where(OperationRow.id > operation_id, OperationRow.actor != actor)
            .where(or_(row.mention_id.in_(mine), row.mention_id.in_(edited)))
            for row in (DecisionRow, MentionEditRow)
        ]
        found = [one for query in later for one in self._conn.execute(query.order_by(OperationRow.id.desc()).limit(1))]
        return max(found, key=lambda one: one.id).actor if found else ""

    # --- the list of steps ---

    def steps(self, where: StepFilter, *, limit: int, before: int | None = None) -> list[LoggedStep]:
        """Operations that are neither undo nor redo, newest first, with ids less than `before`."""
        query = _STEPS.where(*_conditions(where)).limit(limit)
        if before is not None:
            query = query.where(OperationRow.id < before)
        return [
            LoggedStep(_logged(one, kind, actor, at, said), mentions)
            for one, kind, actor, at, said, mentions in self._conn.execute(query)
        ]

    def latest(self, operation_id: int) -> datetime:
        """The latest time of this operation and those before it. Raises UserError if there is no such operation."""
        found = self._conn.execute(_LATEST, {"id": operation_id}).scalar()
        return self.get(operation_id)[0].at if found is None else time_of(found, "operations")

    def actors(self) -> list[str]:
        """Names of those who appended operations, without imports."""
        query = select(OperationRow.actor).where(~OperationRow.actor.startswith(_IMPORT)).distinct()
        return sorted(self._conn.execute(query).scalars(), key=str.casefold)

    def undo_steps(self, *, down_to: int = 0) -> list[int]:
        """The operations that undo reverses, in order, with ids of at least `down_to`."""
        query = select(OperationRow.id).where(OperationRow.kind.not_in(_BACK_AND_FORTH))
        query = query.where(OperationRow.id >= max(down_to, self.fixed_up_to(after=down_to) + 1))
        query = query.where(~OperationRow.actor.startswith(_IMPORT)).order_by(OperationRow.id.desc())
        found = list(self._conn.execute(query).scalars())
        gone = self.taken_back(found)
        return [one for one in found if one not in gone]

    def redo_steps(self) -> list[int]:
        """The operations that redo repeats, in order."""
        return list(self._conn.execute(_REDO_STEPS).scalars())

    def fixed_up_to(self, *, after: int = 0) -> int:
        """The last operation that undo cannot pass: it and all before it are permanent. 0 if there is none with an id
        of at least `after`."""
        query = select(func.max(OperationRow.id)).where(OperationRow.kind.in_([one.value for one in _BARRIERS]))
        return self._conn.execute(query.where(OperationRow.id >= after)).scalar() or 0

    def taken_back(self, operation_ids: Sequence[int]) -> set[int]:
        """The operations among these that were undone and not redone."""
        if not operation_ids:
            return set()
        wanted, last = set(operation_ids), {}
        query = select(OperationRow.target, OperationRow.kind).where(OperationRow.kind.in_(_BACK_AND_FORTH))
        query = query.where(OperationRow.id > min(wanted)).order_by(OperationRow.id)
        for target, kind in self._conn.execute(query):
            if target in wanted:
                last[target] = kind
        return {one for one, kind in last.items() if kind == OperationKind.UNDO}

    def numbers(self, operation_ids: Sequence[int]) -> dict[int, int]:
        """The number of decisions of each of these operations; those without decisions are absent."""
        found: dict[int, int] = {}
        for part in chunks(operation_ids):
            query = select(DecisionRow.operation_id, func.count()).where(DecisionRow.operation_id.in_(part))
            for one, number in self._conn.execute(query.group_by(DecisionRow.operation_id)):
                found[one or 0] = number
        return found

    def _stacks_after(
        self, new_id: int, stacks: Sequence[int | None], kind: OperationKind, *, actor: str, target: int | None
    ) -> tuple[int | None, int | None]:
        undo, redo = stacks
        if actor.startswith(_IMPORT):
            return undo, redo
        if kind in _BARRIERS:
            return None, None
        if kind is OperationKind.UNDO:
            if target is None or target != undo:
                raise UserError(tr("This step cannot be undone now: another one came after it."))
            return self._last(target, actor)[1], new_id
        if kind is OperationKind.REDO:
            if redo is None or target != self._redo_target(redo):
                raise UserError(tr("This step cannot be redone now: another one came after it."))
            return target, self._last(redo, actor)[2]
        return new_id, None

    def _last(self, before: int | None = None, actor: str = "") -> tuple[int, int | None, int | None]:
        """The id of the last operation (before the operation `before`), and the tops of both stacks after it: only the
        actor's, if each actor has their own stacks."""
        own = bool(actor) and self._own_stacks
        if before is None:
            rows = answer(self._conn, OWN_LAST, {"actor": actor}) if own else self._conn.execute(_LAST).all()
        else:
            query = _BEFORE.where(or_(OperationRow.actor == actor, OperationRow.kind.in_(_ENDING))) if own else _BEFORE
            rows = self._conn.execute(query, {"before": before}).all()
        return (rows[0][0], rows[0][1], rows[0][2]) if rows else (0, None, None)

    def _redo_target(self, undo_entry: int | None) -> int | None:
        if undo_entry is None:
            return None
        return self._conn.execute(select(OperationRow.target).where(OperationRow.id == undo_entry)).scalar()

    def add_efforts(self, efforts: Sequence[Effort]) -> None:
        """Record operations' efforts; an operation's first record is kept. Raises InconsistentDataError for an unknown
        operation."""
        rows = [
            {"operation_id": one.operation_id, "keys": one.keys, "milliseconds": one.milliseconds} for one in efforts
        ]
        if rows:
            self._conn.execute(insert_new(self._conn, EffortRow), rows)

    def efforts(self, *, curator: str | None = None) -> list[SpentEffort]:
        """Efforts, oldest first, of operations that decided something and were not undone later; of one curator if
        given."""
        query = (
            select(
                EffortRow.operation_id,
                EffortRow.keys,
                EffortRow.milliseconds,
                func.count(DecisionRow.id),
                any_of(OperationRow.actor),
                any_of(OperationRow.at),
            )
            .join(OperationRow, OperationRow.id == EffortRow.operation_id)
            .join(DecisionRow, DecisionRow.operation_id == EffortRow.operation_id)
            .where(OperationRow.kind == OperationKind.DECIDE.value, EffortRow.operation_id.not_in(undone()))
            .group_by(EffortRow.operation_id)
            .order_by(EffortRow.operation_id)
        )
        if curator is not None:
            query = query.where(OperationRow.actor == curator)
        rows: Any = self._conn.execute(query)
        return [
            SpentEffort(number, keys, ms, decided, who, time_of(at, "operations", number))
            for number, keys, ms, decided, who, at in rows
        ]


def _logged(number: int, kind: str, actor: str, at: str, said: str, target: int | None = None) -> Operation:
    known = enum_of(OperationKind, kind, "operations", "kind", number)
    return Operation(number, known, actor, time_of(at, "operations", number), said, target)


def _payload(number: int, text: str) -> dict[str, Any]:
    return StoredObject(json_of(payload_of, text, "operations", "payload", number), "operations", "payload", number)


def _conditions(where: StepFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if where.actor:
        found.append(OperationRow.actor == where.actor)
    if where.kinds:
        found.append(OperationRow.kind.in_(sorted(where.kinds)))
    if where.words:
        entities = select(DecisionRow.operation_id).where(
            DecisionRow.entity_ids.icontains(where.words, autoescape=True)
        )
        found.append(or_(OperationRow.text.icontains(where.words, autoescape=True), OperationRow.id.in_(entities)))
    if where.document_id is not None:
        decided = select(DecisionRow.operation_id).join(MentionRow, MentionRow.id == DecisionRow.mention_id)
        decided = decided.where(MentionRow.document_id == where.document_id)
        others = _in_document(OperationRow.kind, OperationRow.payload, literal(where.document_id))
        found.append(or_(OperationRow.id.in_(decided), others))
    return found


def undone() -> Select[Any]:
    """Ids of the operations that are undone and were not redone."""
    taken_back = func.sum(case((OperationRow.kind == OperationKind.UNDO.value, 1), else_=-1))
    found = select(OperationRow.target).where(OperationRow.target.is_not(None))
    return found.group_by(OperationRow.target).having(taken_back > 0)

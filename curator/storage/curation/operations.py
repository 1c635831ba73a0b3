"""The append-only log of operations and the undo and redo stacks that follow from it.

History is linear, as in an editor: an operation after an undo empties the redo stack. Operations of an import
(actor `import:FILE`) are in the log but on neither stack. Those after which the texts of earlier steps are no longer
what they were empty both: an earlier step could not be taken back without harm.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from curator.domain.decisions import OperationKind
from curator.domain.wording import UserError, tr
from curator.services.ports import Operation
from curator.storage.db import OperationRow, from_iso

_IMPORT = "import:"
_BARRIERS = (OperationKind.TAKE_TEXT, OperationKind.WITHDRAW_IMPORT)

_LAST = select(OperationRow.id, OperationRow.undo_after, OperationRow.redo_after)
_LAST = _LAST.order_by(OperationRow.id.desc()).limit(1)
_INSERT = insert(OperationRow)
_BEFORE = _LAST.where(OperationRow.id < bindparam("before"))


class Operations:
    """The part of `ports.DecisionRepository` that is about operations."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def append_operation(
        self,
        kind: OperationKind,
        *,
        actor: str,
        at: datetime,
        text: str,
        target: int | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> int:
        """Raises UserError when an undo or redo does not target the operation whose turn it is."""
        last, *stacks = self._last()
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
        self._conn.execute(_INSERT, values)
        return new_id

    def operation(self, operation_id: int) -> tuple[Operation, dict[str, Any]]:
        """Raises UserError when there is no such operation."""
        query = select(
            OperationRow.kind,
            OperationRow.actor,
            OperationRow.at,
            OperationRow.text,
            OperationRow.target,
            OperationRow.payload,
        )
        row = self._conn.execute(query.where(OperationRow.id == operation_id)).first()
        if row is None:
            raise UserError(tr("There is no operation {operation_id} in this project.", operation_id=operation_id))
        kind, actor, at, text, target, payload = row
        return Operation(operation_id, OperationKind(kind), actor, from_iso(at), text, target), json.loads(payload)

    def next_undo(self) -> int | None:
        return self._last()[1]

    def next_redo(self) -> int | None:
        return self._redo_target(self._last()[2])

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
            return self._last(target)[1], new_id
        if kind is OperationKind.REDO:
            if redo is None or target != self._redo_target(redo):
                raise UserError(tr("This step cannot be redone now: another one came after it."))
            return target, self._last(redo)[2]
        return new_id, None

    def _last(self, before: int | None = None) -> tuple[int, int | None, int | None]:
        """The id of the last operation (before the operation `before`), and the tops of both stacks after it."""
        row = self._conn.execute(_LAST if before is None else _BEFORE, {"before": before}).first()
        return (row[0], row[1], row[2]) if row else (0, None, None)

    def _redo_target(self, undo_entry: int | None) -> int | None:
        if undo_entry is None:
            return None
        return self._conn.execute(select(OperationRow.target).where(OperationRow.id == undo_entry)).scalar()

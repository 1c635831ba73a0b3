"""What decisions cost: one row an operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, case, func, select
from sqlalchemy.dialects.sqlite import insert

from curator.domain.decisions import OperationKind
from curator.services.ports import Effort, SpentEffort
from curator.storage.db import DecisionRow, EffortRow, OperationRow, from_iso


class Efforts:
    """The part of `ports.DecisionRepository` that is about what operations cost."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def add_efforts(self, efforts: Sequence[Effort]) -> None:
        rows = [
            {"operation_id": one.operation_id, "keys": one.keys, "milliseconds": one.milliseconds} for one in efforts
        ]
        if rows:
            self._conn.execute(insert(EffortRow).on_conflict_do_nothing(), rows)

    def efforts(self, *, curator: str | None = None) -> list[SpentEffort]:
        query = (
            select(
                EffortRow.operation_id,
                EffortRow.keys,
                EffortRow.milliseconds,
                func.count(DecisionRow.id),
                OperationRow.actor,
                OperationRow.at,
            )
            .join(OperationRow, OperationRow.id == EffortRow.operation_id)
            .join(DecisionRow, DecisionRow.operation_id == EffortRow.operation_id)
            .where(OperationRow.kind == OperationKind.DECIDE.value, EffortRow.operation_id.not_in(undone()))
            .group_by(EffortRow.operation_id)
            .order_by(EffortRow.operation_id)
        )
        if curator is not None:
            query = query.where(OperationRow.actor == curator)
        return [SpentEffort(*row[:-1], at=from_iso(row[-1])) for row in self._conn.execute(query)]


def undone() -> Select[Any]:
    """Ids of the operations that are taken back and were not done again."""
    taken_back = func.sum(case((OperationRow.kind == OperationKind.UNDO.value, 1), else_=-1))
    found = select(OperationRow.target).where(OperationRow.target.is_not(None))
    return found.group_by(OperationRow.target).having(taken_back > 0)

"""Small project-wide values."""

from __future__ import annotations

import json

from sqlalchemy import Connection, bindparam, delete, insert, select

from curator.domain.entities import TypeMapping
from curator.storage.db.schema import MetaRow

_TYPE_MAPPING = "type_mapping"
_VALUE = select(MetaRow.value).where(MetaRow.key == bindparam("key"))


class SqlMeta:
    """Small project-wide values: active bundle, type mapping, curator name, settings of the project.

    The keys `project.id` and `project.name` are set when a project is created.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def get(self, key: str) -> str | None:
        """The value; None if the key was never set."""
        return self._conn.execute(_VALUE, {"key": key}).scalar()

    def set(self, key: str, value: str) -> None:
        """Store the value, replacing an earlier one."""
        self._conn.execute(delete(MetaRow).where(MetaRow.key == key))
        self._conn.execute(insert(MetaRow).values(key=key, value=value))

    def type_mapping(self) -> TypeMapping:
        """The knowledge-base types that each corpus type may be linked to; empty if none were chosen."""
        stored = self.get(_TYPE_MAPPING)
        return TypeMapping({key: tuple(types) for key, types in json.loads(stored).items()} if stored else {})

    def set_type_mapping(self, mapping: TypeMapping) -> None:
        """Store the mapping, replacing the earlier one."""
        allowed = {key: list(types) for key, types in mapping.allowed.items()}
        self.set(_TYPE_MAPPING, json.dumps(allowed, ensure_ascii=False))

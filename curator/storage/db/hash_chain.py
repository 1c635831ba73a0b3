"""Hashes that chain the operations, and the decisions of operations, to detect changed and removed rows.

An operation's hash is over the previous operation's hash and its own columns; the same holds for decisions, in the
order of operations. Imported decisions belong to no operation, and those of a stopped import are removed again, so each
has a hash over only its own columns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

OPERATION = ("id", "kind", "actor", "at", "text", "target", "payload", "undo_after", "redo_after")
DECISION = (
    "id",
    "mention_id",
    "operation_id",
    "outcome",
    "entity_ids",
    "reason",
    "curator",
    "at",
    "note",
    "rank",
    "shown",
)
"""The columns that are hashed, in this order; only `shown` is bytes."""
SIZE = 16
AT_ONCE = 2000
_ENCODE = json.JSONEncoder(check_circular=False, default=repr).encode


def link(before: bytes | None, values: Iterable[Any], blob: bytes | None = None) -> bytes:
    """The hash of a row with these values after the row whose hash is `before`; 16 bytes."""
    found = blake2b(before or b"", digest_size=SIZE)
    found.update(_ENCODE(list(values)).encode())
    if blob is not None:
        found.update(blob)
    return found.digest()


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that does not continue the chain: its kind, its id, and the id of the previous row (0: none)."""

    table: str
    id: int
    before: int


def broken_operations(conn: sqlite3.Connection, *, last: int | None = None) -> Iterator[Broken | None]:
    """Every operation, or among the `last` ones, whose hash does not continue the previous one; None after each batch
    of rows, when a reader may pause. Operations are numbered without gaps."""
    start = _start(conn, "SELECT max(id) FROM operations", last)
    query = f"SELECT hash, {', '.join(OPERATION)} FROM operations WHERE id > ? ORDER BY id LIMIT {AT_ONCE}"  # noqa: S608
    known = conn.execute("SELECT id, hash FROM operations WHERE id = ?", (start,)).fetchone()
    at, before = known or (0, None)
    while rows := conn.execute(query, (max(at, start),)).fetchall():
        for row in rows:
            if row[1] != at + 1 or row[0] != link(before, row[1:]):
                yield Broken("operations", row[1], at)
            at, before = row[1], row[0]
        yield None


def broken_decisions(conn: sqlite3.Connection, *, last: int | None = None) -> Iterator[Broken | None]:
    """The same for decisions; among the `last` ones only those that belong to operations."""
    columns = ", ".join(DECISION)
    if last is None:
        query = (
            f"SELECT hash, {columns} FROM decisions WHERE operation_id IS NULL AND id > ? ORDER BY id LIMIT {AT_ONCE}"  # noqa: S608
        )
        at = 0
        while rows := conn.execute(query, (at,)).fetchall():
            for row in rows:
                if row[0] != link(None, row[1:-1], row[-1]):
                    yield Broken("decisions", row[1], 0)
            at = rows[-1][1]
            yield None
    yield from _broken_of_operations(conn, columns, last)


def _broken_of_operations(conn: sqlite3.Connection, columns: str, last: int | None) -> Iterator[Broken | None]:
    operation = _start(conn, "SELECT max(operation_id) FROM decisions", last)
    query = (
        f"SELECT hash, {columns} FROM decisions WHERE (operation_id, id) > (?, ?) AND operation_id IS NOT NULL"  # noqa: S608
        f" ORDER BY operation_id, id LIMIT {AT_ONCE}"
    )
    known = conn.execute(
        "SELECT operation_id, id, hash FROM decisions WHERE operation_id <= ? ORDER BY operation_id DESC, id DESC",
        (operation,),
    ).fetchone()
    at, before = (known[:2], known[2]) if known is not None else ((0, 0), None)
    while rows := conn.execute(query, at).fetchall():
        for row in rows:
            if row[0] != link(before, row[1:-1], row[-1]):
                yield Broken("decisions", row[1], at[1])
            at, before = (row[3], row[1]), row[0]
        yield None


def _start(conn: sqlite3.Connection, highest: str, last: int | None) -> int:
    return 0 if last is None else max((conn.execute(highest).fetchone()[0] or 0) - last, 0)

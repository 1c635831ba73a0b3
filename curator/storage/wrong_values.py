"""The values of a database that the program could not read: they come from damage, or from another program.

What a column may hold is said by its type (`db.columns`). One statement for each column finds the values that are not
of the usual form, and Python reads these only: of 500,000 mentions none, or a few.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, String, Table
from sqlalchemy.exc import DBAPIError

from curator.domain.decisions import Outcome
from curator.domain.wording import DamagedProjectError
from curator.storage.db.columns import REASONS, StoredInteger, StoredText, wrong_value
from curator.storage.db.schema import Base, PassageRow

log = logging.getLogger(__name__)
AT_ONCE = 2000
"""The rows between two pauses."""
_ORDINARY = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_UNREADABLE = (DamagedProjectError, *_ORDINARY)
_AROUND = ("curator.storage.store.", f"{__name__}.")
"""The modules whose functions are around the block of every unit of work."""
_OF_A_VALUE = re.compile("JSON|overflow|user-defined function")
"""In SQLite's words about a statement that failed: it is not the statement that is wrong."""
_VERDICT, _PLACE = ("outcome", "entity_ids", "reason"), ("start_pos", "end_pos")


@dataclass(frozen=True, slots=True)
class WrongValue:
    """`column` may name several; `number` is the row's key."""

    table: str
    column: str
    value: object
    number: object


def find_wrong_values(conn: sqlite3.Connection) -> Iterator[WrongValue | None]:
    """The values, with None now and then, at which the reader may pause. Raises sqlite3.Error."""
    before = conn.text_factory
    conn.text_factory = _decoded
    try:
        for table in Base.metadata.sorted_tables:
            yield from _of_table(conn, table)
        yield from _of_entities(conn)
    finally:
        conn.text_factory = before


def _decoded(text: bytes) -> str | bytes:
    """Bytes, which are a wrong value, where a text is not UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text


def _of_table(conn: sqlite3.Connection, table: Table) -> Iterator[WrongValue | None]:
    wrong: set[object] = set()
    for column in table.columns:
        if column.primary_key and isinstance(column.type, Integer):
            continue
        for found in _unusual(conn, table, (column.name,), _usual(column)):
            if found is None:
                yield None
            elif not _fits(column, found[1][0]):
                wrong.add(found[0])
                yield WrongValue(table.name, column.name, found[1][0], found[0])
    for names, usual in ((_VERDICT, _usual_verdict()), (_PLACE, f"start_pos {_before(table)} end_pos")):
        if set(names) <= set(table.columns.keys()):
            for found in _unusual(conn, table, names, usual):
                if found is not None and found[0] not in wrong:
                    yield WrongValue(table.name, ", ".join(names), ", ".join(map(str, found[1])), found[0])


def _unusual(
    conn: sqlite3.Connection, table: Table, names: Sequence[str], usual: str
) -> Iterator[tuple[object, tuple[Any, ...]] | None]:
    """(key, values) of the rows in which these columns are not usual; None at pauses."""
    keys = [one.name for one in table.primary_key.columns]
    rows = conn.execute(f"SELECT {', '.join((*keys, *names))} FROM {table.name} WHERE NOT ({usual})")  # noqa: S608
    while part := rows.fetchmany(AT_ONCE):
        for row in part:
            key = row[: len(keys)]
            yield key[0] if len(keys) == 1 else ", ".join(map(str, key)), row[len(keys) :]
        yield None
    yield None


def _usual(column: Column[Any]) -> str:
    kind, name = column.type, column.name
    if isinstance(kind, Boolean):
        usual = f"{name} IN (0, 1)"
    elif isinstance(kind, Float):
        usual = f"typeof({name}) IN ('real', 'integer')"
    else:
        stored = "integer" if isinstance(kind, Integer) else "blob" if isinstance(kind, LargeBinary) else "text"
        usual = f"typeof({name}) = '{stored}'"
    if own := getattr(kind, "usual", ""):
        usual += f" AND {own.format(name)}"
    return f"({name} IS NULL OR {usual})" if column.nullable else f"{name} IS NOT NULL AND {usual}"


def _fits(column: Column[Any], value: Any) -> bool:
    """Whether a value that is not usual can be read."""
    kind = column.type
    if value is None:
        return bool(column.nullable)
    if not isinstance(kind, StoredText | StoredInteger):
        return isinstance(kind, String) and isinstance(value, str)
    try:
        kind.read(value)
    except _UNREADABLE:
        return False
    return isinstance(value, int if isinstance(kind, StoredInteger) else str)


def _usual_verdict() -> str:
    """The outcomes with their reasons, and with entities if they are links."""
    found = []
    for one in Outcome:
        reasons = (
            f"reason IN ({', '.join(repr(r.value) for r in REASONS[one])})" if one in REASONS else "reason IS NULL"
        )
        found.append(f"WHEN '{one}' THEN entity_ids {'!=' if one is Outcome.LINK else '='} '[]' AND {reasons}")
    return f"ifnull(CASE outcome {' '.join(found)} END, 0)"


def _before(table: Table) -> str:
    """How a place begins before its end: that of a passage may have no characters."""
    return "<=" if table.name == PassageRow.__tablename__ else "<"


def _of_entities(conn: sqlite3.Connection) -> Iterator[WrongValue | None]:
    """The entities of the knowledge base, whose tables belong to a version. What is in them is compared with the
    import by its hash."""
    for (version,) in conn.execute("SELECT id FROM kb_versions WHERE active").fetchall():
        table = f"kb{int(version)}_entities"
        other = "NOT (json_valid(data) AND json_extract(data, '$.id') IS entity_id)"
        query = f"SELECT entity_id, data FROM {table} WHERE {other}"  # noqa: S608
        for entity_id, data in conn.execute(query):
            yield WrongValue(table, "data", data, entity_id)
        yield None


@contextmanager
def damage_behind(conn: Connection) -> Iterator[None]:
    """Raise DamagedProjectError for an error of reading within a unit of work if the database has a wrong value: what
    a statement of SQL, or a repository, makes of one is no error of the program. Other errors are passed on."""
    try:
        yield
    except Exception as error:
        if (found := damage_of(error, conn)) is None:
            raise
        raise found from error


def damage_of(error: BaseException, conn: Connection) -> DamagedProjectError | None:
    """The sentence about a wrong value in the database, if there is one and the error may come from it."""
    found = _first(conn) if is_of_reading(error) else None
    if found is None:
        return None
    log.warning("The database has a wrong value", exc_info=error)
    return wrong_value(found.value, found.table, found.column, found.number)


def is_of_reading(error: BaseException) -> bool:
    """Whether an error comes from reading a stored value: SQLite could not calculate with it, or the code that makes
    objects of rows failed. What fails elsewhere, such as in a service, is a bug, and nothing is searched for it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        wrong = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
        return wrong and _OF_A_VALUE.search(str(cause)) is not None
    return isinstance(cause, (*_ORDINARY, ArithmeticError)) and _failed_in_storage(cause)


def _failed_in_storage(error: BaseException) -> bool:
    """Whether the innermost of the program's functions that failed is in this package; those of the domain, which check
    the values that they are given, belong to their callers."""
    found = False
    for frame, _ in traceback.walk_tb(error.__traceback__):
        module = f"{frame.f_globals.get('__name__')}."
        if module.startswith("curator.") and not module.startswith("curator.domain."):
            found = module.startswith("curator.storage.") and module not in _AROUND
    return found


def _first(conn: Connection) -> WrongValue | None:
    raw = conn.connection.driver_connection
    if not isinstance(raw, sqlite3.Connection):
        return None
    try:
        return next((one for one in find_wrong_values(raw) if one is not None), None)
    except sqlite3.Error:
        return None

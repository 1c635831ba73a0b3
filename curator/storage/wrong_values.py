"""The values of a database that the program could not read: they come from damage, or from another program.

What each column may hold follows from the schema, the enumerations and the functions that read it. One statement for
each table finds the rows that are not of the usual form, and Python looks at these only, as the program would: of
500,000 mentions none, or a few.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, Table
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import InstrumentedAttribute

from curator.domain.decisions import OperationKind, Outcome
from curator.domain.documents import DocumentState, MentionOrigin, Split
from curator.domain.imports import ImportKind
from curator.domain.rounds import RoundKind
from curator.domain.wording import DamagedProjectError
from curator.storage.curation.former_texts import passages_of
from curator.storage.curation.imports import counts_of
from curator.storage.curation.mentions import spans_of
from curator.storage.curation.relations import ends_of
from curator.storage.db.packing import REASONS, payload_of, verdict_of
from curator.storage.db.rows import json_of, texts_of, time_of, wrong_value
from curator.storage.db.schema import (
    Base,
    DecisionRow,
    DocumentRow,
    FormerTextRow,
    ImportRow,
    JudgementRow,
    KbVersionRow,
    MentionEditRow,
    MentionRow,
    OperationRow,
    PassageRow,
    ProvisionalEntityRow,
    RelationRow,
    RetiredEntityRow,
    RoundRow,
)
from curator.storage.kb.kb_tables import parse_entity

log = logging.getLogger(__name__)
AT_ONCE = 2000
"""The rows between two pauses."""
Read = Callable[[Any], object]
"""Raises an ordinary error, or DamagedProjectError, for a value that cannot be read."""
_ORDINARY = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_UNREADABLE = (DamagedProjectError, *_ORDINARY)
_AROUND = ("curator.storage.store.", f"{__name__}.")
"""The modules whose functions are around the block of every unit of work."""
_OF_A_VALUE = re.compile("JSON|overflow|user-defined function")
"""In SQLite's words about a statement that failed: it is not the statement that is wrong."""


def _listed(values: Any) -> str:
    return "({})".format(", ".join(f"'{one}'" for one in values))


_PLAIN = "{0} NOT GLOB '*[^ -~]*' AND json_valid({0})"
"""JSON without control characters, which some versions of SQLite allow there."""
_ONE_TEXT = f"({{0}} = '[]' OR ({_PLAIN} AND substr({{0}}, 1, 2) = '[\"' AND json_array_length({{0}}) = 1))"
"""A list of at most one text, as most are."""
_ONE_STATE = " AND ".join(
    (
        "json_array_length({0}, '$.states') = 1",
        "json_type({0}, '$.states[0][0]') = 'integer'",
        *(f"json_extract({{0}}, '$.states[0][{at}]') IN {_listed(DocumentState)}" for at in (1, 2)),
        "json_array_length({0}, '$.states[0]') = 3",
    )
)
_ONE_MENTION = (
    f'({_PLAIN} AND {{0}} GLOB \'{{{{"mentions": [[]*], "states": [[]*]}}}}\''
    " AND json_array_length({0}, '$.mentions') = 1 AND json_type({0}, '$.mentions[0]') = 'integer'"
    f" AND (json_array_length({{0}}, '$.states') = 0 OR ({_ONE_STATE})))"
)
"""What most steps keep for their undo."""
_TIME = (
    "({0} GLOB '????-??-??T??:??:??*[0-9]+00:00' AND length({0}) IN (25, 32) AND julianday({0}) > 0"
    " AND {0} >= '0001' AND substr({0}, 9, 2) <= '28' AND substr({0}, 12, 2) <= '23')"
)
"""A time in UTC on one of the days that every month has."""


@dataclass(frozen=True, slots=True)
class WrongValue:
    """`column` may name several; `number` is the row's key."""

    table: str
    column: str
    value: object
    number: object


@dataclass(frozen=True, slots=True)
class _Rule:
    """`usual` is an SQL condition that holds for nearly all sound rows and for no other; `read` is given the value."""

    column: str
    usual: str
    read: Read


def _text(read: Callable[[Any], object]) -> Read:
    return lambda text: json_of(read, text, "", "")


def _times(text: str) -> object:
    return time_of(text, "")


def _texts(text: str) -> object:
    return texts_of(text, "", "")


_ENUMS: Mapping[InstrumentedAttribute[Any], tuple[str, ...]] = {
    DocumentRow.split: tuple(Split),
    DocumentRow.state: tuple(DocumentState),
    MentionRow.origin: tuple(MentionOrigin),
    MentionRow.outcome: tuple(one for one in Outcome if one is not Outcome.CLEARED),
    DecisionRow.outcome: tuple(Outcome),
    JudgementRow.outcome: tuple(Outcome),
    OperationRow.kind: tuple(OperationKind),
    ImportRow.kind: tuple(ImportKind),
    RoundRow.kind: tuple(RoundKind),
}
_JSON: Mapping[InstrumentedAttribute[Any], tuple[str, Read]] = {
    DecisionRow.entity_ids: (_ONE_TEXT, _texts),
    JudgementRow.entity_ids: (_ONE_TEXT, _texts),
    ProvisionalEntityRow.types: (_ONE_TEXT, _texts),
    ProvisionalEntityRow.synonyms: (_ONE_TEXT, _texts),
    KbVersionRow.types: (_ONE_TEXT, _texts),
    OperationRow.payload: (_ONE_MENTION, _text(payload_of)),
    ImportRow.counts: ("0", _text(counts_of)),
    MentionEditRow.spans_before: ("0", _text(spans_of)),
    MentionEditRow.spans_after: ("0", _text(spans_of)),
    FormerTextRow.passages: ("0", _text(passages_of)),
    RelationRow.ends: ("{0} = '[]'", _text(ends_of)),
    RetiredEntityRow.data: ("0", parse_entity),
}
_AT = ("at", "imported_at")
"""The columns with a time, in every table."""
_PLACES = ("start_pos", "end_pos")
_COUNTS = ("keys", "milliseconds", "revision", "occurrence", *_PLACES)
"""The numbers that are never negative. The counters of documents have their own check."""
_VERDICT = ("outcome", "entity_ids", "reason")


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
    statement, names = _statement(table.name)
    rules = _rules(table.name)
    keys = len(table.primary_key.columns)
    rows = conn.execute(statement)
    while part := rows.fetchmany(AT_ONCE):
        for row in part:
            number = row[0] if keys == 1 else ", ".join(map(str, row[:keys]))
            values = dict(zip(names, row[keys:], strict=True))
            yield from (WrongValue(table.name, *one, number) for one in _wrong(table, rules, values))
        yield None
    yield None


def _wrong(table: Table, rules: tuple[_Rule, ...], values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Column and value of each that is wrong."""
    found: set[str] = set()
    for name, value in values.items():
        if not _is_of_type(table.columns[name], value):
            found.add(name)
            yield name, value
    for rule in rules:
        if rule.column not in found and values[rule.column] is not None and not _reads(rule.read, values[rule.column]):
            found.add(rule.column)
            yield rule.column, values[rule.column]
    if found.isdisjoint(_VERDICT) and values.keys() >= set(_VERDICT):
        verdict = [values[name] for name in _VERDICT]
        if not _reads(lambda parts: verdict_of(*parts), verdict):
            yield ", ".join(_VERDICT), ", ".join(map(str, verdict))
    if found.isdisjoint(_PLACES) and values.keys() >= set(_PLACES):
        start, end = (values[name] for name in _PLACES)
        if (
            isinstance(start, int)
            and isinstance(end, int)
            and (start > end or (start == end and not _may_be_empty(table)))
        ):
            yield ", ".join(_PLACES), f"{start}, {end}"


def _may_be_empty(table: Table) -> bool:
    """Whether a place may have no characters: that of a passage may."""
    return table.name == PassageRow.__tablename__


def _reads(read: Read, value: object) -> bool:
    try:
        read(value)
    except _UNREADABLE:
        return False
    return True


def _is_of_type(column: Column[Any], value: object) -> bool:
    if value is None:
        return bool(column.nullable)
    kind = column.type
    if isinstance(kind, Boolean):
        return value in (0, 1) and isinstance(value, int)
    if isinstance(kind, Float):
        return isinstance(value, int | float)
    if isinstance(kind, Integer):
        return isinstance(value, int)
    return isinstance(value, bytes if isinstance(kind, LargeBinary) else str)


@cache
def _statement(name: str) -> tuple[str, tuple[str, ...]]:
    """The statement for the rows of a table that are not of the usual form, and the columns after its key."""
    table = Base.metadata.tables[name]
    columns = [one for one in table.columns if not (one.primary_key and isinstance(one.type, Integer))]
    rules = {one.column: one.usual.format(one.column) for one in _rules(name)}
    usual = [_usual_type(one) for one in columns]
    usual += [_usual_value(table.columns[one], how) for one, how in rules.items()]
    names = tuple(one.name for one in columns)
    if set(names) >= set(_VERDICT):
        usual.append(_usual_verdict())
    if set(names) >= set(_PLACES):
        usual.append(f"start_pos {'<=' if _may_be_empty(table) else '<'} end_pos")
    keys = [one.name for one in table.primary_key.columns]
    chosen = ", ".join((*keys, *names))
    return f"SELECT {chosen} FROM {name} WHERE NOT ({' AND '.join(usual) or '1'})", names  # noqa: S608


def _usual_type(column: Column[Any]) -> str:
    kind, name = column.type, column.name
    if isinstance(kind, Boolean):
        usual = f"{name} IN (0, 1)"
    elif isinstance(kind, Float):
        usual = f"typeof({name}) IN ('real', 'integer')"
    elif isinstance(kind, Integer):
        usual = f"typeof({name}) = 'integer'"
    else:
        usual = f"typeof({name}) = '{'blob' if isinstance(kind, LargeBinary) else 'text'}'"
    return _usual_value(column, usual)


def _usual_value(column: Column[Any], usual: str) -> str:
    return f"({column.name} IS NULL OR {usual})" if column.nullable else f"{column.name} IS NOT NULL AND {usual}"


def _usual_verdict() -> str:
    """The outcomes with their reasons, and with entities if they are links."""
    found = []
    for one in Outcome:
        reasons = f"reason IN {_listed(REASONS[one])}" if one in REASONS else "reason IS NULL"
        found.append(f"WHEN '{one}' THEN entity_ids {'!=' if one is Outcome.LINK else '='} '[]' AND {reasons}")
    return f"ifnull(CASE outcome {' '.join(found)} END, 0)"


@cache
def _rules(name: str) -> tuple[_Rule, ...]:
    table = Base.metadata.tables[name]
    found = [
        _Rule(column.key, f"{{0}} IN {_listed(values)}", partial(_one_of, frozenset(values)))
        for column, values in _ENUMS.items()
        if column.class_.__tablename__ == name
    ]
    found += [_Rule(column.key, *how) for column, how in _JSON.items() if column.class_.__tablename__ == name]
    found += [_Rule(one, _TIME, _times) for one in _AT if one in table.columns]
    found += [_Rule(one, "{0} >= 0", _natural) for one in _COUNTS if one in table.columns]
    return tuple(found)


def _one_of(values: frozenset[str], value: object) -> None:
    if value not in values:
        raise ValueError


def _natural(value: int) -> None:
    if value < 0:
        raise ValueError


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

"""Expressions that differ between SQLite and PostgreSQL, under one name each, so that repositories write one statement
for both.

On SQLite a name is exactly the plain expression. On PostgreSQL, numbers and texts equal SQLite's for the same rows:
texts are compared by code points (`COLLATE "C"`), JSON is sent as text, and groups and lists are returned in the same
form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, String, TextClause, bindparam, literal_column, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeEngine

SQLITE, POSTGRESQL = "sqlite", "postgresql"
Form = Callable[..., ColumnElement[Any]]


def spoken(name: str, *, sqlite: str, postgresql: str, gives: type[TypeEngine[Any]] = NullType) -> Form:
    """An expression with a form for each dialect, in which `{0}`, `{1}` ... stand for its arguments and `{all}` for all
    of them, separated by commas."""
    made = type(name, (FunctionElement,), {"name": name, "type": gives(), "inherit_cache": True})
    for dialect, form in ((SQLITE, sqlite), (POSTGRESQL, postgresql)):
        compiles(made, dialect)(_compiler(form))
    return made


def _compiler(form: str) -> Callable[..., str]:
    def compiled(element: Any, compiler: Any, **options: Any) -> str:
        values = [compiler.process(one, **options) for one in element.clauses]
        return form.format(*values, all=", ".join(values))

    return compiled


greater = spoken("greater", sqlite="max({all})", postgresql="greatest({all})", gives=Integer)
"""The greatest of some values of one row."""
whole_number = spoken("whole_number", sqlite="{0}", postgresql="CAST({0} AS BIGINT)", gives=Integer)
"""A number for starting sums that may exceed 2**31."""
any_of = spoken("any_of", sqlite="{0}", postgresql="(array_agg({0}))[1]")
"""A column of one of the rows of a group."""
joined = spoken(
    "joined", sqlite="group_concat({0}, ' ')", postgresql="string_agg(CAST({0} AS TEXT), ' ')", gives=String
)
"""The numbers of a group, separated by spaces."""
rows_as_json = spoken(
    "rows_as_json",
    sqlite="json_group_array(json_array({all}))",
    postgresql="CAST(coalesce(json_agg(json_build_array({all})), '[]') AS TEXT)",
    gives=String,
)
"""All rows as the text of one JSON list of lists."""
local_day = spoken(
    "local_day",
    sqlite="date({0}, 'localtime')",
    postgresql="to_char(CAST({0} AS TIMESTAMPTZ), 'YYYY-MM-DD')",
    gives=String,
)
"""The day, in this computer's time zone, of a time stored as ISO 8601 with its offset."""
mentions_listed = spoken(
    "mentions_listed",
    sqlite="json_array_length({0}, '$.mentions')",
    postgresql="json_array_length(CAST({0} AS JSON) -> 'mentions')",
    gives=Integer,
)
"""The number of items in the list `mentions` of a JSON object; NULL if it has no such list."""
holds_null_character = spoken("holds_null_character", sqlite="instr({0}, char(0)) > 0", postgresql="FALSE")
"""Whether a text contains U+0000, which PostgreSQL cannot store."""
like = spoken("like", sqlite="{0} LIKE {1} ESCAPE '\\'", postgresql="{0} ILIKE {1} ESCAPE '\\'")
"""LIKE, ignoring case for ASCII letters."""
_among = spoken(
    "among",
    sqlite="{0} IN (SELECT value FROM json_each({1}))",
    postgresql="{0} = ANY (CAST(translate({1}, '[]', '{{}}') AS BIGINT[]))",
)


def among(column: InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """The condition that `column` is one of the `ids_of` with which the statement is executed; they are passed as one
    value, for any number.

    Queries after each key are statements built once: building one takes longer than SQLite's answer.
    """
    return _among(column, bindparam("ids", type_=String))


def weight(number: int) -> ColumnElement[Any]:
    """A literal number, with 64 bits in products and sums."""
    return whole_number(literal_column(str(number)))


def in_each(*, sqlite: str, postgresql: str) -> Mapping[str, TextClause]:
    """A statement as text for each dialect; `of(conn, …)` chooses."""
    return {SQLITE: text(sqlite), POSTGRESQL: text(postgresql)}


def of(conn: Connection, said: Mapping[str, TextClause]) -> TextClause:
    """The statement in the connection's dialect."""
    return said[conn.dialect.name]


def walked(conn: Connection, order: Sequence[ColumnElement[Any]]) -> Sequence[ColumnElement[Any]]:
    """The order of an index. SQLite walks the index by its first column, which gives the whole order; PostgreSQL may
    sort."""
    return order[:1] if conn.dialect.name == SQLITE else order


def insert_new(conn: Connection, row: Any) -> Any:
    """An insertion that skips existing rows."""
    if conn.dialect.name == POSTGRESQL:
        from sqlalchemy.dialects import postgresql  # folders do not need it

        return postgresql.insert(row).on_conflict_do_nothing()
    return sqlite.insert(row).on_conflict_do_nothing()

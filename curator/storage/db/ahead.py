"""Statements that are read together, before their answers are needed.

A step of a curator needs the answers of a dozen queries, one after the other. In SQLite each takes microseconds. On a
server each is a round trip, and all curators wait for the one who has the turn. So `read_ahead` sends the queries of a
decision together. Each answer is used once (or as often as `keep` says), by the same statement with the same values
(`answer`); others are asked as usual. So reading ahead changes the time of a step, and never its result.

A unit of work on a server has an `Ahead` in its connection's execution options; one in a folder has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.sql import Executable

from curator.storage.db.rows import AnyRow

AHEAD = "curator_ahead"
"""The execution option with the `Ahead` of a unit of work."""
LATER: Final = "curator_later"
"""The execution option of a statement whose number of rows nobody needs: on a server, it is sent without waiting."""
Ask = tuple[Executable, Mapping[str, Any]]
"""A statement, built once, and its values."""


class Ahead:
    """The answers of one unit of work. `send` sends statements together and returns the rows of each; `always` are
    asked with the first of them."""

    def __init__(self, send: Callable[[Sequence[Ask]], list[Sequence[AnyRow]]], always: Sequence[Ask] = ()) -> None:
        self._send = send
        self._always = list(always)
        self._answers: dict[tuple[int, str], tuple[Sequence[AnyRow], int]] = {}

    def read(self, asks: Sequence[Ask]) -> list[Sequence[AnyRow]]:
        """The rows of each statement, which `take` gives as well."""
        always, self._always = self._always, []
        found = self._send([*asks, *always])
        for (statement, values), rows in zip([*asks, *always], found, strict=True):
            self.keep(statement, values, rows)
        return found[: len(asks)]

    def keep(self, statement: Executable, values: Mapping[str, Any], rows: Sequence[AnyRow], *, times: int = 1) -> None:
        self._answers[_key(statement, values)] = rows, times

    def take(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[AnyRow] | None:
        """The rows; None if they were not read ahead, or already taken."""
        key = _key(statement, values)
        rows, times = self._answers.pop(key, (None, 0))
        if rows is not None and times > 1:
            self._answers[key] = rows, times - 1
        return rows


def ahead_of(conn: Connection) -> Ahead | None:
    """The `Ahead` of a unit of work on a server; None in a folder."""
    found: Ahead | None = conn.get_execution_options().get(AHEAD)
    return found


def answer(conn: Connection, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[AnyRow]:
    """The rows of a statement that may have been read ahead."""
    ahead = ahead_of(conn)
    rows = ahead.take(statement, values or {}) if ahead is not None else None
    return conn.execute(statement, values or {}).all() if rows is None else rows


def _key(statement: Executable, values: Mapping[str, Any]) -> tuple[int, str]:
    return id(statement), repr(values)  # statements are constants of their modules, and never freed

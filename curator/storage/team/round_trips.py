"""Few round trips for a writing unit: all writers of a shared project wait for the one who has the turn.

A writing unit runs in libpq's pipeline mode. Insertions, and statements with the option `LATER`, are sent without
waiting; their errors are raised by a later statement or by the commit. All other statements wait for their rows. The
statements in `Ahead` are sent together, with those that begin the transaction and take the turn. So a decision takes
two round trips: the turn with all reading, and all writing with the commit.
"""

from __future__ import annotations

import logging
import select as waiting
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import Pool

from curator.storage.db.ahead import LATER, Ask
from curator.storage.db.rows import AnyRow

if TYPE_CHECKING:
    import psycopg

IDLE = 0
"""libpq's state of a connection outside of a transaction."""
ANSWERS = 1000
"""The most attempts to read the answers that a failed unit left: each reads at least one."""
_sent: dict[int, tuple[Any, str, dict[str, Any]]] = {}
"""Texts and constants of statements by identity. The statements are kept, so that no other gets the same identity."""


@cache
def turn_connection() -> type[psycopg.Connection[Any]]:
    """The class of connections for writing units; psycopg is imported here."""
    import psycopg

    logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it warns of errors that are raised as well

    class TurnCursor(psycopg.Cursor[Any]):
        later = False

        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            super().execute(query, params, **options)
            pipeline = cast(Any, self.connection).turn
            if pipeline is not None and not self.later:
                pipeline.sync()
            return self

    class TurnConnection(psycopg.Connection[Any]):
        turn: psycopg.Pipeline | None = None
        _pipelined: AbstractContextManager[psycopg.Pipeline] | None = None

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.cursor_factory = TurnCursor

        def stay_pipelined(self) -> None:
            """Enter pipeline mode until the end of the connection: each exit would be a round trip."""
            if self._pipelined is None:
                self._pipelined = self.pipeline()
                self.turn = self._pipelined.__enter__()

        def rollback(self) -> None:
            if self.turn is None:
                super().rollback()
                return
            for _ in range(ANSWERS):  # to what was sent after a failed statement: the next unit must not read them
                if self.settled:  # so that it is no round trip for nothing
                    return
                try:
                    super().rollback()
                except psycopg.Error:
                    if self.closed or self.info.status != psycopg.pq.ConnStatus.OK:
                        raise
            self.close()

        @property
        def settled(self) -> bool:
            """Whether no transaction is open, and nothing is left to be sent or read."""
            waits = self.turn is not None and (self.turn.command_queue or self.turn.result_queue)
            return not waits and self.info.transaction_status == IDLE

        def close(self) -> None:
            if self._pipelined is not None:
                with suppress(psycopg.Error):
                    self._pipelined.__exit__(None, None, None)
                self._pipelined = self.turn = None
            super().close()

    return TurnConnection


def mark_later(engine: Engine) -> None:
    """Recognise the statements that need not be waited for."""

    @event.listens_for(engine, "before_cursor_execute")
    def mark(_: Any, cursor: Any, statement: str, __: Any, context: Any, ___: bool) -> None:
        inserts = context.isinsert and " RETURNING " not in statement
        cursor.later = inserts or context.execution_options.get(LATER, False)


@contextmanager
def pipelined(conn: Connection) -> Iterator[Callable[[Sequence[Ask]], list[Sequence[AnyRow]]]]:
    """Run a writing unit in pipeline mode; yields what sends its statements together (see `Ahead`)."""
    raw = cast(Any, conn.connection.dbapi_connection)
    raw.stay_pipelined()
    try:
        yield lambda asks: _together(conn, raw, asks)
    except BaseException:
        with suppress(Exception):  # SQLAlchemy regards a transaction as ended whose commit failed
            raw.rollback()
        raise


def send_later(conn: Connection, statement: str, values: Sequence[Any] = ()) -> None:
    """Send a statement whose rows nobody needs, at the beginning of a transaction: its errors are psycopg's, also those
    of earlier statements."""
    import psycopg

    psycopg.Cursor(cast(Any, conn.connection.dbapi_connection)).execute(statement, values)


def _together(conn: Connection, raw: Any, asks: Sequence[Ask]) -> list[Sequence[AnyRow]]:
    import psycopg
    from psycopg.rows import namedtuple_row

    if not conn.in_transaction():
        conn.begin()
    cursors = []
    for statement, values in asks:
        cursor = psycopg.Cursor(raw, row_factory=namedtuple_row)
        text, constants = _text(conn, statement)
        cursor.execute(text, {**constants, **values})
        cursors.append(cursor)
    raw.turn.sync()
    return [cursor.fetchall() for cursor in cursors]


def _text(conn: Connection, statement: Any) -> tuple[str, dict[str, Any]]:
    """The statement in psycopg's form, and its constants."""
    found = _sent.get(id(statement))
    if found is None:
        compiled = statement.compile(dialect=conn.dialect)
        constants = {name: one for name, one in compiled.params.items() if one is not None}
        found = _sent[id(statement)] = statement, str(compiled), constants
    return found[1:]


def notice_lost(pool: Pool) -> None:
    """Let the pool replace connections that the server has closed, before they are used. This asks the system, not the
    server, and so takes no round trip."""

    def check(raw: Any, *_: Any) -> None:
        if raw.closed or (waiting.select([raw.fileno()], [], [], 0)[0] and _ended(raw)):
            raise DisconnectionError

    event.listen(pool, "checkout", check)


def _ended(raw: psycopg.Connection[Any]) -> bool:
    """Whether the readable connection has ended; notices and news are readable, too."""
    import psycopg

    try:
        raw.pgconn.consume_input()
    except psycopg.Error:
        return True
    return bool(raw.pgconn.status != psycopg.pq.ConnStatus.OK) or bool(waiting.select([raw.fileno()], [], [], 0)[0])

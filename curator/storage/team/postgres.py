"""Connections to a shared project's PostgreSQL database.

psycopg is imported when a shared project is opened: a folder needs none. Passwords come from where libpq looks for them
(`~/.pgpass`, a service file, `PGPASSWORD`). Each connection speaks UTF-8, looks for tables in the project's schema
alone and shows days in this computer's time zone, as SQLite does.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import QueuePool, StaticPool

from curator.domain.wording import ProjectLockedError, UserError, tr
from curator.services.ports import SharedAddress
from curator.storage.db import as_user_errors

if TYPE_CHECKING:
    import psycopg

SCHEMA = "curator"
"""Where the project's tables are; nothing else of the database is read or written."""
OLDEST = 15
SECONDS = 10
"""How long to wait for a server that does not answer, where the address does not say."""
WRITER = 0x43757261
"""The advisory lock that the one connection that writes holds: "Cura"."""
NO_PSYCOPG = (
    "Shared projects need the package psycopg, which is not installed. Run `pip install 'curator[team]'`. Projects in "
    "folders need nothing more."
)
TOO_OLD = "The server of {address} is PostgreSQL {version}; shared projects need {oldest} or newer."
ENCODING = "The database of {address} stores {encoding}; shared projects need UTF8. Create it with `createdb -E UTF8`."
LOCKED = "{address} is open for writing in {who}. Close it there, or open it here read-only."
_ZONE = re.compile(r"[A-Za-z_+\-/0-9]+")


def require_psycopg() -> None:
    """Raises UserError where shared projects cannot be opened."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise UserError(tr(NO_PSYCOPG)) from error


def writing_team_engine(address: SharedAddress) -> Engine:
    """An engine of one connection, which holds the project's lock for writing as long as it lives. Units that take
    turns share it: a bulk load lets others in between two of its transactions."""

    def locked() -> psycopg.Connection[Any]:
        conn = dial(address)
        try:
            _take_lock(conn, address)
        except BaseException:
            conn.close()
            raise
        return conn

    return _engine(locked, poolclass=StaticPool)


def reading_team_engine(address: SharedAddress) -> Engine:
    """An engine whose transactions each see one state of the database, and can change nothing."""

    def reading() -> psycopg.Connection[Any]:
        import psycopg

        conn = dial(address)
        conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        conn.read_only = True
        return conn

    return _engine(reading, poolclass=QueuePool, pool_size=4, max_overflow=-1)


def _engine(creator: Callable[[], Any], **pool: Any) -> Engine:
    require_psycopg()
    return create_engine(
        "postgresql+psycopg://",
        creator=creator,
        pool_pre_ping=True,  # a server that was started again is not noticed by the key that comes next
        **pool,
    )


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """Its connections are closed with the block."""
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def held_alone(address: SharedAddress) -> Iterator[None]:
    """Nobody writes to the project until the block ends. Raises ProjectLockedError where somebody does."""
    conn = dial(address)
    try:
        _take_lock(conn, address)
        yield
    finally:
        conn.close()


def dial(address: SharedAddress, *, autocommit: bool = False) -> psycopg.Connection[Any]:
    """One connection of psycopg's own. Raises UserError where there is no such server, database or right."""
    require_psycopg()
    import psycopg

    settings = {"search_path": f"{SCHEMA},pg_temp", "TimeZone": _zone(), "jit": "off"}
    patience: dict[str, Any] = {} if "connect_timeout" in address.text else {"connect_timeout": SECONDS}
    with as_user_errors(address):
        return psycopg.connect(
            address.text,
            autocommit=autocommit,
            client_encoding="UTF8",
            application_name=_here(),
            options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
            **patience,
        )


def check_server(conn: Connection, address: SharedAddress) -> None:
    """Raises UserError for a server that is too old, or a database that does not store UTF-8."""
    version = int(conn.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000
    if version < OLDEST:
        raise UserError(tr(TOO_OLD, address=address, version=version, oldest=OLDEST))
    encoding = str(conn.exec_driver_sql("SHOW server_encoding").scalar_one())
    if encoding != "UTF8":
        raise UserError(tr(ENCODING, address=address, encoding=encoding))


def _take_lock(conn: psycopg.Connection[Any], address: SharedAddress) -> None:
    with as_user_errors(address):
        row = conn.execute("SELECT pg_try_advisory_lock(%s)", (WRITER,)).fetchone()
        who = "" if row is not None and row[0] else _holder(conn)
        conn.commit()
    if row is None or not row[0]:
        raise ProjectLockedError(tr(LOCKED, address=address, who=who or tr("another process")))


def _holder(conn: psycopg.Connection[Any]) -> str:
    """Who has the lock, by what they call themselves."""
    found = conn.execute(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype ="
        " 'advisory' AND l.granted AND l.objid = %s AND l.database = (SELECT oid FROM pg_database WHERE datname ="
        " current_database())",
        (WRITER,),
    ).fetchone()
    return str(found[0] or "") if found is not None else ""


def _here() -> str:
    """As others see this connection; PostgreSQL keeps 63 ASCII characters of it."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no user name in a bare container
        user = "curator"
    return f"curator {os.getpid()} of {user} on {socket.gethostname()}"


def _zone() -> str:
    """The time zone of this computer by its name, or where that is unknown its offset of today."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if not named:
        place = str(Path("/etc/localtime").resolve())
        named = place.partition("/zoneinfo/")[2]
    if named and _ZONE.fullmatch(named):
        return named
    offset = datetime.now().astimezone().utcoffset()
    minutes = int(offset.total_seconds()) // 60 if offset else 0
    return f"{'-' if minutes >= 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"  # POSIX counts westwards

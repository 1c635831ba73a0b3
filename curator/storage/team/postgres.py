"""Connections to a shared project's PostgreSQL database.

psycopg is imported when a shared project is opened: folders do not need it. Passwords come from libpq's sources
(`~/.pgpass`, a service file, `PGPASSWORD`). Each connection uses UTF-8, only the project's schema, and this computer's
time zone for days, as SQLite does.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

from curator.domain.wording import ProjectLockedError, UserError, tr
from curator.services.ports.address import SharedAddress
from curator.storage.db.errors import POOLED, as_user_errors
from curator.storage.team.round_trips import mark_later, notice_lost, send_later, turn_connection

if TYPE_CHECKING:
    import psycopg

SCHEMA = "curator"
"""The schema of the project's tables; nothing else in the database is read or written."""
OLDEST = 15
SECONDS = 10
"""The default timeout in seconds for a server that does not answer."""
PATIENT: Mapping[str, Any] = {
    "connect_timeout": SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * SECONDS,
}
"""Limits for networks that lose a connection without a word, unless the address has others."""
WRITER = 0x43757261
"""The advisory lock of writers, "Cura": shared while the project is open, exclusive for operations that need it
alone."""
TURN = WRITER + 1
"""The advisory lock held by a writing transaction."""
PATIENCE = 5
"""Seconds to wait for the end of exclusive access by another client."""
LONGEST = {"lock_timeout": "20s", "idle_in_transaction_session_timeout": "60s"}
"""The longest time a writer waits for its turn, and may be idle in it, so that a sleeping computer does not block
others."""
SESSION = {
    "search_path": f"{SCHEMA},pg_temp",
    "jit": "off",
    "DateStyle": "ISO",
    "extra_float_digits": "1",
    "row_security": "on",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
}
"""Settings on which the answers depend; those of the server, the database and the login are not used."""
SYNCED = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
"""Or what the window calls saved would be lost if the server failed within a second."""
SOON = "5s"
"""The longest time for which a client waits that can keep the step on its computer instead: a key waits for it."""
BELL = "curator"
OTHER = "+"
"""The end of the notification of a unit that wrote something else than operations."""
AHEAD = 300
"""Seconds by which a clock may differ from the server's, since decisions store their time."""
CLOCK = (
    "The clock of this computer and that of the server of {address} differ by {minutes:,} minutes, so decisions would "
    "have wrong times. Set the clock and open the project again, or open it read-only."
)
NO_PSYCOPG = (
    "Shared projects need the package psycopg, which is not installed. Run `pip install 'curator[team]'`. Projects in "
    "folders need nothing more."
)
TOO_OLD = "The server of {address} is PostgreSQL {version}; shared projects need {oldest} or newer."
ENCODING = "The database of {address} stores {encoding}; shared projects need UTF8. Create it with `createdb -E UTF8`."
LOCKED = "{address} is open for writing in {who}. Close it there, or open it here read-only."
_ZONE = re.compile(r"[A-Za-z_+\-/0-9]+")


def require_psycopg() -> None:
    """Raises UserError if psycopg is missing."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise UserError(tr(NO_PSYCOPG)) from error


def writing_team_engine(address: SharedAddress, limits: Mapping[str, str] = LONGEST) -> Engine:
    """An engine with one connection, made with the `limits` of that moment. Each of its transactions waits for the
    writers before it, as in SQLite, so that ids and hashes are consecutive. Units of a process share the connection: a
    bulk load lets others in between two transactions."""

    def entered() -> psycopg.Connection[Any]:
        conn = dial(address, limits, kind=turn_connection())
        try:
            _enter(conn, address)
            conn.autocommit = True  # transactions begin together with their turn, see `_take_turn`
        except BaseException:
            conn.close()
            raise
        return conn

    engine = _engine(entered, poolclass=StaticPool)
    event.listen(engine, "begin", _take_turn)
    mark_later(engine)
    return engine


def _take_turn(conn: Connection) -> None:
    send_later(conn, "BEGIN ISOLATION LEVEL READ COMMITTED")  # which sees all earlier writes
    send_later(conn, "SELECT pg_advisory_xact_lock(%s)", (TURN,))


def reading_team_engine(address: SharedAddress) -> Engine:
    """An engine of read-only transactions, each with a snapshot of the database."""

    def reading() -> psycopg.Connection[Any]:
        import psycopg

        conn = dial(address, {"lock_timeout": SOON})  # nothing locks a table against readers for long
        conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        conn.read_only = True
        return conn

    return _engine(reading, poolclass=QueuePool, pool_size=4, max_overflow=-1)


def _engine(creator: Callable[[], Any], **pool: Any) -> Engine:
    require_psycopg()
    engine = create_engine("postgresql+psycopg://", creator=creator, **pool)
    notice_lost(engine.pool)  # so that the next key press does not notice a restarted server
    return engine


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """Close the engine's connections at the end of the block."""
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def held_alone(address: SharedAddress) -> Iterator[None]:
    """Exclude other writers until the block ends. Raises ProjectLockedError if there are any."""
    conn = dial(address)
    try:
        _enter(conn, address, "pg_advisory_lock")  # a connection that was just closed may hold its lock for a moment
        yield
    finally:
        conn.close()


def alone(conn: Connection) -> bool:
    """Whether nobody else has the project open for writing; then nobody can open it before this transaction ends."""
    return bool(conn.exec_driver_sql("SELECT pg_try_advisory_xact_lock(%s)", (WRITER,)).scalar())


def locked(address: SharedAddress, who: str) -> ProjectLockedError:
    return ProjectLockedError(tr(LOCKED, address=address, who=who or tr("another process")))


def other_writer(conn: Connection) -> str:
    return _holder(cast("psycopg.Connection[Any]", conn.connection.dbapi_connection))


def check_clock(conn: Connection, address: SharedAddress) -> None:
    """Raises UserError if this computer's clock differs too much from the server's."""
    there: datetime = conn.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    ahead = (datetime.now(UTC) - there).total_seconds()
    if abs(ahead) > AHEAD:
        raise UserError(tr(CLOCK, minutes=round(abs(ahead) / 60), address=address))


def dial(
    address: SharedAddress,
    limits: Mapping[str, str] | None = None,
    *,
    autocommit: bool = False,
    kind: type[psycopg.Connection[Any]] | None = None,
) -> psycopg.Connection[Any]:
    """A psycopg connection. Raises UserError for a missing server, database or permission."""
    require_psycopg()
    import psycopg

    settings = {**SESSION, "TimeZone": _zone(), **(limits or {})}
    patience = {name: value for name, value in PATIENT.items() if name not in address.text}
    with as_user_errors(address):
        return (kind or psycopg.Connection).connect(
            address.text,
            autocommit=autocommit,
            client_encoding="UTF8",
            application_name=_here(),
            options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
            **patience,
        )


def check_server(conn: Connection, address: SharedAddress) -> None:
    """Raises UserError for a server that is too old, a database that does not store UTF-8, or a pooler between."""
    version = int(conn.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000
    if version < OLDEST:
        raise UserError(tr(TOO_OLD, address=address, version=version, oldest=OLDEST))
    encoding = str(conn.exec_driver_sql("SHOW server_encoding").scalar_one())
    if encoding != "UTF8":
        raise UserError(tr(ENCODING, address=address, encoding=encoding))
    if SCHEMA not in str(conn.exec_driver_sql("SHOW search_path").scalar_one()):
        raise UserError(tr(POOLED, path=address))


def _enter(conn: psycopg.Connection[Any], address: SharedAddress, lock: str = "pg_advisory_lock_shared") -> None:
    from psycopg.errors import LockNotAvailable

    with as_user_errors(address):
        try:
            conn.execute(f"SET LOCAL lock_timeout = {round(PATIENCE * 1000)}")
            conn.execute(f"SELECT {lock}(%s)", (WRITER,))
            conn.execute(SYNCED)
        except LockNotAvailable as error:
            conn.rollback()
            raise locked(address, _holder(conn)) from error
        conn.commit()


def _holder(conn: psycopg.Connection[Any]) -> str:
    """The application name of another holder of the lock."""
    found = conn.execute(
        "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.granted AND"
        " l.locktype = 'advisory' AND l.objid = %s AND l.pid <> pg_backend_pid() AND l.database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database())",
        (WRITER,),
    ).fetchone()
    return str(found[0] or "") if found is not None else ""


def _here() -> str:
    """The application name of this connection; PostgreSQL keeps 63 ASCII characters of it."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no user name in a bare container
        user = "curator"
    return f"curator {os.getpid()} of {user} on {socket.gethostname()}"


def _zone() -> str:
    """The time zone of this computer by name, or its current offset if the name is unknown."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if not named:
        place = str(Path("/etc/localtime").resolve())
        named = place.partition("/zoneinfo/")[2]
    if named and _ZONE.fullmatch(named):
        return named
    offset = datetime.now().astimezone().utcoffset()
    minutes = int(offset.total_seconds()) // 60 if offset else 0
    return f"{'-' if minutes >= 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"  # POSIX counts westwards

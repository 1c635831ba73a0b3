"""Turns what SQLite and PostgreSQL report about disks, networks, permissions and other programs into a sentence."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError

from curator.domain.wording import (
    AwayError,
    DamagedProjectError,
    InconsistentDataError,
    UnableError,
    UnwritableProjectError,
    UserError,
    tr,
)
from curator.services.ports.address import ProjectPlace

POOLED = (
    "The server of {path} does not take the settings of a connection, as behind a pooler such as pgbouncer that hands "
    "connections from one client to another. Give the address of the PostgreSQL server itself."
)
FULL = "The disk is full: nothing of this step was saved in {path}. Free some space and try again."
_SENTENCES = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: "{path} cannot be written. Check the permissions of the folder, or open it read-only.",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged; nothing was changed.",
    sqlite3.SQLITE_NOTADB: "{path} is not a project database.",
    sqlite3.SQLITE_IOERR: "The disk failed while {path} was being used: {detail}. Check the disk, and on a "
    "server how much you may store there, then try again.",
    sqlite3.SQLITE_BUSY: "Another program keeps {path} locked. Close it (a backup, a database viewer) and try again.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened. Check that the folder exists and its permissions.",
    sqlite3.SQLITE_PERM: "{path} cannot be opened. Check the permissions of the folder.",
}

UNREAD = "disk I/O error"
"""SQLite's words for a read that fails."""

_KINDS = {
    sqlite3.SQLITE_CORRUPT: DamagedProjectError,
    sqlite3.SQLITE_NOTADB: DamagedProjectError,
    sqlite3.SQLITE_READONLY: UnwritableProjectError,
}

_SERVERS = {
    "lost": "The connection to {path} was lost: nothing of this step was saved. Check the network, and try again.",
    "address": "{path} cannot be used as an address ({detail}). Correct it, or the service file that it names.",
    "secure": "A secure connection to {path} is not possible ({detail}). Check `sslmode` and the certificates in the "
    "address, and ask whoever runs the server.",
    "login": "{path} did not accept the user or the password. Check the user in the address, and the password in "
    "~/.pgpass, a service file or PGPASSWORD.",
    "door": "The server of {path} does not accept connections from this computer ({detail}). Ask whoever runs it.",
    "base": "There is no database of this name at {path}. Create it with `createdb`, or check the address.",
    "rights": "Your login may not do this in {path} ({detail}). Ask the owner of the project for permission.",
    "entry": "Your login may not connect to the database of {path}. Its owner can allow it: `curator people grant "
    "{path} LOGIN reader`, or curator, or adjudicator.",
    "reading": "{path} cannot be written: the server, its database or your login is set to read-only.",
    "slow": "The server of {path} ended a step that took longer than your login may use it: nothing of this step was "
    "saved there. Ask whoever runs it for a longer `statement_timeout`.",
    "disk": "The disk of the server of {path} is full: nothing of this step was saved there. Ask whoever runs the "
    "server to free some space.",
    "busy": "Others have been writing to {path} for a long time: nothing of this step was saved there. Try again "
    "later.",
    "many": "The server of {path} has too many connections open. Try again later, or ask whoever runs it.",
    "space": "The server of {path} has run out of memory or other resources ({detail}): nothing of this step was "
    "saved there. Ask whoever runs it.",
    "long": "A name or identifier is too long for {path} ({detail}): nothing of this step was saved.",
    "number": "There is no such number in {path} ({detail}).",
    "failed": "The disk of the server of {path} failed ({detail}): nothing of this step was saved there. Ask whoever "
    "runs it.",
    "pooled": POOLED,
    "refused": "The server of {path} refused the connection ({detail}).",
    "damaged": "The database of {path} is damaged ({detail}). Ask whoever runs the server to restore a backup.",
    "host": "There is no computer of the name in {path}. Check the address and the network.",
    "silent": "No PostgreSQL server answers at {path} ({detail}). Check the address, the network, and that the server "
    "runs.",
    "null": "{path} cannot store the character U+0000, which a text contains: nothing of it was saved.",
}
_AWAY = {"lost", "host", "silent"}
_UNABLE = {"busy", "damaged", "disk", "failed", "many", "reading", "refused", "secure", "slow", "space"}
"""What another time may be different: a step that was kept without the server is not refused for it."""
_STATES = {
    "28": "login",
    "3D": "base",
    "42501": "rights",
    "25006": "reading",
    "25P03": "lost",
    "55P03": "busy",
    "53100": "disk",
    "53300": "many",
    "53": "space",
    "54": "long",
    "22003": "number",
    "57014": "slow",
    "57": "lost",
    "58": "failed",
    "08": "lost",
    "XX": "damaged",
}
"""By PostgreSQL's error state, or the class that it begins with."""
_WORDS = {
    "no space left on device|could not write init file": "disk",
    "password authentication failed|no password supplied|authentication failed|role .* does not exist"
    "|passwort-authentifizierung .* fehlgeschlagen|rolle .* existiert nicht": "login",
    "pg_hba.conf": "door",
    "sslmode|not support ssl|certificate|private key file|ssl error: (no |tlsv|sslv|unsupported|wrong)": "secure",
    "definition of service|service file|bad value for|invalid (integer )?value|invalid connection option": "address",
    "database .* does not exist|datenbank .* existiert nicht": "base",
    "permission denied for database|keine berechtigung f.{1,2}r datenbank": "entry",
    "too many (connections|clients)|remaining connection slots|schon zu viele|zu viele verbindungen"
    "|die verbleibenden verbindungen": "many",
    "could not translate host name|failed to resolve host|name or service not known": "host",
    "connection refused|no such file|timeout expired|no route to host|unreachable|the database system is"
    "|das datenbanksystem|connection failed: .*closed the connection": "silent",
    "nul \\(0x00\\)": "null",
    "unsupported startup parameter": "pooled",
    "failed: \\S+:  ": "refused",
}
"""By the message while connecting, since libpq gives no state then. Servers write it in their own language: English and
German are known, and two spaces after the kind of error show the answer of a server in any other one."""


def user_error(error: BaseException | None, path: ProjectPlace) -> UserError | None:
    """The sentence for an error of the environment; None for everything else, which is a bug, and for an error of a
    server while a file is used."""
    if type(error).__module__.partition(".")[0] == "psycopg":
        if isinstance(path, Path):
            return None
        return _of_server(error, path)
    code = getattr(error, "sqlite_errorcode", None)
    undecodable = is_undecodable(error)
    if undecodable:
        code = sqlite3.SQLITE_CORRUPT
    sentence = _SENTENCES.get(code & 0xFF) if isinstance(code, int) else None
    if sentence is None or not isinstance(code, int):
        return None
    if code == sqlite3.SQLITE_CORRUPT and not undecodable and isinstance(path, Path) and is_sound_or_unread(path):
        return disk_failed(path, UNREAD)
    kind = _KINDS.get(code & 0xFF, UserError)
    return kind(tr(_SENTENCES[code & 0xFF], path=path, detail=error))


def is_undecodable(error: BaseException | None) -> bool:
    """Whether Python's sqlite3 could not decode a text, which the program writes as UTF-8: it is damaged."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


def disk_failed(path: ProjectPlace, detail: object) -> UserError:
    return UserError(tr(_SENTENCES[sqlite3.SQLITE_IOERR], path=path, detail=detail))


def disk_error(error: Exception, path: Path) -> UserError | None:
    """The sentence for an error of the environment; None for everything else, and for damage."""
    found = user_error(error, path)
    return None if isinstance(found, DamagedProjectError) else found


def _of_server(error: BaseException | None, path: ProjectPlace) -> UserError | None:
    state, detail = str(getattr(error, "sqlstate", None) or ""), _first_line(str(error))
    found = _STATES.get(state) or _STATES.get(state[:2])
    if not state:
        words = str(error).casefold()
        gone = "lost" if type(error).__name__ == "OperationalError" else None
        found = next((one for pattern, one in _WORDS.items() if re.search(pattern, words)), gone)
    detail = detail.rpartition(":  ")[2] if found == "refused" else detail
    kind = AwayError if found in _AWAY else UnableError if found in _UNABLE else UserError
    return None if found is None else kind(tr(_SERVERS[found], path=path, detail=detail))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip(".")


@contextmanager
def as_user_errors(path: ProjectPlace) -> Iterator[None]:
    """Raise UserError instead of the environment's errors, and InconsistentDataError for violations of the schema;
    other bugs are passed on."""
    try:
        yield
    except (IntegrityError, sqlite3.IntegrityError) as error:
        raise InconsistentDataError(str(error)) from error
    except Exception as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        sentence = user_error(cause, path)
        if sentence is None:
            raise
        raise sentence from error


# A disk that fails is not a damaged file: SQLite reports a read that fails as damage.

LOOK_S = 5.0
"""Seconds for a check. A file whose pages take longer counts as damaged, one whose indexes do as sound."""
STEPS = 10_000
"""Of SQLite's virtual machine, between two looks at the clock."""
_UNREAD = re.compile(r"unable to get the page. error code=(\d+)")
_UNREAD_FREE = "failed to get page "
"""Of the list of free pages, for which SQLite names no code. A page that does not exist is “invalid” there."""


def is_unread(found: str) -> bool:
    """Whether a line of SQLite's `quick_check` or `integrity_check` is about a page that could not be read."""
    codes = [int(code) & 0xFF for code in _UNREAD.findall(found)]
    return sqlite3.SQLITE_IOERR in codes or _UNREAD_FREE in found


def is_sound_or_unread(path: Path) -> bool:
    """Whether a database that SQLite has just called damaged is sound now, or cannot be read: then the disk failed.
    It is read through SQLite alone, since closing the file would release the locks of its open connections."""
    if not path.is_file():
        return False
    code = 0
    for how in ("mode=ro", "immutable=1"):  # the second one for a folder that cannot be written
        try:
            uri = f"{path.absolute().as_uri()}?{how}"
            found = _look(uri, "quick_check")
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code != sqlite3.SQLITE_CANTOPEN:
                break
        else:
            return is_unread(found) or (found == "ok" and _has_sound_indexes(uri))
    return code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def _has_sound_indexes(uri: str) -> bool:
    """What `quick_check` does not see: an index that names a missing row is damage, too."""
    try:
        found = _look(uri, "integrity_check")
    except sqlite3.Error:
        return True
    return found == "ok" or is_unread(found)


def _look(uri: str, check: str) -> str:
    ends = time.monotonic() + LOOK_S
    with closing(sqlite3.connect(uri, uri=True, timeout=0)) as conn:
        conn.set_progress_handler(lambda: time.monotonic() > ends, STEPS)
        return str(conn.execute(f"PRAGMA {check}(1)").fetchone()[0])

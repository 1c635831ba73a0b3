from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from curator.domain.wording import DamagedProjectError, UserError
from curator.services.ports.address import SharedAddress
from curator.storage.db.errors import as_user_errors


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be written"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_IOERR_WRITE, "disk failed"),
        (sqlite3.SQLITE_BUSY, "Another program"),
    ],
)
def test_the_environments_errors_become_sentences_that_name_the_file(code, text):
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code
    with pytest.raises(UserError, match=text) as caught, as_user_errors(Path("/a/b.sqlite")):
        raise error
    assert "/a/b.sqlite" in str(caught.value)


def test_a_text_that_is_no_utf_8_is_damage(tmp_path):
    path = tmp_path / "p.sqlite"
    conn, damaged = sqlite3.connect(path), pytest.raises(DamagedProjectError, match=r"p\.sqlite is damaged")
    with closing(conn), damaged, as_user_errors(path):
        conn.execute("SELECT CAST(x'41ff' AS TEXT)").fetchone()


def test_bugs_pass_as_they_are():
    with pytest.raises(sqlite3.OperationalError, match="syntax"), as_user_errors(Path("/a")):
        sqlite3.connect(":memory:").execute("SELEC")


class Told(Exception):
    """As psycopg's errors are: with a state where a server has answered."""

    __module__ = "psycopg.errors"

    def __init__(self, text: str, sqlstate: str | None = None) -> None:
        super().__init__(text)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Told('connection failed: FATAL:  password authentication failed for user "ada"'), "the user or the password"),
        (Told("connection failed: fe_sendauth: no password supplied"), "the user or the password"),
        (Told("failed to resolve host 'nowhere': [Errno -2] Name or service not known"), "no computer of the name"),
        (Told('connection to server at "db", port 5432 failed: Connection refused'), "No PostgreSQL server answers"),
        (Told('connection failed: "db" failed: server closed the connection'), "No PostgreSQL server answers"),
        (Told('FATAL:  database "x" does not exist'), "no database of this name"),
        (Told('FATAL:  permission denied for database "x"'), "Your login may not connect to the database"),
        (Told("PostgreSQL text fields cannot contain NUL (0x00) bytes"), r"U\+0000"),
        (Told("permission denied for table decisions", "42501"), "Your login may not do this"),
        (Told("could not extend file: No space left on device", "53100"), "disk of the server .* is full"),
        (Told("connection failed: FATAL:  could not write init file"), "disk of the server .* is full"),
        (Told("sorry, too many clients already", "53300"), "too many connections"),
        (Told("terminating connection due to administrator command", "57P01"), "was lost"),
        (Told("canceling statement due to statement timeout", "57014"), "statement_timeout"),
        (Told("integer out of range", "22003"), "no such number"),
        (Told("invalid page in block 3", "XX001"), "is damaged"),
        (Told('"db" failed: FATAL:  pg_hba.conf rejects connection for host'), "does not accept connections from"),
        (Told("failed: FATAL:  Passwort-Authentifizierung für Benutzer »ada« fehlgeschlagen"), "or the password"),
        (Told('"db" failed: server does not support SSL, but SSL was required'), "A secure connection to"),
        (Told('"db" failed: server certificate for "x" does not match host name "db"'), "secure connection"),
        (Told('definition of service "x" not found'), "cannot be used as an address"),
        (Told("bad value for connect_timeout: 'x'"), "cannot be used as an address"),
        (Told("failed: FATAL:  unsupported startup parameter: options"), "a pooler such as pgbouncer"),
        (Told("failed: FATAL:  the database system is not yet accepting connections"), "No PostgreSQL server answers"),
        (Told("failed: FATAL:  das Datenbanksystem startet"), "No PostgreSQL server answers"),
        (Told("failed: FATAL:  Datenbank >>x<< existiert nicht"), "no database of this name"),
        (Told("failed: FATAL:  zu viele Verbindungen für Rolle »ada«"), "too many connections"),
        (Told("failed: FATAL:  l'authentification par mot de passe a échoué"), r"refused the connection \(l'auth"),
    ],
)
def test_what_a_server_reports_becomes_a_sentence_that_names_the_address(error, text):
    address = SharedAddress.parse("postgresql://ada@db/trial")
    with pytest.raises(UserError, match=text) as caught, as_user_errors(address):
        raise error
    assert str(address) in str(caught.value)


def test_a_bug_in_a_statement_stays_a_bug():
    with pytest.raises(Told), as_user_errors(SharedAddress.parse("postgresql://db/trial")):
        raise Told('syntax error at or near "SELEC"', "42601")

"""Who may do what in a shared project: roles are granted, listed and revoked by an owner.

A person is a login of the server. The name as which it decides is stored when the role is granted, so that nobody can
choose it in a client.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from curator.domain.wording import UserError, tr
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Person, Role
from curator.storage.db.errors import as_user_errors
from curator.storage.team.postgres import reading_team_engine, using, writing_team_engine
from curator.storage.team.roles import (
    give,
    make_owner,
    owner_of,
    people_in,
    quoted,
    set_owner,
    standing,
    take,
    write_person,
)
from curator.storage.team.schema import check_schema_version

NO_LOGIN = "The server of {address} has no login {login}. Whoever runs it creates one with `createuser {login}`."
NOT_OWNER = "Only an owner of {address} can change who may do what ({owner} owns it)."
NAMED_SO = "{other} decides as “{name}” in {address} already. Give --name with another name."
IS_OWNER = "{login} is an owner of {address}, who may do everything."
NO_NAME = (
    "Nobody can decide as “{name}”: names that begin with “import:” are those of imports. Give --name with another "
    "name."
)
RESERVED = "import:"
NOT_FOUND = "{login} has no role in {address}. `curator people list` shows who has one."


class People:
    """Who may do what in the shared project at `address`. Every method raises UserError."""

    def __init__(self, address: SharedAddress) -> None:
        self._address = address

    def all(self) -> list[Person]:
        """Owners first, then by login."""
        engine = reading_team_engine(self._address)
        with using(engine), as_user_errors(self._address), engine.connect() as conn:
            check_schema_version(conn, self._address)
            return people_in(conn)

    def grant(self, login: str, role: Role, *, name: str = "") -> Person:
        """Give a login this role in place of its earlier one; it decides as `name`, by default as before or as its
        login."""
        with self._owned() as conn:
            known = {one.login: one for one in people_in(conn)}
            if not _exists(conn, login):
                raise UserError(tr(NO_LOGIN, address=self._address, login=login))
            before = known.get(login)
            if before is not None and before.role is Role.OWNER and role is not Role.OWNER:
                raise UserError(tr(IS_OWNER, address=self._address, login=login))
            given = name.strip() or (before.name if before is not None else login)
            if given.startswith(RESERVED):
                raise UserError(tr(NO_NAME, name=given))
            for one in known.values():
                if one.login != login and given in (one.name, one.login):
                    if _exists(conn, one.login):
                        raise UserError(tr(NAMED_SO, address=self._address, other=one.login, name=given))
                    _forget(conn, one.login)  # it was renamed, perhaps to this one
            write_person(conn, login, given, role)
            if role is not Role.OWNER:
                give(conn, login, role)
            elif before is None or before.role is not Role.OWNER:
                make_owner(conn, self._address, login)
        return Person(login, given, role)

    def revoke(self, login: str) -> Person:
        """Take a login's role away; what it decided stays."""
        with self._owned() as conn:
            found = next((one for one in people_in(conn) if one.login == login), None)
            if found is None:
                raise UserError(tr(NOT_FOUND, address=self._address, login=login))
            if login == owner_of(conn):
                raise UserError(tr(IS_OWNER, address=self._address, login=login))
            if found.role is Role.OWNER:
                set_owner(conn, self._address, f"REVOKE {quoted(owner_of(conn))} FROM {quoted(login)}")
            if _exists(conn, login):  # a login that was dropped or renamed leaves its row
                take(conn, [login])
            _forget(conn, login)
        return found

    @contextmanager
    def _owned(self) -> Iterator[Connection]:
        engine = writing_team_engine(self._address)
        with using(engine), as_user_errors(self._address), engine.begin() as conn:
            check_schema_version(conn, self._address)
            if standing(conn)[0] is not Role.OWNER:
                raise UserError(tr(NOT_OWNER, address=self._address, owner=owner_of(conn)))
            yield conn


def _exists(conn: Connection, login: str) -> bool:
    return bool(conn.exec_driver_sql("SELECT 1 FROM pg_roles WHERE rolname = %s AND rolcanlogin", (login,)).all())


def _forget(conn: Connection, login: str) -> None:
    conn.exec_driver_sql("DELETE FROM people WHERE login = %s", (login,))

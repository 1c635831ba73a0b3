"""The roles of a shared project: lists of rights that a PostgreSQL login is granted.

A role is granted to the login itself, not through group roles of the server: creating those needs CREATEROLE, which the
owner of a database often lacks, and their names are shared by all databases of the server. The table `people` says
which role a login has; only the owner writes it. What rights cannot express is in `guards`.

The owner's rights are not granted but inherited: an owner is a member of the PostgreSQL role that owns the schema, so
that whoever upgrades the project owns what the upgrade creates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, ProgrammingError

from curator.domain.wording import UserError, tr
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Person, Role
from curator.storage.db.schema import Base
from curator.storage.team.postgres import SCHEMA

APPENDED_BY_CURATORS = (
    "operations",
    "decisions",
    "efforts",
    "judgements",
    "mention_edits",
    "mention_attributes",
    "round_documents",
    "round_mentions",
    "rounds",
)
CURATOR: Mapping[str, str] = {
    **dict.fromkeys(APPENDED_BY_CURATORS, "INSERT"),
    "mentions": "INSERT, UPDATE (start_pos, end_pos, fragmented, deleted, outcome, decision_id, text, type, flagged,"
    " string_key)",
    "fragments": "INSERT, DELETE",
    "documents": "UPDATE (state, revision, mentions, linked, nil, rejected, skipped, stamp_bundle, stamp_revision,"
    " flagged)",
    "suggestions": "INSERT, UPDATE, DELETE",
    "suggestion_facts": "INSERT, UPDATE, DELETE",
    "opinions": "INSERT, DELETE",
    "comments": "INSERT, UPDATE (deleted)",
    "relations": "INSERT, UPDATE (deleted)",
    "provisional_entities": "INSERT, UPDATE",
    "meta": "INSERT, DELETE",
    "claims": "INSERT, UPDATE, DELETE",
}
"""What curators may do besides reading, by table."""
LOG = ("operations", "judgements", "mention_edits", "imports", "former_texts", "mention_attributes")
READ_BY_ALL = ("people", "schema_version")
EVERYTHING = "INSERT, UPDATE, DELETE"
TOO_MUCH = (
    "{address} belongs to {owner}, who administers the server: another owner would be an administrator too. Whoever "
    "runs the server can give the project to an ordinary login first: `REASSIGN OWNED`, or `ALTER … OWNER TO`."
)

ADMINISTRATOR = (
    "Only an administrator of the server can change who owns {address}: ask whoever runs it to execute `{statement}`."
)
NO_ROLE = (
    "Your login has no role in {address}. Its owner can give it one: `curator people grant {address} LOGIN reader`, or "
    "curator, or adjudicator."
)
READER = (
    "Your login may only read {address}. Its owner can make you a curator of it: `curator people grant {address} LOGIN "
    "curator`."
)
NO_MORE = (
    "{address} cannot be read any more: your login has lost its role, or the project was removed. Its owner can give "
    "you a role: `curator people grant {address} LOGIN reader`, or curator, or adjudicator."
)
NOT_HERE = (
    "Your login may not create a project in the database of {address}. Whoever runs the server can allow it: `GRANT "
    "CREATE ON DATABASE {base} TO LOGIN`, or create a database for you: `createdb -O LOGIN NAME`."
)
TRUSTED_ONLY = (
    "This step needs another role in {address} than your login has: adjudicators and owners may take it. Nothing of it "
    "was saved. An owner can give you the role: `curator people grant {address} LOGIN adjudicator`."
)
OWNERS_ONLY = (
    "Only an owner of {address} may take this step, and nothing of it was saved. `curator people list {address}` lists "
    "the owners."
)
DENIED, UNKNOWN_TABLE = "42501", "42P01"
"""States of PostgreSQL's errors; without rights in the schema, tables of an open project are not found."""
NO_RIGHT, NO_ROW = "aclcheck_error", "ExecWithCheckOptions"
"""Where in PostgreSQL a right, or a policy for a row, refuses a statement. The last name in the message is that of the
table, schema or database; its other words are in the server's language."""
_OF_CURATORS = ("claims", "decisions", "operations")
"""Every step of a curator writes one of these first."""
_TABLES = {*Base.metadata.tables, *READ_BY_ALL, "claims", "kb_pieces", "linkers", "linker_pieces"}
_NAME = re.compile(r"[A-Za-z0-9_]+")


class LostRoleError(UserError):
    """The login had the role when the project was opened, and may get it back."""


@contextmanager
def refusals(address: SharedAddress, role: Role | None) -> Iterator[None]:
    """Raise UserError with the role that a refused step needs, and the people that can give it. `role`: that of this
    login; None while a project is opened or created. Other errors are passed on."""
    try:
        yield
    except Exception as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        state = getattr(cause, "sqlstate", None)
        if state == UNKNOWN_TABLE and role is not None:
            raise LostRoleError(tr(NO_MORE, address=address)) from error
        if state != DENIED:
            raise
        source = getattr(getattr(cause, "diag", None), "source_function", None)
        what = (_NAME.findall(str(cause).partition("\n")[0]) or [""])[-1]
        if source == NO_RIGHT and what == SCHEMA:
            raise UserError(tr(NO_ROLE, address=address)) from error
        if source == NO_RIGHT and what not in _TABLES:
            raise UserError(tr(NOT_HERE, address=address, base=address.base or "NAME")) from error
        if source == NO_RIGHT and role is Role.CURATOR and what in _OF_CURATORS:  # the role was taken away meanwhile
            raise LostRoleError(tr(READER, address=address)) from error
        if source in (NO_RIGHT, NO_ROW):
            raise UserError(tr(OWNERS_ONLY if role is Role.ADJUDICATOR else TRUSTED_ONLY, address=address)) from error
        raise


def standing(conn: Connection) -> tuple[Role, str]:
    """The role of this connection's login, and the name as which it decides: '' for an owner who has chosen none, whose
    program may give any."""
    role, name, chosen = conn.exec_driver_sql(
        "SELECT standing(), own_name(), EXISTS (SELECT 1 FROM people WHERE login = session_user)"
    ).one()
    return Role(role), "" if role == Role.OWNER and not chosen else str(name)


def be_owner(conn: Connection) -> None:
    """Act as the schema's owner until the transaction ends, if this login may: what it creates belongs to the owner."""
    owner = owner_of(conn)
    if conn.exec_driver_sql("SELECT pg_has_role(%s::name, 'MEMBER')", (owner,)).scalar_one():
        run(conn, f"SET LOCAL ROLE {quoted(owner)}")


def renew(conn: Connection) -> None:
    """Give every login exactly the rights of its role, and nobody else any: after the tables were created or changed,
    as tables may also get rights by default."""
    take(conn, _grantees(conn))
    for one in people_in(conn):
        if one.role is not Role.OWNER:
            give(conn, one.login, one.role)


def rights(role: Role, tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(table, what is granted besides SELECT) for the tables of a project."""
    for table in tables:
        if role is Role.CURATOR and table in CURATOR:
            yield table, CURATOR[table]
        elif role is Role.ADJUDICATOR and table not in READ_BY_ALL:
            yield table, "INSERT" if table in LOG else "INSERT, DELETE" if table == "decisions" else EVERYTHING


def give(conn: Connection, login: str, role: Role) -> None:
    who = quoted(login)
    take(conn, [login])
    run(conn, f"GRANT USAGE ON SCHEMA {SCHEMA} TO {who}")
    run(conn, f"GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {who}")
    for table, granted in rights(role, _tables(conn)):
        run(conn, f"GRANT {granted} ON {SCHEMA}.{table} TO {who}")
    base = conn.exec_driver_sql("SELECT current_database()").scalar_one()
    if not conn.exec_driver_sql("SELECT has_database_privilege(%s, %s, 'CONNECT')", (login, base)).scalar_one():
        run(conn, f"GRANT CONNECT ON DATABASE {quoted(base)} TO {who}")


def take(conn: Connection, logins: Sequence[str]) -> None:
    for one in logins:
        who = quoted(one) if one else "PUBLIC"
        run(conn, f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {who}")
        run(conn, f"REVOKE ALL ON SCHEMA {SCHEMA} FROM {who}")
        run(conn, f"ALTER DEFAULT PRIVILEGES IN SCHEMA {SCHEMA} REVOKE ALL ON TABLES FROM {who}")


def make_owner(conn: Connection, address: SharedAddress, login: str) -> None:
    owner = owner_of(conn)
    if conn.exec_driver_sql("SELECT rolsuper FROM pg_roles WHERE rolname = %s", (owner,)).scalar_one():
        raise UserError(tr(TOO_MUCH, address=address, owner=owner))
    take(conn, [login])
    set_owner(conn, address, f"GRANT {quoted(owner)} TO {quoted(login)}")


def set_owner(conn: Connection, address: SharedAddress, statement: str) -> None:
    """Raises UserError if this login may not grant membership in its own role, as most logins."""
    try:
        run(conn, statement)
    except ProgrammingError as error:
        raise UserError(tr(ADMINISTRATOR, address=address, statement=statement)) from error


def write_person(conn: Connection, login: str, name: str, role: Role) -> None:
    conn.exec_driver_sql(
        "INSERT INTO people VALUES (%s, %s, %s) ON CONFLICT (login) DO UPDATE SET name = excluded.name,"
        " role = excluded.role",
        (login, name, (Role.ADJUDICATOR if role is Role.OWNER else role).value),
    )


def people_in(conn: Connection) -> list[Person]:
    names = {login: (name, role) for login, name, role in conn.exec_driver_sql("SELECT login, name, role FROM people")}
    owner = owner_of(conn)
    members = conn.exec_driver_sql(
        "SELECT r.rolname FROM pg_roles r WHERE r.rolcanlogin AND (r.rolname = %s OR NOT r.rolsuper"
        " AND pg_has_role(r.oid, %s::name, 'USAGE')) ORDER BY r.rolname <> %s, r.rolname",
        (owner, owner, owner),
    )
    found = [Person(one, names.pop(one, (one, ""))[0], Role.OWNER) for one in members.scalars().all()]
    return found + [Person(login, name, Role(role)) for login, (name, role) in sorted(names.items())]


def owner_of(conn: Connection) -> str:
    query = "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s"
    return str(conn.exec_driver_sql(query, (SCHEMA,)).scalar_one())


def _tables(conn: Connection) -> list[str]:
    query = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY tablename"
    return list(conn.exec_driver_sql(query, (SCHEMA,)).scalars())


def _grantees(conn: Connection) -> list[str]:
    """Everybody but the owner who has a right in the schema, or will have one on new tables; '' for PUBLIC."""
    query = (
        "WITH given AS (SELECT (aclexplode(relacl)).grantee FROM pg_class WHERE relnamespace = %s::regnamespace"
        " UNION SELECT (aclexplode(nspacl)).grantee FROM pg_namespace WHERE nspname = %s"
        " UNION SELECT (aclexplode(attacl)).grantee FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = %s::regnamespace"
        " UNION SELECT (aclexplode(defaclacl)).grantee FROM pg_default_acl d JOIN pg_namespace n"
        " ON n.oid = d.defaclnamespace WHERE n.nspname = %s)"
        " SELECT DISTINCT coalesce(r.rolname, '') FROM given LEFT JOIN pg_roles r ON r.oid = grantee"
        " WHERE grantee <> (SELECT nspowner FROM pg_namespace WHERE nspname = %s)"
    )
    return sorted(conn.exec_driver_sql(query, (SCHEMA,) * 5).scalars())


def run(conn: Connection, statement: str) -> None:
    conn.exec_driver_sql(statement.replace("%", "%%"))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

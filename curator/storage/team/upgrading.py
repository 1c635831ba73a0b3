"""Upgrades an older shared project to this program's schema in one transaction, keeping a copy of the old one.

The copy is another schema in the same database, such as `curator_v11`, with tables, indexes, triggers and policies,
which nobody but the owner may use; renaming it to `curator` restores the old project. A step is a list of statements;
released steps are never edited. A test checks that the steps from the first version give the same schema as
`statements`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count

from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError

from curator.domain.wording import UserError, tr
from curator.services.ports.address import SharedAddress
from curator.storage.team import guards, values
from curator.storage.team.postgres import SCHEMA
from curator.storage.team.roles import be_owner, renew
from curator.storage.team.schema import CLAIMS_MADE, FIRST, check_schema_version

log = logging.getLogger(__name__)
Step = Sequence[str]
_FORMER_RIGHTS = (
    "INSERT INTO people (login, name, role) SELECT r.rolname, r.rolname,"
    " CASE WHEN bool_or(a.privilege_type = 'INSERT') THEN 'curator' ELSE 'reader' END"
    " FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee"
    " WHERE c.relnamespace = 'curator'::regnamespace AND c.relname = 'decisions' AND r.rolcanlogin"
    " AND NOT pg_has_role(r.oid, c.relowner, 'USAGE') GROUP BY r.rolname"
)
"""Logins that were granted rights by hand before there were roles: who could decide is a curator."""
STEPS: tuple[Step, ...] = ((CLAIMS_MADE,), (*guards.made(), _FORMER_RIGHTS), tuple(values.made()))
"""Step i upgrades a shared project from version FIRST + i to the next. They follow the folders' steps that change a
table: `curator/storage/migrations.py`."""
NOT_YOURS = (
    "{address} was written by an older version (schema {version}), and your login may not upgrade it. Its owner must "
    "open it once with this version of the program."
)


def newest_version() -> int:
    return FIRST + len(STEPS)


def upgrade(conn: Connection, address: SharedAddress) -> str | None:
    """Upgrade the project to the newest version, in the connection's current transaction; only this session may write.
    Returns the schema of the copy, None if there was nothing to do.

    Raises NewerProjectError, and UserError if there is no project or the login lacks permission.
    """
    version = check_schema_version(conn, address, newest_version(), older=True)
    if version == newest_version():
        return None
    try:
        be_owner(conn)
        kept = _keep(conn, version)
        for step in STEPS[version - FIRST :]:
            for statement in step:
                conn.exec_driver_sql(statement.replace("%", "%%"))
        renew(conn)
        conn.exec_driver_sql("UPDATE schema_version SET version = %s", (newest_version(),))
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) == "42501":
            raise UserError(tr(NOT_YOURS, address=address, version=version)) from error
        raise
    log.info("%s was upgraded from schema %s to %s; %s holds the copy", address, version, newest_version(), kept)
    return kept


def _keep(conn: Connection, version: int) -> str:
    """Copy the project to another schema. Definitions are read with the project's schema as the search path, and
    executed with the copy's."""
    kept = next(name for name in _names(version) if not _exists(conn, name))
    functions = _texts(conn, "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = %s::regnamespace")
    tables = _texts(conn, "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY tablename")
    references = _texts(
        conn,
        "SELECT format('ALTER TABLE %%I ADD %%s', t.relname, pg_get_constraintdef(c.oid)) FROM pg_constraint c"
        " JOIN pg_class t ON t.oid = c.conrelid WHERE c.contype = 'f' AND c.connamespace = %s::regnamespace",
    )
    guards = _texts(
        conn,
        "SELECT pg_get_triggerdef(g.oid, true) FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid"
        " WHERE NOT g.tgisinternal AND t.relnamespace = %s::regnamespace",
    )
    hidden = _texts(
        conn,
        "SELECT format('ALTER TABLE %%I ENABLE ROW LEVEL SECURITY', relname) FROM pg_class"
        " WHERE relrowsecurity AND relnamespace = %s::regnamespace ORDER BY relname",
    )
    policies = _texts(
        conn,
        "SELECT format('CREATE POLICY %%I ON %%I FOR %%s', policyname, tablename, cmd)"
        " || coalesce(' USING (' || qual || ')', '') || coalesce(' WITH CHECK (' || with_check || ')', '')"
        " FROM pg_policies WHERE schemaname = %s ORDER BY tablename, policyname",
    )
    conn.exec_driver_sql(f"CREATE SCHEMA {kept}")
    made = [one.replace(f"FUNCTION {SCHEMA}.", f"FUNCTION {kept}.", 1) for one in functions]
    for table in tables:
        made.append(f"CREATE TABLE {kept}.{table} (LIKE {SCHEMA}.{table} INCLUDING ALL)")
        made.append(f"INSERT INTO {kept}.{table} TABLE {SCHEMA}.{table}")
    for statement in [*made, f"SET LOCAL search_path = {kept}", *references, *guards, *hidden, *policies]:
        conn.exec_driver_sql(statement.replace("%", "%%"))
    conn.exec_driver_sql(f"SET LOCAL search_path = {SCHEMA}, pg_temp")
    return kept


def _names(version: int) -> list[str]:
    """Name for the copy; an earlier copy of the same version is kept."""
    first = f"{SCHEMA}_v{version}"
    return [first, *(f"{first}_{number}" for number, _ in zip(count(2), range(98), strict=False))]


def _exists(conn: Connection, name: str) -> bool:
    return conn.exec_driver_sql("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,)).first() is not None


def _texts(conn: Connection, query: str) -> list[str]:
    return [str(one) for one in conn.exec_driver_sql(query, (SCHEMA,)).scalars()]

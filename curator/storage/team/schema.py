"""The schema of a shared project: the same tables as in a folder, from the same mappings, in PostgreSQL's dialect.

Texts are compared by their code points, as SQLite does. Additional tables: pieces of knowledge bases and linkers, which
each client copies, and the schema's version. Indexes of possibly long texts use hashes, since PostgreSQL's ordered
indexes are limited to 2,704 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from sqlalchemy import Boolean, Connection, LargeBinary, column, table
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.schema import CreateIndex, CreateTable

from curator.domain.wording import NewerProjectError, UserError, tr
from curator.services.ports.address import SharedAddress
from curator.storage.db.schema import Base
from curator.storage.team import guards
from curator.storage.team.postgres import SCHEMA, check_server
from curator.storage.team.roles import DENIED, be_owner, renew

MIGRATIONS: tuple[Sequence[str], ...] = ()
"""The statements that bring a shared project from version i + 1 to the next. They follow those of folders that change a
table, and are numbered separately. One that was released is never edited; whoever appends one changes `statements` in
the same way."""
CLAIMS_MADE = (
    "CREATE TABLE claims (document_id INTEGER PRIMARY KEY REFERENCES documents (id),"
    ' curator TEXT COLLATE "C" NOT NULL, until TIMESTAMPTZ NOT NULL)'
)
"""Assigned documents, their curators, and the end of each claim by the server's clock."""
KB_PIECES = table("kb_pieces", column("version"), column("place"), column("source"), column("data", LargeBinary))
LINKERS = table("linkers", column("id"), column("complete", Boolean), column("pieces"))
LINKER_PIECES = table("linker_pieces", column("linker"), column("place"), column("path"), column("data", LargeBinary))
HASHED = {
    "ix_mentions_text": "INDEX ix_mentions_text ON mentions USING hash (string_key)",
    "ix_decisions_entities": "INDEX ix_decisions_entities ON decisions USING hash (entity_ids)",
    "ix_documents_external_id": "INDEX ix_documents_external_id ON documents USING hash (external_id)",
    "ix_documents_place": "UNIQUE INDEX ix_documents_place ON documents (file_id, md5(external_id), occurrence)",
    "ix_relations_type": "INDEX ix_relations_type ON relations USING hash (type)",
}
"""The indexes of texts of any length."""
TAKEN = (
    "{address} holds the project “{name}” already. Open it with `curator open {address}`, or create another database "
    "with `createdb`."
)
OTHER = (
    "The database of {address} holds something else ({name}). A shared project needs a database of its own: create "
    "one with `createdb` and give its address."
)
NONE = "{address} holds no project of this program. Create one with `curator new {address}`."
OLDER = "{address} was written by an older version (schema {version}). Open it once for writing to upgrade it."
NEWER = (
    "{address} was written by a newer version of this program (schema {version}; this version reads up to {newest}). "
    "Update the program; the project was not changed."
)
NOT_YOURS = (
    "{address} was written by an older version (schema {version}), and your login may not upgrade it. Its owner must "
    "open it once with this version of the program."
)


def statements() -> Iterator[str]:
    """The statements that turn an empty schema into a project's."""
    from sqlalchemy.dialects import postgresql

    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for one in Base.metadata.sorted_tables:
        made = str(CreateTable(one).compile(dialect=dialect))
        yield made.replace(" VARCHAR", ' TEXT COLLATE "C"').replace(" SERIAL ", " INTEGER ")
        for index in sorted(one.indexes, key=lambda index: str(index.name)):
            hashed = HASHED.get(str(index.name))
            yield f"CREATE {hashed}" if hashed else str(CreateIndex(index).compile(dialect=dialect))
    yield (
        "CREATE TABLE kb_pieces (version INTEGER NOT NULL REFERENCES kb_versions (id), place INTEGER NOT NULL,"
        " source TEXT, data BYTEA NOT NULL, PRIMARY KEY (version, place))"
    )
    yield "ALTER TABLE kb_pieces ALTER COLUMN data SET STORAGE EXTERNAL"  # they are compressed
    yield ('CREATE TABLE linkers (id TEXT COLLATE "C" PRIMARY KEY, complete BOOLEAN NOT NULL, pieces INTEGER NOT NULL)')
    yield (
        'CREATE TABLE linker_pieces (linker TEXT COLLATE "C" NOT NULL REFERENCES linkers (id), place INTEGER NOT NULL,'
        " path TEXT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (linker, place))"
    )
    yield "ALTER TABLE linker_pieces ALTER COLUMN data SET STORAGE EXTERNAL"
    yield "CREATE TABLE schema_version (version INTEGER NOT NULL)"
    yield CLAIMS_MADE
    yield from guards.made()


def newest_version() -> int:
    return 1 + len(MIGRATIONS)


def create_schema(conn: Connection, address: SharedAddress) -> None:
    """Turn an empty database into a project without a name, in the connection's current transaction.

    Raises UserError if the database is not empty.
    """
    check_server(conn, address)
    _refuse_others(conn, address)
    conn.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
    for one in statements():
        conn.exec_driver_sql(one.replace("%", "%%"))
    conn.exec_driver_sql("INSERT INTO schema_version VALUES (%s)", (newest_version(),))


def _refuse_others(conn: Connection, address: SharedAddress) -> None:
    found = conn.exec_driver_sql(
        "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
        " AND NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.objid = c.oid AND e.deptype = 'e')"
        " ORDER BY n.nspname <> %s, c.relname LIMIT 1",
        (SCHEMA,),
    ).scalar()
    if found is None:
        return
    if _version(conn) is not None:
        name = conn.exec_driver_sql(f"SELECT value FROM {SCHEMA}.meta WHERE key = 'project.name'").scalar()  # noqa: S608
        raise UserError(tr(TAKEN, address=address, name=name or ""))
    raise UserError(tr(OTHER, address=address, name=found))


def migrate(conn: Connection, address: SharedAddress) -> bool:
    """Bring an older project to the newest version, in the connection's current transaction; only this session may
    write. Returns whether there was anything to do.

    Raises NewerProjectError, and UserError if there is no project or the login lacks permission.
    """
    version = check_schema_version(conn, address, older=True)
    if version == newest_version():
        return False
    try:
        be_owner(conn)
        for statement in chain.from_iterable(MIGRATIONS[version - 1 :]):
            conn.exec_driver_sql(statement.replace("%", "%%"))
        renew(conn)
        conn.exec_driver_sql("UPDATE schema_version SET version = %s", (newest_version(),))
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) == DENIED:
            raise UserError(tr(NOT_YOURS, address=address, version=version)) from error
        raise
    return True


def check_schema_version(conn: Connection, address: SharedAddress, *, older: bool = False) -> int:
    """The version of the project. Raises NewerProjectError, and UserError if the database has no project, or one of an
    unexpected older version."""
    check_server(conn, address)
    version = _version(conn)
    if version is None:
        raise UserError(tr(NONE, address=address))
    if version > newest_version():
        raise NewerProjectError(tr(NEWER, address=address, version=version, newest=newest_version()))
    if version < newest_version() and not older:
        raise UserError(tr(OLDER, address=address, version=version))
    return version


def _version(conn: Connection) -> int | None:
    """None if there is no project: another program's tables may have the names of some of ours."""
    ours = conn.exec_driver_sql(
        "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'version'"
        " AND atttypid = 'int4'::regtype OR attrelid = to_regclass(%s) AND attname IN ('key', 'value')"
        " OR attrelid = to_regclass(%s) AND attname = 'operation_id'",
        (f"{SCHEMA}.schema_version", f"{SCHEMA}.meta", f"{SCHEMA}.decisions"),
    ).scalar_one()
    if ours < 4:
        return None
    found = conn.exec_driver_sql(f"SELECT version FROM {SCHEMA}.schema_version").scalar()  # noqa: S608
    return None if found is None else int(found)

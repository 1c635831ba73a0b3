"""The schema of a shared project: the same tables as in a folder, from the same mappings, in PostgreSQL's dialect.

Texts are compared by their code points, as SQLite does. Append-only tables have triggers here, too. Additional tables:
pieces of knowledge bases and linkers, which each client copies, and the schema's version. Indexes of possibly long
texts use hashes, since PostgreSQL's ordered indexes are limited to 2,704 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Boolean, Connection, LargeBinary, column, table
from sqlalchemy.schema import CreateIndex, CreateTable

from curator.domain.wording import NewerProjectError, UserError, tr
from curator.services.ports.address import SharedAddress
from curator.storage.db.schema import Base
from curator.storage.team import guards, values
from curator.storage.team.postgres import SCHEMA, check_server

FIRST = 11
"""The first schema version of shared projects, with the tables of the folders' version 11. Later versions are numbered
separately, see `upgrading`."""
CLAIMS_MADE = (
    "CREATE TABLE claims (document_id INTEGER PRIMARY KEY REFERENCES documents (id),"
    ' curator TEXT COLLATE "C" NOT NULL, until TIMESTAMPTZ NOT NULL)'
)
"""Version 12: assigned documents, their curators, and the end of each claim by the server's clock."""
KB_PIECES = table("kb_pieces", column("version"), column("place"), column("source"), column("data", LargeBinary))
LINKERS = table("linkers", column("id"), column("complete", Boolean), column("pieces"))
LINKER_PIECES = table("linker_pieces", column("linker"), column("place"), column("path"), column("data", LargeBinary))
HASHED = {
    "ix_mentions_text": "mentions USING hash (string_key)",
    "ix_decisions_entities": "decisions USING hash (entity_ids)",
    "ix_documents_external_id": "documents USING hash (external_id)",
    "ix_relations_type": "relations USING hash (type)",
}
APPENDED = ("decisions", "operations", "judgements", "mention_edits", "imports", "former_texts", "mention_attributes")
HIDDEN = (
    "(SELECT f.complete FROM mentions m JOIN documents d ON d.id = m.document_id"
    " JOIN source_files f ON f.id = d.file_id WHERE m.id = OLD.mention_id) IS FALSE"
)
"""Condition on a decision: its import never became complete."""
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


def statements() -> Iterator[str]:
    """The statements that turn an empty schema into a project's."""
    from sqlalchemy.dialects import postgresql

    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for one in Base.metadata.sorted_tables:
        made = str(CreateTable(one).compile(dialect=dialect))
        yield made.replace(" VARCHAR", ' TEXT COLLATE "C"').replace(" SERIAL ", " INTEGER ")
        for index in sorted(one.indexes, key=lambda index: str(index.name)):
            hashed = HASHED.get(str(index.name))
            yield (
                f"CREATE INDEX {index.name} ON {hashed}" if hashed else str(CreateIndex(index).compile(dialect=dialect))
            )
    yield "CREATE UNIQUE INDEX ix_documents_place ON documents (file_id, md5(external_id), occurrence)"
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
    yield from _guards()
    yield from guards.made()
    yield from values.made()


def _guards() -> Iterator[str]:
    yield (
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%',"
        " coalesce(TG_ARGV[0], TG_TABLE_NAME || ' are append-only')"
        " USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    for one in APPENDED:
        yield (f"CREATE TRIGGER {one}_no_update BEFORE UPDATE ON {one} FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.refuse()")
        if one != "decisions":
            yield (
                f"CREATE TRIGGER {one}_no_delete BEFORE DELETE ON {one} FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.refuse()"
            )
        yield (
            f"CREATE TRIGGER {one}_no_truncate BEFORE TRUNCATE ON {one} FOR EACH STATEMENT"
            f" EXECUTE FUNCTION {SCHEMA}.refuse()"
        )
    yield (
        "CREATE FUNCTION refuse_visible() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF {HIDDEN} THEN RETURN OLD; END IF;"
        " RAISE EXCEPTION 'decisions are append-only' USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    yield (
        "CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions FOR EACH ROW"
        f" EXECUTE FUNCTION {SCHEMA}.refuse_visible()"
    )
    yield (
        "CREATE TRIGGER source_files_stay_complete BEFORE UPDATE OF complete ON source_files FOR EACH ROW"
        f" WHEN (OLD.complete AND NOT NEW.complete) EXECUTE FUNCTION {SCHEMA}.refuse('a complete file stays complete')"
    )


def create_schema(conn: Connection, address: SharedAddress, *, version: int) -> None:
    """Turn an empty database into a project without a name, in the connection's current transaction.

    Raises UserError if the database is not empty.
    """
    check_server(conn, address)
    _refuse_others(conn, address)
    conn.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
    for one in statements():
        conn.exec_driver_sql(one.replace("%", "%%"))
    conn.exec_driver_sql("INSERT INTO schema_version VALUES (%s)", (version,))


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


def check_schema_version(conn: Connection, address: SharedAddress, newest: int, *, older: bool = False) -> int:
    """The version of the project. Raises NewerProjectError, and UserError if the database has no project, or one of an
    unexpected older version."""
    check_server(conn, address)
    version = _version(conn)
    if version is None:
        raise UserError(tr(NONE, address=address))
    if version > newest:
        raise NewerProjectError(tr(NEWER, address=address, version=version, newest=newest))
    if version < newest and not older:
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
    return None if found is None or found < FIRST else int(found)

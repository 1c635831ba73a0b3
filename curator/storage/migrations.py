"""The version of the schema: new databases are created from `schema`, older ones are migrated, newer ones refused.

SQLite's `user_version` holds the version, `application_id` marks the file as ours.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from curator.domain.wording import DamagedProjectError, NewerProjectError, UserError, tr
from curator.storage.db.errors import as_user_errors
from curator.storage.db.schema import APPEND_ONLY, UNFINISHED, Base

Migration = Callable[[sqlite3.Connection], None]
APPLICATION_ID = 0x43757261  # "Cura"
MIGRATIONS: tuple[Migration, ...] = ()
"""Migration i brings a database from version i + 1 to the next. One that was released is never edited; whoever appends
one changes `schema` in the same way."""
MARKER_NAME = "project.curator"
"""The file by which the systems know a project's folder."""


def current_version() -> int:
    return 1 + len(MIGRATIONS)


def statements() -> Iterator[str]:
    """The statements that make an empty database one of the current version."""
    dialect = sqlite.dialect()
    for table in Base.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
    for name, words in APPEND_ONLY.items():
        yield _refusal(f"{name}_no_update BEFORE UPDATE ON {name}", f"{words} are append-only")
        condition = f" WHEN {UNFINISHED} IS NOT 0" if name == "decisions" else ""
        yield _refusal(f"{name}_no_delete BEFORE DELETE ON {name}{condition}", f"{words} are append-only")
        # INSERT OR REPLACE deletes rows without firing the triggers for deletions
        taken = f"WHEN EXISTS (SELECT 1 FROM {name} WHERE id = NEW.id)"  # noqa: S608
        yield _refusal(f"{name}_no_replace BEFORE INSERT ON {name} {taken}", f"{words} are append-only")
    complete = "source_files_stay_complete BEFORE UPDATE OF complete ON source_files"
    yield _refusal(f"{complete} WHEN OLD.complete AND NOT NEW.complete", "a complete file stays complete")


def _refusal(event: str, words: str) -> str:
    return f"CREATE TRIGGER {event} BEGIN SELECT RAISE(ABORT, '{words}'); END"


def create_tables(conn: sqlite3.Connection) -> None:
    """Make an empty database one of the current version."""
    for statement in statements():
        conn.execute(statement)
    conn.execute(f"PRAGMA user_version = {current_version()}")


def create_database(path: Path) -> None:
    with as_user_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute("PRAGMA journal_mode = WAL")
        with _one_transaction(conn):
            create_tables(conn)


def check_version(conn: sqlite3.Connection, path: Path) -> int:
    """The version of the open database `path`. Raises NewerProjectError, and UserError if it is not ours:
    DamagedProjectError if it lies in a project."""
    newest = current_version()
    with as_user_errors(path):
        ours = conn.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        version = int(conn.execute("PRAGMA user_version").fetchone()[0])
    if not ours or version < 1:
        if (path.parent / MARKER_NAME).is_file():
            raise DamagedProjectError(tr("{path} is damaged: it is not marked as a project's database.", path=path))
        raise UserError(
            tr("{path} is not a project of this program. Choose a folder that ends in .curation.", path=path)
        )
    if version > newest:
        raise NewerProjectError(
            tr(
                "{path} was written by a newer version of this program (schema {version}; this version "
                "reads up to {newest}). Update the program; the project was not changed.",
                path=path,
                version=version,
                newest=newest,
            )
        )
    return version


def migrate(path: Path, check: Callable[[sqlite3.Connection], None]) -> None:
    """Bring an older database to the current version, in one transaction that `check` ends with an error if the result
    is not what Curator creates. The caller holds the project's lock."""
    with as_user_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as conn:
        version = check_version(conn, path)
        if version == current_version():
            return
        conn.execute("PRAGMA foreign_keys = OFF")  # a migration may rebuild a table that others refer to
        with _one_transaction(conn):
            for migration in MIGRATIONS[version - 1 :]:
                migration(conn)
            check(conn)
            conn.execute(f"PRAGMA user_version = {current_version()}")


@contextmanager
def _one_transaction(conn: sqlite3.Connection) -> Iterator[None]:
    conn.execute("BEGIN EXCLUSIVE")
    try:
        yield
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise

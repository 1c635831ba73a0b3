"""Moves a project from a folder into a database, and back: every row unchanged, so that exports and audit trail stay
the same.

The data are copied; the source is only read. The target is written in one transaction, or as a folder renamed at the
end, so that a stopped move leaves nothing. Knowledge bases are copied as pieces (see `local_copy`), linkers with all
their files. Unfinished trainings are not moved, as they belong to the computer.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Table, select

from curator.domain.wording import DamagedProjectError, ProjectLockedError, UserError, tr
from curator.services.ports.address import ProjectPlace, SharedAddress
from curator.services.ports.storage import Role
from curator.storage.db.engine import connect
from curator.storage.db.errors import as_user_errors
from curator.storage.db.lock import ProjectLock
from curator.storage.db.mark import mark_as_it_is
from curator.storage.db.schema import Base, KbVersionRow
from curator.storage.foreign import check_links
from curator.storage.kb.kb_matching import all_obsolete
from curator.storage.kb.kb_tables import KbTables, canonical_json, tables_of
from curator.storage.project import (
    BUNDLES_NAME,
    DATABASE_NAME,
    SUFFIX,
    create_project,
    open_project,
    project_folder,
    renew_marker,
)
from curator.storage.team.local_copy import WRONG, load_pieces, send_piece
from curator.storage.team.postgres import held_alone, reading_team_engine, using, writing_team_engine
from curator.storage.team.project import local_folder
from curator.storage.team.roles import renew, standing
from curator.storage.team.schema import LINKERS, check_schema_version, create_schema
from curator.storage.team.vault import fetch_linker, send_linker

FILES = ("evaluations", "fetched")
"""Folders next to the database that belong to the project; for a shared one, on the computer that created them."""
MANIFEST = "manifest.json"
AT_ONCE = 500
"""Rows per statement, or entities per piece."""
TWO_FOLDERS = "Both places are folders. Copy the folder to move a project from one folder to another."
TWO_SERVERS = (
    "Both places are addresses. Move the project to a folder first, or ask whoever runs the servers (`pg_dump`, "
    "`pg_restore`)."
)
NOT_ALL_SEEN = (
    "Your login does not see everything in {address}: judgements of others in open rounds are hidden. Ask an "
    "adjudicator or an owner to move it."
)
BAD_NAME = "The shared project has a linker with the name {name}, which no folder can have. It was not moved."


def move(source: ProjectPlace, target: ProjectPlace) -> Mapping[str, int]:
    """Copy the project at `source` to `target`, from a folder to a database or the reverse; returns the rows of each
    table. The source is only read. Raises ProjectLockedError while somebody writes to it, and UserError; then the
    target stays empty."""
    if isinstance(source, SharedAddress) and isinstance(target, SharedAddress):
        raise UserError(tr(TWO_SERVERS))
    if isinstance(target, SharedAddress):
        return move_to_server(cast(Path, source), target)
    if isinstance(source, SharedAddress):
        return move_to_folder(source, target)
    raise UserError(tr(TWO_FOLDERS))


def move_to_server(source: Path, target: SharedAddress) -> Mapping[str, int]:
    """Copy the folder's project into the empty database at `target`; returns the rows of each table.

    Raises ProjectLockedError while somebody writes to the folder, and UserError if the folder is not a project or
    contains links, or the database is unreachable or not empty.
    """
    folder = project_folder(source)
    with _unwritten(folder), open_project(folder, read_only=True) as store, store.read() as unit:
        with as_user_errors(folder):
            check_links(folder)  # or a stranger's project could send the user's own files to the server
        here = unit.connection
        with using(writing_team_engine(target)) as engine, as_user_errors(target), engine.begin() as there:
            create_schema(there, target)
            renew(there)
            counts = Counter({table.name: _send_rows(here, there, table) for table in _tables()})
            for version in here.execute(_ACTIVE).scalars():
                _send_kb(tables_of(here, version), there, version)
            for linker in sorted(one.parent for one in (folder / BUNDLES_NAME).glob(f"*/{MANIFEST}")):
                send_linker(there, linker.name, linker)
                counts["linkers"] += 1
            there.exec_driver_sql("ANALYZE")  # or the first queries would be planned by guesses
            _copy_files(folder, local_folder(there))
    return counts


def move_to_folder(source: SharedAddress, target: Path) -> Mapping[str, int]:
    """Copy the shared project into a new folder; returns the rows of each table.

    Raises ProjectLockedError while somebody writes to the shared project, NewerProjectError, and UserError if it cannot
    be read, or the folder exists or cannot be written.
    """
    counts: Counter[str] = Counter()
    with held_alone(source), using(reading_team_engine(source)) as engine, engine.connect() as there:
        with as_user_errors(source):
            check_schema_version(there, source)
            if standing(there)[0] not in (Role.OWNER, Role.ADJUDICATOR):
                raise UserError(tr(NOT_ALL_SEEN, address=source))

        def fill(folder: Path) -> None:
            database = folder / DATABASE_NAME
            with as_user_errors(source), as_user_errors(database):
                _fill(there, database, counts)
                for name in there.execute(select(LINKERS.c.id).where(LINKERS.c.complete)).scalars().all():
                    if Path(name).name != name or name in ("", ".", ".."):
                        raise UserError(tr(BAD_NAME, name=name))
                    fetch_linker(there, name, folder / BUNDLES_NAME / name)
                    counts["linkers"] += 1
            _copy_files(local_folder(there), folder)
            renew_marker(folder, database)
            mark_as_it_is(database)

        create_project(target, name=target.name.removesuffix(SUFFIX), fill=fill).close()
    return counts


_ACTIVE = select(KbVersionRow.id).where(KbVersionRow.active)


def _tables() -> list[Table]:
    return Base.metadata.sorted_tables


@contextmanager
def _unwritten(folder: Path) -> Iterator[None]:
    """Lock the project against writing; on a read-only disk no lock is needed."""
    lock = ProjectLock(folder)
    try:
        lock.acquire()
    except ProjectLockedError:
        raise
    except UserError:
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _rows(conn: Connection, table: Table) -> Iterator[list[Any]]:
    """Lists of rows ordered by key, without incomplete knowledge bases."""
    query = select(table).order_by(*table.primary_key)
    if table is KbVersionRow.__table__:
        query = query.where(KbVersionRow.active)
    found = conn.execution_options(yield_per=AT_ONCE).execute(query)
    while rows := found.fetchmany(AT_ONCE):
        yield list(rows)


def _send_rows(here: Connection, there: Connection, table: Table) -> int:
    raw = cast(Any, there.connection.dbapi_connection)
    number = 0
    columns = ", ".join(one.name for one in table.columns)
    with raw.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
        for row in chain.from_iterable(_rows(here, table)):
            copy.write_row(row)
            number += 1
    return number


def _send_kb(tables: KbTables, there: Connection, version: int) -> None:
    place, entities = 0, (canonical_json(one) for one in tables.all())
    while rows := list(islice(entities, AT_ONCE)):
        place += 1
        send_piece(there, version, place, None, rows)
    for source, found in groupby(all_obsolete(tables), key=lambda one: one[0]):
        place += 1
        send_piece(there, version, place, source, [data for _, data in found])


def _fill(there: Connection, database: Path, counts: Counter[str]) -> None:
    """Fill the tables in one transaction, with references checked at its end."""
    with closing(connect(f"{database.absolute().as_uri()}?mode=rw", writable=True)) as here:
        here.execute("BEGIN IMMEDIATE")
        here.execute("PRAGMA defer_foreign_keys = ON")
        here.execute("DELETE FROM meta")
        for table in _tables():
            names = [one.name for one in table.columns]
            into = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
            for rows in _rows(there, table):
                here.executemany(into, [tuple(row) for row in rows])
                counts[table.name] += len(rows)
        query = select(KbVersionRow.id, KbVersionRow.name, KbVersionRow.content_hash).where(KbVersionRow.active)
        for version, name, content_hash in there.execute(query).all():
            tables = KbTables(here, version)
            load_pieces(there, version, tables)
            if tables.content_hash() != content_hash:
                raise DamagedProjectError(tr(WRONG, name=name))
        here.execute("COMMIT")
        here.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _copy_files(source: Path, target: Path) -> None:
    """Copy files; links are left out, as they may lead anywhere."""
    for name in FILES:
        for path in sorted((source / name).rglob("*")) if not (source / name).is_symlink() else ():
            if path.is_file() and not path.is_symlink():
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):
                    copy.unlink()
                shutil.copyfile(path, copy)

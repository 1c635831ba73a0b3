"""Moves a project from a folder into a database, and back: every row as it is, so that exports and audit are the same.

What is moved is copied: the source is only read and stays as it was. The target is one transaction, or a folder that
gets its name at the end, so that a move that is stopped leaves nothing. Knowledge bases travel as pieces (see
`local_copy`), linkers with all their files. Unfinished trainings stay where they are, as they are of the computer.
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
from curator.services.ports import ProjectPlace, SharedAddress
from curator.storage import (
    BUNDLES_NAME,
    DATABASE_NAME,
    SUFFIX,
    ProjectLock,
    create_project,
    open_project,
    project_folder,
    renew_marker,
)
from curator.storage.db import Base, KbVersionRow, as_user_errors, connect, mark_as_it_is
from curator.storage.kb import KbTables, all_obsolete, canonical_json, tables_of
from curator.storage.team.local_copy import WRONG, load_pieces, send_piece
from curator.storage.team.postgres import held_alone, reading_team_engine, using, writing_team_engine
from curator.storage.team.project import local_folder
from curator.storage.team.schema import LINKERS, check_schema_version, create_schema
from curator.storage.team.upgrading import newest_version
from curator.storage.team.vault import fetch_linker, send_linker

FILES = ("evaluations", "fetched")
"""Folders beside the database that belong to the project; of a shared one they are on the computer that made them."""
MANIFEST = "manifest.json"
AT_ONCE = 500
"""Rows, or entities of a piece."""
TWO_FOLDERS = "Both places are folders. Copy the folder to move a project from one folder to another."
TWO_SERVERS = (
    "Both places are addresses. Move the project to a folder first, or ask whoever runs the servers (`pg_dump`, "
    "`pg_restore`)."
)
BAD_NAME = "The shared project has a linker with the name {name}, which no folder can have. It was not moved."


def move(source: ProjectPlace, target: ProjectPlace) -> Mapping[str, int]:
    """Make the project at `source` one at `target`, of a folder a database or the reverse; returns the rows of each
    table. The source is only read. Raises ProjectLockedError while somebody writes to it, and UserError; then nothing
    is at the target."""
    if isinstance(source, SharedAddress) and isinstance(target, SharedAddress):
        raise UserError(tr(TWO_SERVERS))
    if isinstance(target, SharedAddress):
        return move_to_server(cast(Path, source), target)
    if isinstance(source, SharedAddress):
        return move_to_folder(source, target)
    raise UserError(tr(TWO_FOLDERS))


def move_to_server(source: Path, target: SharedAddress) -> Mapping[str, int]:
    """Make the empty database at `target` a project that holds what the folder holds; returns the rows of each table.

    Raises ProjectLockedError where somebody writes to the folder, and UserError where the folder is no project, or the
    database cannot be reached or holds anything.
    """
    folder = project_folder(source)
    with _unwritten(folder), open_project(folder, read_only=True) as store, store.read() as unit:
        here = unit.connection
        with using(writing_team_engine(target)) as engine, as_user_errors(target), engine.begin() as there:
            create_schema(there, target, version=newest_version())
            counts = Counter({table.name: _send_rows(here, there, table) for table in _tables()})
            for version in here.execute(_ACTIVE).scalars():
                _send_kb(tables_of(here, version), there, version)
            for linker in sorted(one.parent for one in (folder / BUNDLES_NAME).glob(f"*/{MANIFEST}")):
                send_linker(there, linker.name, linker)
                counts["linkers"] += 1
            there.exec_driver_sql("ANALYZE")  # or the first questions would be answered by guesses
            _copy_files(folder, local_folder(there))
    return counts


def move_to_folder(source: SharedAddress, target: Path) -> Mapping[str, int]:
    """Make a folder that holds what the shared project holds; returns the rows of each table.

    Raises ProjectLockedError where somebody writes to the shared project, NewerProjectError, and UserError where it
    cannot be read or the folder exists or cannot be written.
    """
    counts: Counter[str] = Counter()
    with held_alone(source), using(reading_team_engine(source)) as engine, engine.connect() as there:
        with as_user_errors(source):
            check_schema_version(there, source, newest_version())

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
    """Nobody writes to the project meanwhile; one on a disk that cannot be written needs no lock."""
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
    """Lists of rows in the order of their keys. A knowledge base that was not loaded to its end stays behind."""
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
    """All in one transaction, in which references are looked at once, at its end."""
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
    """Links are left out: they may lead anywhere."""
    for name in FILES:
        for path in sorted((source / name).rglob("*")) if not (source / name).is_symlink() else ():
            if path.is_file() and not path.is_symlink():
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):
                    copy.unlink()
                shutil.copyfile(path, copy)

"""A project's folder: `NAME.curation/` with `project.sqlite`, `project.curator` and `bundles/`."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from curator.domain.wording import UserError, tr
from curator.storage import migrations
from curator.storage.db import ProjectLock, ReadSource, as_user_errors, check_health, connect, find_read_source
from curator.storage.store import SqlStore

SUFFIX = ".curation"
DATABASE_NAME = "project.sqlite"
MARKER_NAME = "project.curator"
BUNDLES_NAME = "bundles"


def create_project(folder: Path, *, name: str) -> SqlStore:
    """Make an empty project and open it for writing; `.curation` is appended to the folder's name when missing.

    Raises UserError when the folder exists or cannot be made. A failure leaves nothing behind.
    """
    folder = _with_suffix(folder)
    if folder.exists():
        raise UserError(
            tr("{folder} already exists. Choose another name, or open the existing project.", folder=folder)
        )
    if not folder.parent.is_dir():
        raise UserError(
            tr(
                "{parent} is not a folder. Create it first, or choose another location for the project.",
                parent=folder.parent,
            )
        )
    staging = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    try:
        staging.mkdir()
        _fill(staging, name=name)
        staging.rename(folder)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise UserError(
            tr(
                "{folder} cannot be created: {strerror}. Choose a folder that you can write to.",
                folder=folder,
                strerror=error.strerror,
            )
        ) from error
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return open_project(folder)


def open_project(folder: Path, *, read_only: bool = False) -> SqlStore:
    """Open the project at `folder`, or the one whose `project.curator` file is given.

    For writing, this takes the project's lock, upgrades an older database (after a backup) and removes what
    interrupted imports left. Read-only always works, whoever writes and wherever it lies.

    Raises ProjectLockedError, NewerProjectError, and UserError when it is no project, damaged or not writable.
    """
    folder = project_folder(folder)
    return _open_for_reading(folder) if read_only else _open_for_writing(folder)


def _fill(folder: Path, *, name: str) -> None:
    project_id = uuid.uuid4().hex
    (folder / BUNDLES_NAME).mkdir()
    database = folder / DATABASE_NAME
    migrations.create_database(database)
    with as_user_errors(database), closing(sqlite3.connect(database)) as conn, conn:
        values = [("project.id", project_id), ("project.name", name)]
        conn.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", values)
    _write_marker(folder, project_id=project_id, name=name)


def _write_marker(folder: Path, *, project_id: str, name: str) -> None:
    marker = {"schema_version": migrations.current_version(), "project_id": project_id, "name": name}
    part = folder / f"{MARKER_NAME}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(marker, file, indent=2, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / MARKER_NAME)


def _with_suffix(folder: Path) -> Path:
    return folder if folder.name.endswith(SUFFIX) else folder.with_name(folder.name + SUFFIX)


def project_folder(path: Path) -> Path:
    """The project's folder, of which `path` is the name with or without its suffix, or the `project.curator` file.

    Raises UserError where there is no project.
    """
    if path.name == MARKER_NAME and path.is_file():
        path = path.parent
    if not path.exists() and _with_suffix(path).exists():
        path = _with_suffix(path)
    if not path.exists():
        raise UserError(tr("{path} does not exist. Check the path, or create a new project there.", path=path))
    if not path.is_dir() or not path.absolute().name.endswith(SUFFIX):
        raise UserError(
            tr("{path} is not a project. A project is a folder whose name ends in {suffix}.", path=path, suffix=SUFFIX)
        )
    if not (path / DATABASE_NAME).is_file():
        raise UserError(
            tr(
                "{path} is not a project: it has no {database_name}. Choose another folder.",
                path=path,
                database_name=DATABASE_NAME,
            )
        )
    return path


def _open_for_writing(folder: Path) -> SqlStore:
    lock = ProjectLock(folder)
    lock.acquire()
    try:
        database = folder / DATABASE_NAME
        _prepare(folder, database)
        store = SqlStore(folder, database, ReadSource(f"{database.absolute().as_uri()}?mode=ro"), lock=lock)
    except BaseException:
        lock.release()
        raise
    try:
        _remove_incomplete(store)
    except BaseException:
        store.close()
        raise
    return store


def _prepare(folder: Path, database: Path) -> None:
    uri = f"{database.absolute().as_uri()}?mode=rw"
    with as_user_errors(database), closing(connect(uri, writable=False)) as conn:
        migrations.check_version(conn, database)
        check_health(conn, database)
    if migrations.upgrade_database(database) is not None or not (folder / MARKER_NAME).exists():
        _renew_marker(folder, database)


def _renew_marker(folder: Path, database: Path) -> None:
    with as_user_errors(database), closing(sqlite3.connect(database)) as conn:
        meta: dict[str, str] = dict(conn.execute("SELECT key, value FROM meta WHERE key LIKE 'project.%'"))
    _write_marker(folder, project_id=meta.get("project.id", ""), name=meta.get("project.name", ""))


def _remove_incomplete(store: SqlStore) -> None:
    """Remove what interrupted imports left. Only then is anything written."""
    with store.write() as unit:
        unit.documents.remove_incomplete()
        unit.kb.remove_incomplete()


def _open_for_reading(folder: Path) -> SqlStore:
    database = folder / DATABASE_NAME
    with as_user_errors(database):
        source = find_read_source(database)
    try:
        _check_readable(source, database)
    except BaseException:
        if source.copy is not None:
            source.copy.cleanup()
        raise
    return SqlStore(folder, database, source, lock=None)


def _check_readable(source: ReadSource, database: Path) -> None:
    with as_user_errors(database), closing(connect(source.uri, writable=False)) as conn:
        version = migrations.check_version(conn, database)
        if version < migrations.current_version():
            raise UserError(
                tr(
                    "{database} was written by an older version. Open it once for writing to upgrade it.",
                    database=database,
                )
            )
        check_health(conn, database)

"""A project's folder: `NAME.curation/` with `project.sqlite`, `project.curator`, `project.mark` and `bundles/`."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from curator.domain.wording import DamagedProjectError, UnwritableProjectError, UserError, tr, well_formed
from curator.foreign_files import read_small
from curator.storage import migrations
from curator.storage.db.engine import ReadSource, check_health, connect, find_read_source
from curator.storage.db.errors import as_user_errors
from curator.storage.db.lock import LOCK_NAME, NoLocksError, ProjectLock
from curator.storage.db.mark import NAME as MARK_NAME
from curator.storage.db.mark import (
    Mark,
    check_mark,
    end_without_mark,
    is_altered,
    mark_as_it_is,
    read_mark,
    unclean_end,
)
from curator.storage.db.sqlite_files import before_opening, check_room
from curator.storage.db.syncing import sync_folder, unshare
from curator.storage.foreign import check_links, check_schema, check_settings
from curator.storage.store import SqlStore
from curator.temporary import is_running

SUFFIX = ".curation"
DATABASE_NAME = "project.sqlite"
RESTORED_NAME = "project.sqlite.restored"
"""The database that is about to replace the other."""
MARKER_NAME = migrations.MARKER_NAME
BUNDLES_NAME = "bundles"
UNFINISHED = ".new"
"""Suffix of the hidden name of a project that is being created: `.NAME.curation.PROCESS.new`."""


def create_project(folder: Path, *, name: str, fill: Callable[[Path], None] | None = None) -> SqlStore:
    """Create a project and open it for writing; `.curation` is appended to the folder's name if missing. It is empty,
    or `fill` writes its contents into the folder, which has another name until then.

    The folder is complete and on disk when it gets its name. Raises UserError if it exists or cannot be created. A
    failure leaves nothing behind; remains of a killed process are removed when the next project is created there.
    """
    folder = _with_suffix(folder)
    if folder.exists():
        raise UserError(tr("{folder} already exists. Choose another name, or open that project.", folder=folder))
    if any((one / DATABASE_NAME).is_file() for one in folder.absolute().parents):
        raise UserError(tr("{folder} is inside a project's folder. Choose a location outside it.", folder=folder))
    if not folder.parent.is_dir():
        raise UserError(
            tr(
                "{parent} is not a folder. Create it first, or choose another location for the project.",
                parent=folder.parent,
            )
        )
    name = well_formed(name)
    try:
        with completed(folder) as staging:
            _fill(staging, name=name)
            if fill is not None:
                fill(staging)
    except OSError as error:
        raise UserError(
            tr(
                "{folder} cannot be created: {strerror}. Choose a folder that you can write to, on a disk with free "
                "space.",
                folder=folder,
                strerror=error.strerror,
            )
        ) from error
    except NoLocksError as error:
        raise UserError(
            tr(
                "{folder} cannot be created: the file system there does not support locks, which keep two programs "
                "from writing to a project at the same time. This happens in some network folders. Choose a folder on "
                "a disk of this computer.",
                folder=folder,
            )
        ) from error
    except UserError as error:  # about a file under the folder's hidden name, which is gone
        raise UserError(str(error).replace(str(_staging(folder)), str(folder))) from error
    return open_project(folder)


def open_project(folder: Path, *, read_only: bool = False, lacking: bool = False) -> SqlStore:
    """Open the project at `folder`, or the one whose `project.curator` file is given.

    For writing, this takes the project's lock, migrates an older database and removes remains of interrupted imports.
    Read-only opening works even while another process writes.

    `lacking`: also if saved steps are missing; the present state becomes the one to continue from.

    Raises ProjectLockedError, UnwritableProjectError, NewerProjectError, MissingStepsError, DamagedProjectError, and
    UserError if it is not a project.
    """
    if not read_only and _is_interrupted(named_folder(folder)):
        _complete(named_folder(folder))
    folder = project_folder(folder)
    return _open_for_reading(folder, lacking) if read_only else _open_for_writing(folder, lacking)


def finish_restoration(folder: Path) -> None:
    """Replace the database and its log by `project.sqlite.restored`, also after an interruption. The caller has the
    lock. Raises OSError."""
    database = folder / DATABASE_NAME
    sync_folder(folder)
    (folder / MARK_NAME).unlink(missing_ok=True)  # it belongs to the other database
    for side in ("-wal", "-shm"):
        (folder / f"{DATABASE_NAME}{side}").unlink(missing_ok=True)
    sync_folder(folder)  # first: the log of the other database must never be combined with this one
    (folder / RESTORED_NAME).replace(database)
    sync_folder(folder)
    with suppress(OSError, UserError):  # opening rewrites it if it is wrong
        renew_marker(folder, database)
    # of an older version: the upgrade comes first; without a mark nothing is lost
    with suppress(OSError, sqlite3.Error):
        mark_as_it_is(database)


def _is_interrupted(folder: Path) -> bool:
    path = folder / RESTORED_NAME
    return path.is_file() and not path.is_symlink()


def _complete(folder: Path) -> None:
    """Complete an interrupted restoration."""
    with ProjectLock(folder):
        try:
            finish_restoration(folder)
        except OSError as error:
            raise _unwritable(folder, error) from error


def _fill(folder: Path, *, name: str) -> None:
    project_id = uuid.uuid4().hex
    (folder / BUNDLES_NAME).mkdir()
    database = folder / DATABASE_NAME
    migrations.create_database(database)
    with as_user_errors(database), closing(sqlite3.connect(database)) as conn, conn:
        values = [("project.id", project_id), ("project.name", name)]
        conn.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", values)
    _write_marker(folder, project_id=project_id, name=name)


def _locked(staging: Path) -> ProjectLock:
    """The acquired lock. Raises OSError and NoLocksError."""
    lock = ProjectLock(staging)
    try:
        lock.acquire()
    except NoLocksError:
        raise
    except UserError as error:
        raise error.__cause__ or error from error
    return lock


@contextmanager
def completed(folder: Path) -> Iterator[Path]:
    """A new, locked folder under a hidden name until it is complete. Nothing is left after an error. Raises OSError."""
    _remove_unfinished(folder.parent)
    staging = _staging(folder)
    try:
        staging.mkdir()
        with _locked(staging) as lock:
            yield staging
            if os.name == "nt":  # which cannot rename a folder with an open file
                lock.release()
            staging.rename(folder)
        try:
            sync_folder(folder.parent)
        except OSError:
            folder.rename(staging)
            raise
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _staging(folder: Path) -> Path:
    """The name that a project has until it is complete."""
    return folder.with_name(f".{folder.name}.{os.getpid()}{UNFINISHED}")


def _remove_unfinished(parent: Path) -> None:
    """Remove the unfinished projects of processes that ended. If that is impossible they stay, which is harmless."""
    with suppress(OSError):
        for staging in parent.glob(f".*{SUFFIX}.*{UNFINISHED}"):
            if not staging.is_symlink() and _is_abandoned(staging):
                shutil.rmtree(staging, ignore_errors=True)


def _is_abandoned(staging: Path) -> bool:
    """Whether nobody is creating the project any more: its creator holds its lock, shortly after creating the
    folder."""
    if not (staging / LOCK_NAME).exists():
        process = staging.name.removesuffix(UNFINISHED).rpartition(".")[2]
        return os.name == "posix" and process.isdecimal() and not is_running(int(process))
    try:
        with ProjectLock(staging):
            return True
    except UserError:
        return False


def _write_marker(folder: Path, *, project_id: str, name: str) -> None:
    marker = {"schema_version": migrations.current_version(), "project_id": project_id, "name": name}
    part = folder / f"{MARKER_NAME}.part"
    part.unlink(missing_ok=True)
    with part.open("w", encoding="utf-8") as file:
        json.dump(marker, file, indent=2, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / MARKER_NAME)
    sync_folder(folder)


def _with_suffix(folder: Path) -> Path:
    return folder if folder.name.endswith(SUFFIX) else folder.with_name(folder.name + SUFFIX)


def named_folder(path: Path) -> Path:
    """The folder for `path`: the name with or without its suffix, or the `project.curator` file in it."""
    if path.name == MARKER_NAME and path.is_file():
        return path.parent
    return path if path.exists() else _with_suffix(path)


def project_folder(path: Path) -> Path:
    """The project's folder, found like `named_folder`.

    Raises UserError if there is no project, DamagedProjectError if its database is missing.
    """
    given, path = path, named_folder(path)
    if not path.exists():
        raise UserError(tr("{path} does not exist. Check the path, or create a new project there.", path=given))
    if not path.is_dir() or not path.absolute().name.endswith(SUFFIX):
        raise UserError(
            tr("{path} is not a project. A project is a folder whose name ends in {suffix}.", path=path, suffix=SUFFIX)
        )
    if not (path / DATABASE_NAME).is_file():
        if (path / MARKER_NAME).is_file():
            raise DamagedProjectError(tr("{path} has lost its database, {name}.", path=path, name=DATABASE_NAME))
        raise UserError(
            tr(
                "{path} is not a project: it has no {database_name}. Choose another folder.",
                path=path,
                database_name=DATABASE_NAME,
            )
        )
    return path


def _open_for_writing(folder: Path, lacking: bool) -> SqlStore:
    lock = ProjectLock(folder)
    lock.acquire()
    try:
        database, mark = folder / DATABASE_NAME, read_mark(folder)
        unclean = _prepared(folder, database, None if lacking else mark, lacking) or unclean_end(mark)
        source = ReadSource(f"{database.absolute().as_uri()}?mode=ro")
        store = SqlStore(folder, database, source, lock=lock, unclean=unclean)
    except BaseException:
        lock.release()
        raise
    try:
        with store.write() as unit:  # remains of interrupted imports; writes only if there are any
            unit.files.remove_incomplete()
            unit.kb.remove_incomplete()
    except BaseException:
        store.close()
        raise
    return store


def _prepared(folder: Path, database: Path, mark: Mark | None, lacking: bool) -> str:
    try:
        check_links(folder)
        return _prepare(folder, database, mark, lacking)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> UnwritableProjectError:
    return UnwritableProjectError(
        tr(
            "{folder} cannot be written ({strerror}). Free some space, or open it read-only.",
            folder=folder,
            strerror=error.strerror,
        )
    )


def _prepare(folder: Path, database: Path, mark: Mark | None, lacking: bool) -> str:
    uri = f"{database.absolute().as_uri()}?mode=rw"
    check_room(folder)
    unshare(database)
    before_opening(database)
    altered = is_altered(database, mark)
    with _as_damage(database), closing(connect(uri, writable=False)) as conn:
        older = migrations.check_version(conn, database) < migrations.current_version()
        if not older:
            check_schema(conn, database)
            check_settings(conn, database)
        check_health(conn, database)
        unmarked = ""
        if not lacking:
            check_mark(conn, database, mark, altered=altered)
            unmarked = "" if mark else end_without_mark(conn)
    if older:
        migrations.migrate(database, lambda conn: check_schema(conn, database))
    if not _is_current(folder / MARKER_NAME):
        renew_marker(folder, database)
    return unmarked


def _is_current(marker: Path) -> bool:
    """Whether the marker has the current version; a process may have ended between an upgrade and its marker."""
    try:
        said = json.loads(read_small(marker))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("schema_version") == migrations.current_version()


def renew_marker(folder: Path, database: Path) -> None:
    """Write `project.curator` from the database. Raises OSError."""
    with as_user_errors(database), closing(sqlite3.connect(database)) as conn:
        meta: dict[str, str] = dict(conn.execute("SELECT key, value FROM meta WHERE key LIKE 'project.%'"))
    _write_marker(folder, project_id=meta.get("project.id", ""), name=meta.get("project.name", ""))


def _open_for_reading(folder: Path, lacking: bool) -> SqlStore:
    database = folder / DATABASE_NAME
    if _is_interrupted(folder):
        raise UserError(
            tr(
                "A backup of {folder} was being restored when Curator ended. Open it once for writing to complete the "
                "restoration.",
                folder=folder,
            )
        )
    mark = read_mark(folder)  # before the database, which another process may be writing to
    with as_user_errors(database):
        source = find_read_source(database)
    try:
        _check_readable(source, database)
        if not lacking:
            with _as_damage(database), closing(connect(source.uri, writable=False)) as conn:
                check_mark(conn, database, mark)
    except BaseException:
        if source.copy is not None:
            source.copy.cleanup()
        raise
    return SqlStore(folder, database, source, lock=None)


def _check_readable(source: ReadSource, database: Path) -> None:
    with _as_damage(database), closing(connect(source.uri, writable=False)) as conn:
        if migrations.check_version(conn, database) < migrations.current_version():
            raise UserError(
                tr(
                    "{database} was written by an older version. Open it once for writing to upgrade it.",
                    database=database,
                )
            )
        check_schema(conn, database)
        check_health(conn, database)
        check_settings(conn, database)


@contextmanager
def _as_damage(database: Path) -> Iterator[None]:
    """Raises DamagedProjectError for errors of SQL or values in the first queries, which only damage can cause."""
    try:
        with as_user_errors(database):
            yield
    except (sqlite3.Error, TypeError, ValueError, OverflowError) as error:
        raise DamagedProjectError(tr("{path} is damaged ({found}).", path=database, found=error)) from error

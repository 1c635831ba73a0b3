"""Replaces a database by a backup, keeping the old one under another name."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from curator.domain.wording import DamagedProjectError, UserError, tr
from curator.services.ports.safety import Backup, Restored
from curator.storage.db.errors import UNREAD, as_user_errors, disk_error, disk_failed, is_unread
from curator.storage.db.lock import ProjectLock
from curator.storage.db.mark import mark_as_it_is
from curator.storage.db.sqlite_files import before_opening
from curator.storage.db.syncing import sync_file, sync_folder
from curator.storage.foreign import check_schema
from curator.storage.migrations import check_version
from curator.storage.project import (
    BUNDLES_NAME,
    DATABASE_NAME,
    RESTORED_NAME,
    completed,
    finish_restoration,
    project_folder,
)

KEPT = "{name}.before-{time}"
SIDES = ("", "-wal")


def restore(folder: Path, backup: Backup) -> Restored:
    """Restore the project in `folder`, which may be missing, to the time of the backup. First, the existing database
    and log, in any state, are kept under another name.

    Before the copy is renamed to `project.sqlite.restored`, the project is unchanged; afterwards, the next opening for
    writing completes the restoration. A missing folder gets its name when it is complete.

    Raises ProjectLockedError, and UserError if the backup is unusable or the folder not writable; then the project is
    unchanged, or the restoration completes at the next opening.
    """
    try:
        missing = not folder.exists()
    except OSError as error:
        raise _not_restored(folder, error) from error
    if missing:
        _restore_missing(folder, backup)
        return Restored(folder, backup, ())
    with ProjectLock(folder):
        return Restored(folder, backup, _replace(folder, backup))


def _restore_missing(folder: Path, backup: Backup) -> None:
    try:
        with completed(folder) as staging:
            _replace(staging, backup)
    except OSError as error:
        raise _not_restored(folder, error) from error


def _replace(folder: Path, backup: Backup) -> tuple[Path, ...]:
    """The caller has the lock. Returns the files that were kept."""
    database = folder / DATABASE_NAME
    part = folder / f"{RESTORED_NAME}.part"
    kept: list[Path] = []
    begun = False
    try:
        _remove(part)  # it may be a link
        shutil.copyfile(backup.path, part)
        _check(part, backup)
        _use_log(part)
        sync_file(part)
        (folder / BUNDLES_NAME).mkdir(exist_ok=True)
        kept = _keep(database)
        sync_folder(folder)
        part.replace(folder / RESTORED_NAME)
        begun = True  # from now on, what was kept may be the only name of the old database
        finish_restoration(folder)
    except (OSError, sqlite3.Error) as error:
        if not begun:
            _forget(kept)
            raise _not_restored(folder, error) from error
        raise UserError(
            tr(
                "The restoration of {folder} was begun but not completed ({reason}). Check the folder's "
                "permissions and the free disk space, and open the project: this completes the restoration.",
                folder=folder,
                reason=getattr(error, "strerror", None) or error,
            )
        ) from error
    finally:
        with suppress(OSError):
            _remove(part)
    return tuple(kept)


def _not_restored(folder: Path, error: Exception) -> UserError:
    return UserError(
        tr(
            "{folder} was not restored ({reason}). Check the folder's permissions and the free disk space.",
            folder=folder,
            reason=getattr(error, "strerror", None) or error,
        )
    )


def continue_without(folder: Path) -> None:
    """Accept the state of a sound database although steps are missing.

    Raises ProjectLockedError and UserError.
    """
    folder = project_folder(folder)
    database = folder / DATABASE_NAME
    with ProjectLock(folder), as_user_errors(database):
        before_opening(database)
        try:
            with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as conn:
                check_version(conn, database)
                check_schema(conn, database)  # a foreign view may never end
            mark_as_it_is(database)
        except OSError as error:
            raise UserError(
                tr(
                    "{folder} cannot be written ({reason}). Check the folder's permissions and the free disk space.",
                    folder=folder,
                    reason=error.strerror or error,
                )
            ) from error


def _check(part: Path, backup: Backup) -> None:
    uri = f"{part.absolute().as_uri()}?immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as conn:
            check_version(conn, backup.path)
            found = str(conn.execute("PRAGMA quick_check(1)").fetchone()[0])
            if found == "ok":
                return
            if is_unread(found):
                raise disk_failed(part, UNREAD)
    except DamagedProjectError:
        pass
    except sqlite3.Error as error:
        if (failed := disk_error(error, part)) is not None:
            raise failed from error
    raise UserError(tr("The backup {path} is damaged. Choose another one; nothing was changed.", path=backup.path))


def _remove(part: Path) -> None:
    for side in ("", "-journal", "-wal", "-shm"):
        part.with_name(f"{part.name}{side}").unlink(missing_ok=True)


def _use_log(part: Path) -> None:
    """Backups have no write-ahead log. It is enabled here, since this changes the file and thus its mark."""
    with closing(sqlite3.connect(part, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")


def _forget(kept: Sequence[Path]) -> None:
    """Remove second names of files that still exist under their own names."""
    for path in kept:
        with suppress(OSError):
            path.unlink()


def _keep(database: Path) -> list[Path]:
    """Hard links to the database and its log, or copies if the disk does not support hard links."""
    time = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name, number = KEPT.format(name=database.name, time=time), 1
    while any((database.parent / f"{name}{side}").exists() for side in SIDES):
        number += 1
        name = KEPT.format(name=database.name, time=f"{time}-{number}")
    kept = []
    for side in SIDES:
        path = database.parent / f"{database.name}{side}"
        if path.is_symlink() or not path.is_file() or (side and path.stat().st_size == 0):
            continue
        target = database.parent / f"{name}{side}"
        try:
            os.link(path, target)
        except OSError:
            shutil.copy2(path, target)
            sync_file(target)
        kept.append(target)
    return kept

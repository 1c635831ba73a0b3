"""What must be known about the files that SQLite has open, because SQLite cannot take care of it alone.

Closing any handle of a file drops all locks of the process on it (POSIX). Without SQLite's locks, another program that
reads the database and closes it would delete the log in which the next decisions are written. So Curator opens the
database of a project that it writes through SQLite only.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from curator.domain.wording import DamagedProjectError, tr

ROOM = 1 << 20
"""Bytes that a folder needs for SQLite's `-shm` file, which is written through a memory map: where the disk has no room
for such a write, the system ends the process."""


def check_room(folder: Path) -> None:
    """Raises OSError if the disk has less than `ROOM`."""
    if shutil.disk_usage(folder).free < ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def before_opening(database: Path) -> None:
    """Called before SQLite opens an existing database. Raises DamagedProjectError for an empty file: SQLite deletes the
    log next to one, and the log has the last steps."""
    with suppress(OSError):
        if database.stat().st_size == 0:
            raise DamagedProjectError(tr("{path} is empty.", path=database))


def identity(path: Path) -> tuple[int, int] | None:
    """The file of this name; None if there is none, or if the disk does not say."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_another(path: Path, was: tuple[int, int] | None) -> bool:
    """Whether the file of this name was deleted or replaced. False if the disk does not say: then the sync fails, and
    nothing may be given up for a file that is still there."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return was is not None
    except OSError:
        return False
    return was not in (None, (found.st_dev, found.st_ino))

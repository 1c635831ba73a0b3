"""What must be known about the files that SQLite has open, because SQLite cannot take care of it alone.

* **Closing any handle of a file drops all locks of the process on it** (POSIX). If Curator read the open database and
  closed it, SQLite's lock would be gone, and another program that reads the database and closes it would delete the
  log, in which the next decisions are written. So such a handle is kept until nobody here uses the database.
* **The `-shm` file is written through a memory map**: where the disk has no room for such a write, the system ends the
  process (SIGBUS). SQLite reserves one block for each 4 KB. That is too little where blocks are smaller, and on Btrfs,
  which writes every change to a new place. So space is reserved, and on Btrfs the file is overwritten in place. Even
  so, Btrfs needs some space for each change, so that a transaction there must end before it has used up all.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, IOBase
from pathlib import Path
from typing import Any

from curator.domain.wording import DamagedProjectError, tr

ROOM = 1 << 20
"""The space for `-shm` in bytes. 32 KB serve 16 MB of the log."""
LEFT = 8 << 20
"""What a long transaction on Btrfs leaves, in bytes: more than it writes between two checks."""
STEPS, GIVEN = 5000, 1 << 18
"""It is checked after so many instructions of SQLite, and before a statement with so many bytes of values."""
_CACHE_KB = 1000
"""The cache of a connection that writes on Btrfs: at most so much is written at once when a transaction ends."""
_BTRFS = 0x9123683E
_LOG_HEAD, _FRAME_HEAD = 32, 24
"""Bytes before the first page of a log, and before each."""
_GET_FLAGS, _SET_FLAGS, _OVERWRITE = 0x80086601, 0x40086602, 0x00800000  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, NOCOW
_FULL = (errno.ENOSPC, errno.EDQUOT) if sys.platform != "win32" else (errno.ENOSPC,)
Key = tuple[int, int]

_guard = threading.Lock()
_users: Counter[Key] = Counter()
_kept: dict[Key, list[IOBase]] = {}


def begin_use(database: Path) -> Key:
    """Call it before a store opens connections. Raises OSError."""
    found = database.stat()
    key = found.st_dev, found.st_ino
    with _guard:
        _users[key] += 1
    return key


def end_use(key: Key) -> None:
    """Call it after all connections of a store are closed: the last one closes the handles that were kept."""
    with _guard:
        _users[key] -= 1
        if _users[key] <= 0:
            del _users[key]
            for file in _kept.pop(key, ()):
                file.close()


@contextmanager
def opened_beside_sqlite(database: Path) -> Iterator[BufferedReader]:
    """The file for reading; it stays open if this process uses the database. Raises OSError."""
    file = database.open("rb")
    try:
        yield file
    finally:
        found = os.fstat(file.fileno())
        _keep((found.st_dev, found.st_ino), file)


def _keep(key: Key, file: IOBase) -> None:
    with _guard:
        if os.name == "posix" and _users[key]:
            _kept.setdefault(key, []).append(file)
        else:
            file.close()


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


def check_room(folder: Path, size: int = ROOM) -> None:
    """Raises OSError if `folder` has less than `size` bytes for SQLite's `-shm` file, on a full disk or for the
    user."""
    if sys.platform != "linux":
        return
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)  # without a name: nothing can be left
    except OSError as error:
        if error.errno in _FULL:
            raise
        return  # a file system without such files; one that cannot be written is reported by SQLite
    try:
        _allocate(file, size)
    finally:
        os.close(file)


def needs_room(database: Path) -> bool:
    """Whether each write needs room for the `-shm` file again, since a quota counts every change (Btrfs)."""
    return sys.platform == "linux" and _is_btrfs(database.parent)


class RoomWatch:
    """Stops the transactions of a connection, which SQLite then rolls back, while `LEFT` bytes are still free. See
    `needs_room`."""

    def __init__(self, database: Path) -> None:
        self._folder = database.parent
        self._given = 0

    def attach(self, conn: sqlite3.Connection) -> None:
        """From now on, a statement fails with SQLITE_INTERRUPT where the room ends."""
        conn.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        conn.execute("PRAGMA secure_delete = FAST")  # else one instruction of DROP TABLE overwrites the whole table
        conn.set_progress_handler(self.is_full, STEPS)

    def is_full(self, more: int = 0) -> bool:
        """Whether less than `LEFT` and `more` bytes are free."""
        try:
            check_room(self._folder, LEFT + more)
        except OSError:
            return True
        return False

    def takes(self, values: Sequence[Any] | Mapping[str, Any]) -> bool:
        """Whether there is room for the values of the next statement, or of its rows. Small ones are only added up."""
        self._given += _size(values)
        if self._given < GIVEN:
            return True
        given, self._given = self._given, 0
        return not self.is_full(2 * given)  # two bytes for a letter, most of which take one


def _size(value: Any) -> int:
    """The letters and bytes of a value, or of all in it."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def before_opening(database: Path) -> None:
    """Called before SQLite opens an existing database. Raises DamagedProjectError for an empty file: SQLite deletes the
    log next to one, and the log has the last steps.

    Also creates the `-shm` file where SQLite's own would be written to a new place at every change (Btrfs); if this is
    impossible, SQLite creates it.
    """
    with suppress(OSError):
        if database.stat().st_size == 0:
            raise DamagedProjectError(tr("{path} is empty.", path=database))
    if sys.platform != "linux" or not needs_room(database):
        return
    with suppress(OSError):
        import fcntl

        found = database.stat()
        path = database.with_name(f"{database.name}-shm")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, found.st_mode & 0o777)
        try:  # nobody in this process has it open, as it has just been created
            os.fchmod(file, found.st_mode & 0o777)
            flags = int.from_bytes(fcntl.ioctl(file, _GET_FLAGS, bytes(8))[:4], sys.byteorder)
            fcntl.ioctl(file, _SET_FLAGS, (flags | _OVERWRITE).to_bytes(8, sys.byteorder))
            if os.geteuid() == 0:  # as SQLite does, so that the owner can use it
                os.fchown(file, found.st_uid, found.st_gid)
        finally:
            os.close(file)


def reserve_shared_memory(database: Path, key: Key) -> None:
    """Reserve `ROOM` for the open `-shm` file. Its handle is kept: see above. Never raises."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        file = database.with_name(f"{database.name}-shm").open("rb+", buffering=0)
        with suppress(OSError):
            _allocate(file.fileno(), ROOM)
        _keep(key, file)


def cut_log(log: Path) -> None:
    """Cut off what follows the last commit in the log: it was rolled back. The caller has SQLite's write lock. Raises
    OSError.

    Only frames with the salts of the header count, and the last frame of a commit has a size of the database. SQLite
    never reads beyond it.
    """
    with log.open("rb+") as file:
        head = file.read(_LOG_HEAD)
        page = int.from_bytes(head[8:12], "big")
        if len(head) < _LOG_HEAD or not 512 <= page <= 65536:
            return
        step = _FRAME_HEAD + page
        end = _LOG_HEAD + (os.fstat(file.fileno()).st_size - _LOG_HEAD) // step * step
        while end > _LOG_HEAD:
            file.seek(end - step)
            frame = file.read(_FRAME_HEAD)
            if frame[8:16] == head[16:24] and any(frame[4:8]):
                break
            end -= step
        file.truncate(end)


def _allocate(file: int, size: int) -> None:
    """Not `os.posix_fallocate`, which writes to the file on systems that cannot reserve. Raises OSError if full."""
    import ctypes

    with suppress(AttributeError):  # another C library
        number = ctypes.c_longlong
        reserve = ctypes.CDLL(None, use_errno=True).fallocate64
        if reserve(file, 0, number(0), number(size)) != 0 and ctypes.get_errno() in _FULL:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _is_btrfs(folder: Path) -> bool:
    import ctypes

    answer = ctypes.create_string_buffer(256)
    with suppress(AttributeError):
        if ctypes.CDLL(None).statfs(os.fsencode(folder), answer) == 0:
            kind = int.from_bytes(answer.raw[: ctypes.sizeof(ctypes.c_long)], sys.byteorder)
            return kind & 0xFFFFFFFF == _BTRFS
    return False

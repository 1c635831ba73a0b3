"""Reads small files of projects and linkers, which may come from anybody."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST = 1 << 25
"""Bytes. The largest files that are read as a whole are lists of some hundred thousand identifiers."""


def open_regular(path: Path) -> BinaryIO:
    """The file for reading. Raises OSError, also for a pipe or a device, which may never end."""
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_small(path: Path, most: int = MOST) -> str:
    """The text of a file. Raises ValueError if it is not UTF-8, and OSError, also for more than `most` bytes."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read(most).decode()

"""Opening files that others made: links, devices, disks that fail, and gzip.

A corpus may come from an untrusted source, and could otherwise import the user's private files as documents. A file
that the user chose by name may be a link; files that a reader looks for in a folder, or next to a file, go through
`own_file`: links that lead out of the folder are not followed.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from curator.domain.wording import UnreadableError, UserError, tr

NOT_READ = "{path} is a device, a pipe or a socket: save its contents as a file, and choose that"


def open_plain(path: Path) -> BinaryIO:
    """The file for reading. Raises OSError, and UserError for a device, a pipe or a socket, which may never end."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(file, "rb")
    os.close(file)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise UserError(tr(NOT_READ, path=path))


def first_bytes(path: Path, size: int) -> bytes:
    """The beginning of a file; nothing of a folder and of a file that does not exist. Raises like `open_plain`, but
    UnreadableError instead of OSError."""
    if path.is_dir():
        return b""
    try:
        with open_plain(path) as file:
            return file.read(size)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path | str, error: OSError) -> UnreadableError:
    """The message for an error of the operating system while reading `path`, which may be a member of an archive."""
    if isinstance(error, FileNotFoundError):
        if Path(path).is_symlink():
            return UnreadableError(tr("{path} is a link to a file that does not exist: check the link", path=path))
        return UnreadableError(tr("{path} does not exist: check the path", path=path))
    if isinstance(error, IsADirectoryError):
        return UnreadableError(tr("{path} is a folder: choose a file in it", path=path))
    if isinstance(error, PermissionError):
        return UnreadableError(tr("no permission to read {path}: change its permissions or copy it", path=path))
    return UnreadableError(tr("cannot read {path}: {strerror}", path=path, strerror=error.strerror or error))


def failure_behind(error: BaseException) -> OSError | None:
    """The error of the operating system that an error is, or that `zipfile` replaced by it."""
    found = error if isinstance(error, OSError) else error.__context__
    return found if isinstance(found, OSError) and found.errno else None


# --- links ---


def is_own(path: Path, folder: Path) -> bool:
    """Whether no link leads out of `folder` to a file or folder found in it: not its own, and not one on the way."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def own_file(path: Path, folder: Path) -> Path:
    """`path`, which a reader found in `folder`. Raises UserError if a link leads out of it."""
    if is_own(path, folder):
        return path
    raise UserError(
        tr(
            "{path} was not opened: it leads out of the folder {folder} through a link, which is not followed. Choose "
            "the folder that the link leads to, or replace the link with a copy of its target.",
            path=path,
            folder=folder,
        )
    )


# --- gzip ---

MOST_SWELLING = 100  # times the archive's size; text seldom packs better than 20 : 1
FREE_BYTES = 1 << 23  # a small archive may always unpack to this size


class Unpacked(io.RawIOBase):
    """The content of a gzip file, with a limit relative to the file's size."""

    def __init__(self, packed: BinaryIO, most: int, path: Path) -> None:
        super().__init__()
        self._file = gzip.GzipFile(fileobj=packed)
        self._left = most
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise UserError(tr("{path} unpacks to far more than its own size: reading was stopped", path=self._path))
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def unpacked_gzip(packed: BinaryIO, size: int, path: Path) -> Iterator[BinaryIO]:
    """The content of a gzip file of `size` bytes. Reading raises UserError if it unpacks to more than text can."""
    with io.BufferedReader(Unpacked(packed, FREE_BYTES + MOST_SWELLING * size, path), 1 << 16) as stream:
        yield cast(BinaryIO, stream)

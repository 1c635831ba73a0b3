"""Whole files or none: write beside the target, fsync, rename; a failure leaves what was there before."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from curator.domain.wording import UserError, tr

_ADVICE = {
    errno.ENOSPC: "the disk is full: free some space and try again",
    errno.EDQUOT: "the disk quota is used up: free some space and try again",
    errno.EACCES: "no permission to write there: choose another folder",
    errno.EPERM: "no permission to write there: choose another folder",
    errno.EROFS: "the folder is read-only: choose another folder",
    errno.ENOENT: "the folder does not exist: create it or choose another",
    errno.ENOTDIR: "part of the path is not a folder: choose another path",
    errno.EISDIR: "it is a folder: choose a file",
    errno.ENAMETOOLONG: "the name or the path is too long: choose a folder with a shorter path",
    errno.ELOOP: "the symbolic link points to itself: choose another path",
    errno.EEXIST: "a file with this name already exists: remove it or choose another path",
}
UNKNOWN = "{error}: check the disk and try again"
NO_PLAIN_FILE = "it is a device, a pipe or a socket: choose a regular file"


def write_error(path: Path, error: OSError) -> UserError:
    """The sentence for an operating-system error met while writing `path`."""
    number = error.errno or 0
    advice = tr(_ADVICE[number]) if number in _ADVICE else tr(UNKNOWN, error=error.strerror or error)
    return UserError(tr("cannot write {path}: {advice}; nothing was changed", path=path, advice=advice))


class AtomicFiles:
    """Context manager for one or several files that appear together when the block ends without an exception.

    Every file is written under a temporary name beside its target and fsynced before the first rename. A symbolic link
    stays: what it points to is written. Raises UserError for a full disk, a missing folder, a lack of permission, and
    a target that is no plain file; the targets are then as they were.
    """

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path, BinaryIO]] = []
        self._folders: list[Path] = []

    def __enter__(self) -> AtomicFiles:
        return self

    def folder(self, path: Path) -> None:
        """Make the folder `path` (its parent must exist); it goes again when the block fails."""
        try:
            if not path.exists():
                self._folders.append(path)
        except OSError as error:  # too long
            raise write_error(path, error) from error
        make_folder(path)

    def open(self, target: Path) -> BinaryIO:
        """A stream whose content becomes `target`, or the file that the symbolic link `target` points to."""
        try:
            target = _plain_target(target)
            temporary = target.with_name(f".{cut(target.name, 80)}.{secrets.token_hex(6)}.part")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            raise write_error(target, error) from error
        stream = os.fdopen(descriptor, "wb", buffering=1 << 18)
        self._files.append((target, temporary, stream))
        return stream

    def put(self, target: Path, content: bytes) -> None:
        """`content` becomes `target`; nothing is left open, so there may be any number of files."""
        stream = self.open(target)
        try:
            stream.write(content)
            _finish(stream)
        except OSError as error:
            raise write_error(target, error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        done = False
        try:
            if kind is None:
                self._commit()
                done = True
        finally:
            self._discard(folders=not done)
        if isinstance(error, OSError) and self._files:
            raise write_error(self._files[-1][0], error) from error

    def _commit(self) -> None:
        target = Path()
        try:
            for target, _, stream in self._files:  # noqa: B007  # named in the error
                _finish(stream)
            for target, temporary, _ in self._files:
                temporary.replace(target)
            for folder in {target.parent for target, _, _ in self._files}:
                _sync_folder(folder)
        except OSError as error:
            raise write_error(target, error) from error

    def _discard(self, *, folders: bool) -> None:
        for _, temporary, stream in self._files:
            with suppress(OSError):  # on a full disk the buffer cannot be flushed; the file is closed all the same
                stream.close()
            temporary.unlink(missing_ok=True)
        for folder in reversed(self._folders if folders else ()):
            with suppress(OSError):  # somebody else put something into it meanwhile
                folder.rmdir()


def _plain_target(path: Path) -> Path:
    """Where a file of this name is written, symbolic links followed. Raises UserError for a device, a pipe or a
    socket, which a rename would replace, and OSError for a folder and for links that go round in a circle."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(mode):
        raise UserError(tr("cannot write {path}: {advice}; nothing was changed", path=path, advice=tr(NO_PLAIN_FILE)))
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def cut(name: str, most: int) -> str:
    """A name of at most `most` bytes, whole characters of it."""
    return name.encode("utf-8", "ignore")[:most].decode("utf-8", "ignore")


def _finish(stream: BinaryIO) -> None:
    if not stream.closed:
        stream.flush()
        os.fsync(stream.fileno())
        stream.close()


def make_folder(path: Path) -> None:
    """Create the folder `path` (its parent must exist). Raises UserError."""
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from error


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class AtomicWriter:
    """See `ports.FileWriter`."""

    def write(self, files: Mapping[Path, bytes]) -> None:
        with AtomicFiles() as atomic:
            for path, content in files.items():
                atomic.open(path).write(content)

    def stream(self, path: Path, pieces: Iterable[bytes]) -> None:
        with AtomicFiles() as atomic:
            stream = atomic.open(path)
            for piece in pieces:
                stream.write(piece)

    def write_folder(self, folder: Path, files: Mapping[str, bytes]) -> None:
        if folder.is_dir() and (others := sorted(one.name for one in folder.iterdir() if one.name not in files)):
            raise UserError(
                tr(
                    "{folder} already contains {others}. Choose a new or an empty folder.",
                    folder=folder,
                    others=others[0],
                )
            )
        with AtomicFiles() as atomic:
            atomic.folder(folder)
            for name, content in files.items():
                atomic.open(folder / name).write(content)

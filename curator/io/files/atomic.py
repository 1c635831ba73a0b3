"""Whole files or none: write next to the target, fsync, rename; a failure keeps the previous file."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from curator.domain.wording import UserError, tr

if sys.platform != "win32":
    import fcntl

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
    errno.ENOTEMPTY: "a folder with this name already exists: remove it or choose another path",
}
UNKNOWN = "{error}: check the disk and try again"
OF_PROJECT = re.compile(r".*\.curation[\\/](project\.[^\\/]*|bundles[\\/].*)", re.IGNORECASE | re.DOTALL)
"""A project's own file: its database, log, lock and mark, and those of its linkers."""
OWN_FILE = "it is a file of a Curator project: choose another file"
IMPORTED = "the project's documents were imported from it: choose another name or folder, or move the file first"
NO_PLAIN_FILE = "it is a device, a pipe or a socket: choose a regular file"


NOTHING = "cannot write {path}: {advice}; nothing was changed"
PARTLY = "cannot write {path}: {advice}; other files of this step were already written"
_SPARED: ContextVar[frozenset[tuple[int, int]]] = ContextVar("spared", default=frozenset())
"""Devices and numbers of files that are not replaced: see `AtomicWriter.sparing`."""
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}(\.\d+)?\.part")
TRIES, PAUSE = 50, 0.02
"""The number of tries, and seconds between them, for a folder that another process is cleaning up."""


def write_error(path: Path, error: OSError, *, partly: bool = False) -> UserError:
    """The message for an operating-system error while writing `path`; `partly`: after other files were written."""
    number = error.errno or 0
    advice = tr(_ADVICE[number]) if number in _ADVICE else tr(UNKNOWN, error=error.strerror or error)
    return UserError(tr(PARTLY, path=path, advice=advice) if partly else tr(NOTHING, path=path, advice=advice))


class AtomicFiles:
    """Context manager for one or several files that appear together when the block ends without an exception.

    Every file is written under a temporary name next to its target and fsynced before the first rename. Files of a
    folder created here are written into a temporary folder, which is then renamed as a whole. A symbolic link is kept,
    and its target is written. Raises UserError for a full disk, a missing folder, missing permission, and a target that
    is not a regular file; the targets are then unchanged.

    Temporary files of a killed process are removed when the next file is written in the folder (`_Claim`).
    """

    def __init__(self) -> None:
        self._token = secrets.token_hex(6)
        self._files: list[tuple[Path, Path, BinaryIO]] = []
        self._made: dict[Path, Path] = {}  # folder → its temporary folder; folders in other new folders too
        self._claims: dict[Path, _Claim] = {}

    def __enter__(self) -> AtomicFiles:
        return self

    def folder(self, path: Path) -> None:
        """Create the folder `path` (its parent must exist, or be created here); it is removed if the block fails."""
        if path in self._made:
            return
        try:
            if path.exists():
                make_folder(path)
                return
            filled = self._temporary(path)
            filled.mkdir()
        except OSError as error:
            raise write_error(path, error) from error
        self._made[path] = filled

    def open(self, target: Path) -> BinaryIO:
        """A stream whose content becomes `target`, or the file that the symbolic link `target` points to."""
        try:
            if target in self._made:
                raise IsADirectoryError(errno.EISDIR, "is a folder")
            target = _plain_target(target)
            temporary = self._temporary(target)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            raise write_error(target, error) from error
        stream = os.fdopen(descriptor, "wb", buffering=1 << 18)
        self._files.append((target, temporary, stream))
        return stream

    def put(self, target: Path, content: bytes) -> None:
        """Write `content` to `target`; no file stays open, so there may be any number of files."""
        stream = self.open(target)
        try:
            stream.write(content)
            _finish(stream)
        except OSError as error:
            raise write_error(target, error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            self._discard()
        if isinstance(error, OSError) and self._files:
            raise write_error(self._files[-1][0], error) from error

    def _commit(self) -> None:
        target, named = Path(), False
        try:
            for target, _, stream in self._files:  # noqa: B007  # named in the error
                _finish(stream)
            for target, filled in reversed(self._made.items()):  # noqa: B007  # too
                _sync_folder(filled)
            moves = [(target, temporary) for target, temporary, _ in self._files if target.parent not in self._made]
            moves += self._tops()
            for target, temporary in moves:
                temporary.replace(target)
                named = True
            for folder in {target.parent for target, _ in moves}:
                _sync_folder(folder)
        except OSError as error:
            raise write_error(target, error, partly=named) from error

    def _discard(self) -> None:
        for _, temporary, stream in self._files:
            with suppress(OSError):  # on a full disk the buffer cannot be flushed; the file is closed anyway
                stream.close()
            with suppress(OSError):  # the next write in this folder removes it
                temporary.unlink(missing_ok=True)
        for _, filled in self._tops():
            shutil.rmtree(filled, ignore_errors=True)
        for claim in self._claims.values():
            claim.end()

    def _tops(self) -> list[tuple[Path, Path]]:
        """The new folders that are in no other new one, with their temporary folders."""
        return [(path, filled) for path, filled in self._made.items() if path.parent not in self._made]

    def _temporary(self, target: Path) -> Path:
        """The temporary path of `target`: in a new folder under its own name, otherwise next to it. Raises OSError."""
        folder = target.parent
        if folder in self._made:
            return self._made[folder] / target.name
        if folder not in self._claims:
            self._claims[folder] = _Claim(folder)
        number = len(self._files) + len(self._made)
        return folder / f".{cut(target.name, 80)}.{self._token}.{number}.part"


class _Claim:
    """Signals to other processes that this process writes in `folder`, with a shared lock on the folder. A process that
    gets an exclusive lock removes the temporary files there, which a killed process left. Without locks on folders
    (Windows, some network drives) they stay."""

    def __init__(self, folder: Path) -> None:
        self._handle = -1
        if sys.platform != "win32":
            with suppress(OSError):
                self._handle = os.open(folder, os.O_RDONLY)
                if self._locked(fcntl.LOCK_EX):
                    _tidy(folder)
                for _ in range(TRIES):  # another process is cleaning up at the moment
                    if self._locked(fcntl.LOCK_SH):
                        break
                    time.sleep(PAUSE)

    def end(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _locked(self, how: int) -> bool:
        if sys.platform != "win32":
            try:
                fcntl.flock(self._handle, how | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True


def _tidy(folder: Path) -> None:
    with os.scandir(folder) as entries:
        left = [Path(one) for one in entries if TEMPORARY.fullmatch(one.name)]
    for path in left:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _plain_target(path: Path) -> Path:
    """The path written for this name, after following symbolic links. Raises UserError for a device, a pipe or a
    socket, which a rename would replace, for a project's own file, and one that is spared, and OSError for a folder and
    for circular links."""
    try:
        found = path.stat()
        mode = found.st_mode
        if (found.st_dev, found.st_ino) in _SPARED.get():
            raise UserError(tr(NOTHING, path=path, advice=tr(IMPORTED)))
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(mode):
        raise UserError(tr(NOTHING, path=path, advice=tr(NO_PLAIN_FILE)))
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if OF_PROJECT.fullmatch(os.path.realpath(target)):
        raise UserError(tr(NOTHING, path=path, advice=tr(OWN_FILE)))
    return target


def cut(name: str, most: int) -> str:
    """The name cut to at most `most` bytes, at a character boundary."""
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

    @contextmanager
    def sparing(self, paths: Iterable[Path]) -> Iterator[None]:
        known = set()
        for path in paths:
            with suppress(OSError):
                found = path.stat()
                known.add((found.st_dev, found.st_ino))
        token = _SPARED.set(frozenset(known))
        try:
            yield
        finally:
            _SPARED.reset(token)

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
        names = [one.name for one in folder.iterdir()] if folder.is_dir() else []
        if others := sorted(one for one in names if one not in files and not TEMPORARY.fullmatch(one)):
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

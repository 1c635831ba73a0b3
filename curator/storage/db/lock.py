"""The operating-system lock of a project: only one process writes; a crash releases it."""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from curator.domain.wording import ProjectLockedError, UnwritableProjectError, UserError, tr

LOCK_NAME = "project.lock"

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # Windows locks are mandatory: a byte far after the text, so that others can still read it

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        """Raises OSError where the file system has no locks."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


def is_locked(folder: Path) -> bool:
    """Whether some process has the project in `folder` open for writing. Nothing is written."""
    try:
        with (folder / LOCK_NAME).open("rb") as file:
            if not _try_lock(file):
                return True
            _unlock(file)
    except OSError:
        pass
    return False


MOUNTS = Path("/proc/self/mountinfo")
ALONE = {"davfs", "fuse.curlftpfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"}
"""Network file systems of Linux whose locks other computers do not see."""
UNSHARED = {
    "nfs": {"nolock", "local_lock=all", "local_lock=flock"},
    "nfs4": {"local_lock=all", "local_lock=flock"},
    "cifs": {"nobrl"},
    "smb3": {"nobrl"},
}
"""Those whose locks they see, except with these options of the mount."""


def _sees_others(folder: Path) -> bool:
    """Whether locks in `folder` exclude other computers, by the type and the options of its file system. True if
    unknown: `_holds` only sees this computer."""
    try:
        device = folder.stat().st_dev
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return True
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        fields = line.split()
        if len(fields) > 5 and fields[2] == wanted and "-" in fields:
            kind, _, options = (*fields[fields.index("-") + 1 :], "", "", "")[:3]
            return kind not in ALONE and not UNSHARED.get(kind, set()) & set(options.split(","))
    return True


def _holds(path: Path) -> bool:
    """Whether this process's lock really excludes others: some network file systems only pretend."""
    if sys.platform == "win32":
        return True  # its locks are provided by the system
    with _open_plain(path) as other:
        if not _try_lock(other):
            return True
        _unlock(other)
        return False


NO_LOCK = (
    "{path} is a link or not a regular file, so Curator does not write to it. Delete it and open the project again; it "
    "contains nothing but the name of the process that writes."
)
NO_LOCKING = (
    "{folder} cannot be opened for writing: its file system does not support locks, which keep two programs from "
    "writing to a project at the same time. This happens in some network folders. Move the project to a disk of this "
    "computer, or open it read-only."
)


class NoLocksError(UnwritableProjectError):
    """The file system cannot exclude a second program."""


LOCKED = "{name} is open for writing in {who}. Close it there, or open it here read-only."


def _open_plain(path: Path) -> IO[bytes]:
    """The file at `path`, created if missing. Raises UserError for anything but a regular file without other hard
    links."""
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # if the system has them
        flags |= getattr(os, name, 0)
    refused = UserError(tr(NO_LOCK, path=path))
    if path.is_symlink():
        raise refused
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise refused from error
        raise
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(file)
        raise refused
    return os.fdopen(file, "r+b", buffering=0)  # a failed write leaves nothing behind to be written later


class ProjectLock:
    """The write lock of the project in `folder`; the lock file contains the process and host of the holder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / LOCK_NAME
        self._file: IO[bytes] | None = None

    def acquire(self) -> None:
        """Raises ProjectLockedError, naming the holder, UnwritableProjectError if the folder is not writable, or
        UserError if the lock file is a link: a project may come from an untrusted source, and the link's target would
        be emptied. Raises NoLocksError if the file system has no working locks."""
        try:
            file = _open_plain(self._path)
        except OSError as error:
            raise UnwritableProjectError(
                tr(
                    "{folder} cannot be written ({strerror}). Check its permissions, or open it read-only.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        try:
            self._take(file)
        except BaseException:
            file.close()
            raise
        self._file = file
        try:
            self._write({"pid": os.getpid(), "host": socket.gethostname()})
        except OSError as error:
            self._let_go()
            raise UnwritableProjectError(
                tr(
                    "{folder} cannot be written ({strerror}). Free some space, or open it read-only.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error

    def _take(self, file: IO[bytes]) -> None:
        try:
            if not _try_lock(file):
                raise ProjectLockedError(self._locked_message())
            works = _holds(self._path)
        except OSError as error:
            raise NoLocksError(tr(NO_LOCKING, folder=self._folder)) from error
        if not (works and _sees_others(self._folder)):
            raise NoLocksError(tr(NO_LOCKING, folder=self._folder))

    def release(self) -> None:
        """Release the lock; idempotent. The file stays: removing it would race with the next holder."""
        if self._file is None:
            return
        with suppress(OSError):  # the name is for display; the system's lock counts
            self._write(None)
        self._let_go()

    def holder(self) -> tuple[int, str] | None:
        """(process id, host) in the lock file; None if it contains none."""
        if self._path.is_symlink() or not self._path.is_file():
            return None
        try:
            data = json.loads(self._path.read_bytes())
            return int(data["pid"]), str(data["host"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def __enter__(self) -> ProjectLock:
        if self._file is None:
            self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    def _let_go(self) -> None:
        assert self._file is not None
        _unlock(self._file)
        self._file.close()
        self._file = None

    def _locked_message(self) -> str:
        holder = self.holder()
        who = tr("process {id} on {host}", id=holder[0], host=holder[1]) if holder else tr("another process")
        return tr(LOCKED, name=self._folder.name, who=who)

    def _write(self, holder: dict[str, object] | None) -> None:
        assert self._file is not None
        self._file.truncate(0)
        self._file.seek(0)
        if holder is not None:
            self._file.write(json.dumps(holder).encode())

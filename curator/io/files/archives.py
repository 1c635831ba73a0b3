"""Sources of many files: a folder or a zip archive, listed safely and read by name.

A reader of such a source calls `open_files(path)`, which also accepts a single file, and gets names relative to the
source, with `/` between their parts. Nothing is unpacked to disk. UserError is raised for names that lead out of the
archive, links, encrypted members, and archives that unpack to far more than their size (zip bombs). Files of the
operating system (`.DS_Store`, `__MACOSX/`) and other hidden files are ignored.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import BinaryIO, cast

from curator.domain.wording import UnreadableError, UserError, tr
from curator.io.files.opening import (
    FREE_BYTES,
    MOST_SWELLING,
    failure_behind,
    first_bytes,
    is_own,
    open_plain,
    own_file,
    unpacked_gzip,
    unreadable,
)

ZIP_MAGIC = b"PK\x03\x04"
MOST_FILES = 100_000
MOST_BYTES = 1 << 28  # per member, since it is read at once

LEADS_OUT = "a link that leads out of the folder, which is not followed"
NO_FILE = "a device, a pipe or a socket"

_HIDDEN = ("__MACOSX", "Thumbs.db", "desktop.ini")


class Files:
    """The files of one source. `names` are sorted, relative to it, with `/` between their parts."""

    def __init__(
        self, path: Path, sizes: dict[str, int], opener: Callable[[str], AbstractContextManager[BinaryIO]]
    ) -> None:
        self.path = path
        self.names = tuple(sorted(sizes))
        self._sizes = sizes
        self._open = opener
        self._read: dict[str, int] = {}

    @property
    def position(self) -> tuple[int, int]:
        """(bytes read, bytes in all), counting files that were read at least once."""
        return sum(self._read.values()), sum(self._sizes.values())

    def size(self, name: str) -> int:
        """A file's size in bytes, on disk or as stated in the archive."""
        return self._sizes[name]

    def with_suffix(self, *suffixes: str) -> list[str]:
        """The names with one of these endings, ignoring case."""
        return [name for name in self.names if name.lower().endswith(suffixes)]

    def shown(self, name: str) -> str:
        """The file's location for messages: `corpus.zip: a/b.txt`, or the path alone for a source of one file."""
        return str(self.path) if self._is_single else f"{self.path}: {name}"

    @property
    def _is_single(self) -> bool:
        return len(self.names) == 1 and self.path.name == self.names[0]

    def read(self, name: str, most: int = MOST_BYTES) -> bytes:
        """A file's bytes. Raises UserError for one that is unreadable, damaged or larger than `most` bytes."""
        if self._sizes[name] > most:
            raise self._too_large(name, most)
        with self.open(name) as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise self._too_large(name, most)
        self.mark_read(name)
        return data

    def unpacked(self, name: str) -> bytes:
        """The same, unpacked if they are gzip-compressed."""
        with self.source(name).stream() as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise self._too_large(name, MOST_BYTES)
        return data

    def _too_large(self, name: str, most: int) -> UserError:
        words = "{shown} is larger than {most} MiB: split it and try again"
        return UserError(tr(words, shown=self.shown(name), most=most >> 20))

    def mark_read(self, name: str) -> None:
        """Count the file for `position`."""
        self._read[name] = self._sizes[name]

    def head(self, name: str, size: int = 1 << 12) -> bytes:
        """The first bytes of a file, without a byte order mark. Raises UserError."""
        with self.open(name) as stream:
            return stream.read(size).removeprefix(BOM_UTF8)

    def text(self, name: str) -> str:
        """A file's text, with its line ends and byte-order mark. Raises UserError if it is not UTF-8."""
        data = self.read(name)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise UserError(
                tr(
                    "{shown}, line {line}: byte {start} of the file is not UTF-8: convert it to UTF-8 (for "
                    "example with iconv) and try again",
                    shown=self.shown(name),
                    line=line,
                    start=error.start + 1,
                )
            ) from error

    def only(self, names: Sequence[str]) -> Files:
        """Some of the files, by name."""
        return Files(self.path, {name: self._sizes[name] for name in names}, self._open)

    def called(self, path: Path) -> Files:
        """The only remaining file, as if it were at `path`, which ends with its name."""
        [name] = self.names
        return Files(path, {path.name: self._sizes[name]}, lambda _: self._open(name))

    def beside(self, path: Path, names: Sequence[str]) -> Files:
        """The files among `names`, all of one folder, by their last parts and as if they were next to `path`."""
        here = {PurePosixPath(name).name: name for name in names if name in self._sizes}
        return Files(path, {one: self._sizes[name] for one, name in here.items()}, lambda one: self._open(here[one]))

    def source(self, name: str) -> FileOf:
        """A file in the form that readers need: with its `path` for messages, and `stream()`."""
        return FileOf(self, name)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """A file's bytes as a stream. Raises UserError, also while it is read: UnreadableError if the disk fails, other
        errors if the content is damaged."""
        try:
            with self._open(name) as stream:
                yield stream
        except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise UserError(
                tr("{shown} is damaged ({error}): download or copy it again", shown=self.shown(name), error=error)
            ) from error
        except OSError as error:
            raise unreadable(self.shown(name), error) from error


class FileOf:
    """One of several files, with the interface of `source.Source`."""

    def __init__(self, files: Files, name: str) -> None:
        self.path = Path(files.shown(name))
        self._files = files
        self._name = name

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """The bytes, unpacked if they are gzip-compressed. Raises UserError."""
        with self._files.open(self._name) as stream:
            if stream.read(2) == b"\x1f\x8b":
                stream.seek(0)
                with unpacked_gzip(stream, self._files.size(self._name), self.path) as unpacked:
                    yield unpacked
            else:
                stream.seek(0)
                yield stream
        self._files.mark_read(self._name)


def is_zip(path: Path) -> bool:
    """Whether the file is a zip archive, by its content. Raises UnreadableError."""
    return first_bytes(path, len(ZIP_MAGIC)) == ZIP_MAGIC


def holds_many(path: Path) -> bool:
    """Whether the path is a folder or a zip archive. Raises UnreadableError."""
    return path.is_dir() or is_zip(path)


def member_of(path: Path) -> tuple[Path, str] | None:
    """The archive and the name in it for `ARCHIVE/NAME`; None for any other path."""
    for parent in path.parents:
        if parent.is_file():
            return (parent, path.relative_to(parent).as_posix()) if is_zip(parent) else None
        if parent.exists():
            return None
    return None


def open_files(path: Path) -> Files:
    """The files of a folder, of a zip archive, or the one file itself, which may be in an archive (`ARCHIVE/NAME`).
    Raises UserError (missing, unsafe, damaged)."""
    if path.is_dir():
        return _folder(path)
    if (inside := member_of(path)) is not None:
        return _member(path, *inside)
    if is_zip(path):
        return _zip(path)
    return chosen_files(path.parent, [path.name], path=path)


def chosen_files(folder: Path, names: Sequence[str], *, path: Path | None = None) -> Files:
    """Some files of a folder as one source, named `path`. Raises UserError if one is missing, or is a link that leads
    out of the folder; only `path` itself, which the user chose, may be one."""
    for name in names:
        if path is None or name != path.name:
            own_file(folder / name, folder)
    try:
        sizes = {name: (folder / name).stat().st_size for name in names}
    except OSError as error:
        raise unreadable(folder / names[0], error) from error
    return Files(path or folder, sizes, lambda name: open_plain(folder / name))


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes, or of a folder's files with their names and sizes; hexadecimal. Raises UserError."""
    found = hashlib.sha256()
    many = path.is_dir()
    try:
        for one in sorted(one for one in path.rglob("*") if one.is_file() and _is_own(one, path)) if many else [path]:
            if many:
                found.update(os.fsencode(f"{one.relative_to(path).as_posix()}\0{one.stat().st_size}\0"))
            files = open_files(one)
            with files.open(files.names[0]) if member_of(one) else open_plain(one) as stream:
                while chunk := stream.read(1 << 20):
                    found.update(chunk)
    except OSError as error:
        raise UserError(
            tr(
                "{path} could not be read ({strerror}). Check the name and the permissions.",
                path=path,
                strerror=error.strerror or error,
            )
        ) from error
    return found.hexdigest()


# --- folders ---


def _folder(folder: Path) -> Files:
    sizes: dict[str, int] = {}
    for place, names, here in os.walk(folder, onerror=_unreadable):
        names[:] = sorted(name for name in names if not _hidden(name))
        for name in here:
            file = Path(place) / name
            if not _hidden(name) and file.is_file() and _is_own(file, folder):
                sizes[file.relative_to(folder).as_posix()] = file.stat().st_size
        if len(sizes) > MOST_FILES:
            raise UserError(
                tr(
                    "{folder} contains more than {most_files:,} files: import its folders one by one",
                    folder=folder,
                    most_files=MOST_FILES,
                )
            )
    return Files(folder, sizes, lambda name: open_plain(folder / name))


def never_read(folder: Path) -> dict[Path, str]:
    """What `open_files` leaves out of a folder and its folders, though it is not hidden, each with the reason: links
    that lead out of it, devices, pipes and sockets."""
    found = {
        path: reason
        for place, folders, here in os.walk(folder, onerror=_unreadable)
        for name in (*folders, *here)
        if not _hidden(name) and (reason := _why_not_read(path := Path(place) / name, folder))
    }
    return {path: found[path] for path in sorted(found)}


def _why_not_read(path: Path, folder: Path) -> str:
    """'' if it is a file or a folder; what is not accessible is reported when it is opened."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            if not is_own(path, folder):
                return tr(LEADS_OUT)
            mode = path.stat().st_mode
    except OSError:
        return ""
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else tr(NO_FILE)


def _is_own(path: Path, folder: Path) -> bool:
    return not path.is_symlink() or is_own(path, folder)  # found without entering links


def _unreadable(error: OSError) -> None:
    raise UnreadableError(
        tr("cannot read the folder {filename}: {strerror}", filename=error.filename, strerror=error.strerror or error)
    ) from error


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in _HIDDEN


# --- zip archives ---


def _member(path: Path, archive: Path, name: str) -> Files:
    files = _listed(archive, archive.stat().st_mtime_ns)
    if name not in files.names:
        raise UserError(tr("{name} was not found in {archive}: check the path", archive=archive, name=name))
    return files.only([name]).called(path)


@lru_cache(maxsize=1)
def _listed(archive: Path, changed: int) -> Files:  # noqa: ARG001 an archive that was changed is listed again
    """Cached, since the files of an archive are requested one by one."""
    return _zip(archive)


def _zip(path: Path) -> Files:
    try:
        with open_plain(path) as file:
            archive = zipfile.ZipFile(file)  # its directory: each member opens the file again
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError, ValueError) as error:
        if (failure := failure_behind(error)) is not None:
            raise unreadable(path, failure) from failure
        raise UserError(
            tr("{path} is a damaged zip archive ({error}): download or copy it again", path=path, error=error)
        ) from error
    members = [one for one in archive.infolist() if not one.filename.endswith("/")]
    _check_size(path, members)
    sizes: dict[str, int] = {}
    for member in members:
        _check_member(path, member)
        if not any(_hidden(part) for part in PurePosixPath(member.filename).parts):
            sizes[member.filename] = member.file_size
    lock = Lock()

    @contextmanager
    def opened(name: str) -> Iterator[BinaryIO]:
        with open_plain(path) as file:
            with lock:
                archive.fp = file
                member = archive.open(name)
            with member:
                yield cast(BinaryIO, member)

    return Files(path, sizes, opened)


def _check_size(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    if len(members) > MOST_FILES:
        raise UserError(
            tr("{path} contains more than {most_files:,} files: split the archive", path=path, most_files=MOST_FILES)
        )
    size, swollen = path.stat().st_size, sum(one.file_size for one in members)
    if swollen > FREE_BYTES + MOST_SWELLING * size:
        raise UserError(
            tr(
                "{path} was not opened: it would unpack from {size:,} to {swollen:,} bytes, far more "
                "than an archive of texts does",
                path=path,
                size=size,
                swollen=swollen,
            )
        )


def _check_member(path: Path, member: zipfile.ZipInfo) -> None:
    name = member.filename
    parts = PurePosixPath(name).parts
    drive = len(name) > 1 and name[1] == ":"
    if not name or name.startswith("/") or drive or "\\" in name or "\0" in name or ".." in parts:
        raise UserError(
            tr(
                "{path} was not opened: it contains a name that leads out of the archive ({name!r})",
                path=path,
                name=name,
            )
        )
    if (member.external_attr >> 16) & 0o170000 == 0o120000:
        raise UserError(tr("{path} was not opened: it contains a link ({name!r})", path=path, name=name))
    if member.flag_bits & 1:
        raise UserError(tr("{path} is encrypted: unpack it with its password first", path=path))

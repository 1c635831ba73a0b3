"""Files that others made: one as a stream, or those of a folder or a zip archive, listed safely and read by name.

* A `Source` is one file: unpacked (gzip, zip of one file) by content, split on LF only, decoded as UTF-8.
* `open_files` lists a source of many `Files`, and also accepts a single one. Names are relative to it, with `/` between
  their parts. Nothing is unpacked to disk. Names that lead out of the archive, links, encrypted members, and archives
  that unpack to far more than their size (zip bombs) are refused. Files of the operating system (`.DS_Store`,
  `__MACOSX/`) and other hidden files are ignored.

Errors are UserErrors.
"""

from __future__ import annotations

import codecs
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

from curator.domain.wording import UNPAIRED, UnreadableError, UserError, tr
from curator.io.files.opening import (
    FREE_BYTES,
    MOST_SWELLING,
    Unpacked,
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

    def source(self, name: str) -> Source:
        """A file in the form that readers need."""
        return Source(Path(self.shown(name)), self, name)

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


GZIP_MAGIC = b"\x1f\x8b"
BOM = "\ufeff"
HEAD_BYTES = 1 << 16
LINE_BYTES = 1 << 26  # a file with a line longer than 64 MiB is not a supported text file

_FOREIGN_BOMS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"BZh": "bzip2: unpack it first",
    b"\xfd7zXZ\x00": "xz: unpack it first",
    b"%PDF": "a PDF",
}


class Source:
    """Reads one file; `position` can be read at any time. Each call of `lines` or `stream` starts at the beginning."""

    def __init__(self, path: Path, files: Files | None = None, name: str = "") -> None:
        """The file at `path`, or one of several `files`, for which `path` is its place for messages."""
        self.path = path
        self._files = files
        self._name = name
        self._raw: BinaryIO | None = None
        self._done = 0
        self._size = 0

    @property
    def position(self) -> tuple[int, int]:
        """(bytes read, bytes in all) of the file on disk."""
        if self._raw is not None and not self._raw.closed:
            self._done = self._raw.tell()
        return self._done, self._size

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """The decompressed bytes. Raises UnreadableError (missing, folder, no permission, failing disk) and UserError
        (truncated gzip)."""
        try:
            with self._opened() as (raw, self._size):
                self._raw = raw
                magic = raw.read(4)
                raw.seek(0)
                if magic == ZIP_MAGIC:
                    with self._only_member() as member:
                        yield member
                elif magic.startswith(GZIP_MAGIC):
                    with unpacked_gzip(raw, self._size, self.path) as unzipped:
                        yield unzipped
                else:
                    yield raw
                self._done = raw.tell()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(
                tr(
                    "{path} is a damaged or truncated gzip file ({error}): download or copy it again",
                    path=self.path,
                    error=error,
                )
            ) from error
        except OSError as error:
            raise unreadable(self.path, error) from error

    @contextmanager
    def _opened(self) -> Iterator[tuple[BinaryIO, int]]:
        """The file's raw bytes and their number: from the disk, or from an archive (`ARCHIVE/NAME`)."""
        files, name = self._files, self._name
        if files is None and member_of(self.path) is not None:
            files = open_files(self.path)
            name = files.names[0]
        if files is None:
            with open_plain(self.path) as raw:
                yield raw, os.fstat(raw.fileno()).st_size
            return
        with files.open(name) as member:
            yield member, files.size(name)
        files.mark_read(name)

    @contextmanager
    def _only_member(self) -> Iterator[BinaryIO]:
        if self._files is not None or member_of(self.path) is not None:
            raise UserError(tr("{path} is an archive in an archive: unpack the outer one first", path=self.path))
        files = open_files(self.path)
        if len(files.names) != 1:
            words = "{path} is a zip archive of {number:,} files: unpack it first"
            raise UserError(tr(words, path=self.path, number=len(files.names)))
        with files.open(files.names[0]) as member:
            yield member

    def lines(self, decode: Callable[[bytes], str] = bytes.decode) -> Iterator[str]:
        """Lines with their line end, split on LF only. Raises UserError like `stream`, and for text that is not
        UTF-8."""
        with self.stream() as stream:
            number = 0
            while line := stream.readline(LINE_BYTES):
                number += 1
                if len(line) >= LINE_BYTES:
                    words = "{path}, line {number}: longer than 64 MiB: this is not a text file"
                    raise UserError(tr(words, path=self.path, number=number))
                try:
                    yield decode(line)
                except UnicodeDecodeError as error:
                    words = (
                        "{path}, line {number}: byte {start} is not UTF-8: convert the file to UTF-8 (for example with "
                        "iconv) and try again"
                    )
                    raise UserError(tr(words, path=self.path, number=number, start=error.start + 1)) from error

    def head(self) -> bytes:
        """The first 64 KiB, or the whole first line if it is longer, without a byte order mark.

        Raises UserError for a file that is missing, empty, a folder, unreadable or not UTF-8 text.
        """
        with self.stream() as stream:
            head = stream.read(HEAD_BYTES)
            if head and b"\n" not in head.lstrip():
                head += stream.readline(LINE_BYTES)
        if not head.strip():
            raise UserError(tr("{path} is empty: choose a file with content", path=self.path))
        _check_text(self.path, head)
        return head.removeprefix(codecs.BOM_UTF8)

    def verify(self) -> None:
        """Decompress everything once so that a truncated archive is detected before the first record is stored."""
        with self.stream() as stream:
            if isinstance(getattr(stream, "raw", stream), Unpacked | zipfile.ZipExtFile):
                while stream.read(1 << 20):
                    pass


def _check_text(path: Path, head: bytes) -> None:
    for magic in _FOREIGN_BOMS:
        if head.startswith(magic):
            raise UserError(
                tr(
                    "{path} is {what}, not a UTF-8 text file: convert it and try again",
                    path=path,
                    what=tr(_FOREIGN_BOMS[magic]),
                )
            )
    if head[257:262] == b"ustar":
        raise UserError(tr("{path} is a tar archive: unpack it first", path=path))
    if b"\0" in head and _is_binary(head):
        raise UserError(tr("{path} is a binary file, not a text file: choose another file", path=path))


def _is_binary(head: bytes) -> bool:
    """Whether NUL characters are more than stray ones: a record of a text may have one."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return True
    return head.count(0) * 20 > len(head)


def without_line_end(line: str) -> str:
    """The line without its LF or CRLF (one of them; a further CR is text)."""
    if line.endswith("\n"):
        line = line[:-1]
    return line.removesuffix("\r")


def plain_text(text: str) -> str:
    """`text` with half characters as U+FFFD."""
    return text if text.isascii() else UNPAIRED.sub("\ufffd", text)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, split on LF only."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def line_end(text: str) -> str:
    """The line end of the first line of `text`."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def join_lines(lines: Sequence[str], ending: str, *, final: bool) -> str:
    """The joined lines, each with its own end or `ending`; the last one without an end unless `final`."""
    if not lines:
        return ""
    whole = [line if line.endswith("\n") else line + ending for line in lines]
    return "".join(whole if final else [*whole[:-1], without_line_end(whole[-1])])

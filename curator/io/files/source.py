"""One file as a stream: unpacked (gzip, zip of one file) by content, split on LF only, decoded as UTF-8.

Errors are UserErrors.
"""

from __future__ import annotations

import codecs
import gzip
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from curator.domain.wording import UNPAIRED, UserError, tr
from curator.io.files.archives import ZIP_MAGIC, member_of, open_files
from curator.io.files.opening import Unpacked, open_plain, unpacked_gzip, unreadable

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

    def __init__(self, path: Path) -> None:
        self.path = path
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
        if member_of(self.path) is None:
            with open_plain(self.path) as raw:
                yield raw, os.fstat(raw.fileno()).st_size
            return
        files = open_files(self.path)
        with files.open(files.names[0]) as member:
            yield member, files.position[1]

    @contextmanager
    def _only_member(self) -> Iterator[BinaryIO]:
        if member_of(self.path) is not None:
            raise UserError(tr("{path} is an archive in an archive: unpack the outer one first", path=self.path))
        files = open_files(self.path)
        if len(files.names) != 1:
            raise UserError(
                tr(
                    "{path} is a zip archive of {number:,} files: unpack it first",
                    path=self.path,
                    number=len(files.names),
                )
            )
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
                    raise UserError(
                        tr(
                            "{path}, line {number}: longer than 64 MiB: this is not a text file",
                            path=self.path,
                            number=number,
                        )
                    )
                try:
                    yield decode(line)
                except UnicodeDecodeError as error:
                    raise UserError(
                        tr(
                            "{path}, line {number}: byte {start} is not UTF-8: convert the file to UTF-8 (for "
                            "example with iconv) and try again",
                            path=self.path,
                            number=number,
                            start=error.start + 1,
                        )
                    ) from error

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

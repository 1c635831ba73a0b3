"""Tables in other encodings than UTF-8: UTF-16 detected by its byte-order mark or zero bytes, else Windows-1252 or
Latin-1.

Spreadsheets write these encodings without stating them in the file. A table that is UTF-8 except for a few bytes is a
damaged file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from curator.domain.wording import UnreadableError, UserError, tr
from curator.io.files.source import BOM, HEAD_BYTES, Source

LOOKED_AT = 1 << 12
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
_ONLY_LATIN_1 = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""Bytes that Windows-1252 does not define."""
_MOST_CHARACTERS = 1 << 26  # per line


class TextLines:
    """The lines of a text file in its detected encoding. `encoding` is known while they are read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.encoding = "utf-8"

    @property
    def repair(self) -> str:
        """A sentence about the encoding, if it is not UTF-8; else ''."""
        name = _NAMES.get(self.encoding, "")
        return tr("the file is not in UTF-8 and was read as {encoding}", encoding=name) if name else ""

    def head(self) -> str:
        """The beginning of the text. Raises UserError."""
        if encoding := utf16_of(self._source):
            self.encoding = encoding
            with self._source.stream() as stream:
                return stream.read(HEAD_BYTES).decode(encoding, "ignore").removeprefix(BOM)
        return self._source.head().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        """Lines with their ends, split on LF only, without a byte-order mark. Raises UserError."""
        self.encoding = utf16_of(self._source) or "utf-8"
        lines = self._source.lines(self._decoded) if self.encoding == "utf-8" else self._of_utf16()
        for number, line in enumerate(lines):
            yield line if number else line.removeprefix(BOM)

    def _of_utf16(self) -> Iterator[str]:
        number = 0
        with self._source.stream() as stream:
            text = io.TextIOWrapper(stream, encoding=self.encoding, newline="\n")
            try:
                while line := text.readline(_MOST_CHARACTERS):
                    number += 1
                    yield line
            except UnicodeDecodeError as error:
                words = tr("{path}, line {number}: this is not UTF-16", path=self._source.path, number=number + 1)
                raise UserError(words) from error
            finally:
                text.detach()

    def _decoded(self, line: bytes) -> str:
        if self.encoding == "utf-8":
            try:
                return line.decode("utf-8")
            except UnicodeDecodeError:
                self.encoding = self._other()
                if self.encoding == "utf-8":
                    raise
        return line.decode(self.encoding)

    def _other(self) -> str:
        """The encoding of a file that is not UTF-8; UTF-8 if most non-ASCII lines are UTF-8."""
        known = wrong = 0
        encoding = "cp1252"
        with self._source.stream() as stream:
            for line in stream:
                if line.isascii():
                    continue
                if not known and not wrong and line.startswith(BOM.encode()):
                    return "utf-8"
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    wrong += 1
                    encoding = encoding if not set(line).intersection(_ONLY_LATIN_1) else "latin-1"
                else:
                    known += 1
        return encoding if wrong >= known else "utf-8"


def utf16_of(source: Source) -> str:
    """The variant of UTF-16 of a text file, '' if it is not UTF-16. Raises UserError for a file that cannot be read."""
    with source.stream() as stream:
        head = stream.read(LOOKED_AT)
    if encoding := _MARKS.get(head[:2]):
        return encoding
    if not head or b"\0" not in head:
        return ""
    for first, encoding in ((0, "utf-16-be"), (1, "utf-16-le")):
        zeros, others = head[first::2].count(0), head[1 - first :: 2].count(0)
        text = head[: len(head) & ~1].decode(encoding, "ignore")
        if not others and zeros * 2 > len(head) // 2 and all(one.isprintable() or one in "\t\r\n" for one in text):
            return encoding
    return ""


def is_utf16(path: Path) -> bool:
    """Whether the file is a text in UTF-16. Raises UnreadableError."""
    try:
        return path.is_file() and bool(utf16_of(Source(path)))
    except UnreadableError:
        raise
    except UserError:
        return False

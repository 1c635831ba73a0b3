"""Tables: CSV, TSV and workbooks (XLSX) as rows of texts, with their lines; separator and quoting from the content.

The separator is a tab if the first line has one; such files have no quoting, unless a whole cell near the beginning is
in quotes, as spreadsheets write it. With quoting, a stray quote is an error with its line, since it would swallow the
following text.

What the cells of foreign tables mean: no value, or something that a spreadsheet made of a value.

Tables in other encodings than UTF-8: UTF-16 detected by its byte-order mark or zero bytes, else Windows-1252 or
Latin-1.

Spreadsheets write these encodings without stating them in the file. A table that is UTF-8 except for a few bytes is a
damaged file.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.io.files.opening import failure_behind, first_bytes, open_plain, unreadable
from curator.io.files.source import BOM, HEAD_BYTES, Source, without_line_end
from curator.services.ports.files import Problem

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook


MISSING = frozenset(
    (
        *("-", "--", "---", "–", "—", ".", "?", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>"),  # not Na, which is sodium
        *("nan", "NaN", "-nan", "-NaN", "NULL", "null", "None", "\\N"),
    )
)
"""As databases, R and pandas write that there is no value."""
_ERROR = re.compile(r"#(?:[A-ZÄÖÜ0-9/_]+[!?]|N/A|NV|GETTING_DATA)|Err:\d{3}")
_MONTH = "(?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez)"
_MADE = re.compile(
    rf"true|false|\d{{4}}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?|(?:\d+ days?, )?\d{{1,2}}:\d\d:\d\d(?:\.\d+)?"
    rf"|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|\d{{1,2}}-{_MONTH}(?:-\d{{2,4}})?|{_MONTH}-\d{{2,4}}|\d(?:\.\d+)?E\+\d+",
    re.IGNORECASE,
)


class Cells:
    """Reads the values of one table, and counts the cells without one."""

    def __init__(self) -> None:
        self._missing: dict[str, tuple[int, int]] = {}

    def value(self, cell: str, line: int) -> str:
        """The stripped text; '' for a cell that says that it has no value."""
        cell = cell.strip()
        if cell not in MISSING and not is_error(cell):
            return cell
        count, first = self._missing.get(cell, (0, line))
        self._missing[cell] = count + 1, first
        return ""

    def notes(self) -> Iterator[Problem]:
        """One for each text that was read as no value, with its first line."""
        for cell, (count, first) in self._missing.items():
            text = ntr(
                "{n} cell “{cell}” was read as no value", "{n:,} cells “{cell}” were read as no value", count, cell=cell
            )
            yield Problem(first, "note", text)


def is_error(cell: str) -> bool:
    """Whether it is the error of a formula."""
    return cell[:1] in ("#", "E") and _ERROR.fullmatch(cell) is not None


def is_converted(cell: str) -> bool:
    """Whether it is a date, a time, a logical value or a number with an exponent: spreadsheets turn names and
    identifiers such as SEPT2 and 2310009E13 into them."""
    return _MADE.fullmatch(cell) is not None


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


SEPARATORS = "\t,;|"
ZIP_MAGIC = b"PK\x03\x04"
MOST_COLUMNS = 1000
LONGEST_CELL = 1 << 26  # characters; csv's default limit is shorter than many articles
UNPACKED = 64 << 20
"""A workbook may always unpack to this many bytes; a larger result may have `TIMES` the file's size."""
TIMES = 100
TEXTS, TEXT_TIMES = 1 << 20, 20
"""The same limits for its list of distinct texts: reading a list of 3 million empty texts takes 20 s."""
_WORKBOOK = "xl/workbook.xml"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""Workbooks' escapes for characters that XML lacks, and for an underscore before text that looks like an escape."""
_DAMAGED = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error),
    *(LookupError, ValueError, TypeError, OverflowError, NotImplementedError),
)
Row = tuple[int, list[str]]


class Table:
    """One file; Each call of `rows` starts at the beginning. `sheet` '' is the first sheet of a workbook."""

    def __init__(self, path: Path, *, sheet: str = "") -> None:
        self.path = path
        self.sheet = sheet
        self._source = Source(path)
        self._lines = TextLines(self._source)
        self._rows = (0, 0)

    @property
    def position(self) -> tuple[int, int]:
        """(read, in all): bytes, or rows of a workbook."""
        return self._rows if self._rows[1] else self._source.position

    @property
    def repair(self) -> str:
        """A sentence about the encoding of a text file that is not UTF-8, for the rows read so far; else ''."""
        return self._lines.repair

    def verify(self) -> None:
        """Raises UserError for a truncated gzip file, and for a workbook that unpacks to too much."""
        if is_workbook(self.path):
            _check_size(self.path)
        else:
            self._source.verify()

    def sheets(self) -> tuple[str, ...]:
        """The names of a workbook's sheets; none for a text file."""
        if not is_workbook(self.path):
            return ()
        with _workbook(self.path) as book:
            return tuple(book.sheetnames)

    def rows(self) -> Iterator[Row]:
        """Non-empty rows, with the line where each begins. Raises UserError."""
        found = self._of_workbook() if is_workbook(self.path) else self._of_text()
        for line, cells in found:
            if len(cells) > MOST_COLUMNS:
                raise UserError(
                    tr(
                        "{path}, line {line}: more than {most_columns} columns: Curator cannot read this table",
                        path=self.path,
                        line=line,
                        most_columns=MOST_COLUMNS,
                    )
                )
            if any(cell.strip() for cell in cells):
                yield line, cells

    def first(self, number: int) -> list[list[str]]:
        return [cells for _, cells in islice(self.rows(), number)]

    def _of_text(self) -> Iterator[Row]:
        head = self._lines.head()
        separator, lines = separator_of(head), iter(self._lines)
        if separator == "\t" and not _quotes(head):
            yield from ((n, without_line_end(line).split("\t")) for n, line in enumerate(lines, 1))
            return
        csv.field_size_limit(LONGEST_CELL)
        reader, began = csv.reader(lines, delimiter=separator, strict=True), 1
        try:
            for cells in reader:
                yield began, cells
                began = reader.line_num + 1
        except csv.Error as error:
            raise UserError(
                tr(
                    "{path}, line {began}: a quotation mark is opened or closed in the wrong place "
                    "({error}): correct the line, or save the table with tabs",
                    path=self.path,
                    began=began,
                    error=error,
                )
            ) from error

    def _of_workbook(self) -> Iterator[Row]:
        with _workbook(self.path) as book:
            if self.sheet and self.sheet not in book.sheetnames:
                names = ", ".join(book.sheetnames)
                raise UserError(
                    tr(
                        "{path} has no sheet {sheet!r}: choose one of {names}",
                        path=self.path,
                        sheet=self.sheet,
                        names=names,
                    )
                )
            sheet = book[self.sheet or book.sheetnames[0]]
            total = getattr(sheet, "max_row", None) or 0
            for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
                self._rows = (number, max(total, number))
                yield number, [_cell(value) for value in values]


def separator_of(head: str) -> str:
    """The separator in the first non-empty line: a tab if there is one, else the most frequent one, by default a
    comma."""
    line = next((one for one in head.split("\n") if one.strip()), "")
    if "\t" in line:
        return "\t"
    return max(SEPARATORS[1:], key=line.count)


def headings_in(head: bytes) -> list[str]:
    """The cells of the first line that is not empty; none if it begins like JSON, XML or another structured format."""
    line = next((one for one in head.decode("utf-8", "replace").split("\n") if one.strip()), "")
    return [] if line.lstrip()[:1] in ("{", "[", "<", "*", "#") else line.replace('"', "").split(separator_of(line))


def is_workbook(path: Path) -> bool:
    """Whether the content is a zip archive with a workbook. Raises UnreadableError."""
    if first_bytes(path, len(ZIP_MAGIC)) != ZIP_MAGIC:
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except _DAMAGED as error:  # also an unknown zip version or undecodable names
        if (failure := failure_behind(error)) is not None:
            raise unreadable(path, failure) from failure
        return False


def is_only_table(path: Path) -> bool:
    """Whether such a file can only be a table: a workbook, or a text in UTF-16 with separators, which are not
    PubTator's."""
    return is_workbook(path) or (is_utf16(path) and separator_of(TextLines(Source(path)).head()) != "|")


@contextmanager
def _workbook(path: Path) -> Iterator[Workbook]:
    import openpyxl  # imported when a workbook is read
    from openpyxl.utils.exceptions import InvalidFileException

    _check_size(path)
    try:
        with open_plain(path) as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            try:
                yield book
            finally:
                book.close()
    except (InvalidFileException, SyntaxError, *_DAMAGED) as error:
        raise _error(path, error) from error


def _error(path: Path, error: Exception) -> UserError:
    if (failure := failure_behind(error)) is not None:
        return unreadable(path, failure)
    return UserError(
        tr(
            "{path} is a damaged workbook ({error}): open it in a spreadsheet and save it again",
            path=path,
            error=error,
        )
    )


def _check_size(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except _DAMAGED as error:
        raise _error(path, error) from error
    unpacked = sum(one.file_size for one in members)
    texts = [one for one in members if one.filename.lower().endswith("sharedstrings.xml")]
    if any(one.file_size > max(TEXTS, TEXT_TIMES * one.compress_size) for one in texts):
        raise UserError(
            tr(
                "{path} is not a workbook of a spreadsheet program: its list of texts unpacks to {unpacked:,} MB. "
                "Open it in a spreadsheet and save it again",
                path=path,
                unpacked=sum(one.file_size for one in texts) >> 20,
            )
        )
    if unpacked > max(UNPACKED, TIMES * path.stat().st_size):
        raise UserError(
            tr(
                "{path} is too large: it unpacks to {unpacked:,} MB. Save the table as CSV",
                path=path,
                unpacked=unpacked >> 20,
            )
        )


def _quotes(head: str) -> bool:
    """Whether a whole cell near the beginning is in quotes."""
    cells = (cell for line in head.split("\n")[:100] for cell in without_line_end(line).split("\t"))
    return any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    if isinstance(value, float) and value.is_integer():
        return f"{value:.15G}"  # spreadsheets keep 15 digits; a longer number gets an exponent, and is no identifier
    return str(value)


def extra_cells(number: int, width: int) -> str:
    words = "has {number} cells for {width} columns; the extra cells are left out"
    return tr(words, number=number, width=width)

"""Shared by the formats that separate texts and annotations, or have one document per file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

from curator.domain.documents import Passage, SourceFile
from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.io.files.archive_writing import safe_name, write_files
from curator.io.files.archives import Files
from curator.io.files.export import FreeNames, export_name, unique
from curator.io.files.reading import DocumentSourceReader
from curator.io.files.source import plain_text
from curator.services.ports.files import ExportDocument, Problem

TITLE_LENGTH = 300
MOST_SET_ASIDE = 1 << 20  # characters of other files that are kept for the round trip


class FilesReader(DocumentSourceReader):
    """Reads the files of one source."""

    def __init__(self, files: Files) -> None:
        super().__init__(files.path)
        self._files = files

    @property
    def position(self) -> tuple[int, int]:
        return self._files.position

    def prepare(self) -> None:
        """Does nothing: the listing was read when the source was opened, and each file is checked when it is read."""

    def _problem(self, line: int, severity: str, text: str) -> None:
        super()._problem(line, severity, plain_text(text))  # JSON escapes may contain what a console cannot show

    def _text(self, name: str) -> str | None:
        """A file's text; None for one that is not a text, which is reported. Raises UnreadableError."""
        try:
            return self._files.text(name)
        except UnreadableError:  # with it, the next import may be whole
            raise
        except UserError as error:
            self._problem(0, "set aside", str(error))
            return None

    def _others(self, names: Iterable[str], used: Iterable[str]) -> dict[str, str]:
        """The texts of other files, kept for the round trip; files that are not short texts are noted.

        Raises UnreadableError.
        """
        kept: dict[str, str] = {}
        size, left = 0, []
        for name in sorted({*names} - {*used}):
            try:
                text = self._files.read(name, MOST_SET_ASIDE).decode("utf-8")
            except UnreadableError:
                raise
            except (UserError, UnicodeDecodeError):
                left.append(name)
                continue
            size += len(text)
            if size > MOST_SET_ASIDE:
                left.append(name)
                continue
            kept[name] = text
        if left:
            self._problem(
                0,
                "note",
                ntr(
                    "{n} other file is not kept: {left}",
                    "{n:,} other files are not kept: {left}",
                    len(left),
                    left=", ".join(left[:5]),
                ),
            )
        return kept


def first_line(text: str) -> str:
    """A title for a text without one: its first line that is not blank."""
    for line in text.removeprefix("\ufeff").split("\n", 20):
        if line.strip():
            return line.strip()[:TITLE_LENGTH]
    return ""


def plain_passages(text: str) -> tuple[Passage, ...]:
    """A short first line as the title and the rest as a section; one section if there is no such line."""
    line, newline, rest = text.partition("\n")
    title = line.rstrip("\r")
    if newline and title.strip() and len(title) <= TITLE_LENGTH and rest.strip():
        return Passage("title", 0, len(title)), Passage("section", len(line) + 1, len(text))
    return (Passage("section", 0, len(text)),) if text else ()


def extra_of(file: SourceFile, format_name: str) -> dict[str, Any]:
    """The data that a reader of the format stored for its writer."""
    return dict(json.loads(file.extra)) if file.format == format_name and file.extra else {}


# --- writing ---


class Documents(Protocol):
    """Writes one source file's documents. A format creates one for each written file."""

    def pieces(self, item: ExportDocument, name: str) -> Iterable[tuple[str, bytes]]:
        """The files of one document; `name` is its file name without an ending."""
        ...

    def rest(self) -> Iterable[tuple[str, bytes]]:
        """Files that belong to no document."""
        ...


def write_documents(
    chosen: Sequence[tuple[SourceFile, Documents, Iterable[ExportDocument]]],
    out: Path,
    problems: list[Problem],
    *,
    suffixes: tuple[str, ...] = (),
) -> list[Path]:
    """Write into the folder or the zip archive `out`, each source file in its own folder if there are several.

    A single document is written to the file `out` if that ends with one of `suffixes`.
    """
    if not chosen:
        raise UserError(tr("nothing to export: the project has none of the requested documents"))
    if out.name.lower().endswith(suffixes) and suffixes and not out.is_dir():
        return [_single(chosen, out)]
    folders = unique([Path(export_name(file, format_name="", suffix="")).stem or "documents" for file, _, _ in chosen])
    if len(chosen) == 1:
        folders = [""]
    return write_files(out, _pieces(chosen, folders, problems))


def _pieces(
    chosen: Sequence[tuple[SourceFile, Documents, Iterable[ExportDocument]]],
    folders: Sequence[str],
    problems: list[Problem],
) -> Iterator[tuple[str, bytes]]:
    for (_, writer, items), folder in zip(chosen, folders, strict=True):
        taken = FreeNames()
        for item in items:
            name = _name(item, taken, problems)
            for path, content in writer.pieces(item, name):
                yield f"{folder}/{path}" if folder else path, content
        for path, content in writer.rest():
            yield f"{folder}/{path}" if folder else path, content


def _name(item: ExportDocument, taken: FreeNames, problems: list[Problem]) -> str:
    """A unique file name for each document; names that differ from the document's id are noted."""
    wanted = item.document.external_id
    safe = safe_name(wanted)
    name = taken.take(safe, lambda number: f"{safe}-{number}", key=str.casefold)
    if name != wanted:
        problems.append(Problem(0, "repaired", tr("document {wanted} was written as {name}", wanted=wanted, name=name)))
    return name


def _single(chosen: Sequence[tuple[SourceFile, Documents, Iterable[ExportDocument]]], out: Path) -> Path:
    first = list(islice(chain.from_iterable(((writer, item) for item in items) for _, writer, items in chosen), 2))
    if len(first) != 1:
        raise UserError(tr("{out} can store only one document: choose a folder or a .zip archive for several", out=out))
    writer, item = first[0]
    content = next(content for _, content in writer.pieces(item, out.stem))
    return write_files(out.parent, [(out.name, content)])[0]

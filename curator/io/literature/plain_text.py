"""Plain text: reading and writing one document per `.txt` file: a single file, or all files of a folder or a zip
archive.

A text has no recognisable content, so this format is tried last and recognised by file names. A text is UTF-8, or
UTF-16 with a byte-order mark; anything else is an error with its line, never a guess. Line ends are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from curator.domain.documents import SourceDocument, SourceFile
from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.io.files.export import DocumentWriter, WrittenSource, write_documents
from curator.io.files.format import Format
from curator.io.files.opening import first_bytes
from curator.io.files.reading import FilesReader, first_line, plain_passages
from curator.io.files.report import Report
from curator.io.files.source import BOM, Files, holds_many, open_files
from curator.services.ports.files import ExportDocument, LeftOut

ENDINGS = (".txt", ".text")
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_STRUCTURED = re.compile(r"\s*[{\[<]|\s*[^\s|]{1,40}\|[ta]\||\s*PMID ?- |#FORMAT=WebAnno")
"""Beginnings of structured formats; a text that begins like this is a damaged file of one of these."""


class PlainTextReader(FilesReader):
    """Yields the texts by name. A text in an unknown encoding is skipped if there are others."""

    format = "text"
    none = "{path} contains no readable text{why}"

    def documents(self) -> Iterator[SourceDocument]:
        names = self.files.names
        texts = [name for name in names if _is_text(name)] or [*names][: len(names) == 1]  # one may have any name
        for name in texts:
            try:
                text = self._read(name)
            except UnreadableError:
                raise
            except UserError as error:
                if len(texts) == 1:
                    raise
                self.problems.set_aside(str(error))
                continue
            yield SourceDocument(document_id(name), first_line(text), text, plain_passages(text), (), "", 1)
        if others := [name for name in names if name not in texts]:
            one, several = "{n} other file is not text: {others}", "{n:,} other files are not text: {others}"
            self.problems.note(ntr(one, several, len(others), others=", ".join(others[:5])))

    def _read(self, name: str) -> str:
        shown = self.files.shown(name)
        text = decoded(self.files.unpacked(name), shown)
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise UserError(tr("{shown}, line {count}: this is not a text file", shown=shown, count=line))
        return text


class _Writer(DocumentWriter):
    def __init__(self, file: SourceFile, problems: Report) -> None:
        super().__init__(file, problems)
        self.mentions: list[int] = []

    def pieces(self, item: ExportDocument, name: str) -> Iterable[tuple[str, bytes]]:
        self.mentions += [gold.mention.id for gold in item.mentions]
        text = item.document.text
        yield f"{name}.txt", (BOM + text if text.startswith(BOM) else text).encode("utf-8")


class PlainTextFormat(Format):
    """Reads and writes texts only."""

    name = "text"
    title = "Plain text"
    refusal = "{path} contains no .txt file: choose another folder or archive"
    reader = PlainTextReader
    document_endings = ENDINGS
    by_exclusion = True
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:
        return _is_text(path.name) and looks_plain(head.replace(b"\0", b"").decode("utf-8", "replace"))

    def sniff_path(self, path: Path) -> bool:
        """Whether it is a text in UTF-16, which no other format supports."""
        if not _is_text(path.name) or not path.is_file():
            return False
        head = first_bytes(path, 1 << 12)
        encoding = _UTF16.get(head[:2])
        return encoding is not None and looks_plain(head[2:].decode(encoding, "replace"))

    def sniff_files(self, files: Files) -> bool:
        names = self.reads(files)
        heads = (files.head(name) for name in names[:20])
        return bool(names) and all(looks_plain(_decoded_head(head)) for head in heads)

    def reads(self, files: Files) -> Sequence[str]:
        return [name for name in files.names if _is_text(name)]

    def open(self, path: Path) -> PlainTextReader:
        """Raises UserError for a missing or unsafe source, and one without any text."""
        files = open_files(path)
        if holds_many(path) and not self.reads(files):
            raise UserError(tr(self.refusal, path=path))
        return PlainTextReader(files)

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        chosen = [(_Writer(file, self.problems), documents) for file, documents in files]
        paths = write_documents(chosen, out, self.problems, suffixes=ENDINGS)
        if mentions := [one for writer, _ in chosen for one in writer.mentions]:
            one = "plain text cannot store mentions: {n} mention and its decision were not written"
            several = "plain text cannot store mentions: {n:,} mentions and their decisions were not written"
            self.problems.append(LeftOut(0, "note", ntr(one, several, len(mentions)), mentions=tuple(mentions)))
        return paths


def decoded(data: bytes, shown: str) -> str:
    """The text from UTF-8, or from UTF-16 with a byte-order mark, which is not part of the text. Raises UserError with
    the line."""
    encoding = _UTF16.get(data[:2], "utf-8")
    body = data[2:] if encoding != "utf-8" else data.removeprefix(BOM.encode())
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        before = body[: error.start].decode(encoding, "ignore")
        where = tr("{file}, line {line}", file=shown, line=before.count("\n") + 1)
        name = "UTF-8" if encoding == "utf-8" else "UTF-16"
        raise UserError(
            tr(
                "{where}: byte {start} of the file is not {name}: convert the file to UTF-8 (for example with "
                "iconv) and try again",
                where=where,
                start=error.start + len(data) - len(body) + 1,
                name=name,
            )
        ) from error


def looks_plain(head: str) -> bool:
    """Whether a text begins neither like a structured format nor with rows of a table."""
    lines = [line for line in head.split("\n")[:20] if line.strip()]
    tabs = sum("\t" in line for line in lines)
    return not _STRUCTURED.match(head) and "\0" not in head and tabs * 2 <= len(lines)


def document_id(name: str) -> str:
    """A file's path without its ending."""
    bare = name.removesuffix(".gz")
    return next((bare[: -len(end)] for end in ENDINGS if bare.lower().endswith(end)), bare) or name


def _decoded_head(head: bytes) -> str:
    encoding = _UTF16.get(head[:2])
    return head[2:].decode(encoding, "replace") if encoding else head.decode("utf-8", "replace")


def _is_text(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(ENDINGS)

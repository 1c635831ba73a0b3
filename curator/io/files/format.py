"""What the document formats share: how a file is opened and refused, and the answers of those that keep less."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from curator.domain.documents import SourceFile
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.files.export import WrittenSource, write_streams
from curator.io.files.reading import Reader
from curator.io.files.report import Report
from curator.io.files.source import Files, Source, holds_many, open_files
from curator.services.ports.files import Carries, ExportDocument


class Format:
    """See `ports.DocumentFormat`. A subclass has at least names, `sniff`, a `reader`, and the sentence that refuses
    other files; to be written, also `suffix` and `pieces`."""

    name: str
    title: str
    refusal: str
    reader: Callable[[Any], Reader]
    can_read = True
    can_write = True
    carries = Carries()
    carries_people = False
    endings: tuple[str, ...] = ()
    document_endings: tuple[str, ...] = ()
    suffix: str
    by_exclusion = False
    """Whether files have no recognisable content."""
    takes_folders: ClassVar[bool] = False
    """Whether sources may be folders and zip archives."""

    def __init__(self) -> None:
        self.problems = Report()

    # --- recognition ---

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether a text file has this format, by its beginning."""
        return False

    def sniff_path(self, path: Path) -> bool:  # noqa: ARG002
        """Whether a file that is not UTF-8 text has this format; never raises for other files."""
        return False

    def sniff_files(self, files: Files) -> bool:
        """Whether the files of a folder or archive are of this format."""
        return self.takes_folders and bool(self.reads(files))

    def reads(self, files: Files) -> Sequence[str]:  # noqa: ARG002
        """The names of the files that it reads, and of files that belong to them."""
        return ()

    def lacks(self, path: Path, head: bytes) -> str:  # noqa: ARG002
        """A sentence about the missing part of a file that is useless alone; '' if it is no such part."""
        return ""

    def main_file(self, path: Path) -> Path:
        """The file that represents a file and its companions."""
        return path

    # --- reading ---

    def open(self, path: Path) -> Reader:
        """Raises UserError for a missing, empty, truncated, unsafe or foreign source."""
        many = holds_many(path) if self.takes_folders else False
        files = open_files(path) if many else None
        if not (self.sniff_files(files) if files else self.sniff(path, Source(path).head())):
            raise UserError(tr(self.refusal, path=path))
        if files:
            return self.reader(files.only(self.reads(files)))
        reader = self.reader(self.around(path) if self.takes_folders else path)
        reader.prepare()
        return reader

    def around(self, path: Path) -> Files:
        """The file and those that belong to it."""
        return open_files(path)

    # --- what a document's record holds ---

    def holds_more(self, raw: str) -> bool:  # noqa: ARG002
        return True

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:  # noqa: ARG002
        return {}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:  # noqa: ARG002
        return {}

    def relations(self, raw: str, extra: str) -> Sequence[SourceRelation]:  # noqa: ARG002
        return ()

    # --- writing ---

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """Write atomically; returns the written paths. On a UserError nothing is changed."""
        self.problems = Report()
        chosen = list(files)
        if not chosen:
            raise UserError(tr("nothing to export: the project has none of the requested documents"))
        return self.written(chosen, out)

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        """A stream for each source file, or one for all: see `write_streams`."""
        return write_streams(files, out, self.pieces, format_name=self.name, suffix=self.suffix, endings=self.endings)

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str | bytes]:
        """The content of a file with the documents of these sources."""
        raise NotImplementedError


class ReadOnly(Format):
    """Base of formats that are read only."""

    can_write = False

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> NoReturn:  # noqa: ARG002
        raise UserError(
            tr("{title} cannot be written: `curator formats` lists the formats that Curator writes", title=self.title)
        )

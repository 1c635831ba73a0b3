"""The format of a file, recognised by its content, never by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from curator.domain.wording import UnknownFormatError, UserError, tr
from curator.io.files.archives import TakesFolders, digest, holds_many, never_read, open_files
from curator.io.files.source import Source
from curator.io.kb.base import KbSource
from curator.io.tables.columns import ColumnMemory
from curator.io.tables.document_table import TableFormat, could_be_table, has_columns, preview
from curator.io.tables.kb_table import TABLE, is_table, preview_kb_table
from curator.io.tables.tables import is_only_table, is_workbook
from curator.services.ports.files import DocumentFormat, DocumentOptions, KbOptions, KnowledgeBaseReader, TablePreview


@runtime_checkable
class TakesPaths(Protocol):
    """A document format with files that are not UTF-8 text: workbooks, binary files, UTF-16."""

    def sniff_path(self, path: Path) -> bool:
        """Whether the file has this format, by its first bytes; never raises for other files."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A document format where a file may be a part that is useless alone."""

    def lacks(self, path: Path, head: bytes) -> str:
        """A sentence about the missing part; '' if the file is not part of the format."""
        ...


@runtime_checkable
class ByExclusion(Protocol):
    """A document format without recognisable content."""

    by_exclusion: bool


class Registry:
    """The document formats in the order in which they are tried, and the knowledge-base sources likewise."""

    def __init__(
        self,
        formats: Sequence[DocumentFormat],
        kb_sources: Mapping[str, KbSource],
        columns: ColumnMemory | None = None,
    ) -> None:
        self._columns = columns
        self._formats = tuple(formats)
        self._kb_sources = dict(kb_sources)

    def formats(self) -> Sequence[DocumentFormat]:
        return self._formats

    def by_name(self, name: str) -> DocumentFormat:
        """The format with this name. Raises UserError that lists the writable formats."""
        for form in self._formats:
            if form.name == name.strip().lower():
                return form
        names = ", ".join(form.name for form in self._formats if form.can_write)
        raise UserError(tr("there is no format {name!r} to write: choose one of {names}", name=name, names=names))

    def fixed(self, name: str) -> Registry:
        """A registry that reads documents only as this format. Raises UserError that lists the names."""
        readable = [form for form in self._formats if form.can_read]
        for form in readable:
            if form.name == name.strip().lower():
                return _Fixed(self._formats, self._kb_sources, self._columns, form=form)
        names = ", ".join(sorted(form.name for form in readable))
        raise UserError(tr("there is no format {name!r} to read: choose one of {names}", name=name, names=names))

    def recognise(self, path: Path, options: DocumentOptions | None = None) -> DocumentFormat:
        """The format by content, also in gzip and zip files; tables use `options`, or the columns chosen before for the
        same headings. Raises UserError (missing, empty, truncated, unknown)."""
        options = options or self._remembered(path)
        if options is not None and options != DocumentOptions() and self._is_table(path, options):
            return TableFormat(options)
        for form in self._formats:
            if isinstance(form, TakesPaths) and form.sniff_path(path):
                return form
        if is_only_table(path) and could_be_table(path):
            raise self._no_headings(path)
        if holds_many(path):
            files = open_files(path)
            for form in self._formats:
                if isinstance(form, TakesFolders) and form.can_read and form.sniff_files(files):
                    return form
            if path.is_dir() or len(files.names) != 1:
                raise self._no_folder(path)
        head = Source(path).head()
        if found := self._by_content(path, head):
            return found
        if self._kb_source(head):
            raise UserError(tr("{path} is a knowledge base, not documents: import it as the knowledge base", path=path))
        if lacks := next(
            (one for form in self._formats if isinstance(form, Explains) if (one := form.lacks(path, head))), ""
        ):
            raise UserError(lacks)
        if could_be_table(path):
            raise self._no_headings(path)
        titles = ", ".join(form.title for form in self._formats if form.can_read)
        raise UnknownFormatError(
            tr(
                "{path} is none of the document formats that can be read ({titles}): convert it to one of them",
                path=path,
                titles=titles,
            )
        )

    def _by_content(self, path: Path, head: bytes) -> DocumentFormat | None:
        """Formats recognised by exclusion are tried last, after knowledge bases."""
        strict = [form for form in self._formats if form.can_read and not isinstance(form, ByExclusion)]
        found = next((form for form in strict if form.sniff(path, head)), None)
        if found is not None or self._kb_source(head):
            return found
        rest = (form for form in self._formats if isinstance(form, ByExclusion))
        return next((form for form in rest if form.sniff(path, head)), None)

    def preview_documents(self, path: Path, options: DocumentOptions | None = None) -> TablePreview | None:
        """The beginning of a table of documents or mentions, for the choice of its columns, also with unknown headings;
        None for every other file. Raises UserError."""
        if not self._is_table(path, None):
            return None
        before = self._remembered(path)
        asked = options.sheet if options else ""
        return preview(path, before if before and asked in ("", before.sheet) else options)

    def choose_columns(self, path: Path, options: DocumentOptions) -> None:
        """Read this table, and later ones with the same headings, with these columns. Raises UserError for missing
        columns."""
        TableFormat(options).open(path)
        if self._columns is not None:
            self._columns.remember(preview(path).headings, options)

    def _remembered(self, path: Path) -> DocumentOptions | None:
        """The columns chosen before for a table with the same headings in its first sheet."""
        if self._columns is None or self._columns.is_empty or not could_be_table(path):
            return None
        shown = preview(path)
        found = self._columns.recall(shown.headings)
        return found if found and found.sheet in ("", *shown.sheets) else None

    def _is_table(self, path: Path, options: DocumentOptions | None) -> bool:
        """Whether no other format recognises it; with `options`, prose with such a heading is a table too."""
        if not could_be_table(path):
            return False
        if is_only_table(path):
            return True
        found = self._by_content(path, Source(path).head())
        if isinstance(found, ByExclusion):
            return options is not None and bool(options.columns) and has_columns(path, options)
        return found is None or isinstance(found, TableFormat)

    def _no_headings(self, path: Path) -> UserError:
        """The error for a table that no format recognises. Raises UserError if it cannot be read."""
        preview(path)
        if self._kb_of(path) is not None:
            return UserError(
                tr("{path} is a knowledge base, not documents: import it as the knowledge base", path=path)
            )
        return UserError(
            tr(
                "{path} looks like a table, but its headings do not say what it contains. Say which "
                "column has the texts or the mentions: “Columns…” next to the list of files, or "
                "--column text=HEADING.",
                path=path,
            )
        )

    def _no_folder(self, path: Path) -> UserError:
        what = tr("folder") if path.is_dir() else tr("zip archive of several files")
        titles = ", ".join(form.title for form in self._formats if isinstance(form, TakesFolders))
        return UserError(
            tr(
                "{path} is a {what}, and contains none of the formats that are read from one "
                "({titles}): choose the files in it",
                path=path,
                what=what,
                titles=titles,
            )
        )

    def files_in(self, path: Path) -> Sequence[Path]:
        return [path / name for name in open_files(path).names] if holds_many(path) else []

    def unread_in(self, path: Path, form: DocumentFormat) -> Sequence[Path]:
        if not holds_many(path) or not isinstance(form, TakesFolders):
            return []
        files = open_files(path)
        read = set(form.reads(files)) if path.is_dir() or len(files.names) > 1 else set(files.names)
        return [path / name for name in files.names if name not in read]

    def never_read(self, path: Path) -> Mapping[Path, str]:
        return never_read(path) if path.is_dir() else {}

    def digest(self, path: Path) -> str:
        return digest(path)

    def knowledge_bases(self) -> Sequence[tuple[str, str]]:
        return [(name, source.title) for name, source in self._kb_sources.items()]

    def open_kb(self, path: Path, options: KbOptions | None = None) -> KnowledgeBaseReader:
        """The reader of a knowledge base, a file or a folder, by content. Raises UserError."""
        source = self._kb_of(path)
        if source is None and self._may_be_kb_table(path, options or KbOptions()):
            source = self._kb_sources[TABLE.name]
        if source is not None:
            return source.open(path, options) if source.chooses else source.open(path)
        if path.is_dir():
            return self._kb_sources["zeshel"].open(path)  # which reports what is missing
        head = Source(path).head()
        titles = ", ".join(source.title for source in self._kb_sources.values())
        known = (tr("is {title}, not a knowledge base", title=f.title) for f in self._formats if f.sniff(path, head))
        raise UserError(
            tr(
                "{path} {what}: choose one of {titles}",
                path=path,
                what=next(known, tr("is not a knowledge base that Curator can read")),
                titles=titles,
            )
        )

    def _may_be_kb_table(self, path: Path, options: KbOptions) -> bool:
        """Whether the choice of columns makes it a knowledge base; the reader reports missing columns."""
        if options.columns or is_only_table(path):
            return is_table(path)
        if path.is_dir() or not could_be_table(path):
            return False
        head = Source(path).head()
        return not any(form.sniff(path, head) for form in self._formats)

    def preview_kb(self, path: Path, options: KbOptions | None = None) -> TablePreview | None:
        """The beginning of a table, for the choice of its columns; None for every other file. Raises UserError."""
        source = self._kb_of(path)
        chosen = source is not None and source.name == TABLE.name
        undecided = source is None and path.is_file() and is_table(path)
        return preview_kb_table(path, options) if chosen or undecided else None

    def kb_titles(self) -> Mapping[str, str]:
        """The knowledge-base formats: name and title."""
        return {source.name: source.title for source in self._kb_sources.values()}

    def kb_choices(self) -> Mapping[str, frozenset[str]]:
        """The `KbOptions` supported by each knowledge-base format."""
        return {source.name: source.chooses for source in self._kb_sources.values()}

    def _kb_of(self, path: Path) -> KbSource | None:
        """The knowledge-base format, by the kind of path, or else by the first bytes."""
        found = next((source for source in self._kb_sources.values() if source.sniff_path(path)), None)
        if found is not None or path.is_dir() or is_only_table(path):
            return found
        return self._kb_source(Source(path).head())

    def _kb_source(self, head: bytes) -> KbSource | None:
        return next((source for source in self._kb_sources.values() if source.sniff(head)), None)


class _Fixed(Registry):
    """Reads every file as one format, if possible."""

    def __init__(
        self,
        formats: Sequence[DocumentFormat],
        kb_sources: Mapping[str, KbSource],
        columns: ColumnMemory | None,
        *,
        form: DocumentFormat,
    ) -> None:
        super().__init__(formats, kb_sources, columns)
        self._form = form

    def recognise(self, path: Path, options: DocumentOptions | None = None) -> DocumentFormat:
        form = self._form
        if isinstance(form, TableFormat):
            options = options or self._remembered(path)
            form = TableFormat(options) if options is not None else form
        if self._is_of(form, path):
            return form
        raise UserError(tr("{path} is not {title}: choose another format", path=path, title=form.title))

    def _is_of(self, form: DocumentFormat, path: Path) -> bool:
        if holds_many(path) and not is_workbook(path):
            files = open_files(path)
            if isinstance(form, TakesFolders) and form.reads(files):
                return True
            if path.is_dir() or len(files.names) != 1:
                return False
        if isinstance(form, TakesPaths) and form.sniff_path(path):
            return True
        head = Source(path).head()
        known = isinstance(form, ByExclusion) or (isinstance(form, TableFormat) and could_be_table(path))
        return known or form.sniff(path, head)

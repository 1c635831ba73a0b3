"""The format of a file, recognised by its content, never by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from curator.domain.wording import UnknownFormatError, UserError, tr
from curator.io.files.format import Format
from curator.io.files.source import Source, digest, holds_many, never_read, open_files
from curator.io.formats import FORMATS, KNOWLEDGE_BASES
from curator.io.kb.base import KbReader
from curator.io.kb.zeshel import ZeshelKbReader
from curator.io.tables.columns import ColumnMemory
from curator.io.tables.document_table import TableFormat, could_be_table, has_columns, preview
from curator.io.tables.kb_table import KbTableReader, is_table, preview_kb_table
from curator.io.tables.tables import is_only_table, is_workbook
from curator.services.ports.files import DocumentFormat, DocumentOptions, KbOptions, TablePreview


class Registry:
    """See `ports.FormatRegistry`. With `only`, every file is read as this format, if possible."""

    def __init__(self, columns: ColumnMemory | None = None, *, only: Format | None = None) -> None:
        self._columns = columns
        self._formats = tuple(one() for one in FORMATS)
        self._only = only

    def formats(self) -> Sequence[Format]:
        return self._formats

    def by_name(self, name: str) -> Format:
        """The format with this name. Raises UserError that lists the writable formats."""
        for form in self._formats:
            if form.name == name.strip().lower():
                return form
        names = ", ".join(form.name for form in self._formats if form.can_write)
        raise UserError(tr("there is no format {name!r} to write: choose one of {names}", name=name, names=names))

    def fixed(self, name: str) -> Registry:
        """A registry that reads documents only as this format. Raises UserError that lists the names."""
        for form in self._formats:
            if form.name == name.strip().lower():
                return Registry(self._columns, only=form)
        names = ", ".join(sorted(form.name for form in self._formats))
        raise UserError(tr("there is no format {name!r} to read: choose one of {names}", name=name, names=names))

    def recognise(self, path: Path, options: DocumentOptions | None = None) -> Format:
        """The format by content, also in gzip and zip files; tables use `options`, or the columns chosen before for the
        same headings. Raises UserError (missing, empty, truncated, unknown)."""
        if self._only is not None:
            return self._as(self._only, path, options)
        options = options or self._remembered(path)
        if options is not None and options != DocumentOptions() and self._is_table(path, options):
            return TableFormat(options)
        for form in self._formats:
            if form.sniff_path(path):
                return form
        if is_only_table(path) and could_be_table(path):
            raise self._no_headings(path)
        if holds_many(path):
            files = open_files(path)
            for form in self._formats:
                if form.takes_folders and form.sniff_files(files):
                    return form
            if path.is_dir() or len(files.names) != 1:
                raise self._no_folder(path)
        head = Source(path).head()
        if found := self._by_content(path, head):
            return found
        if _kb_by_head(head):
            raise UserError(tr(IS_KB, path=path))
        if lacks := next((one for form in self._formats if (one := form.lacks(path, head))), ""):
            raise UserError(lacks)
        if could_be_table(path):
            raise self._no_headings(path)
        words = "{path} is none of the document formats that can be read ({titles}): convert it to one of them"
        titles = ", ".join(form.title for form in self._formats)
        raise UnknownFormatError(tr(words, path=path, titles=titles))

    def _as(self, form: Format, path: Path, options: DocumentOptions | None) -> Format:
        if isinstance(form, TableFormat):
            options = options or self._remembered(path)
            form = TableFormat(options) if options is not None else form
        if self._is_of(form, path):
            return form
        raise UserError(tr("{path} is not {title}: choose another format", path=path, title=form.title))

    def _is_of(self, form: Format, path: Path) -> bool:
        if holds_many(path) and not is_workbook(path):
            files = open_files(path)
            if form.takes_folders and form.reads(files):
                return True
            if path.is_dir() or len(files.names) != 1:
                return False
        if form.sniff_path(path):
            return True
        head = Source(path).head()
        known = form.by_exclusion or (isinstance(form, TableFormat) and could_be_table(path))
        return known or form.sniff(path, head)

    def _by_content(self, path: Path, head: bytes) -> Format | None:
        """Formats recognised by exclusion are tried last, after knowledge bases."""
        for by_exclusion in (False, True):
            for form in self._formats:
                if form.by_exclusion == by_exclusion and form.sniff(path, head):
                    return form
            if _kb_by_head(head):
                break
        return None

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
        if found is not None and found.by_exclusion:
            return options is not None and bool(options.columns) and has_columns(path, options)
        return found is None or isinstance(found, TableFormat)

    def _no_headings(self, path: Path) -> UserError:
        """The error for a table that no format recognises. Raises UserError if it cannot be read."""
        preview(path)
        if _kb_of(path) is not None:
            return UserError(tr(IS_KB, path=path))
        words = (
            "{path} looks like a table, but its headings do not say what it contains. Say which column has the texts "
            "or the mentions: “Columns…” next to the list of files, or --column text=HEADING."
        )
        return UserError(tr(words, path=path))

    def _no_folder(self, path: Path) -> UserError:
        what = tr("folder") if path.is_dir() else tr("zip archive of several files")
        titles = ", ".join(form.title for form in self._formats if form.takes_folders)
        words = (
            "{path} is a {what}, and contains none of the formats that are read from one ({titles}): choose the files "
            "in it"
        )
        return UserError(tr(words, path=path, what=what, titles=titles))

    def files_in(self, path: Path) -> Sequence[Path]:
        return [path / name for name in open_files(path).names] if holds_many(path) else []

    def unread_in(self, path: Path, form: DocumentFormat) -> Sequence[Path]:
        if not holds_many(path) or not (isinstance(form, Format) and form.takes_folders):
            return []
        files = open_files(path)
        read = set(form.reads(files)) if path.is_dir() or len(files.names) > 1 else set(files.names)
        return [path / name for name in files.names if name not in read]

    def never_read(self, path: Path) -> Mapping[Path, str]:
        return never_read(path) if path.is_dir() else {}

    def digest(self, path: Path) -> str:
        return digest(path)

    def knowledge_bases(self) -> Sequence[tuple[str, str]]:
        return [(one.format, one.title) for one in KNOWLEDGE_BASES]

    def open_kb(self, path: Path, options: KbOptions | None = None) -> KbReader:
        """The reader of a knowledge base, a file or a folder, by content. Raises UserError."""
        kind = _kb_of(path)
        if kind is None and self._may_be_kb_table(path, options or KbOptions()):
            kind = KbTableReader
        if kind is None and path.is_dir():
            kind = ZeshelKbReader  # which reports what is missing
        if kind is not None:
            return kind.open(path, options)
        head = Source(path).head()
        known = (tr("is {title}, not a knowledge base", title=f.title) for f in self._formats if f.sniff(path, head))
        what = next(known, tr("is not a knowledge base that Curator can read"))
        titles = ", ".join(one.title for one in KNOWLEDGE_BASES)
        raise UserError(tr("{path} {what}: choose one of {titles}", path=path, what=what, titles=titles))

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
        kind = _kb_of(path)
        undecided = kind is None and path.is_file() and is_table(path)
        return preview_kb_table(path, options) if kind is KbTableReader or undecided else None

    def kb_choices(self) -> Mapping[str, frozenset[str]]:
        """The `KbOptions` supported by each knowledge-base format."""
        return {one.format: one.chooses for one in KNOWLEDGE_BASES}


IS_KB = "{path} is a knowledge base, not documents: import it as the knowledge base"


def _kb_of(path: Path) -> type[KbReader] | None:
    """The knowledge-base format, by the kind of path, or else by the first bytes."""
    found = next((one for one in KNOWLEDGE_BASES if one.sniff_path(path)), None)
    if found is not None or path.is_dir() or is_only_table(path):
        return found
    return _kb_by_head(Source(path).head())


def _kb_by_head(head: bytes) -> type[KbReader] | None:
    return next((one for one in KNOWLEDGE_BASES if one.sniff(head)), None)

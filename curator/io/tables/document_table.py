"""Tables (CSV, TSV, XLSX) of documents, of mentions, or of both: reading and writing.

* A table with a text in each row has one document per row; consecutive rows with the same identifier and text are
  mentions of one document.
* A table of mentions without texts belongs to a table of documents: `a.csv` to `a.documents.csv`, or two sheets of a
  workbook. Without one, and without offsets, each mention is its own document: a list of strings.
* Columns are recognised by headings or given (`DocumentOptions`).
* Offsets count code points from 0, with an exclusive end; fragments are separated by `|` (`3|12` and `8|15`). A mention
  without offsets is searched for, and skipped unless it occurs exactly once.
* Attributes are `name=value`, separated by `|`, in the column `attributes`. A document's record stores them by line.
* Identifiers are separated by `|` or `;`, or are a JSON list; `NIL`, `-` and `-1` mean no entity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.curies import ORGANISM, is_identifier, kind_of, with_prefix
from curator.domain.decisions import Outcome
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.id_fields import database_of, identifier_key
from curator.domain.wording import UnreadableError, UserError, ntr, tr, unguarded
from curator.io.files.anchoring import Anchors, find_place, learn
from curator.io.files.field_meanings import Unread, cancelling, identifier_name, stated_vocabulary, unfinished
from curator.io.files.identifiers import is_nil
from curator.io.files.idstyle import is_variant
from curator.io.files.reading import first_of
from curator.io.files.source import plain_text
from curator.io.standoff.standoff import first_line, plain_passages
from curator.io.tables.cells import Cells, is_converted, is_error
from curator.io.tables.columns import place, unread_note
from curator.io.tables.document_table_write import attributes_of, dump_attributes, ids_of, ranges_of, write_tables
from curator.io.tables.kb_table import SHOWN, is_table
from curator.io.tables.table_layout import (
    ATTRIBUTES,
    OUTCOME,
    Sheet,
    TableLayout,
    are_documents,
    chosen_columns,
    layout_of,
)
from curator.io.tables.tables import Table, headings_in, is_only_table, is_workbook
from curator.services.ports.files import Carries, DocumentOptions, ExportDocument, Problem, TablePreview

ANY_TYPE = "entity"


@dataclass(slots=True)
class _Row:
    line: int
    values: dict[str, str]
    outcome: str = ""
    attributes: str = ""
    states: dict[str, str] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)  # by heading: those without a meaning of their own


@dataclass(slots=True)
class _Document:
    """A document being built. `title` is put before the text unless the text begins with it."""

    line: int
    key: str
    title: str
    body: str
    kind: str
    rows: list[_Row] = field(default_factory=list)


class DocumentTableReader:
    """See `ports.DocumentReader`."""

    format = "table"

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        self._path = path
        self._layout: TableLayout = layout_of(path, options)
        self.problems: list[Problem] = []
        self.head = self.tail = self.extra = ""

    @property
    def position(self) -> tuple[int, int]:
        sheet = self._layout.documents or self._layout.mentions
        return sheet.table.position if sheet is not None else (0, 0)

    def prepare(self) -> None:
        for sheet in (self._layout.documents, self._layout.mentions):
            if sheet is not None:
                sheet.table.verify()

    def __iter__(self) -> Iterator[SourceDocument]:
        self.problems = []
        self._cells, self._made_ids = Cells(), dict[str, int]()
        self._left, self._unread = Unread(), Counter[str]()  # of the latter, cells by heading
        count = 0
        for count, document in enumerate(self._documents(), 1):  # noqa: B007  # the count is used after the loop
            yield self._made(document)
        if not count:
            why = first_of(self.problems)
            raise UserError(tr("{path} contains no usable row{why}", path=self._path, why=why))
        self.problems += (Problem(0, "note", words) for words in self._left.sentences())
        self.problems += unread_note(+self._unread)
        self.problems += self._cells.notes()
        for key, line in list(self._made_ids.items())[:1]:
            text = ntr(
                "{n} document identifier, “{key}”, is a date, a logical value or a number. If a spreadsheet converted "
                "it, correct the cell and format its column as text.",
                "{n:,} document identifiers, such as “{key}”, are dates, logical values or numbers. If a spreadsheet "
                "converted them, correct the cells and format their column as text.",
                len(self._made_ids),
                key=key,
            )
            self.problems.append(Problem(line, "note", text))
        sheets = (self._layout.documents, self._layout.mentions)
        said = dict.fromkeys(one.table.repair for one in sheets if one is not None)
        self.problems[:0] = [Problem(0, "repaired", words) for words in said if words]

    def _documents(self) -> Iterator[_Document]:
        documents, mentions = self._layout.documents, self._layout.mentions
        if documents is None and mentions is not None:
            yield from self._strings(mentions)
        elif documents is not None and documents is mentions:
            yield from self._repeated(documents)
        elif documents is not None:
            yield from self._with_mentions(documents, mentions)

    def _rows(self, sheet: Sheet) -> Iterator[_Row]:
        rows, guarded = sheet.table.rows(), sheet.guarded
        next(rows, None)
        for line, cells in rows:
            if any(cell.strip() for cell in cells[sheet.width :]):
                text = tr(
                    "has {number} cells for {width} columns; the extra cells are left out",
                    number=len(cells),
                    width=sheet.width,
                )
                self._problem(line, "repaired", text)
            if guarded:
                cells = [unguarded(one) for one in cells]
            values = {name: plain_text(cells[at]) for name, at in sheet.places.items() if at < len(cells)}
            values = {name: self._value(name, one, line, ours=sheet.ours) for name, one in values.items()}
            own = {name: plain_text(cells[at]).strip() for name, at in sheet.own.items() if at < len(cells)}
            states = {name: plain_text(cells[at]) for name, at in sheet.states.items() if at < len(cells)}
            others = {name: one for at, name in sheet.unread.items() if at < len(cells) and (one := cells[at].strip())}
            self._unread.update(others.keys())
            yield _Row(line, values, own.get(OUTCOME, ""), own.get(ATTRIBUTES, ""), states, others)

    def _value(self, field: str, cell: str, line: int, *, ours: bool) -> str:
        """The value without what stands for none. A mention or text may be “NA”, and so may all that Curator wrote."""
        text = cell.strip()
        if field == "document" and is_converted(text):
            self._made_ids.setdefault(text, line)
        is_text = field in ("mention", "text") and not is_error(text)
        if ours or is_text or (field == "ids" and is_nil(text)):
            return cell
        return cell if self._cells.value(text, line) else ""

    def _strings(self, sheet: Sheet) -> Iterator[_Document]:
        """Mentions that are their own documents."""
        for row in self._rows(sheet):
            words = row.values.get("mention", "").strip()
            if not words:
                self._problem(row.line, "set aside", tr("the row has no mention"))
                continue
            key = row.values.get("document", "").strip() or f"row {row.line}"
            yield _Document(row.line, key, "", words, "section", [row])

    def _repeated(self, sheet: Sheet) -> Iterator[_Document]:
        """Rows of mentions with their texts."""
        held: _Document | None = None
        for row in self._rows(sheet):
            found = _document(row, sheet)
            if held is None or (held.key, held.title, held.body) != (found.key, found.title, found.body):
                if held is not None:
                    yield held
                held = found
            if row.values.get("mention", "").strip() or row.values.get("start", "").strip():
                held.rows.append(row)
        if held is not None:
            yield held

    def _with_mentions(self, sheet: Sheet, mentions: Sheet | None) -> Iterator[_Document]:
        waiting: dict[str, list[_Row]] = {}
        for row in self._rows(mentions) if mentions is not None else ():
            waiting.setdefault(row.values.get("document", "").strip(), []).append(row)
        for row in self._rows(sheet):
            found = _document(row, sheet)
            found.rows = waiting.pop(found.key, [])
            yield found
        for key, rows in waiting.items():
            for row in rows:
                self._problem(row.line, "set aside", tr("the document {key!r} of the mention was not found", key=key))

    def _made(self, found: _Document) -> SourceDocument:
        joined = bool(found.title) and not found.body.startswith(found.title)
        text = f"{found.title}\n{found.body}" if joined else found.body
        passages = _passages(found, text, joined=joined)
        anchors = Anchors(text, passages)
        if words := learn(anchors, _stated(found.rows)):
            self._problem(found.line, "note", tr("document {key}: {words}", key=found.key, words=words))
        mentions = [one for row in found.rows if (one := self._mention(row, text, anchors, found.key)) is not None]
        title = found.title or first_line(text)
        kept = {one.record for one in mentions}
        raw = dump_attributes({row.line: row.attributes for row in found.rows if row.attributes and row.line in kept})
        return SourceDocument(found.key, title, text, passages, tuple(mentions), raw, found.line)

    def _mention(self, row: _Row, text: str, anchors: Anchors, key: str) -> SourceMention | None:
        own = f"{OUTCOME}: {row.outcome}"
        if said := own if row.outcome == Outcome.REJECTED else cancelling(row.states):
            self._left.mentions[said] += 1
            return None
        quote = row.values.get("mention", "").strip()
        where = tr('document {key}: mention "{quote}"', key=key, quote=quote[:80])
        try:
            ranges = ranges_of(row.values.get("start", ""), row.values.get("end", ""), len(quote))
        except ValueError as error:
            self._problem(row.line, "set aside", f"{where}: {error}")
            return None
        spans = self._place(row, ranges, quote, text, anchors, where)
        if not spans:
            return None
        words = " ".join(text[span.start : span.end] for span in spans)
        kind = row.values.get("type", "").strip() or ANY_TYPE
        raw, prefix = self._stated_ids(row, kind)
        said = own if row.outcome == Outcome.SKIPPED else unfinished(row.states)
        if said and raw:
            self._left.unfinished[said] += 1
            raw = ""
        ids = tuple(dict.fromkeys(one if is_variant(one) else with_prefix(one, prefix) for one in ids_of(raw)))
        return SourceMention(spans, words, kind, ids, raw, bool(raw) and not ids, row.line)

    def _stated_ids(self, row: _Row, kind: str) -> tuple[str, str]:
        """The cell with identifiers and their prefix, if a heading (`MeSH ID`) or another cell states it: the column of
        identifiers, or, if that is missing or empty, another one whose heading says so. A taxonomy is read of organisms
        only: in the rows of others, such as genes, it is their species."""
        raw, mentions, others = row.values.get("ids", "").strip(), self._layout.mentions, row.others
        if not is_nil(raw) and mentions is not None:
            name = mentions.ids_heading
            prefix = stated_vocabulary({**others, name: raw}, name, kind)
        else:
            name = identifier_name(others, (), kind)
            if not name or (identifier_key(name, others[name], kind) is None and not is_identifier(others[name])):
                return raw, ""
            prefix = stated_vocabulary(others, name, kind)
            if prefix == "NCBITaxon" and kind_of(kind) != ORGANISM:
                return raw, ""
            raw = others[name]
        self._unread.subtract(one for one, cell in others.items() if one == name or database_of(one, cell))
        return raw, prefix

    def _place(
        self, row: _Row, ranges: list[tuple[int, int]], quote: str, text: str, anchors: Anchors, where: str
    ) -> tuple[Span, ...]:
        if not quote:
            if ranges and all(0 <= start < end <= len(text) for start, end in ranges):
                return tuple(sorted(Span(start, end) for start, end in ranges))
            self._problem(
                row.line,
                "set aside",
                tr("{where}: the row has neither the text of a mention nor a position", where=where),
            )
            return ()
        if not ranges:
            at = text.find(quote)
            if at >= 0 and text.find(quote, at + 1) < 0:
                return (Span(at, at + len(quote)),)
            several = tr("{where}: it occurs several times in the text, and the row gives no position", where=where)
            nowhere = tr("{where}: it does not occur in the text, and the row gives no position", where=where)
            self._problem(row.line, "set aside", several if at >= 0 else nowhere)
            return ()
        found = find_place(anchors, ranges, quote, text)
        if found is None:
            self._problem(
                row.line,
                "set aside",
                tr("{where}: the text there is different, and no other position is unambiguous", where=where),
            )
            return ()
        if found.repair:
            self._problem(
                row.line,
                "repaired",
                tr("{where}: {repair}; read as {words}", where=where, repair=found.repair, words=found.words),
            )
        return found.spans

    def _problem(self, line: int, severity: str, text: str) -> None:
        self.problems.append(Problem(line, severity, text))


class TableFormat:
    """Reads and writes tables; `options` determine how this one is read. `problems` lists data that the last `write`
    left out."""

    name = "table"
    title = "Table (CSV, TSV, XLSX)"
    can_read = True
    can_write = True
    endings = (".csv", ".tsv", ".xlsx")
    carries = Carries(
        mentions=True, discontinuous=True, several_ids=True, nil=True, attributes=True, every_mention=True
    )
    carries_people = True

    def __init__(self, options: DocumentOptions | None = None) -> None:
        self._options = options or DocumentOptions()
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return are_documents(headings_in(head))

    def sniff_path(self, path: Path) -> bool:
        """Whether it is a workbook with such headings in a sheet, or a UTF-16 text with them."""
        try:
            if not (path.is_file() and is_only_table(path)):
                return False
            sheets = Table(path).sheets()[:2] or ("",)
            return any(are_documents(next(iter(Table(path, sheet=name).first(1)), [])) for name in sheets)
        except UnreadableError:
            raise
        except UserError:
            return False

    def open(self, path: Path) -> DocumentTableReader:
        """Raises UserError for a missing, empty or truncated table, and for missing columns."""
        reader = DocumentTableReader(path, self._options)
        reader.prepare()
        return reader

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        return attributes_of(raw)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `document_table_write.write_tables`."""
        self.problems = []
        return write_tables(files, out, self.problems)


def could_be_table(path: Path) -> bool:
    """Whether a choice of columns makes sense, even if the headings are unknown."""
    try:
        if not path.is_file() or not is_table(path):
            return False
        return is_workbook(path) or len({len(cells) for cells in Table(path).first(SHOWN)}) == 1
    except UnreadableError:
        raise
    except UserError:
        return False


def has_columns(path: Path, options: DocumentOptions) -> bool:
    """Whether the given columns exist."""
    try:
        headings = next(iter(Table(path, sheet=options.sheet).first(1)), [])
        return all(place(path, headings, one) >= 0 for one in options.columns.values() if one)
    except UnreadableError:
        raise
    except UserError:
        return False


def preview(path: Path, options: DocumentOptions | None = None) -> TablePreview:
    """The beginning of a table and the recognised columns. Raises UserError."""
    options = options or DocumentOptions()
    table = Table(path, sheet=options.sheet)
    headings, *rows = table.first(SHOWN + 1) or [[]]
    columns = {name: one for name, one in chosen_columns(headings, options.columns).items() if one}
    return TablePreview(tuple(headings), tuple(tuple(row) for row in rows), columns, table.sheets())


def _document(row: _Row, sheet: Sheet) -> _Document:
    key = row.values.get("document", "").strip() or f"row {row.line}"
    title, body = row.values.get("title", ""), row.values.get("text", "")
    kind = "abstract" if sheet.labelled == "abstract" else "section"
    return _Document(row.line, key, title if title.strip() else "", body, kind)


def _stated(rows: Iterable[_Row]) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """The offsets and quoted texts of rows."""
    for row in rows:
        quote = row.values.get("mention", "").strip()
        with suppress(ValueError):  # such a row is skipped
            yield ranges_of(row.values.get("start", ""), row.values.get("end", ""), len(quote)), quote


def _passages(found: _Document, text: str, *, joined: bool) -> tuple[Passage, ...]:
    if not joined:
        return plain_passages(text)
    cut = len(found.title)
    body = (Passage(found.kind, cut + 1, len(text)),) if found.body else ()
    return (Passage("title", 0, cut), *body)

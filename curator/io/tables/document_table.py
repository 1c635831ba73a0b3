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

Tables of documents and of mentions: the names of their columns, and the columns of each table.

Write tables: one of mentions with their decisions, and one of their documents.

`a.csv` and `a.documents.csv` (or `.tsv`), or the two sheets of a workbook `a.xlsx`. All imported files go into one
table, so that users can work with all data at once. Every cell of text files is quoted, and a cell that a spreadsheet
would treat as a formula gets an apostrophe before it. Cells of workbooks are typed as text, so they need none.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from curator.domain.curies import ORGANISM, is_identifier, kind_of, with_prefix
from curator.domain.decisions import Outcome
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.id_fields import database_of, identifier_key
from curator.domain.wording import UnreadableError, UserError, guarded, ntr, tr, unguarded
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.atomic import AtomicFiles
from curator.io.files.attributes import AttributeNames
from curator.io.files.export import FreeNames, WrittenSource, is_gold
from curator.io.files.field_meanings import (
    Unread,
    cancelling,
    identifier_name,
    keeps_books,
    says_state,
    stated_vocabulary,
    unfinished,
)
from curator.io.files.format import Format
from curator.io.files.idstyle import NIL, is_nil, is_variant, read_ids
from curator.io.files.opening import own_file
from curator.io.files.reading import Placing, Reader, first_line, plain_passages, stated_mention
from curator.io.files.report import Report
from curator.io.files.source import plain_text
from curator.io.tables import kb_table
from curator.io.tables.columns import place, sniffed, unread_note
from curator.io.tables.kb_table import SHOWN, is_table
from curator.io.tables.tables import (
    Cells,
    Table,
    extra_cells,
    headings_in,
    is_converted,
    is_error,
    is_only_table,
    is_workbook,
)
from curator.services.ports.files import (
    DOCUMENT_FIELDS,
    Carries,
    DocumentOptions,
    ExportDocument,
    ExportMention,
    Problem,
    TablePreview,
)

_WORDS = {
    "document": "document documentid docid doc pmid articleid article recordid filename file id identifier",
    "title": "title articletitle documenttitle headline",
    "text": "text abstract body passage fulltext documenttext sentence context content",
    "mention": "mention mentiontext quote surface surfaceform mentionstring entitytext",
    "start": "start begin startoffset spanstart startchar offset",
    "end": "end stop endoffset spanend endchar",
    "type": "type entitytype mentiontype semantictype category label",
    "ids": "ids identifiers conceptid conceptids entityid entityids entity curie normid normalizedid normalisedid dbid "
    "meshid cui mesh umls concept",
}
MEANINGS: Mapping[str, tuple[str, ...]] = {field: tuple(words.split()) for field, words in _WORDS.items()}
"""Field -> headings that mean it, letters and digits only, in lower case."""
OUTCOME = "outcome"
ATTRIBUTES = "attributes"
DOCUMENTS = "documents"
DOCUMENT_HEADINGS = ("document", "title", "text")
MENTION_HEADINGS = (
    "document",
    "start",
    "end",
    "mention",
    "type",
    "ids",
    OUTCOME,
    "reason",
    "curator",
    "at",
    "note",
    ATTRIBUTES,
)
"""Headings of the tables that Curator writes."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table with the positions of its fields. `labelled` is the heading of the text, `ids_heading` that of the
    identifiers, `own` are the positions of columns of Curator's own tables, `states` those of columns that may cancel a
    mention (`status`), `unread` those of all others: of the mentions' identifiers under other headings, or of nothing
    that is read. `ours` is a table that Curator wrote; in `guarded` ones, cells that look like formulas have an
    apostrophe."""

    table: Table
    places: Mapping[str, int]
    width: int
    own: Mapping[str, int]
    states: Mapping[str, int]
    unread: Mapping[int, str]
    labelled: str
    ids_heading: str
    ours: bool

    @property
    def guarded(self) -> bool:
        return self.ours and not is_workbook(self.table.path)

    @property
    def holds_texts(self) -> bool:
        return "text" in self.places

    @property
    def holds_mentions(self) -> bool:
        return "mention" in self.places or "start" in self.places


@dataclass(frozen=True, slots=True)
class TableLayout:
    """`documents` has the texts, and `mentions` the mentions in them; one of them may be missing, and both are the same
    table if every row of mentions repeats its text."""

    documents: Sheet | None
    mentions: Sheet | None


def layout_of(path: Path, options: DocumentOptions) -> TableLayout:
    """The layout. Raises UserError for missing columns, and if there is neither a text nor a mention."""
    chosen = _sheet(path, options.sheet, options.columns)
    if not (chosen.holds_texts or chosen.holds_mentions):
        named = ", ".join(one for one in next(iter(chosen.table.first(1)), []) if one.strip()) or "none"
        raise UserError(
            tr(
                "{path}: no column was chosen for the text or the mention. Its columns are {named}: "
                "choose one (--column text=HEADING, or in the dialog)",
                path=path,
                named=named,
            )
        )
    if chosen.holds_texts and chosen.holds_mentions:
        return TableLayout(chosen, chosen)
    other = None if options.sheet and chosen.holds_texts else _other(path, chosen)
    found = TableLayout(chosen, other) if chosen.holds_texts else TableLayout(other, chosen)
    if found.documents is None and "start" in chosen.places:
        raise UserError(
            tr(
                "{path} has the positions of mentions, but not the texts: put the texts into a column, "
                "into a sheet {documents} of the workbook, or into {name} next to the file",
                path=path,
                documents=DOCUMENTS,
                name=companion(path).name,
            )
        )
    return found


def _other(path: Path, chosen: Sheet) -> Sheet | None:
    """The table of texts of a table of mentions, or, in a workbook, the reverse."""
    if is_workbook(path):
        for name in chosen.table.sheets():
            if name != (chosen.table.sheet or chosen.table.sheets()[0]):
                other = _sheet(path, name, {})
                if "document" in other.places and other.holds_texts != chosen.holds_texts:
                    return other if other.holds_texts or other.holds_mentions else None
        return None
    beside = companion(path)
    if chosen.holds_texts or "document" not in chosen.places or beside == path or not beside.is_file():
        return None
    other = _sheet(own_file(beside, path.parent), "", {})
    return other if other.holds_texts else None


def companion(path: Path) -> Path:
    """The texts' table of a mentions' table: `a.csv` -> `a.documents.csv`."""
    stem, dot, ending = path.name.removesuffix(".gz").rpartition(".")
    name = f"{stem}.{DOCUMENTS}.{ending}" if dot else f"{ending}.{DOCUMENTS}"
    whole = path.with_name(name)
    return whole if whole.exists() or not path.name.endswith(".gz") else path.with_name(name + ".gz")


def _sheet(path: Path, sheet: str, columns: Mapping[str, str]) -> Sheet:
    unknown = [one for one in columns if one not in DOCUMENT_FIELDS]
    if unknown:
        raise UserError(
            tr(
                "a document has no field {unknown!r}: choose one of {document_fields}",
                unknown=unknown[0],
                document_fields=", ".join(DOCUMENT_FIELDS),
            )
        )
    table = Table(path, sheet=sheet)
    headings = next(iter(table.first(1)), [])
    wanted = chosen_columns(headings, columns)
    places = {field: place(path, headings, one) for field, one in wanted.items() if one}
    own = {one.strip().lower(): at for at, one in reversed(list(enumerate(headings)))}
    own = {name: own[name] for name in (OUTCOME, ATTRIBUTES) if name in own and own[name] not in places.values()}
    labelled = headings[places["text"]].strip().lower() if "text" in places else ""
    ids_heading = headings[places["ids"]].strip() if "ids" in places else ""
    ours = tuple(headings) in (DOCUMENT_HEADINGS, MENTION_HEADINGS)
    used = {*places.values(), *own.values()}
    rest = {at: one.strip() or str(at + 1) for at, one in enumerate(headings) if at not in used}
    states = {name: at for at, name in rest.items() if says_state(name)}
    unread = {at: name for at, name in rest.items() if name not in states and not keeps_books(name)}
    return Sheet(table, places, len(headings), own, states, unread, labelled, ids_heading, ours)


def chosen_columns(headings: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The given columns, and for other fields the columns recognised by headings."""
    return {**sniffed(headings, MEANINGS), **columns}


def are_documents(headings: Sequence[str]) -> bool:
    """Whether the headings alone show that a table holds documents or mentions, not a knowledge base."""
    found = sniffed(headings, MEANINGS)
    if len(headings) < 2 or kb_table.is_kb(headings):
        return False
    if "text" in found:
        return "document" in found or "title" in found or "mention" in found or ("start" in found and "end" in found)
    placed = all(field in found for field in ("document", "start", "end"))
    return placed or ("mention" in found and ("document" in found or "ids" in found))


# Reading and writing cells of tables of mentions: offsets and identifiers.

SEPARATORS = "|;"
ATTRIBUTES_OF_TABLES = AttributeNames("Table")
_NUMBER = re.compile(r"\d{1,12}")


def ranges_of(start: str, end: str, length: int) -> list[tuple[int, int]]:
    """The fragments in two cells, none if both are empty. A missing end is calculated from `length`.

    Raises ValueError, with the reason, for invalid offsets.
    """
    starts, ends = _numbers(start), _numbers(end)
    if not starts and not ends:
        return []
    if not ends and len(starts) == 1 and length:
        return [(starts[0], starts[0] + length)]
    if len(starts) != len(ends) or not starts:
        raise ValueError(tr("{start!r} to {end!r} is not a position", start=start, end=end))
    return list(zip(starts, ends, strict=True))


def ids_of(cell: str) -> tuple[str, ...]:
    """The identifiers of a cell, each once; empty for NIL or an empty cell."""
    cell = cell.strip()
    if is_nil(cell):
        return ()
    if cell.startswith("["):
        try:
            listed = json.loads(cell)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list):
            return tuple(dict.fromkeys(text for one in listed if (text := plain_text(str(one)))))
    separator = next((one for one in SEPARATORS if one in cell), "")
    return read_ids([cell], separator)


def places_cell(spans: Sequence[Span]) -> tuple[str, str]:
    """The cells of the starts and of the ends."""
    return "|".join(str(one.start) for one in spans), "|".join(str(one.end) for one in spans)


def ids_cell(ids: Sequence[str]) -> str:
    """A cell that `ids_of` reads as these; NIL for none."""
    if not ids:
        return NIL
    plain = "|".join(ids)
    return plain if ids_of(plain) == tuple(ids) else json.dumps(list(ids), ensure_ascii=False)


def dump_attributes(cells: Mapping[int, str]) -> str:
    """The record of a document: the cells with attributes by the lines of their mentions; '' for none."""
    return json.dumps({str(line): cell for line, cell in cells.items()}, ensure_ascii=False) if cells else ""


def attributes_of(raw: str) -> dict[int, dict[str, str]]:
    """{line: {name: value}} of such a record. Anything else is left out."""
    held = {line: _pairs(cell) for line, cell in _load_attributes(raw).items()}
    return {line: found for line, found in held.items() if found}


def _load_attributes(raw: str) -> dict[int, str]:
    return {int(line): cell for line, cell in json.loads(raw).items()} if raw else {}


def _pairs(cell: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in re.split(r"[|;]", cell):
        name, _, value = (one.strip() for one in part.partition("="))
        if name and value:
            found.setdefault(name, value)
    return found


def _attributes_cell(cell: str, gold: ExportMention, problems: Report) -> str:
    """The attributes in the mention's row, updated. Other text in the cell stays."""
    changes = ATTRIBUTES_OF_TABLES.changes(gold, _pairs(cell), problems)
    if not changes:
        return cell
    kept = [part for part in re.split(r"[|;]", cell) if part and part.partition("=")[0].strip() not in changes]
    return "|".join([*kept, *(f"{name}={value}" for name, value in changes.items() if value is not None)])


def _numbers(cell: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[|;,]", cell) if part.strip()]
    wrong = next((part for part in parts if not _NUMBER.fullmatch(part)), None)
    if wrong is not None:
        raise ValueError(tr("{wrong!r} is not a position", wrong=wrong))
    return [int(part) for part in parts]


LONGEST_CELL = 32_767
"""The most characters in a cell of a workbook."""
Write = Callable[[Sequence[str]], None]

_ESCAPE = re.compile(r"_x(?=[0-9A-Fa-f]{4}_)")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def write_tables(chosen: Sequence[WrittenSource], out: Path, problems: Report) -> list[Path]:
    """Write to OUT, which ends with .csv, .tsv or .xlsx, or to mentions.csv in the folder OUT. Raises UserError."""
    target = out / "mentions.csv" if out.is_dir() else out
    ending = target.suffix.lower()
    if ending not in (".csv", ".tsv", ".xlsx"):
        raise UserError(
            tr("the kind of table is not clear from {out}: use a name that ends in .csv, .tsv or .xlsx", out=out)
        )
    if ending == ".xlsx":
        with AtomicFiles() as atomic, _workbook(atomic, target) as (documents, mentions):
            _write(chosen, documents, mentions, problems)
        return [target]
    texts = companion(target)
    with AtomicFiles() as atomic, ExitStack() as stack:
        separator = "\t" if ending == ".tsv" else ","
        held, named = (stack.enter_context(_text(atomic, one, separator)) for one in (texts, target))
        _write(chosen, held.write, named.write, problems)
    if number := held.guarded + named.guarded:
        problems.note(_guarded_words(number))
    return [target, texts]


def _guarded_words(number: int) -> str:
    return ntr(
        "{n} cell that a spreadsheet would take for a formula has an apostrophe before its text; Curator removes it "
        "when it reads the table",
        "{n:,} cells that a spreadsheet would take for formulas have an apostrophe before their text; Curator removes "
        "it when it reads the table",
        number,
    )


def _write(
    files: Sequence[tuple[SourceFile, Iterable[ExportDocument]]],
    documents: Write,
    mentions: Write,
    problems: Report,
) -> None:
    documents(DOCUMENT_HEADINGS)
    mentions(MENTION_HEADINGS)
    taken = FreeNames()
    for file, items in files:
        for item in items:
            key = _key(item, taken, problems)
            title, text = item.document.title, item.document.text
            documents((key, title if text.startswith(title) else "", text))
            cells = _load_attributes(item.raw) if file.format == "table" else {}
            for gold in item.mentions:
                said = _attributes_cell(cells.get(gold.mention.record, ""), gold, problems)
                mentions((*_cells(key, gold, item, file), said))


def _key(item: ExportDocument, taken: FreeNames, problems: Report) -> str:
    """A document's unique identifier."""
    wanted = item.document.external_id
    key = taken.take(wanted.strip() or "document", lambda number: f"{wanted.strip()} ({number})")
    if key != wanted:
        problems.repaired(tr("document {wanted} was written as {key}", wanted=wanted, key=key))
    return key


def _cells(key: str, gold: ExportMention, item: ExportDocument, file: SourceFile) -> tuple[str, ...]:
    mention, decision = gold.mention, gold.decision
    verdict = decision.verdict if decision else None
    ids = stated_ids(gold, item, file)
    stated = "" if ids is None else ids_cell(ids)
    if file.format == "table" and not is_gold(gold):
        stated = mention.raw_ids
    return (
        key,
        *places_cell(mention.spans),
        mention.text,
        mention.type,
        stated,
        verdict.outcome.value if verdict else "",
        verdict.reason.value if verdict and verdict.reason else "",
        decision.curator if decision else "",
        decision.at.isoformat() if decision else "",
        decision.note if decision else "",
    )


class _Text:
    """A table as a text file. `guarded`: the number of cells that got an apostrophe because they look like a
    formula."""

    def __init__(self, stream: TextIO, separator: str) -> None:
        self._writer = csv.writer(stream, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n")
        self.guarded = 0

    def write(self, cells: Sequence[str]) -> None:
        safe = [guarded(one) for one in cells]
        self.guarded += sum(len(one) > len(cell) for one, cell in zip(safe, cells, strict=True))
        self._writer.writerow(safe)


@contextmanager
def _text(atomic: AtomicFiles, target: Path, separator: str) -> Iterator[_Text]:
    stream = io.TextIOWrapper(atomic.open(target), encoding="utf-8", newline="", write_through=True)
    yield _Text(stream, separator)
    stream.detach()


@contextmanager
def _workbook(atomic: AtomicFiles, target: Path) -> Iterator[tuple[Write, Write]]:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)

    def sheet(name: str) -> Write:
        made = book.create_sheet(name)

        def cell(text: str) -> Any:
            found = WriteOnlyCell(made, value=cell_text(text, target))
            found.data_type = "s"  # text, never a formula or an error
            found.quotePrefix = guarded(text) is not text  # nor does it become one when the cell is edited
            return found

        return lambda cells: made.append([cell(one) for one in cells])

    mentions, documents = sheet("mentions"), sheet(DOCUMENTS)
    try:
        yield documents, mentions
    except BaseException:
        book.save(io.BytesIO())  # which removes the temporary files of the sheets
        raise
    whole = io.BytesIO()  # an archive on a failing disk would raise again when it is deleted
    book.save(whole)
    atomic.put(target, whole.getvalue())


def cell_text(text: str, target: Path) -> str:
    """A text in the form of workbooks: characters that XML lacks are escaped. Raises UserError if it is too long."""
    if len(text) > LONGEST_CELL:
        raise UserError(
            tr(
                "{target}: a workbook cell can hold {longest_cell:,} characters, but a document has "
                "{number:,}: export to .csv or .tsv",
                target=target,
                longest_cell=LONGEST_CELL,
                number=len(text),
            )
        )
    escaped = _ESCAPE.sub("_x005F_x", text)
    return _NO_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", escaped)


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


class DocumentTableReader(Reader):
    format = "table"
    none = "{path} contains no usable row{why}"

    def __init__(self, path: Path, options: DocumentOptions) -> None:
        super().__init__(path)
        self._layout: TableLayout = layout_of(path, options)

    @property
    def position(self) -> tuple[int, int]:
        sheet = self._layout.documents or self._layout.mentions
        return sheet.table.position if sheet is not None else (0, 0)

    @property
    def _tables(self) -> list[Table]:
        return [one.table for one in (self._layout.documents, self._layout.mentions) if one is not None]

    def prepare(self) -> None:
        for table in self._tables:
            table.verify()

    def documents(self) -> Iterator[SourceDocument]:
        self._cells, self._made_ids = Cells(), dict[str, int]()
        self._left, self._unread = Unread(), Counter[str]()  # of the latter, cells by heading
        for document in self._documents():
            yield self._made(document)
        self.problems.notes(self._left.sentences())
        self.problems += [*unread_note(+self._unread), *self._cells.notes()]
        for key, line in list(self._made_ids.items())[:1]:
            text = ntr(
                "{n} document identifier, “{key}”, is a date, a logical value or a number. If a spreadsheet converted "
                "it, correct the cell and format its column as text.",
                "{n:,} document identifiers, such as “{key}”, are dates, logical values or numbers. If a spreadsheet "
                "converted them, correct the cells and format their column as text.",
                len(self._made_ids),
                key=key,
            )
            self.problems.note(text, line)
        said = dict.fromkeys(one.repair for one in self._tables)
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
                self.problems.repaired(extra_cells(len(cells), sheet.width), line)
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
                self.problems.set_aside(tr("the row has no mention"), row.line)
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
                self.problems.set_aside(tr("the document {key!r} of the mention was not found", key=key), row.line)

    def _made(self, found: _Document) -> SourceDocument:
        joined = bool(found.title) and not found.body.startswith(found.title)
        text = f"{found.title}\n{found.body}" if joined else found.body
        passages = _passages(found, text, joined=joined)
        placing = Placing(text, passages, self.problems, found.key)
        placing.learn(_stated(found.rows), found.line)
        mentions = [one for row in found.rows if (one := self._mention(row, placing, found.key)) is not None]
        title = found.title or first_line(text)
        kept = {one.record for one in mentions}
        raw = dump_attributes({row.line: row.attributes for row in found.rows if row.attributes and row.line in kept})
        return SourceDocument(found.key, title, text, passages, tuple(mentions), raw, found.line)

    def _mention(self, row: _Row, placing: Placing, key: str) -> SourceMention | None:
        own = f"{OUTCOME}: {row.outcome}"
        if said := own if row.outcome == Outcome.REJECTED else cancelling(row.states):
            self._left.mentions[said] += 1
            return None
        quote = row.values.get("mention", "").strip()
        where = tr('document {key}: mention "{quote}"', key=key, quote=quote[:80])
        try:
            ranges = ranges_of(row.values.get("start", ""), row.values.get("end", ""), len(quote))
        except ValueError as error:
            self.problems.set_aside(f"{where}: {error}", row.line)
            return None
        spans = self._place(row, ranges, quote, placing, where)
        if not spans:
            return None
        kind = row.values.get("type", "").strip() or ANY_TYPE
        raw, prefix = self._stated_ids(row, kind)
        said = own if row.outcome == Outcome.SKIPPED else unfinished(row.states)
        if said and raw:
            self._left.unfinished[said] += 1
            raw = ""
        ids = tuple(dict.fromkeys(one if is_variant(one) else with_prefix(one, prefix) for one in ids_of(raw)))
        return stated_mention(placing.text, spans, kind, [raw] if raw else [], row.line, ids)

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
        self, row: _Row, ranges: list[tuple[int, int]], quote: str, placing: Placing, where: str
    ) -> tuple[Span, ...]:
        if quote and ranges:
            return placing.find(ranges, quote, where, row.line)
        if not quote:
            if not (spans := placing.inside(ranges)):
                words = "{where}: the row has neither the text of a mention nor a position"
                self.problems.set_aside(tr(words, where=where), row.line)
            return spans
        at = placing.text.find(quote)
        if at >= 0 and placing.text.find(quote, at + 1) < 0:
            return (Span(at, at + len(quote)),)
        several = tr("{where}: it occurs several times in the text, and the row gives no position", where=where)
        nowhere = tr("{where}: it does not occur in the text, and the row gives no position", where=where)
        self.problems.set_aside(several if at >= 0 else nowhere, row.line)
        return ()


class TableFormat(Format):
    """Reads and writes tables; `options` determine how this one is read."""

    name = "table"
    title = "Table (CSV, TSV, XLSX)"
    endings = (".csv", ".tsv", ".xlsx")
    carries = Carries(
        mentions=True, discontinuous=True, several_ids=True, nil=True, attributes=True, every_mention=True
    )
    carries_people = True

    def __init__(self, options: DocumentOptions | None = None) -> None:
        super().__init__()
        self._options = options or DocumentOptions()

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
        return attributes_of(raw)

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
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

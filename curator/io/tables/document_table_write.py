"""Write tables: one of mentions with their decisions, and one of their documents.

`a.csv` and `a.documents.csv` (or `.tsv`), or the two sheets of a workbook `a.xlsx`. All imported files go into one
table, so that users can work with all data at once. Every cell of text files is quoted, and a cell that a spreadsheet
would treat as a formula gets an apostrophe before it. Cells of workbooks are typed as text, so they need none.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from curator.domain.documents import SourceFile, Span
from curator.domain.wording import UserError, guarded, ntr, tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.atomic import AtomicFiles
from curator.io.files.attributes import AttributeNames
from curator.io.files.export import FreeNames, is_gold
from curator.io.files.identifiers import NIL, is_nil
from curator.io.files.idstyle import read_ids
from curator.io.files.source import plain_text
from curator.io.tables.table_layout import DOCUMENT_HEADINGS, DOCUMENTS, MENTION_HEADINGS, companion
from curator.services.ports.files import ExportDocument, ExportMention, Problem

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


def _attributes_cell(cell: str, gold: ExportMention, problems: list[Problem]) -> str:
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
Files = Iterable[tuple[SourceFile, Iterable[ExportDocument]]]

_ESCAPE = re.compile(r"_x(?=[0-9A-Fa-f]{4}_)")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def write_tables(files: Files, out: Path, problems: list[Problem]) -> list[Path]:
    """Write to OUT, which ends with .csv, .tsv or .xlsx, or to mentions.csv in the folder OUT. Raises UserError."""
    chosen = list(files)
    if not chosen:
        raise UserError(tr("nothing to export: the project has none of the requested documents"))
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
        problems.append(Problem(0, "note", _guarded_words(number)))
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
    problems: list[Problem],
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


def _key(item: ExportDocument, taken: FreeNames, problems: list[Problem]) -> str:
    """A document's unique identifier."""
    wanted = item.document.external_id
    key = taken.take(wanted.strip() or "document", lambda number: f"{wanted.strip()} ({number})")
    if key != wanted:
        problems.append(Problem(0, "repaired", tr("document {wanted} was written as {key}", wanted=wanted, key=key)))
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

"""Tables of documents and mentions: which column is what, texts in a second table, lists of strings, and back."""

from __future__ import annotations

import csv
import datetime
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.tables.columns import ColumnMemory
from curator.io.tables.document_table import TableFormat
from curator.services.ports.files import DocumentOptions
from tests.curator.io.standoff_samples import again, plain, read

Put = Callable[..., Path]

MENTIONS = "document,start,end,mention,type,ids\n7,0,4,Pain,Disease,MESH:D1|D2\n7,9,12,ear,Part,NIL\n"
TEXTS = 'document,title,text\n7,Pain,"of my ear, today"\n8,,Nothing\n'


def workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


@pytest.mark.parametrize("text", [TEXTS, TEXTS.replace(",", ";"), "\ufeff" + TEXTS.replace("\n", "\r\n")])
def test_a_row_is_a_document_with_its_title_before_its_text(put: Put, text: str) -> None:
    path = put(text, "any.dat")
    assert default_registry().recognise(path).name == "table"
    found, problems = read(TableFormat(), path)
    assert [(one.external_id, one.title) for one in found] == [("7", "Pain"), ("8", "Nothing")]
    assert found[0].text.startswith("Pain\nof my ear")
    assert found[0].passages[0] == Passage("title", 0, 4)
    assert problems == []


def test_mentions_are_found_in_the_table_beside_theirs(put: Put) -> None:
    put(TEXTS, "m.documents.csv")
    path = put(MENTIONS + "9,0,1,x,Y,\n", "m.csv")
    assert default_registry().recognise(path).name == "table"
    found, problems = read(TableFormat(), path)
    assert [(m.text, m.spans, m.type, m.ids, m.nil) for m in found[0].mentions] == [
        ("Pain", (Span(0, 4),), "Disease", ("MESH:D1", "D2"), False),
        ("ear", (Span(11, 14),), "Part", (), True),
    ]
    assert ["relative" in one or "occurs only once" in one for one in problems[:-1]] == [True]
    assert problems[-1] == "set aside: the document '9' of the mention was not found"
    with pytest.raises(UserError, match=r"put the texts into a column.*m2\.documents\.csv"):
        TableFormat().open(put(MENTIONS, "m2.csv"))


def test_two_sheets_of_a_workbook_belong_together(tmp_path: Path) -> None:
    sheets = {
        "Mentions": [["doc_id", "begin", "end", "quote", "concept_id"], [7, 0, 4.0, "Pain", "X:1"]],
        "Texts": [["PMID", "Abstract"], [7, "Pain _x0041_"]],
    }
    path = workbook(tmp_path / "a.xlsx", sheets)
    assert default_registry().recognise(path).name == "table"
    (found,), problems = read(TableFormat(), path)
    assert (found.external_id, found.text, problems) == ("7", "Pain A", [])
    assert [(m.text, m.ids, m.type) for m in found.mentions] == [("Pain", ("X:1",), "entity")]


def test_rows_that_repeat_their_text_are_mentions_of_it(put: Put) -> None:
    rows = "id\ttext\tmention\tstart\tids\n" + "a\tPain of pain\tPain\t0\t1\na\tPain of pain\tpain\t\t2\n"
    (first, second), problems = read(TableFormat(), put(rows + "b\tpain, pain\tpain\t\t2\nb\tpain, pain\t\t\t\n"))
    assert [(m.spans, m.ids) for m in first.mentions] == [((Span(0, 4),), ("1",)), ((Span(8, 12),), ("2",))]
    assert second.mentions == ()
    assert problems == [
        'set aside: document b: mention "pain": it occurs several times in the text, and the row gives no position'
    ]


def test_a_list_of_strings_is_a_document_for_each(put: Put) -> None:
    path = put("mention,ids\nheart attack,\nMI,MESH:D1\n,\n")
    assert default_registry().recognise(path).name == "table"
    found, problems = read(TableFormat(), path)
    assert [(one.external_id, one.text, one.mentions[0].ids) for one in found] == [
        ("row 2", "heart attack", ()),
        ("row 3", "MI", ("MESH:D1",)),
    ]
    assert problems == []


def test_columns_are_chosen_and_a_preview_shows_them(put: Put) -> None:
    registry = default_registry()
    path = put("Nr,Befund\n1,Herzinfarkt\n2,Schmerz\n", "befunde.csv")
    with pytest.raises(UserError):
        registry.recognise(path)
    shown = registry.preview_documents(path)
    assert shown is not None
    assert (shown.headings, shown.rows[0], shown.columns) == (("Nr", "Befund"), ("1", "Herzinfarkt"), {})
    options = DocumentOptions({"document": "1", "text": "befund"})
    found, _ = read(registry.recognise(path, options), path)
    assert [(one.external_id, one.text) for one in found] == [("1", "Herzinfarkt"), ("2", "Schmerz")]
    with pytest.raises(UserError, match="has no column 'Text'"):
        registry.recognise(path, DocumentOptions({"text": "Text"})).open(path)
    with pytest.raises(UserError, match="no field 'name'"):
        registry.recognise(path, DocumentOptions({"name": "Nr"})).open(path)


def test_prose_and_other_formats_are_no_tables(put: Put) -> None:
    registry = default_registry()
    columns = DocumentOptions({"text": "Body"})
    prose = put("Dear Ada, hello\nthis is, well\n", "a.txt")
    assert registry.recognise(prose, columns).name == "text"
    assert registry.preview_documents(prose) is None
    assert registry.preview_documents(put("1|t|a\n1|a|b\n")) is None
    assert registry.recognise(put("1|t|a\n1|a|b\n"), columns).name == "pubtator"
    with pytest.raises(UserError, match="is a knowledge base"):
        registry.recognise(put("id,name\n1,x\n"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a,Pain,4,2,ai,", "repaired"),
        ("a,Pain,x,2,ai,", "set aside"),
        ("a,Pain,1|2,2,ai,", "set aside"),
        ("a,Pain,90,95,,", "set aside"),
        ("a,Pain,,,no,", "set aside"),
        ("a,Pain,2,4,ai,", "repaired"),
        ("a,Pain,1,3,ai,1,2,3", "repaired"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(put: Put, row: str, said: str) -> None:
    reader = TableFormat().open(put("id,text,start,end,mention,ids\nz,x,,,,\n" + row + "\n"))
    list(reader)
    assert [(one.line, one.severity) for one in reader.problems] == [(3, said)]


def test_every_mention_is_exported_with_what_was_decided(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = put(TEXTS, "m.documents.csv")
    path = put(MENTIONS, "m.csv")
    form = TableFormat()
    reader = form.open(path)
    items = [make.export(one) for one in reader]
    first = make.export(
        next(iter(form.open(path))),
        verdicts={0: Verdict.link("A|B", "C"), 1: Verdict.reject()},
        added=[((Span(0, 4), Span(11, 14)), "X", None)],
    )
    wrote = form.write([(make.file(path, reader), [first, items[1]])], tmp_path / "out.tsv")
    assert [one.name for one in wrote] == ["out.tsv", "out.documents.tsv"]
    with wrote[0].open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert [(one["mention"], one["ids"], one["outcome"], one["curator"]) for one in rows] == [
        ("Pain", '["A|B", "C"]', "link", "a curator"),
        ("ear", "NIL", "rejected", "a curator"),
        ("Pain ear", "", "", ""),
    ]
    assert (rows[2]["start"], rows[2]["end"]) == ("0|11", "4|14")
    (found, _), problems = read(form, wrote[0])
    assert [m.ids for m in found.mentions] == [("A|B", "C"), ()]
    assert problems == [
        "note: 1 mention or relation is marked “outcome: rejected” and is left out",
        "note: The columns “at”, “curator”, “reason” are not read",
    ]


def test_what_a_workbook_cannot_hold_is_refused(make: SimpleNamespace, tmp_path: Path) -> None:
    item = make.export(SourceDocument("1", "", "x" * 32_768, (), ()))
    with pytest.raises(UserError, match=r"export to \.csv"):
        TableFormat().write([(SourceFile(1, "x", "x", "y", ""), [item])], tmp_path / "out.xlsx")
    with pytest.raises(UserError, match="the kind of table is not clear"):
        TableFormat().write([(SourceFile(1, "x", "x", "y", ""), [item])], tmp_path / "out.doc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_under_a_workbook_is_one_sentence(
    make: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open

    def full(path: Path, flags: int, mode: int = 0o777) -> int:
        return real_open("/dev/full", os.O_WRONLY) if str(path).endswith(".part") else real_open(path, flags, mode)

    items = [make.export(SourceDocument("1", "", "text", (), ()))]
    monkeypatch.setattr(os, "open", full)
    with pytest.raises(UserError, match="disk is full"):
        TableFormat().write([(SourceFile(1, "x", "x", "y", ""), items)], tmp_path / "out.xlsx")
    monkeypatch.undo()
    gc.collect()  # an archive that is still open would complain here
    assert list(tmp_path.iterdir()) == []


def test_texts_in_a_workbook_stay_texts(make: SimpleNamespace, tmp_path: Path) -> None:
    texts = ["=1+1", "#N/A", "a\r\nb\x0b\ufffe", "_x0041_", "007", " x "]
    items = [make.export(SourceDocument(f"d{n}", "", one, (), ())) for n, one in enumerate(texts)]
    form = TableFormat()
    (out,) = form.write([(SourceFile(1, "x", "x", "y", ""), items)], tmp_path / "out.xlsx")
    assert [one.text for one in form.open(out)] == texts


FORMULAS = (
    '=HYPERLINK("http://x","y")',
    "@SUM(1)",
    "+cmd|' /C calc'!A0",
    "-catenin",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "'=1",
    "''-x",
)
HARMLESS = ("-", "+", "-1", "+1.5e-3", "- 0,5 %", "'", "'x", "5'-deoxy", "1=1", "a@b", " x")


@pytest.mark.parametrize("name", ["o.csv", "o.tsv"])
def test_no_cell_of_a_text_table_is_a_formula_and_every_one_is_read_as_it_was(
    make: SimpleNamespace, tmp_path: Path, name: str
) -> None:
    words = (*FORMULAS, *HARMLESS)
    items = [
        make.export(
            SourceDocument(one.strip(), "", f"{one} hurts", (), ()),
            added=[((Span(0, len(one)),), one.strip(), Verdict.link(one.strip()))],
        )
        for one in words
    ]
    form = TableFormat()
    wrote = form.write([(SourceFile(1, "x", "x", "y", ""), items)], tmp_path / name)
    for path in wrote:
        with path.open(newline="") as stream:
            cells = [cell for row in csv.reader(stream, delimiter="\t" if name == "o.tsv" else ",") for cell in row]
        assert not [one for one in cells if one.startswith(("=", "@", "\t", "\r", "\n", "＝", "+c", "-c"))]
        assert {"-", "-1"} <= set(cells) or path == wrote[1]
    assert "have an apostrophe" in form.problems[-1].text
    found, _ = read(form, wrote[0])
    assert [one.text for one in found] == [f"{one} hurts" for one in words]
    told = [(m.text.strip(), m.type, m.ids) for one in found for m in one.mentions]
    assert told == [(one.strip(), one.strip(), (one.strip(),)) for one in words]


def test_an_apostrophe_in_the_table_of_somebody_else_stays(put: Put) -> None:
    ((found,), _) = read(TableFormat(), put("pmid,abstract\n1,'-deoxyadenosine\n"))
    assert found.text == "'-deoxyadenosine"


def test_cells_of_a_workbook_are_texts_also_when_they_are_edited(make: SimpleNamespace, tmp_path: Path) -> None:
    items = [make.export(SourceDocument(f"d{n}", "", one, (), ())) for n, one in enumerate(FORMULAS)]
    form = TableFormat()
    (out,) = form.write([(SourceFile(1, "x", "x", "y", ""), items)], tmp_path / "out.xlsx")
    cells = [cell for sheet in openpyxl.load_workbook(out) for row in sheet.iter_rows(min_row=2) for cell in row]
    texts = [cell for cell in cells if cell.column == 3]
    assert {cell.data_type for cell in texts} == {"s"}
    assert all(cell.quotePrefix for cell in texts)
    assert [one.text for one in form.open(out)] == list(FORMULAS)
    assert form.problems == []


def test_a_choice_is_kept_for_tables_with_the_same_headings(put: Put, tmp_path: Path) -> None:
    registry = default_registry(ColumnMemory(tmp_path / "kept" / "columns.json"))
    first = put("Nr,Befund\n1,Herzinfarkt\n", "a.csv")
    with pytest.raises(UserError, match="has no column"):
        registry.choose_columns(first, DocumentOptions({"text": "Text"}))
    registry.choose_columns(first, DocumentOptions({"document": "Nr", "mention": "Befund"}))
    later = default_registry(ColumnMemory(tmp_path / "kept" / "columns.json"))
    second = put("Nr,Befund\n7,Schmerz\n", "b.csv")
    found, _ = read(later.recognise(second), second)
    assert [(one.external_id, one.mentions[0].text) for one in found] == [("7", "Schmerz")]
    shown = later.preview_documents(second)
    assert shown is not None
    assert shown.columns == {"document": "Nr", "mention": "Befund"}
    with pytest.raises(UserError):
        later.recognise(put("Nr,Notiz\n7,Schmerz\n", "c.csv"))
    (tmp_path / "kept" / "columns.json").write_text("[1, {")
    with pytest.raises(UserError):
        later.recognise(second)


def test_the_sheet_is_kept_with_the_columns(tmp_path: Path) -> None:
    registry = default_registry(ColumnMemory(tmp_path / "columns.json"))
    path = workbook(tmp_path / "a.xlsx", {"About": [["read", "me"]], "Data": [["Nr", "Befund"], [1, "Schmerz"]]})
    registry.choose_columns(path, DocumentOptions({"document": "Nr", "text": "Befund"}, "Data"))
    found, _ = read(registry.recognise(path), path)
    assert [(one.external_id, one.text) for one in found] == [("1", "Schmerz")]
    shown = registry.preview_documents(path)
    other = registry.preview_documents(path, DocumentOptions(sheet="About"))
    assert shown is not None
    assert other is not None
    assert (shown.headings, shown.columns) == (("Nr", "Befund"), {"document": "Nr", "text": "Befund"})
    assert (other.headings, other.columns) == (("read", "me"), {})


@pytest.mark.parametrize(("encoding", "name"), [("utf-16", "UTF-16"), ("cp1252", "Windows-1252")])
def test_tables_in_other_encodings(tmp_path: Path, encoding: str, name: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("pmid,text,mention,start,end\n1,Morbus Möbius,Möbius,7,13\n".encode(encoding))
    reader = default_registry().recognise(path).open(path)
    [document] = reader
    assert [(one.text, one.spans) for one in document.mentions] == [("Möbius", (Span(7, 13),))]
    assert [one.text for one in reader.problems] == [f"the file is not in UTF-8 and was read as {name}"]


def test_a_table_in_utf_16_whose_headings_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Nummer,Inhalt\n1,Möbius\n".encode("utf-16"))
    with pytest.raises(UserError, match="headings do not say what it contains"):
        default_registry().recognise(path)
    shown = default_registry().preview_documents(path)
    assert shown is not None
    assert shown.headings == ("Nummer", "Inhalt")


def test_cells_without_a_value_and_identifiers_that_a_spreadsheet_made(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["doc id", "title", "abstract"],
        [datetime.datetime(2024, 9, 2), "#N/A", "NA is here"],
        ["-", "n/a", "Nothing"],
        ["SEPT2", "One", "NA"],
    ]
    found, problems = read(TableFormat(), workbook(tmp_path / "a.xlsx", {"A": rows}))
    assert [(one.external_id, one.text) for one in found] == [
        ("2024-09-02 00:00:00", "NA is here"),
        ("row 3", "Nothing"),
        ("SEPT2", "One\nNA"),
    ]
    assert [problem.partition(":")[0] for problem in problems] == ["note"] * 4, problems
    assert any("1 document identifier, “2024-09-02 00:00:00”" in problem for problem in problems)
    for cell in ("-", "n/a", "#N/A"):
        assert any(f"1 cell “{cell}”" in problem for problem in problems)


@pytest.mark.parametrize(
    ("type_", "ids", "wanted"),
    [
        ("Gene", "NA", ("Gene", (), False)),
        ("-", "#REF!", ("entity", (), False)),
        ("NA", "-", ("entity", (), True)),
        ("#N/A", "NIL", ("entity", (), True)),
        ("Na", "MESH:D1", ("Na", ("MESH:D1",), False)),
    ],
)
def test_a_missing_identifier_is_no_decision(put: Put, type_: str, ids: str, wanted: tuple[object, ...]) -> None:
    text = f"text,mention,start,end,type,identifiers\nThe NA here,NA,4,6,{type_},{ids}\n"
    [document], _ = read(TableFormat(), put(text, "a.csv"))
    [mention] = document.mentions
    assert (mention.text, (mention.type, mention.ids, mention.nil)) == ("NA", wanted)


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_what_curator_wrote_may_be_called_so(make: SimpleNamespace, name: str) -> None:
    mention = SourceMention((Span(4, 6),), "NA", "None", ("NA",), "NA", record=2)
    document = SourceDocument("NA", "The NA here", "The NA here", (Passage("section", 0, 11),), (mention,), "", 2)
    once, twice, _ = again(make, TableFormat(), [document], name)
    assert once == twice == plain([document])

"""Tables: which column holds what, cells of several values, rows of one entity."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.tables import tables
from curator.io.tables.kb_table import KbTableReader, preview_kb_table
from curator.io.tables.tables import Table, is_workbook
from curator.services.ports.files import KbOptions

Put = Callable[..., Path]


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_headings_say_what_columns_hold(put: Put) -> None:
    text = (
        "Concept ID;Preferred label;Alt-labels;Semantic type;Definition;Parent ID\r\n"
        'mesh:D1;"one; the";uno|un;Disease;"Is\nthe ""first"".";MESH:D0\r\n'
        "mesh:D1;the one;;;;\r\nmesh:D2;two\r\n;three\r\n"
    )
    reader = KbTableReader.open(put(text))
    assert list(reader) == [
        Entity("MESH:D1", "one; the", ("uno", "un", "the one"), ("Disease",), 'Is\nthe "first".', parents=("MESH:D0",)),
        Entity("MESH:D2", "two"),
    ]
    assert [(one.line, one.severity) for one in reader.problems] == [(6, "set aside")]


def test_columns_may_be_chosen(put: Put) -> None:
    path = put("a\tb\tc\n1\tone\tx\n")
    with pytest.raises(UserError, match=r"no column was chosen for the id.*a, b, c"):
        KbTableReader.open(path)
    with pytest.raises(UserError, match="has no column 'z'"):
        KbTableReader.open(path, KbOptions({"id": "z", "name": "b"}))
    assert list(KbTableReader.open(path, KbOptions({"id": "A", "name": "2"}))) == [Entity("1", "one")]
    assert default_registry().open_kb(path, KbOptions({"id": "a", "name": "b"})).format == "table"
    shown = preview_kb_table(path, KbOptions({"name": "b"}))
    assert (shown.headings, shown.rows, shown.columns) == (("a", "b", "c"), (("1", "one", "x"),), {"name": "b"})


def test_a_stray_quote_in_tabs_is_text_and_in_commas_an_error(put: Put) -> None:
    assert [one.name for one in KbTableReader.open(put('id\tname\n1\t"one\n2\ttwo\n'))] == ['"one', "two"]
    assert [one.name for one in KbTableReader.open(put('id\tname\n1\t"one"\n'))] == ["one"]
    with pytest.raises(UserError, match=r"line 2: a quotation mark"):
        list(KbTableReader.open(put('id,name\n1,"one\n2,two\n')))


def test_workbooks(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "kb.xlsx", {"First": [["id", "name"], [7, "seven"], [None, None], ["8", "eight"]], "B": [["x"]]}
    )
    assert KbTableReader.sniff_path(path)
    reader = default_registry().open_kb(path)
    assert list(reader) == [Entity("7", "seven"), Entity("8", "eight")]
    assert preview_kb_table(path).sheets == ("First", "B")
    with pytest.raises(UserError, match=r"no sheet 'C': choose one of First, B"):
        KbTableReader.open(path, KbOptions(sheet="C"))


def test_workbooks_that_unpack_to_too_much_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<a/>")
        archive.writestr("xl/sharedStrings.xml", bytes(65 << 20))
    with pytest.raises(UserError, match="unpacks to 65 MB"):
        preview_kb_table(path)


@pytest.mark.parametrize(("place", "value"), [(6, 235), (9, 8)], ids=["version", "name said to be UTF-8"])
def test_a_zip_that_python_cannot_list_is_no_workbook(tmp_path: Path, place: int, value: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "id\tname")
    raw = bytearray(path.read_bytes())
    at = raw.index(b"PK\x01\x02")
    raw[at + place] = value
    raw[at + 46] = 0xFF  # of the name
    path.write_bytes(raw)
    assert not is_workbook(path)


def test_a_damaged_workbook(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<broken")
    with pytest.raises(UserError, match="damaged workbook"):
        preview_kb_table(path)


def packed(path: Path, found: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in found.items():
            archive.writestr(name, content)
    return path


SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def with_texts(*texts: str) -> dict[str, bytes]:
    """A workbook as spreadsheet programs save it: its texts are in a list, of which the cells say numbers."""
    parts = {"workbook": "sheet.main", "worksheets/sheet1": "worksheet", "sharedStrings": "sharedStrings"}
    types = "".join(f'<Override PartName="/xl/{a}.xml" ContentType="{TYPES}.{b}+xml"/>' for a, b in parts.items())
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    cells = "".join(f'<c t="s"><v>{n}</v></c>' for n in range(2))
    found = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="{rels}"'
        f"/>{types}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" Type="{OFFICE}/'
        'officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="a" '
        f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{OFFICE}"><sheets><sheet name="a" sheetId="1" '
        'r:id="a"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEETS}"><sheetData><row>{cells}</row></sheetData>'
        "</worksheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{"".join(f"<si><t>{one}</t></si>" for one in texts)}</sst>',
    }
    return {name: text.encode() for name, text in found.items()}


@pytest.mark.parametrize("name", ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"])
@pytest.mark.parametrize("kind", ["cut", "empty", "another text"])
def test_broken_xml_inside_a_workbook_is_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    whole = with_texts("id", "name")
    bad = {"cut": whole[name][: len(whole[name]) * 2 // 3], "empty": b"", "another text": b"<a b='1' b='2'>&x;"}[kind]
    path = packed(tmp_path / "b.xlsx", whole | {name: bad})
    with pytest.raises(UserError, match="damaged workbook"):
        list(Table(path).rows())


def test_a_workbook_with_millions_of_texts_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "b.xlsx", with_texts("id", "name", *[""] * 1000))
    assert Table(path).first(1) == [["id", "name"]]
    monkeypatch.setattr(tables, "TEXTS", 10_000)
    with pytest.raises(UserError, match="its list of texts"):
        Table(path).first(1)


@pytest.mark.parametrize(
    ("head", "is_kb"),
    [
        ("id,name\n", True),
        ("Identifier\tLabel\tSynonyms\n", True),
        ("id,title,text\n", False),
        ("hello, name\n", False),
        ('{"id": 1, "name": 2}\n', False),
    ],
)
def test_what_looks_like_a_knowledge_base(head: str, is_kb: bool) -> None:
    assert KbTableReader.sniff(head.encode()) is is_kb


ROWS = "Kode,Bezeichnung\nA:1,Morbus Möbius\nA:2,Naïve’s\n"
CHOSEN = {"id": "Kode", "name": "Bezeichnung"}


@pytest.mark.parametrize("name", ["kb.xlsx", "kb.csv"])
def test_where_headings_say_nothing_the_columns_are_asked_for(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("xlsx"):
        workbook(path, {"one": [["Kode", "Bezeichnung"], ["A:1", "Morbus"]]})
    else:
        path.write_text("Kode,Bezeichnung\nA:1,Morbus\n")
    registry = default_registry()
    shown = registry.preview_kb(path)
    assert shown is not None
    assert shown.headings == ("Kode", "Bezeichnung")
    with pytest.raises(UserError, match=r"Its columns are Kode, Bezeichnung: choose one \(--column id=HEADING"):
        registry.open_kb(path)
    assert [one.name for one in registry.open_kb(path, KbOptions(CHOSEN))] == ["Morbus"]


@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-16-le", "\ufeff", "UTF-16"),
        ("utf-16-be", "\ufeff", "UTF-16"),
        ("utf-16-le", "", "UTF-16"),
        ("utf-16-be", "", "UTF-16"),
        ("cp1252", "", "Windows-1252"),
        ("latin-1", "", "Latin-1"),
        ("utf-8", "\ufeff", ""),
        ("utf-8", "", ""),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_encodings_are_recognised_and_said(tmp_path: Path, encoding: str, mark: str, name: str, *, known: bool) -> None:
    text = ROWS.replace("Kode,Bezeichnung", "id,name") if known else ROWS
    text = text.replace("\u2019", "\x9d") if encoding == "latin-1" else text  # which Windows-1252 does not have
    path = tmp_path / "kb.csv"
    path.write_bytes((mark + text).encode(encoding))
    registry = default_registry()
    shown = registry.preview_kb(path)
    assert shown is not None
    assert shown.rows[0] == ("A:1", "Morbus Möbius")
    reader = registry.open_kb(path, None if known else KbOptions(CHOSEN))
    assert [one.name for one in reader] == ["Morbus Möbius", text.split(",")[-1].strip()]
    said = [one.text for one in reader.problems]
    assert said == ([f"the file is not in UTF-8 and was read as {name}"] if name else [])


def test_a_damaged_utf_8_table_is_no_other_encoding(tmp_path: Path) -> None:
    path = tmp_path / "kb.csv"
    path.write_bytes("id,name\nA:1,Möbius\nA:2,Naïve\n".encode() + b"A:3,M\xf6bius\n")
    with pytest.raises(UserError, match="line 4: byte 6 is not UTF-8"):
        list(default_registry().open_kb(path))


def test_a_workbook_that_the_disk_does_not_give_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "a.xlsx", {"A": [["id", "name"], ["1", "a"]]})

    def hidden(*_: object) -> None:  # as `zipfile` does
        try:
            raise OSError(5, "Input/output error")
        except OSError:
            raise zipfile.BadZipFile("File is not a zip file")  # noqa: B904

    table = Table(path)
    monkeypatch.setattr(tables.zipfile.ZipFile, "infolist", hidden)
    with pytest.raises(UserError, match=r"cannot read .*Input/output error"):
        table.verify()
    with pytest.raises(UserError, match=r"cannot read .*Input/output error"):
        list(table.rows())


NO_VALUE = [
    "-",
    "--",
    "–",
    "NA",
    "N/A",
    "n/a",
    "nan",
    "NaN",
    "NULL",
    "None",
    ".",
    "?",
    "#N/A",
    "#REF!",
    "#NAME?",
    "#NV",
]
CONVERTED = [
    datetime(2024, 9, 2),  # as workbooks hold it
    datetime(2024, 9, 2, 10, 30),
    date(2025, 3, 2),
    time(1, 2),
    timedelta(hours=6),
    2.310009e19,
    900000000000207008.0,
    True,
    False,
    "2024-09-02",
    "2-Sep",
    "Mar-02",
    "02.03.2025",
    "TRUE",
    "2.31E+19",
]
NAMES = [
    "Na",
    "Nan",
    "SEPTIN5",
    "-COOH",
    "#1",
    "E+",
    "March",
    "None of these",
    "NA+",
    "2310009E13",
    "5-FU",
    "E-selectin",
]


@pytest.mark.parametrize("kind", ["kb.csv", "kb.tsv", "kb.xlsx"])
@pytest.mark.parametrize("cell", [*NO_VALUE, *CONVERTED, *NAMES], ids=str)
def test_what_is_no_name_is_left_out_with_its_row(tmp_path: Path, kind: str, cell: object) -> None:
    rows: list[list[object]] = [
        ["id", "name", "synonyms", "types", "definition", "parents"],
        ["X:1", cell, "uno", "Gene", "The first", ""],
        ["X:2", "two", f"zwei|{cell}", cell if cell in NO_VALUE else "", "", ""],
        [cell, "three", "", "", "", ""],
        ["X:4", "four", cell, "", "" if cell in CONVERTED else cell, "" if cell in CONVERTED else cell],
    ]
    path = tmp_path / kind
    if kind == "kb.xlsx":
        workbook(path, {"A": rows})
    else:
        separator = "," if kind == "kb.csv" else "\t"
        path.write_text("\n".join(separator.join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    reader = KbTableReader.open(path)
    entities = list(reader)
    aside = [one.line for one in reader.problems if one.severity == "set aside"]
    if cell in NAMES:
        assert [one.name for one in entities] == [cell, "two", "three", "four"]
        assert entities[1].synonyms == ("zwei", cell)
        assert reader.problems == []
        return
    assert entities == [Entity("X:2", "two", ("zwei",)), Entity("X:4", "four")]
    assert aside == ([2, 3, 4, 5] if cell in CONVERTED else [2, 4])
    notes = [(one.line, str(cell) in one.text) for one in reader.problems if one.severity == "note"]
    assert notes == ([] if cell in CONVERTED else [(2, True)])


def test_a_column_that_is_not_read_is_named_if_it_has_a_value(tmp_path: Path) -> None:
    path = tmp_path / "kb.csv"
    path.write_text("id,name,alt names,xref,note\nX:1,foo,fu,MESH:D1,-\nX:2,bar,,,\n", encoding="utf-8")
    reader = KbTableReader.open(path, KbOptions())
    assert len(list(reader)) == 2
    assert [one.text for one in reader.problems] == ["The columns “alt names”, “xref” are not read"]

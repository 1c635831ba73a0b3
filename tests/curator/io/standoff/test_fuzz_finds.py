"""What fuzzing found (`python -m tests.fuzz`), each as small as it can be said: a sentence or a reading, and soon."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.wording import UserError
from curator.io.kb import rdf
from curator.io.kb.ctd import CtdReader
from curator.io.kb.obo import OboReader
from curator.io.registry import default_registry
from curator.io.standoff.webanno_tsv import WebAnnoFormat, parse
from curator.io.standoff.xmi import XmiFormat
from curator.io.tables.tables import Table
from tests.fuzz.__main__ import fuzz
from tests.fuzz.serving import Server
from tests.fuzz.targets import targets
from tests.fuzz.writing import write_back
from tests.rewriting import source_file, unchanged

Put = Callable[..., Path]
MUCH = 300_000


@pytest.fixture
def soon() -> Callable[[], float]:
    """Seconds of processor time since the test began; the corrected faults took minutes."""
    started = time.process_time()
    return lambda: time.process_time() - started


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server("large", patience=10)
    yield made
    made.close()


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(targets()))
def test_inputs_made_large_find_nothing(name: str, server: Server, tmp_path: Path) -> None:
    """The part of fuzzing that needs no library; guided by coverage it can run for any time. What a faster machine
    should read in 2 s may take 20 s here: an input that takes the square of its length takes minutes."""
    assert fuzz(name, "large", server, 3, tmp_path).found == ()


def test_many_blank_lines_before_nothing_are_recognised_soon(put: Put, soon: Callable[[], float]) -> None:
    triple = b"<http://x.org/1> <http://x.org/p>" + b" " * MUCH + b"x"
    for head in (b"x" + b"\n" * MUCH, triple, b"<!---->" * 100 + b"<x"):
        assert rdf.syntax(head) == ""
        for form in default_registry().formats():
            form.sniff(put(head), head)
    assert soon() < 10


def test_a_long_definition_takes_no_memory_of_its_own(put: Put, soon: Callable[[], float]) -> None:
    text = 'format-version: 1.2\n\n[Term]\nid: X:1\nname: a{}b\ndef: "{}" []\n'
    (one,) = OboReader.open(put(text.format(" " * MUCH, 'x \\" ' * MUCH)))
    assert (one.name, len(one.definition)) == ("a b", 4 * MUCH - 1)
    assert soon() < 10


def test_a_cell_longer_than_csv_allows(put: Put) -> None:
    text = "# Fields:\n# GeneSymbol,GeneName,GeneID\nA1,one,7\n" + "x" * 140_000 + ",y,8\n"
    reader = CtdReader.open(put(text))
    assert [one.name for one in reader] == ["A1"]
    assert [(one.line, one.severity) for one in reader.problems] == [(4, "set aside")]


def test_a_token_without_a_form(put: Put) -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.NamedEntity|value\n\n\n#Text=One.\n"
    (document,) = WebAnnoFormat().open(put(head + "1-1\t0-3\t\tX\t\n", "a.tsv"))
    assert document.text == "One."


def test_thousands_of_annotations_and_tokens_at_one_place_are_written_back_soon(
    put: Put, soon: Callable[[], float]
) -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.NamedEntity|value\n#T_RL=a.Link|label|BT_a.NamedEntity\n\n\n#Text=One.\n"
    lines = [f"1-1\t0-3\tOne\tGene[{n}]|Cell[{n + 1}]\tto\t1-1[{n}_{n + 1}]\t" for n in range(1, 4_000, 2)]
    reader = (form := WebAnnoFormat()).open(path := put(head + "\n".join(lines) + "\n", "a.tsv"))
    write_back(form, path, reader, list(reader))
    assert soon() < 5


def test_a_tagged_token_without_characters(put: Put) -> None:
    path = put('{"id": "t", "tokens": ["pain", ""], "ner_tags": ["B-Disease", "B-Disease"]}\n', "a.jsonl")
    reader = default_registry().recognise(path).open(path)
    assert [one.text for document in reader for one in document.mentions] == ["pain"]
    assert [one.severity for one in reader.problems if "no position" in one.text] == ["set aside"]


@pytest.mark.parametrize("line", ["1\t{n}\t8\tNaloxone\tC\t-1", "1\t0\t{n}\tNaloxone\tC\t-1"])
def test_an_offset_of_thousands_of_digits(put: Put, line: str) -> None:
    path = put("1|t|Naloxone here.\n1|a|\n" + line.format(n="9" * 5000) + "\n")
    reader = default_registry().recognise(path).open(path)
    (document,) = reader
    assert document.mentions == ()
    assert [one.line for one in reader.problems if one.severity == "set aside"] == [3]


def test_a_type_system_that_is_no_xml_goes_back_as_it_was(put: Put, make: SimpleNamespace, tmp_path: Path) -> None:
    cas = (
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0">'
        '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="One."/>'
        '<cas:View sofa="1" members=""/></xmi:XMI>'
    )
    archive, system = tmp_path / "a.zip", '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><a'
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a.xmi", cas)
        out.writestr("TypeSystem.xml", system)
    form = XmiFormat()
    reader = form.open(archive)
    documents = list(reader)
    (written,) = form.write([(source_file(archive, reader), list(unchanged(documents)))], tmp_path / "b.zip")
    with zipfile.ZipFile(io.BytesIO(written.read_bytes())) as found:
        assert found.read("TypeSystem.xml").decode() == system
    assert [one.text for one in form.problems if "broken XML" in one.text]


def test_an_annotation_without_an_id_gets_a_relation(put: Put) -> None:
    head = '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0"'
    kind = "http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore"
    text = (
        f'{head} xmlns:type="{kind}"><type:NamedEntity sofa="1" begin="0" end="3" value="Disease"/>'
        '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="One."/></xmi:XMI>'
    )
    reader = (form := XmiFormat()).open(path := put(text))
    write_back(form, path, reader, list(reader))


def test_a_broken_file_is_told_in_a_sentence(put: Put) -> None:
    with pytest.raises(UserError):
        list(rdf.SkosReader.open(put("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<a")))


def test_turtle_that_nests_without_end_is_refused_and_brackets_in_texts_are_not(put: Put) -> None:
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    for opened in ("(", "[ <http://x.org/p> "):
        with pytest.raises(UserError, match="more than 10,000 deep"):
            list(rdf.SkosReader.open(put(head + "<http://x.org/1> skos:broader " + opened * MUCH)))
    label = '<http://x.org/{n}> a skos:Concept ; skos:prefLabel "(1 of ([{n}"@en .\n'
    many = put(head + "".join(label.format(n=n) for n in range(20_000)))
    assert sum(1 for _ in rdf.SkosReader.open(many)) == 20_000


def test_an_archive_with_a_nameless_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as out:
        info = zipfile.ZipInfo("x")
        info.filename = ""
        out.writestr(info, "text")
    with pytest.raises(UserError, match="leads out of the archive"):
        default_registry().recognise(tmp_path / "a.zip")


def test_a_workbook_with_a_damaged_sheet(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("xl/workbook.xml", "<workbook/>" * 50)
        out.writestr("[Content_Types].xml", "<Types/>" * 500)
    data = bytearray((tmp_path / "a.xlsx").read_bytes())
    at = data.rindex(b"[Content_Types].xml", 0, data.index(b"PK\1\2")) + len("[Content_Types].xml")
    data[at : at + 8] = b"\xff" * 8
    (tmp_path / "a.xlsx").write_bytes(data)
    with pytest.raises(UserError, match="damaged workbook"):
        Table(tmp_path / "a.xlsx").sheets()


def test_names_that_are_no_names_in_pubannotation(put: Put, tmp_path: Path) -> None:
    """They call nothing, and keep nothing from being written or removed."""
    value = {
        "text": "Only an abstract.",
        "sourcedb": "x",
        "sourceid": "2",
        "denotations": [{"id": [], "span": {"begin": 0, "end": 4}, "obj": "Disease"}] * 7,
        "attributes": [{"id": {}, "subj": [], "pred": "identifier", "obj": {"a": 1}}],
        "relations": [{"id": [1], "subj": {}, "obj": ["T1"], "pred": "x"}],
    }
    form = default_registry().by_name("pubannotation")
    reader = form.open(path := put(json.dumps(value)))
    write_back(form, path, reader, list(reader))


def test_a_list_and_single_objects_in_one_pubannotation_file_are_written_as_a_list(put: Put, tmp_path: Path) -> None:
    one = '{"text": "Only an abstract.", "sourcedb": "x", "sourceid": "%d", "denotations": []}'
    text = "[\n" + one % 1 + ",\n" + one % 2 + "\n]\n" + one % 3 + "\n"
    form = default_registry().by_name("pubannotation")
    reader = form.open(path := put(text))
    documents = list(unchanged(list(reader)))
    form.write([(source_file(path, reader), documents)], out := tmp_path / "out.json")
    assert [one["sourceid"] for one in json.loads(out.read_text())] == ["1", "2", "3"]
    assert [one.external_id for one in form.open(out)] == [one.document.external_id for one in documents]


@pytest.mark.soak
def test_many_documents_of_one_id_are_written_soon(tmp_path: Path, soon: Callable[[], float], put: Put) -> None:
    table = default_registry().by_name("table")
    reader = table.open(path := put("id,title,text\n" + "2,,Only text.\n" * 20_000))
    documents = list(reader)
    for name, out in (("table", "out.csv"), ("brat", "out.zip"), ("webannotation", "out.json")):
        form = default_registry().by_name(name)
        form.write([(source_file(path, reader), list(unchanged(documents)))], tmp_path / out)
        assert (tmp_path / out).is_file()
    assert soon() < 30


@pytest.mark.soak
def test_many_mentions_in_one_brat_file_are_edited_soon(tmp_path: Path, soon: Callable[[], float]) -> None:
    (tmp_path / "a.txt").write_text("gout hurts")
    line = "T{0}\tDisease 0 4\tgout\nN{0}\tReference T{0} X:{0}\t\nA{0}\tcertainty T{0} low\n"
    (tmp_path / "a.ann").write_text("".join(map(line.format, range(1, 10_001))))
    form = default_registry().by_name("brat")
    reader = form.open(tmp_path / "a.ann")
    write_back(form, tmp_path / "a.ann", reader, list(reader))
    assert soon() < 30


@pytest.mark.soak
def test_many_lines_of_one_sentence_and_infons_of_one_annotation_are_soon_done(
    put: Put, soon: Callable[[], float]
) -> None:
    sentence = "#FORMAT=WebAnno TSV 3.3\n\n\n" + "#Text=word\n" * MUCH
    assert len(parse(sentence).sentences[0].text) == 5 * MUCH - 1
    infons = '<infon key="type">Disease</infon>' + "<infon key='k'>v</infon>" * 40_000
    annotation = f'<annotation id="1">{infons}<location offset="1" length="2"/><text>bc</text></annotation>'
    text = (
        "<?xml version='1.0'?><collection><source>s</source><date>d</date><key>k</key><document><id>1</id>"
        f"<passage><offset>0</offset><text>abc</text>{annotation}</passage></document></collection>"
    )
    form = default_registry().by_name("bioc-xml")
    reader = form.open(path := put(text))
    write_back(form, path, reader, list(reader))
    assert soon() < 10

"""BioC made of documents of other formats, converted between XML and JSON, and read again as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from lxml import etree

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, SourceDocument, SourceFile, Span
from curator.domain.wording import UserError
from curator.io.bioc.bioc_formats import BioCJsonFormat, BioCXmlFormat
from curator.io.bioc.bioc_write import tiles
from curator.io.literature.pubtator import PubTatorFormat
from curator.io.registry import default_registry

Put = Callable[..., Path]
FORMATS = [BioCXmlFormat, BioCJsonFormat]
PLAIN = SourceFile(1, "/x.txt", "x.txt", "plain", "0" * 64)


@pytest.mark.parametrize("form", FORMATS)
def test_pubtator_goes_out_and_comes_back(make: SimpleNamespace, put: Put, form: type) -> None:
    path = put("7|t|\n7|a|Lupus here\n7\t1\t6\tLupus\tDisease\tD008180\n\n8|t|only\n8|a|\n\n")
    reader = PubTatorFormat().open(path)
    items = [make.export(one) for one in reader]
    (out,) = form().write([(make.file(path, reader), items)], path.with_name("out"))
    again = list(default_registry().recognise(out).open(out))
    assert [one.text for one in again] == ["\nLupus here", "only"]
    assert (again[0].mentions[0].spans, again[0].mentions[0].ids) == ((Span(1, 6),), ("MESH:D008180",))


XML = """<collection><source>s</source><date>d</date><key>k</key><infon key="a">b</infon>
<document><id>1</id><infon key="x">y</infon><passage><infon key="type">title</infon><offset>0</offset>
<text>ab cd</text><annotation id="0"><infon key="type">T</infon><infon key="type">U</infon>
<location offset="0" length="2"/><text>ab</text></annotation>
<relation id="R"><infon key="r">1</infon><node refid="0" role="q"/></relation></passage>
<passage><offset>6</offset><sentence><infon key="s">t</infon><offset>6</offset><text>One.</text></sentence>
<sentence><offset>11</offset><text>Two.</text><annotation id="1"><location offset="11" length="3"/><text>Two</text>
</annotation></sentence></passage></document></collection>"""


def test_xml_to_json_and_back_keeps_infons_and_relations(make: SimpleNamespace, put: Put) -> None:
    path = put(XML)
    reader = BioCXmlFormat().open(path)
    items = [make.export(one, verdicts={1: Verdict.link("X:1")}) for one in reader]
    form = BioCJsonFormat()
    (middle,) = form.write([(make.file(path, reader), items)], path.with_name("m.json"))
    assert ["several infons 'type'" in one.text for one in form.problems] == [True]
    found = json.loads(middle.read_text(encoding="utf-8"))
    assert (found["source"], found["infons"]) == ("s", {"a": "b"})
    (document,) = found["documents"]
    assert document["infons"] == {"x": "y"}
    assert document["passages"][0]["relations"][0]["nodes"] == [{"refid": "0", "role": "q"}]
    assert document["passages"][1]["sentences"][1]["annotations"][0]["infons"]["identifier"] == "X:1"
    again = BioCJsonFormat().open(middle)
    items = [make.export(one) for one in again]
    (out,) = BioCXmlFormat().write([(make.file(middle, again), items)], path.with_name("m.xml"))
    root = etree.fromstring(out.read_bytes())
    assert root.findtext("infon[@key='a']") == "b"
    assert root.find(".//relation/node").attrib == {"refid": "0", "role": "q"}
    assert [one.findtext("text") for one in root.iter("sentence")] == ["One.", "Two."]


def test_text_in_inline_markup_belongs_to_every_value(make: SimpleNamespace, put: Put) -> None:
    """In what is read, and in what is written as JSON."""
    path = put(
        '<collection><source><i>s</i>!</source><infon key="k">c<sub>1</sub></infon><document><id>1<b>2</b></id>'
        "<passage>"
        '<infon key="type">ti<i>tle</i></infon><offset>0</offset><text>H<sub>2</sub>O and <i>E. coli</i> here</text>'
        '<annotation id="0"><infon key="type">Sp<i>ecies</i></infon><infon key="identifier">56<b>2</b></infon>'
        '<location offset="8" length="7"/><text><i>E. coli</i></text></annotation></passage></document></collection>'
    )
    reader = BioCXmlFormat().open(path)
    (found,) = reader
    mention = found.mentions[0]
    assert (found.external_id, found.text) == ("12", "H2O and E. coli here")
    assert (mention.text, mention.type, mention.ids, found.passages[0].kind) == (
        "E. coli",
        "Species",
        ("562",),
        "title",
    )
    (out,) = BioCJsonFormat().write([(make.file(path, reader), [make.export(found)])], path.with_name("o.json"))
    written = json.loads(out.read_text())
    assert (written["source"], written["infons"]) == ("s!", {"k": "c1"})
    (again,) = BioCJsonFormat().open(out)
    assert (again.text, again.external_id, again.mentions) == (found.text, found.external_id, found.mentions)
    assert written["documents"][0]["passages"][0]["annotations"][0]["text"] == "E. coli"


def test_what_xml_cannot_hold_is_told(make: SimpleNamespace, tmp_path: Path) -> None:
    source = SourceDocument("1", "", "a\x0bb\x00c", (), ())
    form = BioCXmlFormat()
    (out,) = form.write([(PLAIN, [make.export(source)])], tmp_path / "o")
    (again,) = BioCXmlFormat().open(out)
    assert again.text == "a\ufffdb\ufffdc"
    assert ["2 characters that XML does not allow" in one.text for one in form.problems] == [True]


@pytest.mark.parametrize(
    ("text", "passages", "expected"),
    [
        ("a\nb", [(0, 1), (2, 3)], ["a", "b"]),
        ("a\n\nb", [(0, 1), (3, 4)], ["a\n\n", "b"]),
        ("\nb", [(1, 2)], ["", "b"]),
        ("ab", [(0, 1), (1, 2)], ["ab"]),
        ("a x\nb", [(0, 1), (4, 5)], ["a", " x", "b"]),
        ("abc", [(0, 3), (1, 2)], ["abc"]),
        ("a\n", [(0, 1)], ["a\n"]),
        ("", [], []),
    ],
)
def test_passages_cover_the_text(text: str, passages: list[tuple[int, int]], expected: list[str]) -> None:
    found = tiles(text, tuple(Passage("section", *one) for one in passages))
    assert [text[one.start : one.end] for one in found] == expected


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("title", "at"), [("Renal failure\n", 14), ("Renal failure", 14), ("Renal failure \n", 15)])
def test_the_title_goes_into_pubtator_with_offsets_that_fit(
    make: SimpleNamespace, put: Put, typed: bool, title: str, at: int
) -> None:
    """A title that ends in a line feed, and passages that do not say what they are."""
    types = ("title", "abstract") if typed else ("", "")
    texts = ((0, title), (at, "Lupus was seen.\n"), (at + 16, "No more."))
    passages = [
        {"offset": offset, "infons": {"type": kind} if kind else {}, "text": text, "annotations": []}
        for kind, (offset, text) in zip((*types, types[1]), texts, strict=True)
    ]
    for passage, (offset, length) in zip(passages, ((6, 7), (at, 5), (at + 19, 4)), strict=True):
        start = offset - int(str(passage["offset"]))
        quote = str(passage["text"])[start : start + length]
        places = [{"offset": offset, "length": length}]
        passage["annotations"] = [{"id": quote, "infons": {"type": "X"}, "text": quote, "locations": places}]
    path = put(json.dumps({"documents": [{"id": "9", "infons": {}, "passages": passages}]}), "a.json")
    reader = BioCJsonFormat().open(path)
    items = [make.export(one) for one in reader]
    (out,) = PubTatorFormat().write([(make.file(path, reader), items)], path.with_name("out.txt"))
    lines = out.read_text(encoding="utf-8").split("\n")
    heads = [line.split("|", 2)[2] for line in lines[:2]]
    assert heads[0].strip() == "Renal failure"
    for line, quote, offset in zip(lines[2:5], ("failure", "Lupus", "more"), (6, at, at + 19), strict=True):
        _, start, end, found, *_ = line.split("\t")
        assert (found, " ".join(heads)[int(start) : int(end)], int(start)) == (quote, quote, offset)
    (again,) = PubTatorFormat().open(out)
    assert [(one.text, one.spans[0].start) for one in again.mentions] == [
        ("failure", 6),
        ("Lupus", at),
        ("more", at + 19),
    ]


def test_a_text_that_xml_readers_refuse_for_its_length_is_refused(make: SimpleNamespace, put: Put) -> None:
    path = put("7|t|T\n7|a|" + "word " * 2_000_100 + "\n\n")
    reader = PubTatorFormat().open(path)
    items = [make.export(one) for one in reader]
    out = path.with_name("out.xml")
    with pytest.raises(UserError, match="Document 7 has a text of more than 10 MB"):
        BioCXmlFormat().write([(make.file(path, reader), items)], out)
    assert not out.exists()

"""BioC JSON: every shape in which it comes, its own text kept, and fields that BioC does not know."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from curator.domain.decisions import Verdict
from curator.domain.documents import SourceDocument, Span
from curator.domain.wording import UserError
from curator.io.bioc.bioc_formats import BioCJsonFormat, BioCJsonReader, BioCXmlFormat
from curator.io.registry import default_registry

Put = Callable[..., Path]


def document(name: str = "1", text: str = "Lupus here") -> dict[str, Any]:
    mention = {
        "id": "0",
        "infons": {"type": "Disease", "identifier": "MESH:D008180", "valid": True, "normalized": [1]},
        "text": "Lupus",
        "locations": [{"offset": 0, "length": 5}],
    }
    passage = {"offset": 0, "infons": {"type": "title"}, "text": text, "sentences": [], "annotations": [mention]}
    return {
        "_id": f"{name}|None",
        "id": name,
        "infons": {},
        "passages": [passage],
        "relations_display": [{"n": 1.50}],
    }


COLLECTION: dict[str, Any] = {
    "source": "s",
    "infons": {"licence": "free"},
    "documents": [document(), document("2")],
    "note": [1, {}],
}
SHAPES = [
    json.dumps(COLLECTION),
    json.dumps(COLLECTION, indent=2),
    json.dumps([COLLECTION, COLLECTION]),
    json.dumps([COLLECTION, COLLECTION], indent=1) + "\n\n",
    json.dumps({"PubTator3": [document(), document("2", "Lupus \U0001f600")]}),
    json.dumps(document()) + "\n" + json.dumps(document("2")) + "\n",
    json.dumps([document(), document("2")]),
    json.dumps(COLLECTION) + "\n" + json.dumps(COLLECTION) + "\n",
    "\ufeff" + json.dumps(document("1", "Lupus\u2028\u0085 é"), ensure_ascii=False),
]


def read(path: Path) -> tuple[list[SourceDocument], BioCJsonReader]:
    reader = BioCJsonFormat().open(path)
    return list(reader), reader


def written(make: SimpleNamespace, path: Path, **changes: object) -> str:
    form = BioCJsonFormat()
    reader = form.open(path)
    first, *others = list(reader)
    items = [make.export(first, **changes), *(make.export(one) for one in others)]
    (out,) = form.write([(make.file(path, reader), items)], path.with_name("out.json"))
    return out.read_bytes().decode("utf-8")


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("zipped", [False, True])
def test_every_shape_is_read_and_goes_back_byte_for_byte(
    make: SimpleNamespace, put: Put, text: str, zipped: bool
) -> None:
    path = put(text, zipped=zipped)
    assert default_registry().recognise(path).name == "bioc-json"
    documents, reader = read(path)
    assert [one.mentions[0].text for one in documents] == ["Lupus"] * len(documents)
    assert [one.external_id for one in documents] == ["1", "2", "1", "2"][: len(documents)]
    assert reader.problems == []
    again = written(make, path)
    assert again == text


def _values(text: str) -> list[Any]:
    """The values that follow each other in `text`."""
    found, text = [], text.strip("\ufeff \n")
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        found.append(value)
        text = text[end:].strip()
    return found


def test_a_changed_decision_touches_nothing_else(make: SimpleNamespace, put: Put) -> None:
    [found] = _values(written(make, put(SHAPES[0]), verdicts={0: Verdict.link("MESH:D000001")}))
    infons = found["documents"][0]["passages"][0]["annotations"][0]["infons"]
    assert (infons.pop("identifier"), infons.pop("annotator")) == ("MESH:D000001", "a curator")
    assert (infons.pop("updated_at")[:4], infons) == ("2026", {"type": "Disease", "valid": True, "normalized": [1]})
    assert found["documents"][1] == COLLECTION["documents"][1]
    assert found["documents"][0]["relations_display"] == [{"n": 1.5}]


def test_new_and_removed_mentions(make: SimpleNamespace, put: Put) -> None:
    path = put(SHAPES[4])
    written(make, path, removed=[0], added=[((Span(0, 2), Span(6, 10)), "X", Verdict.nil())])
    documents, _ = read(path.with_name("out.json"))
    assert [(one.text, one.nil, one.type) for one in documents[0].mentions] == [("Lu here", True, "X")]
    assert documents[1].mentions[0].ids == ("MESH:D008180",)


def test_null_and_numbers_as_identifiers(put: Put) -> None:
    one = document()
    one["passages"][0]["annotations"][0]["infons"] = {"type": "Gene", "identifier": None}
    other = document("2")
    other["passages"][0]["annotations"][0]["infons"] = {"type": "Gene", "identifier": 672}
    documents, _ = read(put(json.dumps({"documents": [one, other]})))
    assert [(d.mentions[0].ids, d.mentions[0].nil) for d in documents] == [((), True), (("672",), False)]


def test_an_infon_named_with_half_a_character_is_kept(make: SimpleNamespace, put: Put) -> None:
    """JSON may escape a lone surrogate, which no database holds."""
    text = json.dumps(document()).replace('"identifier"', '"identif\\ud800ier"')
    assert "ud800" in text
    path = put(text)
    (one,), reader = read(path)
    assert one.mentions[0].ids
    reader.extra.encode()
    assert json.loads(written(make, path)) == json.loads(text)
    item = make.export(one, added=[(Span(0, 5), "Disease", Verdict.link("X:1"))])
    (out,) = BioCXmlFormat().write([(make.file(path, reader), [item])], path.with_name("out.xml"))
    assert 'key="identif\ufffdier">X:1<' in out.read_text("utf-8")


def test_half_a_character_in_a_text_is_replaced_with_a_note(put: Put) -> None:
    odd = document()
    odd["passages"][0]["text"] = "Lupus her\ud800"
    (found,), reader = read(put(json.dumps({"documents": [odd]})))
    assert found.text == "Lupus her\ufffd"
    assert [one.text for one in reader.problems] == ["document 1 contains lone surrogates, read as U+FFFD"]


def test_wrong_types_are_missing_values(put: Put) -> None:
    odd = document()
    odd["passages"] += [None, {"offset": "x", "text": 5, "infons": [], "annotations": {}}]
    odd["passages"][0]["annotations"] += [{"locations": [{"offset": -1, "length": None}], "text": []}, 3]
    (found,), reader = read(put(json.dumps({"documents": [odd]})))
    assert (found.text, len(found.mentions)) == ("Lupus here", 1)
    assert [one.severity for one in reader.problems] == ["set aside"]


@pytest.mark.parametrize(
    "text",
    [
        '{"documents": [{"passages": [], "infons": {}}, {"id": }]}',
        '{"documents": [{"passages": [], "infons": {}}',
        '{"documents": [{"passages": [], "infons": ' + "[" * 100000,
        '{"infons": {}, "passages": [{"offset": 0}]',
    ],
)
def test_broken_json_is_a_sentence_with_its_line(put: Put, text: str) -> None:
    with pytest.raises(UserError, match=r"line 2: broken JSON"):
        read(put("\n" + text))


def test_a_byte_that_is_no_utf8(put: Put) -> None:
    with pytest.raises(UserError, match="not UTF-8"):
        read(put(SHAPES[0].encode().replace(b"Lupus", b"Lup\xff\xff", 1)))


def test_documents_larger_than_a_piece_of_the_stream(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curator.io.files.json_stream.CHUNK", 7)
    documents, _ = read(put(SHAPES[4]))
    assert [one.external_id for one in documents] == ["1", "2"]


def test_a_part_of_the_documents_is_still_json(make: SimpleNamespace, put: Put) -> None:
    for text in SHAPES[:7]:
        path, form = put(text), BioCJsonFormat()
        reader = form.open(path)
        items = [make.export(one) for one in reader][1:]
        (out,) = form.write([(make.file(path, reader), items)], path.with_name("o"))
        documents, _ = read(out)
        assert [one.external_id for one in documents] == [one.document.external_id for one in items]


@pytest.mark.parametrize("indent", [1, 4, "\t"])
def test_a_decision_changes_its_own_lines_only(make: SimpleNamespace, put: Put, indent: int | str) -> None:
    """The document keeps the indentation that it has within its collection."""
    before = json.dumps({"source": "x", "documents": [document()]}, indent=indent).replace('"MESH:D0', '  "MESH:D0')
    after = written(make, put(before), verdicts={0: Verdict.link("MESH:D000001")})
    old, new = ([line.rstrip(",") for line in text.split("\n")] for text in (before, after))
    assert [line.strip() for line in old if line not in new] == ['"identifier":   "MESH:D008180"']
    added = [line for line in new if line not in old]
    assert [line.split('"')[1] for line in added] == ["identifier", "annotator", "updated_at"]
    assert len({line[: line.index('"')] for line in added}) == 1, "all are indented alike"


VALUES = [
    ("true", "true", "yes"),
    ("false", "false", None),
    ("0.93", "0.93", "0.93"),
    ("1e400", "Infinity", "Infinity"),
    ("7", "7", "7"),
    ("null", "", None),
    ('"false"', "false", "false"),
]
"""A value in JSON, in BioC XML, and as a mention's attribute."""


@pytest.mark.parametrize(("value", "in_xml", "said"), VALUES)
def test_values_of_every_type_are_written_and_are_attributes(
    make: SimpleNamespace, put: Put, value: str, in_xml: str, said: str | None
) -> None:
    whole = document()
    whole["infons"] = {"type": "Disease", "curated": "VALUE"}
    whole["passages"][0]["annotations"][0]["infons"] = {"type": "Disease", "negated": "VALUE"}
    whole["relations"] = [{"id": "R1", "infons": {"type": "X", "sure": "VALUE"}, "nodes": []}]
    path = put(json.dumps(whole).replace('"VALUE"', value))
    (found,), reader = read(path)
    form = BioCJsonFormat()
    assert form.attributes_in(found.raw).get(0, {}) == ({"negated": said} if said else {})
    registry = default_registry()
    xml = registry.by_name("bioc-xml")
    (out,) = xml.write([(make.file(path, reader), [make.export(found)])], path.with_name("o.xml"))
    assert [one.text or "" for one in etree.parse(out).iterfind(".//infon") if one.get("key") != "type"][-3:] == [
        in_xml
    ] * 3
    assert not any(word in one.text for one in xml.problems for word in ("negated", "sure", "curated"))
    item = make.export(found)
    read_in = tuple((("negated", said),) if said else ())
    item = replace(item, mentions=tuple(replace(one, attributes=read_in) for one in item.mentions))
    (same,) = xml.write([(make.file(path, reader), [item])], path.with_name("read.xml"))
    assert same.read_bytes() == out.read_bytes()
    (again,) = form.write([(make.file(path, reader), [item])], path.with_name("o.json"))
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("score", ["0.5", ".5", "1e-3"])
def test_a_score_is_no_end_of_a_relation(put: Put, score: str) -> None:
    whole = document()
    ends = {"entity1": "D008180", "entity2": "672"}
    whole["relations"] = [{"id": "R1", "infons": {"type": "X", **ends, "weight": score}, "nodes": []}]
    path = put(json.dumps(whole))
    (found,), reader = read(path)
    (relation,) = BioCJsonFormat().relations(found.raw, reader.extra)
    assert [(one.role, one.entity) for one in relation.ends] == [*ends.items()]


def test_ends_that_are_objects_are_kept_in_xml(make: SimpleNamespace, put: Put) -> None:
    """As PubTator 3 has them; what else such an object says is named."""
    whole = document()
    ends = {"role1": {"identifier": "MESH:D1", "type": "Chemical"}, "role2": {"identifier": "MESH:D2"}}
    whole["relations"] = [{"id": "R1", "infons": {"type": "Treatment", **ends}, "nodes": []}]
    path = put(json.dumps(whole))
    (found,), reader = read(path)
    form = default_registry().by_name("bioc-xml")
    (out,) = form.write([(make.file(path, reader), [make.export(found)])], path.with_name("o.xml"))
    infons = {one.get("key"): one.text for one in etree.parse(out).iterfind(".//relation/infon")}
    assert infons == {"type": "Treatment", "role1": "MESH:D1", "role2": "MESH:D2"}
    assert ["role1.type" in one.text for one in form.problems] == [True]

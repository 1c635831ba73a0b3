"""A field that means something is used, or named in the report: every reader of documents gets one that it does not
know."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curator.io.registry import default_registry
from curator.services.importing.import_comparing import storable

Put = Callable[..., Path]
TEXT, KEY = "Pain here", "MESH:D010146"
CONTEXT = "http://www.w3.org/ns/anno.jsonld"
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def bioc_xml(infon: str) -> str:
    return (
        f"<collection><document><id>1</id><passage><offset>0</offset><text>{TEXT}</text><annotation id='0'>"
        f'<infon key="type">Sign</infon>{infon}<location offset="0" length="4"/><text>Pain</text></annotation>'
        "</passage></document></collection>"
    )


def bioc_json(infons: dict[str, Any], **fields: Any) -> str:
    mention = {"id": "0", "infons": {"type": "Sign", **infons}, "text": "Pain", **fields}
    mention["locations"] = [{"offset": 0, "length": 4}]
    passage = {"offset": 0, "infons": {}, "text": TEXT, "annotations": [mention]}
    return json.dumps({"id": "1", "infons": {}, "passages": [passage]})


def pubannotation(attribute: str = "", **fields: Any) -> str:
    found: dict[str, Any] = {"text": TEXT, "sourceid": "1"}
    found["denotations"] = [{"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "Sign", **fields}]
    found["attributes"] = [{"id": "A1", "subj": "T1", "pred": attribute, "obj": KEY}] if attribute else []
    return json.dumps(found)


def web_annotation(*bodies: dict[str, Any], **fields: Any) -> str:
    kind = {"type": "TextualBody", "purpose": "tagging", "value": "Sign"}
    source = {"id": "urn:x", "value": TEXT}
    target = {"source": source, "selector": {"type": "TextPositionSelector", "start": 0, "end": 4}}
    found = {"@context": CONTEXT, "id": "#1", "type": "Annotation", "body": [kind, *bodies], "target": target}
    return json.dumps({**found, **fields})


def xmi(feature: str) -> str:
    return (
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0" xmlns:cas="http:///uima/cas.ecore" '
        f'xmlns:n="http:///{ENTITY.rpartition(".")[0].replace(".", "/")}.ecore"><n:NamedEntity xmi:id="2" sofa="1" '
        f'begin="0" end="4" value="Sign" {feature}="{KEY}"/><cas:Sofa xmi:id="1" sofaID="_InitialView" '
        f'sofaString="{TEXT}"/><cas:View sofa="1" members="2"/></xmi:XMI>'
    )


def cas_json(feature: str) -> str:
    sofa = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": TEXT}
    entity = {"%ID": 2, "%TYPE": ENTITY, "@sofa": 1, "begin": 0, "end": 4, "value": "Sign", feature: KEY}
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2]}}
    return json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": [sofa, entity], "%VIEWS": views})


def webanno(feature: str) -> str:
    return (
        f"#FORMAT=WebAnno TSV 3.3\n#T_SP={ENTITY}|value|{feature}\n\n\n#Text={TEXT}\n"
        f"1-1\t0-4\tPain\tSign\t{KEY}\t\n1-2\t5-9\there\t_\t_\t\n"
    )


MENTION = "T1\tSign 0 4\tPain\n"
ROWS = [
    ("bioc-xml", "a.xml", bioc_xml(f'<infon key="Foo bar">{KEY}</infon>'), "Foo bar"),
    ("bioc-json", "a.json", bioc_json({"Foo bar": KEY}), "Foo bar"),
    ("bioc-json", "a.json", bioc_json({}, grounding=KEY), "grounding"),
    ("pubtator", "a.txt", f"1|t|{TEXT}\n1|a|\n1\t0\t4\tPain\tSign\t\t{KEY}\n", "column 7"),
    ("pubtator", "a.txt", f"1|t|{TEXT}\n1|a|\n1\t0\t4\tPain\tSign\t-\t0.9|{KEY}\n", "column 7"),
    ("xmi", "a.xmi", xmi("fooBar"), "fooBar"),
    ("cas-json", "a.json", cas_json("fooBar"), "fooBar"),
    ("pubannotation", "a.json", pubannotation("foo"), "foo"),
    ("pubannotation", "a.json", pubannotation(concept=KEY), "concept"),
    ("webannotation", "a.json", web_annotation({"purpose": "assessing", "source": KEY}), "assessing"),
    (
        "webannotation",
        "a.json",
        web_annotation(*({"purpose": "assessing", "source": one} for one in (KEY, "sure"))),
        "assessing",
    ),
    ("webannotation", "a.json", web_annotation(concept=KEY), "concept"),
    ("brat", "a.ann", f"{MENTION}A1\tFoo T1 {KEY}\n", "Foo"),
    ("brat", "a.ann", f"{MENTION}#1\tAnnotatorNotes T1\tis {KEY}\n", "AnnotatorNotes"),
    ("brat", "a.ann", f"{MENTION}#1\tNote T1\t{KEY}\n#2\tAnnotatorNotes T1\tsure\n", "Note"),
    ("brat", "a.ann", f"{MENTION}#1\tNote T1\t{KEY}\n#2\tNote T1\tsure\n", "Note"),
    ("webanno-tsv", "a.tsv", webanno("fooBar"), "fooBar"),
]
"""Format, name of the file, its content with one mention whose identifier is in a field that is not known, and the
field's name."""


def report(put: Put, name: str, content: str) -> tuple[str, list[str], list[tuple[str, ...]]]:
    if name == "a.ann":
        put(TEXT, "a.txt")
    path = put(content, name)
    form = default_registry().recognise(path)
    reader = form.open(path)
    (found,) = storable(reader, form)
    return form.name, [one.text for one in reader.problems], [one.ids for one in found.mentions]


@pytest.mark.parametrize(("form", "name", "content", "field"), ROWS)
def test_a_field_that_looks_like_an_identifier_is_named(
    put: Put, form: str, name: str, content: str, field: str
) -> None:
    read_as, problems, ids = report(put, name, content)
    assert (read_as, ids) == (form, [()])
    assert sum(f"“{field}”" in one for one in problems) == 1


@pytest.mark.parametrize(("form", "name", "content", "field"), ROWS)
@pytest.mark.parametrize("value", ["no", "0.93", "2026-01-01T12:30:00Z", "mild to severe"])
def test_another_value_is_not(put: Put, form: str, name: str, content: str, field: str, value: str) -> None:
    _, problems, _ = report(put, name, content.replace(KEY, value))
    assert not [one for one in problems if f"“{field}”" in one]


def test_a_second_identifier_is_named_once(put: Put) -> None:
    known = f'<infon key="identifier">{KEY}</infon><infon key="Foo bar">OMIM:104300</infon>'
    _, problems, ids = report(put, "a.xml", bioc_xml(known))
    assert problems == ["infon “Foo bar” looks like an identifier and was not read (1 annotation)"]
    assert ids == [(KEY,)]


def with_body(**fields: Any) -> str:
    return web_annotation({"purpose": "identifying", **fields})


def of_rows(**fields: Any) -> str:
    return json.dumps({"id": "1", "text": TEXT, "entities": [{"start": 0, "end": 4, "label": "Sign", **fields}]}) + "\n"


def bigbio(value: Any) -> str:
    entity = {"id": "e", "type": "Sign", "text": ["Pain"], "offsets": [[0, 4]], "normalized": value}
    passages = [{"id": "p", "type": "title", "text": [TEXT], "offsets": [[0, 9]]}]
    return json.dumps({"id": "1", "document_id": "1", "passages": passages, "entities": [entity]}) + "\n"


def label_studio(value: Any, *, home: str) -> str:
    place = {"start": 0, "end": 4, "text": "Pain", "labels": ["Sign"]}
    result: dict[str, Any] = {"id": "a", "type": "labels", "from_name": "l", "to_name": "text", "value": place}
    result.setdefault(home, {})["identifier"] = value
    return json.dumps([{"id": 1, "annotations": [{"result": [result]}], "data": {"text": TEXT}}])


def decisions(value: Any) -> str:
    mention = {"spans": [[0, 4]], "text": "Pain", "type": "Sign", "stated": value}
    return json.dumps({"format": "curator-documents", "id": "1", "text": TEXT, "mentions": [mention]}) + "\n"


READERS: dict[str, tuple[str, str, Callable[[Any], str]]] = {
    "bioc-json": ("a.json", "identifier", lambda value: bioc_json({"identifier": value})),
    "bioc-json, MESH": ("a.json", "MESH", lambda value: bioc_json({"MESH": value})),
    "pubannotation": (
        "a.json",
        "identifier",
        lambda value: pubannotation("identifier").replace(json.dumps(KEY), json.dumps(value)),
    ),
    "webannotation, source": ("a.json", "identifying", lambda value: with_body(source=value)),
    "webannotation, value": ("a.json", "identifying", lambda value: with_body(value=value)),
    "huggingface": ("a.jsonl", "identifier", lambda value: of_rows(identifier=value)),
    "huggingface, mesh_id": ("a.jsonl", "mesh_id", lambda value: of_rows(mesh_id=value)),
    "huggingface, BigBIO": ("a.jsonl", "normalized", bigbio),
    "label-studio": ("a.json", "identifier", lambda value: label_studio(value, home="value")),
    "label-studio, meta": ("a.json", "identifier", lambda value: label_studio(value, home="meta")),
    "cas-json": (
        "a.json",
        "identifier",
        lambda value: cas_json("identifier").replace(json.dumps(KEY), json.dumps(value)),
    ),
    "decisions": ("a.jsonl", "", decisions),
}
"""Format -> name of a file, the field of an identifier, and a file with this value in it."""

VALUES: list[tuple[Any, tuple[str, ...]]] = [
    ({"id": KEY}, (KEY,)),
    ({"identifier": KEY, "type": "Sign", "name": "Pain"}, (KEY,)),
    ({"ID": KEY, "name": "Pain"}, (KEY,)),
    ({"database": "MESH", "id": "D010146"}, (KEY,)),
    ({"database": "ncbi_mesh", "id": KEY, "accession": "@DISEASE_Pain"}, (KEY,)),
    ({"db_name": "MESH", "db_id": "D010146"}, (KEY,)),
    ({"db": "Ours", "id": "7"}, ("Ours:7",)),
    ({"MESH": "D010146"}, (KEY,)),
    ({"id": [KEY, "OMIM:104300"]}, (KEY, "OMIM:104300")),
    ([{"id": KEY}, {"database": "OMIM", "id": 104300}], (KEY, "OMIM:104300")),
    ([KEY, None, {"id": ""}], (KEY,)),
    ([[KEY]], (KEY,)),
    ({"foo": {"bar": KEY}}, ()),
    ([KEY, {"foo": 1}], ()),
]
"""A value in place of an identifier, and the identifiers in it: none where a part of it is something else."""


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=str)
@pytest.mark.parametrize("form", READERS)
def test_identifiers_in_another_value_than_a_text_are_read_or_named(
    put: Put, form: str, value: Any, expected: tuple[str, ...]
) -> None:
    name, field, content = READERS[form]
    read_as, problems, ids = report(put, name, content(value))
    assert (read_as, ids) == (form.partition(",")[0], [expected])
    assert len(problems) == (not expected), problems
    assert all(f"“{field}”" in one if field else "cannot be read" in one for one in problems)


@pytest.mark.parametrize("form", [one for one in READERS if one not in ("cas-json", "webannotation, source")])
@pytest.mark.parametrize(("value", "expected"), [(7157, "7157"), ([7157], "7157"), (7157.0, "7157"), (True, "")])
def test_a_number_is_an_identifier_and_true_is_none(put: Put, form: str, value: Any, expected: str) -> None:
    _, problems, [ids] = report(put, READERS[form][0], READERS[form][2](value))
    assert [one.rpartition(":")[2] for one in ids] == [expected] * bool(expected)
    assert not (expected and problems)


@pytest.mark.parametrize("kind", [["Sign"], {"name": "Sign"}, [{"name": "Sign"}], {"type": "Sign"}], ids=str)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_type_in_a_list_or_an_object_is_read(put: Put, name: str, kind: Any) -> None:
    path = put(bioc_json({"type": kind}) if name == "a.json" else of_rows(label=kind), name)
    (found,) = default_registry().recognise(path).open(path)
    assert [one.type for one in found.mentions] == ["Sign"]


@pytest.mark.parametrize(
    ("infons", "node", "ends", "named"),
    [
        ({"role1": {"id": KEY}, "role2": {"database": "OMIM", "id": "104300"}}, {}, [KEY, "OMIM:104300"], []),
        ({"role1": {"identifier": KEY}, "role2": {"foo": {"bar": KEY}}}, {"refid": "0"}, ["", ""], ["role2"]),
        ({}, {"refid": 0, "role": "b"}, ["", ""], []),
        ({}, {"refid": ["0"], "role": {"name": "b"}}, ["", ""], ["refid", "role"]),
    ],
    ids=str,
)
def test_ends_of_relations_in_another_value_than_a_text_are_read_or_named(
    put: Put, infons: dict[str, Any], node: dict[str, Any], ends: list[str], named: list[str]
) -> None:
    whole = json.loads(bioc_json({}))
    nodes = [{"refid": "0", "role": "a"}, {"role": "b"} | node] if node else []
    whole["relations"] = [{"id": "R", "infons": {"type": ["Cause"], **infons}, "nodes": nodes}]
    path = put(json.dumps(whole), "a.json")
    form = default_registry().recognise(path)
    reader = form.open(path)
    (document,) = reader
    (relation,) = form.relations(document.raw, reader.extra)
    assert (relation.type, [one.entity for one in relation.ends]) == ("Cause", ends)
    assert [one.text.partition("“")[2].partition("”")[0] for one in reader.problems] == named


def test_a_number_is_the_text_of_a_mention(put: Put) -> None:
    path = put(bioc_json({}).replace(f'"{TEXT}"', '"2019 here"').replace('"Pain"', "2019"), "a.json")
    (document,) = default_registry().recognise(path).open(path)
    assert [one.text for one in document.mentions] == ["2019"]


@pytest.mark.parametrize("depth", [100, 700])
@pytest.mark.parametrize("form", READERS)
def test_a_deeply_nested_value_is_no_identifier(put: Put, form: str, depth: int) -> None:
    name, _, content = READERS[form]
    path = put(content("@").replace('"@"', "[" * depth + json.dumps(KEY) + "]" * depth), name)
    (document,) = default_registry().recognise(path).open(path)
    assert [one.ids for one in document.mentions] == [()]

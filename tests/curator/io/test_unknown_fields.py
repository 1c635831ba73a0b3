"""A field that means something is used, or named in the report: every reader of documents gets one that it does not
know."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curator.io import default_registry
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

"""UIMA CAS JSON: cassis writes it, and the same CAS is read from it as from XMI."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.standoff.cas_json import CasJsonFormat
from curator.io.standoff.xmi import XmiFormat
from tests.curator.io.standoff_samples import read

cassis = pytest.importorskip("cassis")
Put = Callable[..., Path]
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
TEXT = "\U0001f600 renal failure\r\nafter aspirin\x0b, and \U0001f637 pain"
NAMED = [("renal failure", "Disease", "MESH:D051437"), ("aspirin", "Drug", "MESH:D001241 X:2"), ("pain", "Sign", "NIL")]


def a_cas(text: str = TEXT) -> Any:
    types = cassis.TypeSystem()
    entity = types.create_type(ENTITY, "uima.tcas.Annotation")
    for name in ("value", "identifier", "negated"):
        types.create_feature(entity, name, "uima.cas.String")
    types.create_feature(entity, "sure", "uima.cas.Boolean")
    types.create_feature(entity, "score", "uima.cas.Double")
    cause = types.create_type("webanno.custom.Cause", "uima.tcas.Annotation")
    types.create_feature(cause, "label", "uima.cas.String")
    for name in ("Governor", "Dependent"):
        types.create_feature(cause, name, "uima.tcas.Annotation")
    part = types.create_type("curator.type.MentionPart", "uima.tcas.Annotation")
    types.create_feature(part, "mention", "uima.tcas.Annotation")
    token = types.create_type("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token", "uima.tcas.Annotation")
    cas = cassis.Cas(types)
    cas.sofa_string, cas.sofa_mime = text, "text/plain"
    cas.add(token(begin=2, end=7))
    made = []
    for words, kind, key in NAMED:
        at = TEXT.index(words)
        made.append(
            entity(begin=at, end=at + len(words), value=kind, identifier=key, negated="no", sure=True, score=0.5)
        )
    cas.add_all(made)
    cas.add(part(begin=TEXT.index("and"), end=TEXT.index("and") + 3, mention=made[1]))
    cas.add(cause(begin=made[0].begin, end=made[0].end, Governor=made[1], Dependent=made[0], label="causes"))
    return cas


def test_a_cas_is_read_from_json_as_from_xmi(put: Put) -> None:
    cas = a_cas()
    path = put(cas.to_json(), "one.json")
    assert default_registry().recognise(path).name == "cas-json"
    (found,), problems = read(CasJsonFormat(), path)
    assert (found.external_id, found.text, problems) == ("one", TEXT, [])
    assert [(m.text, m.type, m.ids, m.nil) for m in found.mentions] == [
        ("renal failure", "Disease", ("MESH:D051437",), False),
        ("aspirin and", "Drug", ("MESH:D001241", "X:2"), False),
        ("pain", "Sign", (), True),
    ]
    xmi = put(a_cas(TEXT.replace("\x0b", " ")).to_xmi(), "one.xmi")  # which cannot hold it
    (same,), _ = read(XmiFormat(), xmi)
    assert [(m.spans, m.type, m.ids) for m in same.mentions] == [(m.spans, m.type, m.ids) for m in found.mentions]
    form = CasJsonFormat()
    held = form.attributes_in(found.raw)
    assert held[0] == {"negated": "no", "sure": "true", "score": "0.5"}
    assert {name: one["negated"] for name, one in XmiFormat().attributes_in(same.raw).items()} == dict.fromkeys(
        held, "no"
    )
    (relation,) = form.relations(found.raw, "")
    assert (relation.type, [end.record for end in relation.ends]) == ("causes", [1, 0])
    assert not form.holds_more(found.raw)


def stated(**changes: Any) -> dict[str, Any]:
    found = json.loads(a_cas().to_json())
    return found | changes


def test_every_encoding_of_offsets_and_both_shapes_are_read(put: Put) -> None:
    plain, found = stated(), []
    for encoding in ("UTF-8", "UTF-16", "UTF-32", None):
        whole = stated()
        for one in whole["%FEATURE_STRUCTURES"]:
            for name in {"begin", "end"} & one.keys():
                before = TEXT.encode("utf-16-le")[: 2 * one[name]].decode("utf-16-le")
                one[name] = len(
                    before.encode((encoding or "UTF-16").lower().replace("-16", "-16-le").replace("-32", "-32-le"))
                )
                one[name] //= {"UTF-8": 1, "UTF-32": 4}.get(encoding or "", 2)
        if encoding:
            whole["%HEADER" if encoding == "UTF-8" else "%OFFSET_ENCODING"] = (
                {"%OFFSET_ENCODING": encoding} if encoding == "UTF-8" else encoding
            )
        found.append(read(CasJsonFormat(), put(json.dumps(whole), "one.json"))[0][0].mentions)
    by_id = {str(one.pop("%ID")): one for one in plain["%FEATURE_STRUCTURES"]}
    found.append(
        read(CasJsonFormat(), put(json.dumps(plain | {"%FEATURE_STRUCTURES": by_id}), "one.json"))[0][0].mentions
    )
    assert found == [found[0]] * 5
    with pytest.raises(UserError, match="offsets in UTF-7 cannot be read"):
        list(CasJsonFormat().open(put(json.dumps(stated() | {"%OFFSET_ENCODING": "utf-7"}), "one.json")))


def test_arrays_of_identifiers_and_of_concepts_are_read(put: Put) -> None:
    whole = stated()
    for one in whole["%FEATURE_STRUCTURES"]:
        if one.get("value") == "Disease":
            one.pop("identifier")
            one["@identifier"] = 900
        if one.get("value") == "Drug":
            one.pop("identifier")
            one["@ontologyConceptArr"] = 901
    whole["%FEATURE_STRUCTURES"] += [
        {"%ID": 900, "%TYPE": "uima.cas.StringArray", "%ELEMENTS": ["MESH:D1", "MESH:D2"]},
        {"%ID": 901, "%TYPE": "uima.cas.FSArray", "%ELEMENTS": [902]},
        {"%ID": 902, "%TYPE": "org.apache.ctakes.typesystem.type.refsem.UmlsConcept", "cui": "C0004057"},
    ]
    (found,), _ = read(CasJsonFormat(), put(json.dumps(whole), "one.json"))
    assert [m.ids for m in found.mentions] == [("MESH:D1", "MESH:D2"), ("UMLS:C0004057",), ()]


@pytest.mark.parametrize(
    ("feature", "value", "kind", "ids"),
    [
        ("geneId", 672, "Gene", ("NCBIGene:672",)),
        ("meshId", "D001241", "Drug", ("MESH:D001241",)),
        ("conceptId", "CHEBI:15365", "Drug", ("CHEBI:15365",)),
        ("umlsCui", "C0004057", "Drug", ("UMLS:C0004057",)),
        ("geneId", 672, "Disease", ()),
        ("tokenId", 5, "Gene", ()),
        ("meshId", "", "Drug", ()),
    ],
)
def test_a_feature_named_like_an_identifier_is_one(
    put: Put, feature: str, value: object, kind: str, ids: tuple[str, ...]
) -> None:
    whole = stated()
    for one in whole["%FEATURE_STRUCTURES"]:
        if "identifier" in one:
            one.pop("identifier")
            one |= {"value": kind, feature: value}
    (found,), _ = read(CasJsonFormat(), put(json.dumps(whole), "one.json"))
    assert found.mentions[0].ids == ids
    held = CasJsonFormat().attributes_in(found.raw).get(found.mentions[0].record, {})
    assert (feature in held) is (not ids and value != "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": [', "line 1: broken JSON"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": []}', "contains no text"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaURI": "x"}]}', "no text"),
        ('{"%TYPES": {}, "%VIEWS": 3, "%FEATURE_STRUCTURES": [1, {"%TYPE": []}]}', "contains no text"),
        ('{"%TYPES":' + "[" * 100_000, "broken JSON"),
        ('{"documents": []}', "is not UIMA CAS JSON"),
    ],
)
def test_broken_files_are_sentences(put: Put, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(CasJsonFormat().open(put(text, "one.json")))


def test_a_folder_is_read_and_odd_values_harm_nothing(put: Put, tmp_path: Path) -> None:
    whole = stated()
    whole["%FEATURE_STRUCTURES"] += [
        {"%ID": 1000, "%TYPE": "x.9 Odd<", "@sofa": 1, "begin": 3, "end": 4, "a b": [1, None], "value": "\ud800"},
        {"%ID": 1001, "%TYPE": "x.Far", "@sofa": 1, "begin": 3, "end": 4000},
    ]
    whole["%VIEWS"]["_InitialView"]["%MEMBERS"] += [1000, 1001, None]
    put(json.dumps(whole), "c/a.json"), put(a_cas().to_json(), "c/b.json"), put("{}", "c/other.json")
    assert default_registry().recognise(tmp_path / "c").name == "cas-json"
    (first, second), problems = read(CasJsonFormat(), tmp_path / "c")
    assert (first.external_id, second.external_id, len(second.mentions)) == ("a", "b", 3)
    assert [m.type for m in first.mentions][3:] == ["\ufffd"]
    assert problems == ["set aside: a.json: Far at 3-4000 contains no text"]


def test_it_goes_into_other_formats(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = put(a_cas().to_json(), "one.json")
    reader = CasJsonFormat().open(path)
    items = [make.export(one) for one in reader]
    XmiFormat().write([(make.file(path, reader), items)], tmp_path / "o")
    (found,), _ = read(XmiFormat(), tmp_path / "o")
    assert [m.ids for m in found.mentions] == [("MESH:D051437",), ("MESH:D001241", "X:2"), ()]
    with pytest.raises(UserError, match="cannot be written"):
        CasJsonFormat().write([], tmp_path / "x")


def test_annotations_that_nothing_is_made_of_are_named_once(put: Put, tmp_path: Path) -> None:
    """They cannot be written back."""
    whole = stated()
    kind = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
    whole["%FEATURE_STRUCTURES"] += [{"%ID": n, "%TYPE": kind, "@sofa": 1, "begin": 2, "end": 7} for n in (900, 901)]
    put(json.dumps(whole), "c/a.json"), put(json.dumps(whole), "c/b.json")
    assert read(CasJsonFormat(), tmp_path / "c")[1] == [f"note: annotations of other types are not read: {kind} (4)"]


def test_a_part_without_a_place_sets_its_mention_aside(put: Put) -> None:
    whole = stated()
    entity = next(one["%ID"] for one in whole["%FEATURE_STRUCTURES"] if one.get("value") == "Disease")
    part = {"%ID": 900, "%TYPE": "curator.type.MentionPart", "@sofa": 1, "@mention": entity, "begin": 2}
    whole["%FEATURE_STRUCTURES"].append(part)
    whole["%VIEWS"]["_InitialView"]["%MEMBERS"].append(900)
    (found,), problems = read(CasJsonFormat(), put(json.dumps(whole), "one.json"))
    assert [m.type for m in found.mentions] == ["Drug", "Sign"]
    assert problems == ["set aside: one.json: Disease at 2-None contains no text"]

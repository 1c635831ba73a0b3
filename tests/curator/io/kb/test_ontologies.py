"""OBO Graphs, OwlReader, SKOS: the same terms in every syntax."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.kb import rdf
from curator.io.kb.base import KbReader, term_id
from curator.io.kb.obographs import OboGraphsReader
from curator.io.kb.rdf import OwlReader, SkosReader
from curator.io.registry import default_registry
from curator.services.ports.files import KbOptions

Put = Callable[..., Path]
PURL = "http://purl.obolibrary.org/obo/X_"
OIO = "http://www.geneontology.org/formats/oboInOwl#"
ONE = Entity("X:1", "one", ("uno",), ("things",), "The first.", ("X:10", "X:3"), (), ("X:2",))
TWO = Entity("X:2", "two", (), ("things",))


def graph() -> str:
    def values(**pairs: str) -> list[dict[str, str]]:
        return [{"pred": f"{OIO}{key}", "val": value} for key, value in pairs.items()]

    space = values(hasOBONamespace="things")
    nodes = [
        {
            "id": f"{PURL}1",
            "lbl": "one",
            "type": "CLASS",
            "meta": {
                "definition": {"val": "The\nfirst."},
                "synonyms": [{"pred": "hasExactSynonym", "val": "uno"}],
                "basicPropertyValues": [*space, *values(hasAlternativeId="X:10")],
            },
        },
        {"id": f"{PURL}2", "lbl": "two", "type": "CLASS", "meta": {"basicPropertyValues": space}},
        {
            "id": f"{PURL}3",
            "lbl": "obsolete three",
            "type": "CLASS",
            "meta": {
                "deprecated": True,
                "basicPropertyValues": [{"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": f"{PURL}1"}],
            },
        },
        {"id": f"{PURL}4", "type": "CLASS"},
        {"id": "http://x.org/part_of", "lbl": "part of", "type": "PROPERTY"},
    ]
    edges = [{"sub": f"{PURL}1", "pred": "is_a", "obj": f"{PURL}2"}, {"sub": f"{PURL}1", "pred": "rel", "obj": "z"}]
    return json.dumps({"graphs": [{"id": "http://x.org/x.json", "nodes": nodes, "edges": edges}]})


OWL_XML = f"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [<!ENTITY obo "http://purl.obolibrary.org/obo/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:oio="{OIO}" xmlns:obo="http://purl.obolibrary.org/obo/">
<owl:Ontology rdf:about="http://x.org/x.owl"/>
<owl:Class rdf:about="&obo;X_1"><rdfs:label xml:lang="de">eins</rdfs:label><rdfs:label xml:lang="en">one</rdfs:label>
<obo:IAO_0000115>The first.</obo:IAO_0000115><oio:hasExactSynonym>uno</oio:hasExactSynonym>
<oio:hasOBONamespace>things</oio:hasOBONamespace><oio:hasAlternativeId>X:10</oio:hasAlternativeId>
<rdfs:subClassOf rdf:resource="{PURL}2"/><rdfs:subClassOf><owl:Restriction>
<owl:onProperty rdf:resource="http://x.org/part_of"/></owl:Restriction></rdfs:subClassOf></owl:Class>
<owl:Class rdf:about="{PURL}2"><rdfs:label>two</rdfs:label><oio:hasOBONamespace>things</oio:hasOBONamespace></owl:Class>
<owl:Class rdf:about="{PURL}3"><rdfs:label>three</rdfs:label><owl:deprecated>true</owl:deprecated>
<obo:IAO_0100001 rdf:resource="{PURL}1"/></owl:Class>
<owl:Class rdf:about="{PURL}4"/></rdf:RDF>"""

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix X: <http://x.org/X/> . @prefix dct: <http://purl.org/dc/terms/> .
X:s a skos:ConceptScheme ; dct:title "things"@en .
X:1 a skos:Concept ; skos:prefLabel "one"@en, "eins"@de ; skos:altLabel "uno"@en ; skos:definition "The first."@en ;
  skos:broader X:2 ; skos:inScheme X:s ; <http://www.geneontology.org/formats/oboInOwl#hasAlternativeId> "X:10" .
X:2 a skos:Concept ; skos:prefLabel "two" ; skos:inScheme X:s .
X:3 a skos:Concept ; skos:prefLabel "three"@en ; owl:deprecated true ; dct:isReplacedBy X:1 .
X:4 a skos:Concept .
"""


SKOS_XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#"
 xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:dct="http://purl.org/dc/terms/" xmlns:X="http://x.org/X/"
 xmlns:oio="{OIO}">
<skos:ConceptScheme rdf:about="http://x.org/X/s"><dct:title>things</dct:title></skos:ConceptScheme>
<skos:Concept rdf:about="http://x.org/X/1"><skos:prefLabel xml:lang="en">one</skos:prefLabel>
<skos:prefLabel xml:lang="de">eins</skos:prefLabel><skos:altLabel>uno</skos:altLabel>
<skos:definition>The first.</skos:definition><skos:broader rdf:resource="http://x.org/X/2"/>
<skos:inScheme rdf:resource="http://x.org/X/s"/><oio:hasAlternativeId>X:10</oio:hasAlternativeId></skos:Concept>
<rdf:Description rdf:about="http://x.org/X/2"><rdf:type rdf:resource="http://www.w3.org/2004/02/skos/core#Concept"/>
<skos:prefLabel>two</skos:prefLabel><skos:inScheme rdf:resource="http://x.org/X/s"/></rdf:Description>
<skos:Concept rdf:about="http://x.org/X/3"><skos:prefLabel>three</skos:prefLabel><owl:deprecated>true</owl:deprecated>
<dct:isReplacedBy rdf:resource="http://x.org/X/1"/></skos:Concept>
<skos:Concept rdf:about="http://x.org/X/4"/></rdf:RDF>"""


@pytest.mark.parametrize(
    ("source", "text"),
    [(OboGraphsReader, graph()), (OwlReader, OWL_XML), (SkosReader, TURTLE), (SkosReader, SKOS_XML)],
    ids=["obographs", "owl", "turtle", "rdf-xml"],
)
def test_the_same_terms(put: Put, source: type[KbReader], text: str) -> None:
    path = put(text)
    assert source.sniff(path.read_bytes())
    reader = source.open(path)
    assert list(reader) == [ONE, TWO]
    assert [one.severity for one in reader.problems] == ["note", "set aside"]
    assert list(reader) == [ONE, TWO], "reading again gives the same"


def test_another_language(put: Put) -> None:
    german = KbOptions(languages=("de",))
    assert [one.name for one in OwlReader.open(put(OWL_XML), german)] == ["eins", "two"]
    assert [one.name for one in SkosReader.open(put(TURTLE), german)] == ["eins", "two"]


def test_a_name_in_another_language_is_better_than_no_entity(put: Put) -> None:
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix X: <http://x.org/X/> .\n"
    labels = {1: '"Herz"@de, "heart"@en-GB', 2: '"Leber"@de', 3: '"foie"@fr, "Leber"@de', 4: '"ren"', 5: '""'}
    own = "".join(f"X:{n} a skos:Concept ; skos:prefLabel {label} .\n" for n, label in labels.items())
    reader = SkosReader.open(put(head + own, "x.ttl"))
    assert [one.name for one in reader] == ["heart", "Leber", "foie", "ren"]
    assert [one.severity for one in reader.problems] == ["set aside", "note"]
    assert "2 entities have no name in the chosen languages" in reader.problems[1].text
    assert "(de, fr)" in reader.problems[1].text
    reader = SkosReader.open(put(head + own, "x.ttl"), KbOptions(languages=("fr",)))
    assert [one.name for one in reader] == ["heart", "Leber", "foie", "ren"]


@pytest.mark.parametrize(("name", "line_end"), [("x.ttl", "\n"), ("y.ttl", "\r\n"), ("z.nt", "\n")])
def test_a_byte_order_mark_is_no_part_of_the_graph(put: Put, name: str, line_end: str) -> None:
    skos = "http://www.w3.org/2004/02/skos/core#"
    text = f'<http://x.org/1> <{skos}prefLabel> "one" .\n'
    text += f"<http://x.org/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{skos}Concept> .\n"
    if name.endswith("ttl"):
        text = f"@prefix skos: <{skos}> .\n{text}"
    path = put(text.replace("\n", line_end).encode("utf-8-sig"), name)
    assert [one.name for one in default_registry().open_kb(path)] == ["one"]


def test_a_concept_that_another_names_as_narrower_has_it_as_parent(put: Put) -> None:
    own = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix X: <http://x.org/X/> .
    X:s a skos:ConceptScheme ; skos:prefLabel "Things"@en .
    X:1 a skos:Concept ; skos:prefLabel "one"@en ; skos:narrower X:2 , X:3 ; skos:topConceptOf X:s .
    X:2 a skos:Concept ; skos:prefLabel "two"@en ; skos:broader X:1 ; skos:inScheme X:s .
    X:3 a skos:Concept ; skos:prefLabel "three"@en .
    """
    one, *others = SkosReader.open(put(own, "x.ttl"))
    assert one == Entity("X:1", "one", types=("Things",))
    assert [(other.id, other.parents) for other in others] == [("X:2", ("X:1",)), ("X:3", ("X:1",))]


def test_everything_is_no_parent(put: Put) -> None:
    thing = "http://www.w3.org/2002/07/owl#Thing"
    own = f"""<owl:Class rdf:about="{OBO}X_1"><rdfs:label>a</rdfs:label><rdfs:subClassOf rdf:resource="{thing}"/>
    </owl:Class>"""
    assert [one.parents for one in OwlReader.open(put(f"{ROOT}{own}</rdf:RDF>"))] == [()]
    graph = obo_graph([{"id": "X:1", "lbl": "a"}], [("X:1", "is_a", thing)])
    assert [one.parents for one in OboGraphsReader.open(put(graph))] == [()]


def test_broken_files(put: Put) -> None:
    for source, text in (
        (OboGraphsReader, graph()[:-2]),
        (OwlReader, OWL_XML[:-12]),
        (SkosReader, SKOS_XML[:-9]),
        (SkosReader, TURTLE + "X:5 a"),
    ):
        with pytest.raises(UserError, match="again"):
            list(source.open(put(text)))


def test_short_entities_are_replaced_and_others_refused(put: Put) -> None:
    text = OWL_XML.replace(">one<", ">&b;<")
    own = "<!ENTITY a 'aaaa'><!ENTITY b \"&a;&a;\"><!ENTITY obo"
    assert [one.name for one in OwlReader.open(put(text.replace("<!ENTITY obo", own)))] == ["aaaaaaaa", "two"]
    for declared in (
        '<!ENTITY b SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "file:///etc/passwd">%p;',
        f'<!ENTITY b "{"ha" * 600}">',
        f'<!ENTITY a "{"ha" * 40}"><!ENTITY b "{"&a;" * 20}">',
    ):
        with pytest.raises(UserError, match="declares XML entities"):
            list(OwlReader.open(put(text.replace("<!ENTITY obo", f"{declared}<!ENTITY obo"))))
    for hidden in (f"<!--{' ' * (1 << 17)}-->", ""):
        outside = SKOS_XML.replace("?>\n", f'?>\n{hidden}<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n', 1)
        with pytest.raises(UserError, match=r"declares XML entities|broken XML|neither RDF/XML"):
            list(SkosReader.open(put(outside)))


def test_many_short_entities_are_refused(put: Put) -> None:
    many = OWL_XML.replace("<!ENTITY obo", f'<!ENTITY b "{"ha" * 400}"><!ENTITY obo').replace(
        ">one<", f">{'&b;' * 9999}<"
    )
    with pytest.raises(UserError, match="declares XML entities"):
        list(OwlReader.open(put(many)))


def test_a_document_type_inside_the_ontology_is_refused(put: Put) -> None:
    inside = OWL_XML.replace("<owl:Ontology", '<!DOCTYPE x [<!ENTITY b "boo">]><owl:Ontology').replace(">one<", ">&b;<")
    with pytest.raises(UserError, match="line 5: broken XML"):
        list(OwlReader.open(put(inside)))


DESCRIBED = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#" xmlns:owl="http://www.w3.org/2002/07/owl#">
  <rdf:Description rdf:about="http://purl.obolibrary.org/obo/DOID_4">
    <rdfs:label>disease</rdfs:label>
    <oboInOwl:hasExactSynonym>illness</oboInOwl:hasExactSynonym>
  </rdf:Description>
  <rdf:Description rdf:about="http://purl.obolibrary.org/obo/DOID_7">
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#Class"/>
    <rdfs:label>fever</rdfs:label>
    <rdfs:subClassOf rdf:resource="http://purl.obolibrary.org/obo/DOID_4"/>
    <oboInOwl:hasOBONamespace>symptom</oboInOwl:hasOBONamespace>
  </rdf:Description>
  <rdf:Description rdf:about="http://purl.obolibrary.org/obo/DOID_4">
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#Class"/>
  </rdf:Description>
  <owl:Class rdf:about="http://purl.obolibrary.org/obo/DOID_8"><rdfs:label>pain</rdfs:label></owl:Class>
  <rdf:Description rdf:about="http://purl.obolibrary.org/obo/part_of">
    <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#ObjectProperty"/>
    <rdfs:label>part of</rdfs:label>
  </rdf:Description>
</rdf:RDF>
"""


def test_classes_may_be_descriptions_of_that_type(put: Put) -> None:
    path = put(DESCRIBED, "a.owl")
    reader = default_registry().open_kb(path)
    found = {one.id: one for one in reader}
    assert reader.format == "owl"
    assert set(found) == {"DOID:4", "DOID:7", "DOID:8"}
    assert (found["DOID:4"].name, found["DOID:4"].synonyms, found["DOID:4"].types) == (
        "disease",
        ("illness",),
        ("DOID",),
    )
    assert (found["DOID:7"].parents, found["DOID:7"].types) == (("DOID:4",), ("symptom",))
    assert reader.problems == []


def test_the_title_of_a_scheme_is_looked_up_once(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def remembered(text: str, namespaces: Mapping[str, str] | None = None) -> str:
        asked.append(text)
        return term_id(text, namespaces)

    monkeypatch.setattr(rdf, "term_id", remembered)
    concepts = "".join(f'X:{n} a skos:Concept ; skos:prefLabel "n{n}"@en ; skos:inScheme X:s .\n' for n in range(9))
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix X: <http://x.org/X/> .\n"
    path = put(head + concepts, "untitled.ttl")
    assert len(list(default_registry().open_kb(path))) == 9
    assert asked.count("http://x.org/X/s") == 1


OBO = "http://purl.obolibrary.org/obo/"
ROOT = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:oio="{OIO}" xmlns:obo="{OBO}" xml:base="{OBO}x.owl">"""
ALPHA, BETA = Entity("X:1", "alpha", types=("X",)), Entity("X:2", "beta", ("bravo",), ("X",), parents=("X:1",))
LABELS = "<rdfs:label>beta</rdfs:label><oio:hasExactSynonym>bravo</oio:hasExactSynonym>"
FORMS = {
    "flat": f"""<owl:Class rdf:about="{OBO}X_1"><rdfs:label>alpha</rdfs:label></owl:Class>
        <owl:Class rdf:about="{OBO}X_2">{LABELS}<rdfs:subClassOf rdf:resource="{OBO}X_1"/></owl:Class>""",
    "nested": f"""<owl:Class rdf:about="{OBO}X_2"><rdfs:subClassOf><owl:Class rdf:about="{OBO}X_1">
        <rdfs:label>alpha</rdfs:label></owl:Class></rdfs:subClassOf>{LABELS}</owl:Class>""",
    "nested without a description": f"""<owl:Class rdf:about="{OBO}X_1"><rdfs:label>alpha</rdfs:label></owl:Class>
        <owl:Class rdf:about="{OBO}X_2">{LABELS}<rdfs:subClassOf><owl:Class rdf:about="{OBO}X_1"/></rdfs:subClassOf>
        </owl:Class>""",
    "relative addresses": f"""<owl:Class rdf:about="X_1"><rdfs:label>alpha</rdfs:label></owl:Class>
        <owl:Class rdf:about="X_2">{LABELS}<rdfs:subClassOf rdf:resource="X_1"/></owl:Class>""",
    "described in several places": f"""<owl:Class rdf:about="{OBO}X_2"><rdfs:subClassOf rdf:resource="{OBO}X_1"/>
        </owl:Class><owl:Class rdf:about="{OBO}X_1"/>
        <rdf:Description rdf:about="{OBO}X_1"><rdfs:label>alpha</rdfs:label></rdf:Description>
        <rdf:Description rdf:about="{OBO}X_2">{LABELS}</rdf:Description>""",
    "also an individual, with axioms and anonymous classes": f"""
        <owl:Class rdf:about="{OBO}X_1"><rdfs:label>alpha</rdfs:label>
        <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#NamedIndividual"/></owl:Class>
        <owl:Class rdf:about="{OBO}X_2"><owl:equivalentClass><owl:Class><owl:intersectionOf rdf:parseType="Collection">
        <rdf:Description rdf:about="{OBO}X_1"/><owl:Restriction><owl:onProperty rdf:resource="{OBO}P_1"/>
        <owl:someValuesFrom rdf:resource="{OBO}X_9"/></owl:Restriction></owl:intersectionOf></owl:Class>
        </owl:equivalentClass><rdfs:subClassOf rdf:resource="{OBO}X_1"/><rdfs:subClassOf><owl:Restriction>
        <owl:onProperty rdf:resource="{OBO}P_1"/><owl:someValuesFrom rdf:resource="{OBO}X_8"/></owl:Restriction>
        </rdfs:subClassOf>{LABELS}<owl:deprecated rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">false
        </owl:deprecated></owl:Class><owl:Axiom><owl:annotatedSource rdf:resource="{OBO}X_2"/>
        <owl:annotatedProperty rdf:resource="{OIO}hasExactSynonym"/><owl:annotatedTarget>bravo</owl:annotatedTarget>
        <rdfs:label>no name</rdfs:label><oio:hasSynonymType rdf:resource="{OBO}x#ABBREVIATION"/></owl:Axiom>
        <owl:AnnotationProperty rdf:about="{OBO}x#ABBREVIATION"><rdfs:label>abbreviation</rdfs:label>
        <rdfs:subPropertyOf rdf:resource="{OIO}SynonymTypeProperty"/></owl:AnnotationProperty>""",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_a_graph_is_the_same_in_every_form(put: Put, form: str, encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{ROOT}{FORMS[form]}</rdf:RDF>'.replace("bravo", "brávo")
    reader = OwlReader.open(put(text.encode(encoding), "x.owl"))
    assert sorted(reader, key=lambda one: one.id) == [ALPHA, replace(BETA, synonyms=("brávo",))]
    assert (reader.problems, reader.obsolete) == ([], [])


IDS = {
    "#A": (f'{ROOT}<owl:Class rdf:about="#A">', f"{OBO}x.owl#A"),
    "rdf:ID": (f'{ROOT}<owl:Class rdf:ID="A">', f"{OBO}x.owl#A"),
    "without a base": (f'{ROOT.partition(" xml:base")[0]}><owl:Class rdf:ID="A">', "#A"),
    "with a space": (f'{ROOT}<owl:Class rdf:about="{OBO}A 1">', f"{OBO}A 1"),
    "several underscores": (f'{ROOT}<owl:Class rdf:about="{OBO}APOLLO_SV_01">', "APOLLO_SV:01"),
}


@pytest.mark.parametrize("form", IDS)
def test_the_id_of_a_class(put: Put, form: str) -> None:
    text, wanted = IDS[form]
    assert [one.id for one in OwlReader.open(put(f"{text}<rdfs:label>a</rdfs:label></owl:Class></rdf:RDF>"))] == [
        wanted
    ]


def test_what_is_deprecated_leads_to_its_replacement(put: Put) -> None:
    own = f"""<owl:Class rdf:about="{OBO}X_1"><rdfs:label>one</rdfs:label></owl:Class>
    <owl:DeprecatedClass rdf:about="{OBO}X_3"><rdfs:label>three</rdfs:label><obo:IAO_0100001>X:1</obo:IAO_0100001>
    </owl:DeprecatedClass><owl:Class rdf:about="{OBO}X_4"><rdfs:label>four</rdfs:label><owl:deprecated
    rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">true</owl:deprecated><oio:consider>X:1</oio:consider>
    <oio:consider rdf:resource="{OBO}X_5"/></owl:Class>"""
    reader = OwlReader.open(put(f"{ROOT}{own}</rdf:RDF>"))
    assert [(one.id, one.alt_ids) for one in reader] == [("X:1", ("X:3",))]
    assert [(one.id, one.name, one.replaced_by, one.consider) for one in reader.obsolete] == [
        ("X:3", "three", ("X:1",), ()),
        ("X:4", "four", (), ("X:1", "X:5")),
    ]


def test_markup_in_a_label_and_imports(put: Put) -> None:
    own = f"""<owl:Ontology rdf:about="{OBO}x.owl"><owl:imports rdf:resource="{OBO}y.owl"/></owl:Ontology>
    <owl:Class rdf:about="{OBO}X_1"><rdfs:label rdf:parseType="Literal">H<sub>2</sub>O &lt; 1</rdfs:label>
    </owl:Class>"""
    reader = OwlReader.open(put(f"{ROOT}{own}</rdf:RDF>"))
    assert [one.name for one in reader] == ["H2O < 1"]
    assert [(one.severity, f"{OBO}y.owl, which is not read" in one.text) for one in reader.problems] == [("note", True)]
    two = own.replace("</owl:Ontology>", f'<owl:imports rdf:resource="{OBO}z.owl"/></owl:Ontology>')
    reader = OwlReader.open(put(f"{ROOT}{two}</rdf:RDF>"))
    assert len(list(reader)) == 1
    assert "which are not read: import them" in reader.problems[0].text


@pytest.mark.parametrize(
    "own",
    [
        f'<owl:Class rdf:about="{OBO}X_1"><rdfs:subClassOf>' * 2000 + "</rdfs:subClassOf></owl:Class>" * 2000,
        '<owl:Class rdf:about="A" {}/>'.format(" ".join(f'oio:a{n}="1"' for n in range(2000))),
        f"<!--{'x' * (1 << 23)}-->",
    ],
    ids=["nested", "attributes", "comment"],
)
def test_what_would_take_minutes_is_refused(put: Put, own: str) -> None:
    with pytest.raises(UserError, match="line 2: broken XML"):
        list(OwlReader.open(put(f"{ROOT}{own}</rdf:RDF>")))


def obo_graph(nodes: Sequence[Mapping[str, object]], edges: list[tuple[str, str, str]]) -> str:
    made = [dict(zip(("sub", "pred", "obj"), edge, strict=True)) for edge in edges]
    return json.dumps({"graphs": [{"id": "x", "nodes": nodes, "edges": made}]})


@pytest.mark.parametrize("is_a", ["is_a", "rdfs:subClassOf", "http://www.w3.org/2000/01/rdf-schema#subClassOf"])
@pytest.mark.parametrize(
    ("oio", "replaced_by"),
    [("oio:", "IAO:0100001"), ("oboInOwl:", "obo:IAO_0100001"), (OIO, f"{OBO}IAO_0100001"), (OIO, f"{OIO}replacedBy")],
)
@pytest.mark.parametrize("place", ["X:", f"{OBO}X_"])
def test_predicates_of_obo_graphs_are_curies_or_addresses(
    put: Put, is_a: str, oio: str, replaced_by: str, place: str
) -> None:
    def meta(*pairs: tuple[str, str], **more: object) -> dict[str, object]:
        return {"basicPropertyValues": [{"pred": one, "val": value} for one, value in pairs], **more}

    nodes = [
        {"id": f"{place}1", "lbl": "one", "type": "CLASS", "meta": meta((f"{oio}hasOBONamespace", "things"))},
        {"id": "X:2", "lbl": "two", "type": "CLASS", "meta": meta((f"{oio}hasAlternativeId", "X:9"))},
        {"id": f"{place}3", "lbl": "three", "meta": meta((replaced_by, f"{place}1"), deprecated=True)},
        {"id": "X:4", "lbl": "four", "meta": meta((f"{oio}consider", f"{place}1"), ("owl:deprecated", "true"))},
    ]
    reader = OboGraphsReader.open(put(obo_graph(nodes, [("X:2", is_a, f"{place}1")])))
    one = Entity("X:1", "one", types=("things",), alt_ids=("X:3",))
    assert list(reader) == [one, Entity("X:2", "two", types=("x",), alt_ids=("X:9",), parents=("X:1",))]
    assert [old.consider for old in reader.obsolete] == [(), ("X:1",)]


def test_properties_and_types_of_synonyms_are_no_entities(put: Put) -> None:
    own = ("X:1", "X:2", f"{OBO}x#sys", f"{OBO}x#slim", "X:part_of", "X:whole")
    nodes: list[dict[str, object]] = [{"id": one, "lbl": one} for one in own]
    edges = [
        (f"{OBO}x#sys", "subPropertyOf", f"{OIO}SynonymTypeProperty"),
        (f"{OBO}x#slim", "rdfs:subPropertyOf", "oio:SubsetProperty"),
        ("X:part_of", "subPropertyOf", "X:whole"),
        ("X:1", "X:part_of", "X:2"),
    ]
    synonym = {"pred": "hasExactSynonym", "val": "uno", "synonymType": "X:lay"}
    nodes[0]["meta"] = {"synonyms": [synonym], "subsets": ["X:rare"]}
    nodes += [{"id": "X:lay", "lbl": "lay"}, {"id": "X:rare", "lbl": "rare"}]
    assert [one.id for one in OboGraphsReader.open(put(obo_graph(nodes, edges)))] == ["X:1", "X:2"]


@pytest.mark.parametrize(
    ("fields", "name", "synonyms", "definition", "wrong"),
    [
        ({"meta": {"synonyms": ["b", {"val": "c"}], "definition": "words"}}, "a", ("b", "c"), "words", ""),
        ({"meta": {"synonyms": [{"val": 5}]}}, "a", (), "", "synonyms"),
        ({"meta": {"synonyms": "b"}}, "a", (), "", "synonyms"),
        ({"meta": {"definition": ["words"]}}, "a", (), "", "definition"),
        ({"meta": {"basicPropertyValues": [{"pred": "x", "val": {"id": "X:9"}}]}}, "a", (), "", "basicPropertyValues"),
        ({"meta": ["b"]}, "a", (), "", "meta"),
        ({"lbl": ["a"]}, None, (), "", "lbl"),
        ({"id": 5}, None, (), "", "id"),
        ({"type": 5}, None, (), "", "type"),
    ],
    ids=str,
)
def test_other_values_than_texts_in_obo_graphs_are_named(
    put: Put, fields: dict[str, Any], name: str | None, synonyms: tuple[str, ...], definition: str, wrong: str
) -> None:
    node = {"id": "http://purl.obolibrary.org/obo/X_1", "lbl": "a", "type": "CLASS"} | fields
    other = {"id": "http://purl.obolibrary.org/obo/X_2", "lbl": "other", "type": "CLASS"}
    reader = OboGraphsReader.open(put(json.dumps({"graphs": [{"id": "g", "nodes": [node, other]}]})))
    found = {one.id: one for one in reader}
    assert (found["X:1"].name if "X:1" in found else None) == name
    assert name is None or (found["X:1"].synonyms, found["X:1"].definition) == (synonyms, definition)
    named = [one.text for one in reader.problems if "has no text in" in one.text]
    assert named == ([f"1 term has no text in “{wrong}”: that is left out"] if wrong else [])

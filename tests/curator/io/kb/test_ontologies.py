"""OBO Graphs, OWL, SKOS: the same terms in every syntax."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io import default_registry
from curator.io.kb import obographs, owl, rdf
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


OWL = f"""<?xml version="1.0"?>
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
    ("module", "text"),
    [(obographs, graph()), (owl, OWL), (rdf, TURTLE), (rdf, SKOS_XML)],
    ids=["obographs", "owl", "turtle", "rdf-xml"],
)
def test_the_same_terms(put: Put, module: type[owl], text: str) -> None:
    path = put(text)
    assert module.sniff(path.read_bytes())
    reader = module.open_reader(path)
    assert list(reader) == [ONE, TWO]
    assert [one.severity for one in reader.problems] == ["note", "set aside"]
    assert list(reader) == [ONE, TWO], "reading again gives the same"


def test_another_language(put: Put) -> None:
    german = KbOptions(languages=("de",))
    assert [one.name for one in owl.open_reader(put(OWL), german)] == ["eins", "two"]
    assert [one.name for one in rdf.open_reader(put(TURTLE), german)] == ["eins", "two"]


def test_broken_files(put: Put) -> None:
    for module, text in ((obographs, graph()[:-2]), (owl, OWL[:-12]), (rdf, TURTLE + "X:5 a")):
        with pytest.raises(UserError, match="again"):
            list(module.open_reader(put(text)))


def test_entities_in_texts_are_not_resolved(put: Put) -> None:
    bomb = OWL.replace("<!ENTITY obo", '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY obo').replace(">one<", ">&b;<")
    names = [one.name for one in owl.open_reader(put(bomb))]
    assert names == ["&b;", "two"], "it stands there as it is written"
    outside = SKOS_XML.replace("?>\n", '?>\n<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n', 1)
    with pytest.raises(UserError, match="declares XML entities"):
        list(rdf.open_reader(put(outside)))


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
    contract = rdf.contract
    monkeypatch.setattr(rdf, "contract", lambda address, spaces: asked.append(address) or contract(address, spaces))
    concepts = "".join(f'X:{n} a skos:Concept ; skos:prefLabel "n{n}"@en ; skos:inScheme X:s .\n' for n in range(9))
    head = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix X: <http://x.org/X/> .\n"
    path = put(head + concepts, "untitled.ttl")
    assert len(list(default_registry().open_kb(path))) == 9
    assert asked.count("http://x.org/X/s") == 1

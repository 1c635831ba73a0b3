"""Relations through every format that has them: as they were, with one deleted and one added; and into others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from curator.domain.decisions import Verdict
from curator.domain.relations import RelationKind
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, make_world

TEXT = "Lidocaine slowed an arrhythmia of a heart."
PLACES = ((0, 9, "Chemical"), (20, 30, "Disease"), (36, 41, "Organ"))
NER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def brat(folder: Path) -> Path:
    lines = [f"T{n}\t{kind} {a} {b}\t{TEXT[a:b]}" for n, (a, b, kind) in enumerate(PLACES, 1)]
    lines += ["T4\tSlowing 10 16\tslowed", "E1\tSlowing:T4 Theme:T2 Cause:T1", "R1\tSlows Drug:T1 Sign:T2\t"]
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    (folder / "a.ann").write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return folder


def pubannotation(folder: Path) -> Path:
    found = [{"id": f"T{n}", "span": {"begin": a, "end": b}, "obj": kind} for n, (a, b, kind) in enumerate(PLACES, 1)]
    relation = {"id": "R1", "pred": "Slows", "subj": "T1", "obj": "T2"}
    made = {"sourcedb": "x", "sourceid": "1", "text": TEXT, "denotations": found, "relations": [relation]}
    (folder / "a.json").write_text(json.dumps(made), encoding="utf-8")
    return folder / "a.json"


def bioc_json(folder: Path) -> Path:
    found = [
        {"id": str(n), "infons": {"type": kind}, "text": TEXT[a:b], "locations": [{"offset": a, "length": b - a}]}
        for n, (a, b, kind) in enumerate(PLACES, 1)
    ]
    nodes = [{"refid": "1", "role": "Drug"}, {"refid": "2", "role": "Sign"}]
    relation = {"id": "R1", "infons": {"type": "Slows"}, "nodes": nodes}
    passage = {"offset": 0, "infons": {}, "text": TEXT, "sentences": [], "annotations": found, "relations": [relation]}
    whole = {"source": "x", "date": "", "key": "", "infons": {}}
    whole["documents"] = [{"id": "1", "infons": {}, "passages": [passage], "relations": []}]  # type: ignore[assignment]
    (folder / "a.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder / "a.json"


def bioc_xml(folder: Path) -> Path:
    found = "".join(
        f'<annotation id="{n}"><infon key="type">{kind}</infon><location offset="{a}" length="{b - a}"/>'
        f"<text>{TEXT[a:b]}</text></annotation>"
        for n, (a, b, kind) in enumerate(PLACES, 1)
    )
    relation = '<relation id="R1"><infon key="relation">Slows</infon><node refid="1" role="Drug"/>'
    relation += '<node refid="2" role="Sign"/></relation>'
    (folder / "a.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<collection><source/><date/><key/>\n<document><id>1</id><passage>'
        f"<offset>0</offset><text>{TEXT}</text>{found}</passage>{relation}</document>\n</collection>\n",
        encoding="utf-8",
    )
    return folder / "a.xml"


def xmi(folder: Path) -> Path:
    found = "".join(
        f'<type:NamedEntity xmi:id="{n}" sofa="9" begin="{a}" end="{b}" value="{kind}"/>'
        for n, (a, b, kind) in enumerate(PLACES, 1)
    )
    relation = '<custom:Slowing xmi:id="7" sofa="9" begin="20" end="30" Governor="1" Dependent="2" label="Slows"/>'
    (folder / "a.xmi").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:cas="http:///uima/cas.ecore" xmlns:custom="http:///webanno/custom.ecore" '
        f'xmlns:type="http:///{NER.rpartition(".")[0].replace(".", "/")}.ecore" xmi:version="2.0">{found}{relation}'
        f'<cas:Sofa xmi:id="9" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{TEXT}"/>'
        '<cas:View sofa="9" members="1 2 3 7"/></xmi:XMI>\n',
        encoding="utf-8",
    )
    return folder / "a.xmi"


def webanno(folder: Path) -> Path:
    rows, at = [], 0
    for number, word in enumerate(["Lidocaine", "slowed", "an", "arrhythmia", "of", "a", "heart", "."], 1):
        at = TEXT.index(word, at)
        kind = next((kind for start, _, kind in PLACES if start == at), "_")
        relation = "Slows\t1-1" if number == 4 else "_\t_"
        rows.append(f"1-{number}\t{at}-{at + len(word)}\t{word}\t{kind}\t{relation}\t")
    lines = ["#FORMAT=WebAnno TSV 3.3", f"#T_SP={NER}|value", f"#T_RL=webanno.custom.Slowing|label|BT_{NER}", "", ""]
    (folder / "a.tsv").write_text("\n".join([*lines, f"#Text={TEXT}", *rows, ""]), encoding="utf-8")
    return folder / "a.tsv"


def pubtator(folder: Path) -> Path:
    ids = {"Chemical": "D008012", "Disease": "D006323", "Organ": "D001145"}
    rows = [f"1\t{a}\t{b}\t{TEXT[a:b]}\t{kind}\t{ids[kind]}" for a, b, kind in PLACES]
    text = "\n".join([f"1|t|{TEXT}", "1|a|", *rows, "1\tSlows\tChemical|D008012\tDisease|D006323\tNovel", "", ""])
    (folder / "a.pubtator").write_text(text, encoding="utf-8")
    return folder / "a.pubtator"


MAKERS = {
    "brat": brat,
    "pubannotation": pubannotation,
    "bioc-json": bioc_json,
    "bioc-xml": bioc_xml,
    "xmi": xmi,
    "webanno-tsv": webanno,
    "pubtator": pubtator,
}


def imported(world: World, path: Path) -> int:
    """The document that a file holds."""
    for _ in world.project.importing.documents([path]):
        pass
    (document,) = world.project.queue.ids(QueueFilter())
    return document


def said(world: World, document: int) -> list[tuple[str, ...]]:
    """Type and ends of each relation, mentions by their texts."""
    texts = {view.mention.id: view.mention.text for view in world.project.queue.open(document).mentions}
    return sorted(
        (one.type, *(texts[end.mention_id] if end.mention_id else end.entity_id or end.name for end in one.ends))
        for one in world.project.relations.of_document(document)
    )


@pytest.mark.parametrize("name", MAKERS)
def test_relations_are_read_written_back_and_changed(world: World, name: str) -> None:
    world.kb()
    folder = world.folder / "in"
    folder.mkdir()
    (world.folder / "other").mkdir()
    path = MAKERS[name](folder)
    document = imported(world, path)
    project, out = world.project, world.folder / "out"
    first, _, third = (view.mention.id for view in project.queue.open(document).mentions)
    stated = next(one for one in project.relations.of_document(document) if one.kind is not RelationKind.EVENT)
    between = ("MESH:D008012", "MESH:D006323") if name == "pubtator" else ("Lidocaine", "arrhythmia")
    assert ("Slows", *between) in said(world, document)
    out.mkdir()
    before = project.exporting.export(out, name)
    originals = sorted(path.iterdir()) if path.is_dir() else [path]
    assert {one.read_bytes() for one in originals} <= {one.read_bytes() for one in before.paths}

    for mention, entity in ((first, "MESH:D008012"), (third, "MESH:D001145")) if name == "pubtator" else ():
        project.curation.decide(mention, Verdict.link(entity))
    add = project.relations.add_between_entities if name == "pubtator" else project.relations.add
    add(third, first, "part_of")
    project.relations.delete(document, stated.name)
    expected = said(world, document)
    again = world.folder / "again"
    again.mkdir()
    report = project.exporting.export(again, name)
    assert not [one for one in report.problems if "relation" in one.text]
    one = again if name == "brat" else next(one for one in report.paths if one.suffix == originals[0].suffix)
    other = make_world(world.folder / "other", kb=True)
    assert said(other, imported(other, one)) == expected
    other.project.close()


CDR = (
    '<collection><source/><date/><key/><document><id>1</id><passage><infon key="type">title</infon>'
    "<offset>0</offset><text>Lidocaine and pain.</text>"
    '<annotation id="0"><infon key="type">Chemical</infon><infon key="MESH">D008012</infon>'
    '<location offset="0" length="9"/><text>Lidocaine</text></annotation><annotation id="1"><infon key="type">Disease'
    '</infon><infon key="MESH">D010146</infon><location offset="14" length="4"/><text>pain</text></annotation>'
    '</passage><relation id="R0">{relation}</relation></document></collection>'
)
CID = '<infon key="relation">CID</infon>'
ENDS = ('<infon key="Chemical">D008012</infon>', '<infon key="Disease">D010146</infon>')
BIORED = (
    '<infon key="entity1">D008012</infon><infon key="entity2">D010146</infon><infon key="type">Association</infon>'
    '<infon key="novel">Novel</infon>'
)


@pytest.mark.parametrize(
    ("relation", "line", "back"),
    [
        (f"{CID}{''.join(ENDS)}", "1\tCID\tD008012\tD010146", f"{CID}{''.join(ENDS)}"),
        (f"{CID}{''.join(ENDS[::-1])}", "1\tCID\tD008012\tD010146", f"{CID}{''.join(ENDS)}"),
        (BIORED, "1\tAssociation\tD008012\tD010146\tNovel", BIORED),
    ],
)
def test_relations_between_bioc_and_pubtator_have_the_form_of_their_corpora(
    world: World, relation: str, line: str, back: str
) -> None:
    """As the corpora's own scorers read them; nothing is said to be left out."""
    (world.folder / "in.xml").write_text(CDR.format(relation=relation))
    imported(world, world.folder / "in.xml")
    report = world.project.exporting.export(world.folder / "o.pubtator", "pubtator")
    assert report.problems == ()
    lines = (world.folder / "o.pubtator").read_text().splitlines()
    assert lines[2:5] == ["1\t0\t9\tLidocaine\tChemical\tD008012", "1\t14\t18\tpain\tDisease\tD010146", line]
    (world.folder / "other").mkdir()
    other = make_world(world.folder / "other")
    imported(other, world.folder / "o.pubtator")
    for name in ("bioc-xml", "bioc-json"):
        report = other.project.exporting.export(world.folder / "back", name)
        assert report.problems == ()
        tree = etree.fromstring((world.folder / "back").read_bytes()) if name == "bioc-xml" else None
        if tree is not None:
            found = {one.get("key"): one.text for one in tree.iterfind(".//annotation[@id='0']/infon")}
            assert found == {"type": "Chemical", "MESH": "D008012"}
            stated = {one.get("key"): one.text for one in tree.iterfind(".//relation/infon")}
        else:
            (document,) = json.loads((world.folder / "back").read_text())["documents"]
            stated = document["relations"][0]["infons"]
        assert stated == {one.get("key"): one.text for one in etree.fromstring(f"<r>{back}</r>")}
    other.project.close()

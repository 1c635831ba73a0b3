"""Which entity an identifier means: spellings of prefixes, foreign prefixes, numbers, variants, names of fields.

One table for every format of documents and of knowledge bases; the rules are in `curator/domain/curies.py` and
`curator/storage/kb/kb.py`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from curator.domain.curies import REGISTRIES, kind_of, look_up_key, usual_prefix
from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, text_hash
from curator.services.importing.importing import ImportReport
from curator.services.importing.kb_importing import KbWish
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, finish

Row = tuple[str, str, str]
"""Word, type, identifier."""

USUAL: tuple[Row, ...] = (
    ("human", "Species", "NCBITaxon:9606"),
    ("diabetes", "Disease", "MESH:D003920"),
    ("alzheimer", "Disease", "OMIM:104300"),
    ("tp53", "Gene", "NCBIGene:7157"),
    ("cf", "Disease", "Orphanet:586"),
    ("mi", "Disease", "SNOMEDCT:22298006"),
)
ALIASES = ("taxonomy:9606", "MSH:D003920", "MIM:104300", "Entrez:7157", "ORPHA:586", "SCTID:22298006")
ENDS_OF_ADDRESSES = ("NCBITaxon_9606", "MESH_D003920", "OMIM_104300", "NCBIGene_7157", "Orphanet_586", "SCTID_22298006")
JOINED = ("taxid9606", "MESH_D003920", "OMIM104300", "Entrez7157", "ORPHA586", "SCTID22298006")
MARKED = (
    "NCBITaxon:NCBITaxon_9606",
    "MESH:MESH_D003920",
    "MIM:#104300",
    "GENE:7157",
    "ORPHA:ORPHA586",
    "SNOMEDCT_US_2023_03_01:22298006",
)
OTHER_ALIASES = ("NCBI:txid9606", "mesh:d003920", "OMIM: 104300", "NCBI Gene:7157", "ORDO:586", "SNOMED:22298006")


def renamed(ids: Sequence[str]) -> tuple[Row, ...]:
    return tuple((word, kind, one) for (word, kind, _), one in zip(USUAL, ids, strict=True))


def text_of(rows: Sequence[Row]) -> str:
    return " ".join(word for word, _, _ in rows)


def placed(rows: Sequence[Row]) -> list[tuple[int, int, Row]]:
    found, at = [], 0
    for row in rows:
        found.append((at, at + len(row[0]), row))
        at += len(row[0]) + 1
    return found


# --- documents


def pubtator(rows: Sequence[Row], name: str = "d") -> Mapping[str, str]:
    lines = [f"{name}\t{a}\t{b}\t{word}\t{kind}\t{one}" for a, b, (word, kind, one) in placed(rows)]
    return {f"{name}.pubtator": "\n".join([f"{name}|t|{text_of(rows)}", f"{name}|a|", *lines, "", ""])}


def bioc_json(
    rows: Sequence[Row], infons: Callable[[str], Mapping[str, Any]] | None = None, name: str = "d"
) -> Mapping[str, str]:
    annotations = [
        {
            "id": str(a),
            "infons": {"type": kind} | dict(infons(one) if infons else {"identifier": one}),
            "text": word,
            "locations": [{"offset": a, "length": b - a}],
        }
        for a, b, (word, kind, one) in placed(rows)
    ]
    passage = {"offset": 0, "infons": {"type": "title"}, "text": text_of(rows), "sentences": [], "relations": []}
    document = {"id": name, "infons": {}, "passages": [{**passage, "annotations": annotations}], "relations": []}
    return {f"{name}.json": json.dumps({"source": "", "date": "", "key": "", "infons": {}, "documents": [document]})}


def bioc_xml(
    rows: Sequence[Row], infons: Callable[[str], Mapping[str, Any]] | None = None, name: str = "d"
) -> Mapping[str, str]:
    annotations = "".join(
        f'<annotation id="{a}"><infon key="type">{kind}</infon>'
        + "".join(
            f'<infon key="{key}">{value}</infon>'
            for key, value in (infons(one) if infons else {"identifier": one}).items()
        )
        + f'<location offset="{a}" length="{b - a}"/><text>{word}</text></annotation>'
        for a, b, (word, kind, one) in placed(rows)
    )
    body = f'<passage><infon key="type">title</infon><offset>0</offset><text>{text_of(rows)}</text>{annotations}'
    head = f"<source>x</source><date></date><key>k</key><document><id>{name}</id>"
    return {f"{name}.xml": f"<?xml version='1.0'?><collection>{head}{body}</passage></document></collection>"}


def table(rows: Sequence[Row], name: str = "d") -> Mapping[str, str]:
    lines = [f"{name},{text_of(rows)},{word},{a},{b},{kind},{one}" for a, b, (word, kind, one) in placed(rows)]
    return {f"{name}.csv": "\n".join(["document,text,mention,start,end,type,ids", *lines, ""])}


def huggingface(rows: Sequence[Row], name: str = "d") -> Mapping[str, str]:
    entities = [{"start": a, "end": b, "label": kind, "kb_id": one} for a, b, (_, kind, one) in placed(rows)]
    return {f"{name}.jsonl": json.dumps({"id": name, "text": text_of(rows), "entities": entities}) + "\n"}


def pubannotation(rows: Sequence[Row], name: str = "d") -> Mapping[str, str]:
    marks = [
        {"id": f"T{a}", "span": {"begin": a, "end": b}, "obj": f"{kind}:{one}"} for a, b, (_, kind, one) in placed(rows)
    ]
    return {f"{name}.json": json.dumps({"text": text_of(rows), "sourceid": name, "denotations": marks})}


def webanno(rows: Sequence[Row], name: str = "d") -> Mapping[str, str]:
    bar = "\\|"  # a plain one separates annotations of the same token
    tokens = [
        f"1-{n}\t{a}-{b}\t{w}\t{one.replace('|', bar)}\t{kind}\t"
        for n, (a, b, (w, kind, one)) in enumerate(placed(rows), 1)
    ]
    layer = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value"
    return {f"{name}.tsv": "\n".join(["#FORMAT=WebAnno TSV 3.3", layer, "", "", f"#Text={text_of(rows)}", *tokens, ""])}


def brat(rows: Sequence[Row], name: str = "d") -> Mapping[str, str]:
    lines = [
        f"T{n}\t{kind} {a} {b}\t{word}\nN{n}\tReference T{n} {one}\t{word}"
        for n, (a, b, (word, kind, one)) in enumerate(placed(rows), 1)
    ]
    return {f"{name}.txt": text_of(rows), f"{name}.ann": "\n".join([*lines, ""])}


DOCUMENTS = (pubtator, bioc_json, bioc_xml, table, huggingface, pubannotation, webanno, brat)

# --- knowledge bases


def kb_lines(rows: Sequence[Row]) -> Mapping[str, str]:
    lines = (json.dumps({"id": one, "name": word, "types": [kind]}) for word, kind, one in rows)
    return {"kb.jsonl": "".join(f"{line}\n" for line in lines)}


def kb_table(rows: Sequence[Row]) -> Mapping[str, str]:
    return {"kb.csv": "\n".join(["id,name,type", *(f"{one},{word},{kind}" for word, kind, one in rows), ""])}


def kb_obo(rows: Sequence[Row]) -> Mapping[str, str]:
    terms = [f"[Term]\nid: {one}\nname: {word}\nnamespace: {kind}\n" for word, kind, one in rows]
    return {"kb.obo": "\n".join(["format-version: 1.2\nontology: x\n", *terms])}


def kb_skos(rows: Sequence[Row]) -> Mapping[str, str]:
    terms = [f'<https://identifiers.org/{one}> a skos:Concept ; skos:prefLabel "{word}"@en .' for word, _, one in rows]
    return {"kb.ttl": "\n".join(["@prefix skos: <http://www.w3.org/2004/02/skos/core#> .", *terms, ""])}


KNOWLEDGE_BASES = {
    "usual prefixes in lines": kb_lines(USUAL),
    "aliases in lines": kb_lines(renamed(ALIASES)),
    "aliases in a table": kb_table(renamed(ALIASES)),
    "aliases in OBO": kb_obo(renamed(ALIASES)),
    "aliases in SKOS": kb_skos(renamed(ALIASES)),
    "other aliases in lines": kb_lines(renamed(OTHER_ALIASES)),
    "names before numbers in lines": kb_lines(renamed(JOINED)),
    "prefixes before names in lines": kb_lines(renamed(MARKED)),
}


def written(world: World, files: Mapping[str, str], *, folder: str = "files") -> Path:
    home = world.folder / folder
    home.mkdir(exist_ok=True)
    for name, content in files.items():
        (home / name).write_text(content, encoding="utf-8")
    return home if len(files) > 1 else home / next(iter(files))


def load_kb(world: World, files: Mapping[str, str], **wish: Any) -> ImportReport:
    report: ImportReport = finish(
        world.project.importing.knowledge_base(written(world, files, folder="kb"), KbWish(**wish))
    )
    return report


def load(world: World, files: Mapping[str, str]) -> ImportReport:
    report: ImportReport = finish(world.project.importing.documents([written(world, files)], gold=True))
    return report


def verdicts(world: World, document: int = 1) -> list[Verdict | None]:
    views = world.project.queue.open(document).mentions
    return [one.decision.verdict if one.decision else None for one in views]


def ids(world: World) -> list[str]:
    return [" + ".join(one.entity_ids) if one else "undecided" for one in verdicts(world)]


# --- A prefix in any spelling


GIVEN = {
    "aliases": ALIASES,
    "other aliases": OTHER_ALIASES,
    "ends of addresses": ENDS_OF_ADDRESSES,
    "names before numbers": JOINED,
    "prefixes before names": MARKED,
}
NO_COLON = (ENDS_OF_ADDRESSES, JOINED)
"""Not for brat, whose identifiers have a prefix and a colon."""


@pytest.mark.parametrize("kb", KNOWLEDGE_BASES, ids=str)
def test_every_spelling_of_a_prefix_is_the_same(world: World, kb: str) -> None:
    """In every format of documents; all documents of a knowledge base are imported at once."""
    load_kb(world, KNOWLEDGE_BASES[kb])
    paths = []
    for document, (spelling, given) in itertools.product(DOCUMENTS, GIVEN.items()):
        if given in NO_COLON and document is brat:
            continue
        if document in (webanno, brat, pubannotation):
            given = [one.replace(" ", "") for one in given]
        name = f"{document.__name__}-{spelling.replace(' ', '-')}"
        paths.append(written(world, document(renamed(given), name=name), folder=name))
    report: ImportReport = finish(world.project.importing.documents(paths, gold=True))
    found = {}
    for number in world.project.queue.ids(QueueFilter()):
        opened = world.project.queue.open(number)
        linked = [one.decision.verdict.entity_ids if one.decision else () for one in opened.mentions]
        found[opened.document.external_id] = [world.project.knowledge.name_of(one) for ids in linked for one in ids]
    words = [word for word, _, _ in USUAL]
    assert len(paths) == 38
    assert found == dict.fromkeys((path.stem for path in paths), words), [one.problem for one in report.problems]


@pytest.mark.parametrize("kb", ["usual prefixes in lines", "aliases in lines"])
def test_every_way_to_look_up_an_identifier_knows_its_spellings(world: World, kb: str) -> None:
    load_kb(world, KNOWLEDGE_BASES[kb])
    spellings = [(row[0], one) for row in zip(USUAL, ALIASES, OTHER_ALIASES, strict=True) for one in _spellings(*row)]
    assert len(spellings) == 30
    for (word, _, _), given in spellings:
        entity = world.project.knowledge.entity(given)
        assert entity is not None, given
        assert entity.name == word, given
        assert [one.entity.name for one in world.project.knowledge.search(given)][:1] == [word], given
    for (word, _, _), given in spellings:
        world.project.branches.restrict("", [given])
        (entity_id,) = world.project.branches.branches().of[""]
        assert world.project.knowledge.name_of(entity_id) == word


def _spellings(row: Row, alias: str, other: str) -> tuple[str, ...]:
    return row[2], row[2].lower(), alias, alias.upper(), other


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("Species", "organism"),
        ("ORGANISMS", "organism"),
        ("NCBI_Taxonomy", "organism"),
        ("Gene/Protein", "gene"),
        ("Mouse strains", "organism"),
        ("SpeciesName", "organism"),
        ("protein-coding", "gene"),
        ("drug target", ""),
        ("GeneOrGeneProduct", "gene"),
        ("SpecificDisease", "disease"),
        ("CHEBI", "chemical"),
        ("OMIM", ""),
        ("DNAMutation", "variant"),
        ("Target", ""),
        ("", ""),
    ],
)
def test_the_kind_that_a_type_names(type_name: str, kind: str) -> None:
    assert kind_of(type_name) == kind


def test_a_prefix_is_of_one_registry_only() -> None:
    words = [(word, prefix) for prefix, one in REGISTRIES.items() for word in (prefix, one.name, *one.aliases)]
    assert [word for word, prefix in words if usual_prefix(word) != prefix] == []
    assert all(one.has(one.example.partition(":")[2]) for one in REGISTRIES.values())
    assert look_up_key("http://id.nlm.nih.gov/mesh/D003920") == look_up_key(" msh:d003920") == "mesh:d003920"


SPELLINGS = {
    "orphanet:586": ("ORPHA586", "orpha586", "ORPHA 586", "Orphanet_586", "Orphanet:Orphanet_586", "ORPHA:ORPHA586"),
    "omim:104300": ("OMIM#104300", "OMIM *104300", "OMIM: #104300", "MIM:%104300", "OMIM +104300", "MIM104300"),
    "omim:ps104300": ("OMIMPS:104300", "OMIM:PS104300"),
    "ncbigene:7157": ("GENE:7157", "gene: 7157", "Entrez7157", "NCBI Gene 7157", "GeneID_7157"),
    "ncbitaxon:9606": ("txid9606", "NCBITaxon9606", "NCBI:txid9606", "NCBITaxon:NCBITaxon_9606"),
    "hp:0001250": ("HP:HP_0001250", "HP0001250", "HP_0001250", "HPO: 0001250", "HP 0001250"),
    "go:0006915": ("GO:GO_0006915", "GO0006915", "go:GO:0006915"),
    "mesh:d001943": ("MESH_D001943", "mesh_d001943", "MeSH D001943", "MESH:MESH_D001943", "MESH：D001943"),
    "icd10:e11.9": ("ICD10:E11.9", "ICD-10:E119", "icd10:e119", "ICD10 E11.9", "ICD10_E11.9"),
    "snomedct:22298006": ("SNOMEDCT_US_2023_03_01:22298006", "SNOMED CT 22298006", "SCTID22298006"),
    "chebi:15377": ("CHEBI15377", "CHEBI:CHEBI:15377", "CHEBI_15377"),
    "dbsnp:rs1": ("RS:rs1", "dbSNP rs1", "dbSNP:rs1"),
}
"""Normal form of an identifier -> spellings of it."""
NO_SPELLINGS: tuple[str, ...] = (
    "#104300",
    "104300",
    "NCBI:7157",
    "GENE:TP53",
    "GENE7157",
    "EG7157",
    "DO4",
    "DO 4",
    "TAX9606",
)
NO_SPELLINGS += ("HP:1250", "ICD10CM:E11.9", "ICD9:2500", "MESHD001943", "D001943", "C0002395", "CHEMBL25", "rs1")
NO_SPELLINGS += ("Host:7157", "CL23", "SO4", "OMIM1", "c|DEL|12_14|")
"""What may mean something else, and is only itself."""


@pytest.mark.parametrize(("key", "spellings"), SPELLINGS.items())
def test_spellings_of_an_identifier_have_one_normal_form(key: str, spellings: Sequence[str]) -> None:
    assert {one: look_up_key(one) for one in spellings} == dict.fromkeys(spellings, key)


def test_what_may_mean_something_else_is_only_itself() -> None:
    assert [look_up_key(one) for one in NO_SPELLINGS] == [one.casefold() for one in NO_SPELLINGS]


# --- Primary ids before alternate ids


@pytest.mark.parametrize("given", ["mesh:D001943", "MSH:D001943", "MESH:d001943", "D001943", "d001943"])
def test_another_spelling_of_an_id_wins_over_an_alternate_id_of_another_entity(world: World, given: str) -> None:
    world.kb(
        (
            {"id": "OMIM:114480", "name": "Familial breast cancer", "types": ["Disease"], "alt_ids": ["MESH:D001943"]},
            {"id": "MESH:D001943", "name": "Breast Neoplasms", "types": ["Disease"]},
        )
    )
    load(world, pubtator([("cancer", "Disease", given)]))
    assert ids(world) == ["MESH:D001943"]
    entity = world.project.knowledge.entity(given)
    assert entity is not None
    assert entity.id == "MESH:D001943"
    assert world.project.uses.of(given).entity_id == "MESH:D001943"


def test_an_id_that_differs_from_two_others_only_in_case_is_neither(world: World) -> None:
    world.kb(({"id": "Foo", "name": "a"}, {"id": "FOO", "name": "b"}))
    load(world, table([("x", "T", "FOO"), ("y", "T", "foo")]))
    assert ids(world) == ["FOO", "undecided"]


# --- A foreign prefix matches nothing

BARE = (
    {"id": "7157", "name": "TP53"},
    {"id": "104300", "name": "FAKE"},
    {"id": "9606", "name": "GENE9606"},
    {"id": "D003920", "name": "Local D"},
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.__name__)
def test_a_foreign_prefix_matches_no_id_without_prefix(
    world: World, document: Callable[[Sequence[Row]], Mapping[str, str]]
) -> None:
    kb = load_kb(world, kb_lines([(one["name"], "Entry", one["id"]) for one in BARE]))
    assert any("3 entities of kb.jsonl have numbers without a prefix" in one.problem.text for one in kb.problems)
    rows = (("a", "Disease", "OMIM:104300"), ("b", "Species", "NCBITaxon:9606"), ("c", "Disease", "MESH:D003920"))
    report = load(world, document(rows))
    assert (report.counts["nil"], report.counts.get("linked", 0)) == (3, 0)
    hint = "the knowledge base has 3 of these ids without their prefixes and without their vocabulary"
    assert any(hint in one.problem.text for one in report.problems)
    assert world.project.knowledge.entity("OMIM:104300") is None


@pytest.mark.parametrize(
    ("entities", "wish", "linked", "foreign"),
    [
        ([("7157", "Gene"), ("59341", "Gene")], {}, "Entrez:7157", "OMIM:7157"),
        ([("9606", "Species"), ("10090", "Organism")], {}, "taxonomy:9606", "NCBIGene:9606"),
        ([("D003920", "Disease"), ("C531847", "Disease")], {}, "MSH:D003920", "UMLS:D003920"),
        ([("C0011849", "T047")], {}, "UMLS_CUI:C0011849", "NCIT:C0011849"),
        ([("rs1234", "SNP")], {}, "dbSNP:rs1234", "MESH:rs1234"),
        ([("104300", "Disease")], {"ids_of": "MIM"}, "OMIM:104300", "SNOMEDCT:104300"),
        ([("77", "Thing")], {"ids_of": "Ours"}, "ours:77", "theirs:77"),
        ([("104300", "Disease")], {"prefix": "OMIM"}, "MIM:104300", "SNOMEDCT:104300"),
    ],
)
def test_the_vocabulary_of_ids_without_prefix_is_recognised_or_given(
    world: World, entities: Sequence[tuple[str, str]], wish: Mapping[str, Any], linked: str, foreign: str
) -> None:
    load_kb(world, kb_lines([(f"n{one}", kind, one) for one, kind in entities]), **wish)
    load(world, pubtator([("a", "X", linked), ("b", "X", foreign), ("c", "X", entities[0][0])]))
    first = f"OMIM:{entities[0][0]}" if "prefix" in wish else entities[0][0]
    assert ids(world) == [first, "", first]


def test_codes_of_a_thesaurus_that_look_like_mesh_are_not_mesh(world: World) -> None:
    load_kb(world, kb_lines([("a", "Drug", "C123456"), ("b", "Drug", "C104732")]))
    load(world, pubtator([("a", "Drug", "MESH:C123456")]))
    assert ids(world) == [""]


def test_a_kept_source_keeps_its_vocabulary(world: World) -> None:
    load_kb(world, kb_lines([("a", "Thing", "77")]), ids_of="OMIM")
    load_kb(world, kb_table([("b", "Thing", "MESH:D1")]), add=True)
    entity = world.project.knowledge.entity("MIM:77")
    assert entity is not None
    assert entity.id == "77"


def test_two_sources_with_spellings_of_one_id_have_one_entity(world: World) -> None:
    load_kb(world, kb_lines([("a", "Disease", "MSH:D003920"), ("x", "T", "Foo")]))
    report = load_kb(
        world, {"second.obo": kb_obo([("b", "Disease", "MESH:D003920"), ("y", "T", "FOO")])["kb.obo"]}, add=True
    )
    assert (report.counts["entities"], report.counts["left out"]) == (3, 1)
    entity = world.project.knowledge.entity("mesh:D003920")
    assert entity is not None
    assert (entity.id, entity.name) == ("MSH:D003920", "a")


# --- Columns of a table

COLUMNS = (
    ("MeSH ID", "Disease", "D003920", "MESH:D003920"),
    ("NCBI Gene ID", "Gene", "7157", "NCBIGene:7157"),
    ("gene_id", "Gene", "7157", "NCBIGene:7157"),
    ("Taxonomy ID", "Species", "9606", "NCBITaxon:9606"),
    ("Taxonomy ID", "Gene", "9606", "undecided"),
    ("Taxonomy ID", "Thing", "9606", "undecided"),
    ("UMLS CUI", "Disease", "C0011849", ""),
    ("kb_id", "Disease", "MSH:D003920", "MESH:D003920"),
    ("identifier", "Disease", "OMIM:104300|MESH:D003920", "OMIM:104300 + MESH:D003920"),
    ("normalized", "Disease", "MESH:D003920", "MESH:D003920"),
    ("normalized", "Disease", "diabetes 2", "undecided"),
    ("link", "Disease", "https://example.org/page/104300", "undecided"),
    ("Strength", "Disease", "7157", "undecided"),
)


@pytest.mark.parametrize(("heading", "kind", "cell", "expected"), COLUMNS)
def test_a_column_of_identifiers_is_known_by_its_heading(
    world: World, heading: str, kind: str, cell: str, expected: str
) -> None:
    load_kb(world, kb_lines(USUAL))
    report = load(world, {"d.csv": f"document,text,mention,start,end,type,{heading}\nd,x y,x,0,1,{kind},{cell}\n"})
    assert ids(world) == [expected]
    unread = any(f"The column “{heading}” is not read" in one.problem.text for one in report.problems)
    assert unread == (expected == "undecided")


def test_each_row_of_a_table_may_have_its_own_column_of_identifiers(world: World) -> None:
    load_kb(world, kb_lines(USUAL))
    rows = ["d,x y,x,0,1,Disease,-,D003920,", "d,x y,y,2,3,Gene,,,7157", "d,x y,x y,0,3,Thing,104300,,"]
    head = "document,text,mention,start,end,type,ids,MeSH ID,Entrez Gene"
    assert not load(world, {"d.csv": "\n".join([head, *rows, ""])}).problems
    assert sorted(ids(world)) == ["MESH:D003920", "NCBIGene:7157", "OMIM:104300"]


def test_a_column_with_the_database_is_the_prefix_of_a_number(world: World) -> None:
    world.kb(GENES)
    rows = "d,x y,x,0,1,Thing,7157,NCBI Gene\nd,x y,y,2,3,Thing,10090,NCBI Taxonomy\n"
    load(world, {"d.csv": f"document,text,mention,start,end,type,ids,database\n{rows}"})
    assert ids(world) == ["NCBIGene:7157", ""]


# --- A number is not an entity of another type

GENES = (
    {"id": "NCBIGene:10090", "name": "UST", "types": ["Gene"]},
    {"id": "NCBIGene:7157", "name": "TP53", "types": ["Gene"]},
)
BARE_GENES = tuple({**one, "id": str(one["id"]).partition(":")[2]} for one in GENES)
UNTYPED_GENES = tuple({"id": one["id"], "name": one["name"]} for one in GENES)


@pytest.mark.parametrize("kb", [GENES, BARE_GENES, UNTYPED_GENES], ids=["genes", "bare genes", "untyped genes"])
@pytest.mark.parametrize("document", [one for one in DOCUMENTS if one is not brat], ids=lambda one: one.__name__)
def test_a_number_is_no_entity_of_another_type(
    world: World, document: Callable[[Sequence[Row]], Mapping[str, str]], kb: Sequence[Mapping[str, Any]]
) -> None:
    kinds = ("Species", "OrganismTaxon", "CellLine", "DNAMutation", "Disease", "MouseStrain", "Species name", "Host")
    world.kb(kb)
    report = load(world, document([("TP53", "Gene", "7157"), *(("mice", kind, "10090") for kind in kinds)]))
    assert ids(world) == [kb[1]["id"], *["undecided"] * len(kinds)]
    assert report.counts["left undecided, of another type"] == len(kinds)
    assert [one.problem.text for one in report.problems] == [
        f'document d: "mice" ({kind}): id 10090 is {kb[0]["id"]} in the knowledge base, of another type: left undecided'
        for kind in kinds
    ]
    assert world.project.queue.open(1).document.state is not DocumentState.DONE
    assert {world.project.knowledge.mapping().types_for(kind) for kind in kinds} == {()}


@pytest.mark.parametrize("document", [bioc_json, bioc_xml])
def test_a_stated_database_is_the_prefix_of_a_number(world: World, document: Callable[..., Mapping[str, str]]) -> None:
    world.kb(GENES)
    infons = {"7157": {"database": "ncbi_gene"}, "10090": {"database": "ncbi_taxonomy"}}
    rows = [("TP53", "Target", "7157"), ("mice", "Thing", "10090")]
    report = load(world, document(rows, lambda one: {"identifier": one, **infons[one], "normalized_id": one}))
    assert ids(world) == ["NCBIGene:7157", ""]
    assert "id NCBITaxon:10090 is not in the knowledge base" in report.problems[0].problem.text


@pytest.mark.parametrize(
    ("kind", "given"),
    [("Target", "7157"), ("SpecificDisease", "MESH:D001241"), ("Species", "NCBIGene:7157"), ("Modifier", "D001241")],
)
def test_a_type_of_the_corpus_alone_and_an_id_of_one_vocabulary_contradict_nothing(
    world: World, kind: str, given: str
) -> None:
    world.kb((*GENES, {"id": "MESH:D001241", "name": "Aspirin", "types": ["Chemical"]}))
    load(world, pubtator([("x", kind, given)]))
    assert ids(world)[0].endswith(given.partition(":")[2] or given)


def test_links_of_ids_with_a_prefix_to_another_type_are_kept_and_counted(world: World) -> None:
    world.kb((*GENES, {"id": "MESH:D004070", "name": "Digitalis", "types": ["Organism"]}))
    rows = [("digitalis", "Chemical", "MESH:D004070"), ("p53", "Gene", "NCBIGene:7157")]
    report = load(world, pubtator([*rows, ("digitalis", "Chemical", "MSH:D004070")]))
    assert ids(world) == ["MESH:D004070", "NCBIGene:7157", "MESH:D004070"]
    assert [one.problem.text for one in report.problems] == [
        "2 mentions link to entities of another type, by ids that name their vocabulary: kept (first: document d, "
        '"digitalis" (Chemical), MESH:D004070 (Organism))'
    ]
    assert world.project.queue.open(1).document.state is DocumentState.DONE


# --- A variant's form is its identifier

VARIANTS = (
    {"id": "p|SUB|P|799|L", "name": "P799L", "types": ["ProteinMutation"]},
    {"id": "rs121912637", "name": "rs121912637", "types": ["SNP"]},
    {"id": "59341", "name": "TRPV4", "types": ["Gene"]},
    {"id": "799", "name": "Another gene", "types": ["Gene"]},
    {"id": "c|SUB|G|12|A", "name": "c.12G>A", "types": ["DNAMutation"]},
)


FORMS = {
    "p|SUB|P|799|L": "p|SUB|P|799|L",
    "tmVar:p|SUB|P|799|L": "p|SUB|P|799|L",
    "p|SUB|P|799|L;CorrespondingGene:59341;RS#:121912637;VariantGroup:1": "p|SUB|P|799|L",
    "tmVar:p|SUB|P|799|L;HGVS:p.P799L;VariantGroup:1;CorrespondingGene:59341;RS#:121912637": "p|SUB|P|799|L",
    "c|SUB|G|12|A;CorrespondingGene:59341": "c|SUB|G|12|A",
    "c|SUB|G|12|A;RS#:121912637": "c|SUB|G|12|A",
    "c|SUB|G|13|A;RS#:121912637;CorrespondingGene:59341": "",
    "rs121912637": "rs121912637",
    "RS#:rs121912637": "rs121912637",
    "tmVar:rs121912637;VariantGroup:3": "rs121912637",
    "rs121912637;CorrespondingGene:59341": "rs121912637",
    "RS#:121912637;VariantGroup:0;CorrespondingGene:59341": "rs121912637",
    "VariantGroup:0;CorrespondingGene:59341": "",
}
"""What is written of a variant -> its entity."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.__name__)
def test_a_variant_is_its_form_and_never_its_gene(
    world: World, document: Callable[[Sequence[Row]], Mapping[str, str]]
) -> None:
    forms = {given: one for given, one in FORMS.items() if document is not brat or ":" in given}  # brat needs a prefix
    world.kb(VARIANTS)
    load(world, document([("P799L", "SequenceVariant", given) for given in forms]))
    assert dict(zip(forms, [one.removeprefix("undecided") for one in ids(world)], strict=True)) == forms


@pytest.mark.parametrize("document", [pubtator, bioc_json, bioc_xml])
def test_what_is_stated_of_variants_besides_their_form_is_named(
    world: World, document: Callable[[Sequence[Row]], Mapping[str, str]]
) -> None:
    world.kb(VARIANTS)
    report = load(world, document([("P799L", "SequenceVariant", given) for given in list(FORMS)[:3]]))
    assert [one.problem.text for one in report.problems] == [
        "other information about variants is kept in the file and not read: CorrespondingGene (1), "
        "RS# (1), VariantGroup (1)"
    ]


# --- Names of fields

KEYS = {
    "NCBI Gene identifier": "7157",
    "NCBI Gene": "7157",
    "NCBI_GeneID": "7157",
    "Entrez Gene ID": "7157",
    "entrez_id": "7157",
    "gene_id": "7157",
    "MESH ID": "D003920",
    "meshId": "D003920",
    "MeSH": "D003920",
    "OMIM number": "104300",
    "HPO ID": "0001250",
    "HPO": "HP:0001250",
    "umls_cui": "C0011849",
    "CUI": "C0011849",
    "NCBI Taxonomy": "9606",
    "taxid": "9606",
    "SNOMED CT code": "22298006",
    "normalized_id": "MESH:D003920",
    "concept_id": "MESH:D003920",
    "identifiers": "MESH:D003920",
}
KEYED = (
    {"id": "NCBIGene:7157", "name": "a"},
    {"id": "MESH:D003920", "name": "b"},
    {"id": "OMIM:104300", "name": "c"},
    {"id": "HP:0001250", "name": "d"},
    {"id": "UMLS:C0011849", "name": "e"},
    {"id": "NCBITaxon:9606", "name": "f"},
    {"id": "SNOMEDCT:22298006", "name": "g"},
)


@pytest.mark.parametrize("others", [{}, {"identifier": ""}, {"identifier": "-", "code": "222"}], ids=str)
@pytest.mark.parametrize("document", [bioc_json, bioc_xml])
def test_an_infon_with_identifiers_is_known_by_what_its_name_means(
    world: World, document: Callable[..., Mapping[str, str]], others: Mapping[str, str]
) -> None:
    world.kb(KEYED)
    rows = [("x", "Thing", f"{key}={value}") for key, value in KEYS.items()]
    report = load(world, document(rows, lambda one: {**others, **dict([one.split("=")])}))
    meant = [one.rpartition(":")[2] for one in KEYS.values()]
    assert dict(zip(KEYS, [one.rpartition(":")[2] for one in ids(world)], strict=True)) == dict(
        zip(KEYS, meant, strict=True)
    )
    assert report.problems == ()


@pytest.mark.parametrize("form", ["huggingface", "pubannotation"])
def test_a_field_with_identifiers_is_known_in_data_sets_and_pubannotation(world: World, form: str) -> None:
    world.kb(KEYED)
    text, spans = " ".join("x" * len(KEYS)), [(2 * n, 2 * n + 1) for n in range(len(KEYS))]
    if form == "huggingface":
        entities = [
            {"start": a, "end": b, "label": "Thing", key: value}
            for (a, b), (key, value) in zip(spans, KEYS.items(), strict=True)
        ]
        files = {"d.jsonl": json.dumps({"id": "d", "text": text, "entities": entities}) + "\n"}
    else:
        marks = [{"id": f"T{a}", "span": {"begin": a, "end": b}, "obj": "Thing"} for a, b in spans]
        said = [
            {"id": f"A{a}", "subj": f"T{a}", "pred": key, "obj": value}
            for (a, _), (key, value) in zip(spans, KEYS.items(), strict=True)
        ]
        files = {"d.json": json.dumps({"text": text, "sourceid": "d", "denotations": marks, "attributes": said})}
    load(world, files)
    meant = {key: value.rpartition(":")[2] for key, value in KEYS.items()}
    assert dict(zip(KEYS, [one.rpartition(":")[2] for one in ids(world)], strict=True)) == meant


@pytest.mark.parametrize("document", [bioc_json, bioc_xml])
def test_infons_that_look_like_identifiers_and_are_not_read_are_counted(
    world: World, document: Callable[..., Mapping[str, str]]
) -> None:
    world.kb(KEYED)
    rows = [("x", "Gene", "7157"), ("y", "Gene", "7157")]
    report = load(
        world, document(rows, lambda one: {"Foo ID": f"F{one}", "xref": "MESH:D003920", "PR": "0.93", "code": "2"})
    )
    assert [one.problem.text for one in report.problems] == [
        f"infon “{key}” looks like an identifier and was not read (2 annotations)" for key in ("Foo ID", "xref")
    ]
    assert report.counts["without a statement"] == 2


@pytest.mark.parametrize(
    ("infons", "expected"),
    [
        ({"identifier": ["MESH:D003920"]}, "MESH:D003920"),
        ({"identifier": ["MSH:D003920", "104300"]}, "MESH:D003920 + OMIM:104300"),
        ({"NCBI Gene": [7157]}, "NCBIGene:7157"),
        ({"identifier": [], "MESH ID": ["D003920"]}, "MESH:D003920"),
        ({"identifier": ["-"]}, ""),
        ({"identifier": []}, "undecided"),
    ],
)
def test_a_list_of_identifiers_in_json_is_read_and_stays_a_list(
    world: World, infons: Mapping[str, Any], expected: str
) -> None:
    load_kb(world, kb_lines(USUAL))
    load(world, bioc_json([("x", "Thing", "")], lambda _: infons))
    assert ids(world) == [expected]
    world.project.curation.decide(world.mentions(1)[0], Verdict.link("NCBITaxon:9606"))
    out = world.folder / "out.json"
    world.project.exporting.export(out, "bioc-json")
    (mention,) = json.loads(out.read_text())["documents"][0]["passages"][0]["annotations"]
    assert isinstance(mention["infons"].get("identifier", []), list)


@pytest.mark.parametrize(
    ("stated", "written_as"),
    [
        ({"id": "MESH:D003920", "name": "Diabetes"}, {"id": "NCBITaxon:9606"}),
        ({"database": "MESH", "id": "D003920"}, {"id": "NCBITaxon:9606"}),
        ([{"id": "MESH:D003920"}], [{"id": "NCBITaxon:9606"}]),
    ],
)
def test_an_identifier_in_an_object_is_read_and_stays_an_object(world: World, stated: Any, written_as: Any) -> None:
    load_kb(world, kb_lines(USUAL))
    load(world, bioc_json([("x", "Thing", "")], lambda _: {"identifier": stated}))
    assert ids(world) == ["MESH:D003920"]
    out = world.folder / "out.json"
    for verdict, expected in ((None, stated), (Verdict.link("NCBITaxon:9606"), written_as)):
        if verdict is not None:
            world.project.curation.decide(world.mentions(1)[0], verdict)
        world.project.exporting.export(out, "bioc-json")
        (mention,) = json.loads(out.read_text())["documents"][0]["passages"][0]["annotations"]
        assert mention["infons"]["identifier"] == expected


def test_lists_that_look_like_identifiers_and_are_not_read_are_named(world: World) -> None:
    load_kb(world, kb_lines(USUAL))
    report = load(world, bioc_json([("x", "Thing", "")], lambda _: {"xrefs": ["MESH:D003920", "OMIM:104300"]}))
    assert ["“xrefs” looks like an identifier" in one.problem.text for one in report.problems] == [True]


@pytest.mark.parametrize("document", [pubtator, bioc_json, bioc_xml, table, huggingface, webanno])
def test_a_word_for_no_entity_is_no_identifier(world: World, document: Callable[..., Mapping[str, str]]) -> None:
    words = ["-", "-1", "NIL", "null", "None", "CUI-less", " - "]
    load_kb(world, kb_lines(USUAL))
    rows = [(f"x{n}", "Disease", word) for n, word in enumerate(words)]
    report = load(world, document([*rows, ("y", "Disease", "MESH:D003920")]))
    assert ids(world) == [*[""] * len(words), "MESH:D003920"]
    assert report.problems == ()


@pytest.mark.parametrize("document", [bioc_json, bioc_xml])
def test_a_word_for_no_entity_hides_no_identifier(world: World, document: Callable[..., Mapping[str, str]]) -> None:
    load_kb(world, kb_lines(USUAL))
    load(world, document([("x", "Gene", "7157")], lambda one: {"identifier": "None", "NCBI Gene": one}))
    assert ids(world) == ["NCBIGene:7157"]


@pytest.mark.parametrize("document", [pubtator, bioc_json, bioc_xml])
def test_several_variants_in_one_field_are_apart(world: World, document: Callable[..., Mapping[str, str]]) -> None:
    world.kb([{"id": one, "name": one} for one in ("p|SUB|P|799|L", "c|SUB|G|12|A")])
    load(world, document([("x", "Variant", "p|SUB|P|799|L,c|SUB|G|12|A")]))
    assert ids(world) == ["p|SUB|P|799|L + c|SUB|G|12|A"]


@pytest.mark.parametrize("document", [bioc_json, bioc_xml])
def test_the_species_of_a_gene_is_not_its_identifier(world: World, document: Callable[..., Mapping[str, str]]) -> None:
    world.kb(KEYED)
    report = load(world, document([("p53", "Gene", "7157")], lambda one: {"NCBI Gene": one, "NCBI Taxonomy": "9606"}))
    assert ids(world) == ["NCBIGene:7157"]
    assert [one.problem.text for one in report.problems] == [
        "infon “NCBI Taxonomy” looks like an identifier and was not read (1 annotation)"
    ]


# --- What is decided and written


def exported(world: World, format_name: str, name: str) -> str:
    out = world.folder / name
    world.project.exporting.export(out, format_name)
    return out.read_text(encoding="utf-8")


FORMS_WRITTEN = [(pubtator, "pubtator"), (bioc_json, "bioc-json"), (bioc_xml, "bioc-xml")]


@pytest.mark.parametrize(("document", "form"), FORMS_WRITTEN)
def test_identifiers_are_written_as_the_file_writes_them(
    world: World, document: Callable[[Sequence[Row]], Mapping[str, str]], form: str
) -> None:
    load_kb(world, kb_lines(USUAL))
    ((name, content),) = document(renamed(ALIASES)).items()
    load(world, {name: content})
    for number, (_, _, other) in enumerate(reversed(USUAL)):  # each mention gets the entity of another
        world.project.curation.decide(world.mentions(1)[number], Verdict.link(other))
    again = exported(world, form, name)
    assert [again.index(one) for one in ALIASES] == sorted((again.index(one) for one in ALIASES), reverse=True)


@pytest.mark.parametrize("to", [Verdict.nil(), Verdict.link("NCBITaxon:9606"), Verdict.link("NCBIGene:7157")], ids=str)
@pytest.mark.parametrize(("document", "form"), [(bioc_json, "bioc-json"), (bioc_xml, "bioc-xml")])
def test_a_changed_decision_leaves_no_second_statement(
    world: World, document: Callable[..., Mapping[str, str]], form: str, to: Verdict
) -> None:
    world.kb(KEYED)
    stated = {"identifier": "222", "database": "ncbi_gene", "normalized_id": "222", "NCBI Gene ID": "222", "tax": "222"}
    load(world, document([("x", "Thing", "222")], lambda _: stated))
    assert ids(world) == [""]
    world.project.curation.decide(world.mentions(1)[0], to)
    again = exported(world, form, "again" + (".json" if form == "bioc-json" else ".xml"))
    other = again.replace(">d<", ">e<").replace('"id": "d"', '"id": "e"')
    finish(world.project.importing.documents([world.write(other, name="second")], gold=True))
    assert verdicts(world, 2) == [to]


VARIANT_RELATIONS = (
    "7|t|c.12_14del aspirin ulcer\n7|a|\n"
    "7\t0\t10\tc.12_14del\tSequenceVariant\tc|DEL|12_14|\n"
    "7\t11\t18\taspirin\tChemical\tMESH:D001241\n"
    "7\t19\t24\tulcer\tDisease\tMESH:D014456\n"
    "7\tAssociation\tc|DEL|12_14|\tMESH:D014456\tNovel\n"
    "7\tCause\tChemical|MESH:D001241\tSequenceVariant|c|DEL|12_14|\n"
    "7\tCause\tMESH:D014456\ttmVar:p|SUB|V|30|M;CorrespondingGene:7276\n\n"
)


def test_a_variant_at_the_end_of_a_relation_is_an_entity_without_role(world: World) -> None:
    world.kb(({"id": "MESH:D001241", "name": "Aspirin"}, {"id": "c|DEL|12_14|", "name": "c.12_14del"}))
    load(world, {"d.pubtator": VARIANT_RELATIONS})
    ends = [[(end.role, end.entity_id) for end in one.ends] for one in world.project.relations.of_document(1)]
    assert ends == [
        [("", "c|DEL|12_14|"), ("", "MESH:D014456")],
        [("Chemical", "MESH:D001241"), ("SequenceVariant", "c|DEL|12_14|")],
        [("", "MESH:D014456"), ("", "p|SUB|V|30|M")],
    ]
    assert exported(world, "pubtator", "out.pubtator") == VARIANT_RELATIONS


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("Chemical|MESH:D001241", "MESH:D001241"),
        ("Chemical|MESH:D001241|MESH:D000001", "MESH:D001241|MESH:D000001"),
        ("MESH:D001241,MESH:D000001", "MESH:D001241,MESH:D000001"),
        ("Variant|c|DEL|12_14|", "c|DEL|12_14|"),
    ],
)
def test_the_end_of_a_bioc_relation_may_have_its_type_or_several_entities(world: World, form: str, first: str) -> None:
    world.kb(({"id": "MESH:D001241", "name": "Aspirin"}, {"id": "MESH:D014456", "name": "Ulcer"}))
    files = bioc_json([("aspirin", "Chemical", "MESH:D001241"), ("ulcer", "Disease", "MESH:D014456")])
    whole = json.loads(files["d.json"])
    infons = {"type": "Cause", "score": "0.9", "role1": form, "role2": "Disease|MESH:D014456"}
    whole["documents"][0]["relations"] = [{"id": "R", "infons": infons, "nodes": []}]
    load(world, {"d.json": json.dumps(whole)})
    assert f"d\tCause\t{first}\tMESH:D014456\t0.9\n" in exported(world, "pubtator", "out.pubtator")


@pytest.mark.parametrize("ends", [("MESH:D001241",), ("MESH:D001241", "MESH:D014456", "MESH:D000001")])
def test_a_bioc_relation_of_one_or_three_entities_is_shown_and_reported(world: World, ends: tuple[str, ...]) -> None:
    world.kb(({"id": "MESH:D001241", "name": "Aspirin"}, {"id": "MESH:D014456", "name": "Ulcer"}))
    files = bioc_json([("aspirin", "Chemical", "MESH:D001241"), ("ulcer", "Disease", "MESH:D014456")])
    whole = json.loads(files["d.json"])
    infons = {"type": "Cause"} | {f"end{number}": one for number, one in enumerate(ends)}
    whole["documents"][0]["relations"] = [{"id": "R", "infons": infons, "nodes": []}]
    load(world, {"d.json": json.dumps(whole)})
    (found,) = world.project.relations.of_document(1)
    assert tuple(end.name for end in found.ends) == ends
    report = world.project.exporting.export(world.folder / "out.pubtator", "pubtator")
    assert "1 event was left out" in "".join(one.text for one in report.problems)


@pytest.mark.parametrize("role", ["role1", "entity1", "Arg1", "Chemical1", "subject", "Chemical"])
def test_a_role_of_bioc_is_not_written_to_pubtator(world: World, role: str) -> None:
    world.kb(({"id": "MESH:D001241", "name": "Aspirin"}, {"id": "MESH:D014456", "name": "Ulcer"}))
    files = bioc_json([("aspirin", "Chemical", "MESH:D001241"), ("ulcer", "Disease", "MESH:D014456")])
    whole = json.loads(files["d.json"])
    ends: dict[str, Any] = {role: "MESH:D001241", "role2": "MESH:D014456"}
    if role == "role1":  # as in PubTator 3
        ends = {key: {"type": "Chemical", "identifier": one} for key, one in ends.items()}
    whole["documents"][0]["relations"] = [{"id": "R", "infons": {"type": "Cause", **ends}, "nodes": []}]
    load(world, {"d.json": json.dumps(whole)})
    assert "d\tCause\tMESH:D001241\tMESH:D014456\n" in exported(world, "pubtator", "out.pubtator")


def test_identifiers_of_imported_judgements_are_resolved_as_at_import(world: World) -> None:
    world.kb(({"id": "MESH:D1", "name": "A", "alt_ids": ["MESH:D9"]}, {"id": "MESH:D2", "name": "B"}))
    rows = [("aaa", "Disease", "-"), ("bbb", "Disease", "-"), ("ccc", "Disease", "-")]
    finish(world.project.importing.documents([written(world, table(rows))]))
    found = world.project.rounds.create("r", [1])
    head = {"document": "d", "occurrence": 0, "sha256": text_hash(text_of(rows))}
    pairs = (("MESH:D1", "MESH:D9"), ("MESH:D2", "msh:d2"), ("MESH:D2", "MESH:D7"))
    lines: list[dict[str, Any]] = [{"format": "curator-round", "version": 1, "name": "r", "kind": "blind"}, head]
    for at, pair in enumerate(pairs):
        for who, one in zip(("ann", "bob"), pair, strict=True):
            said = {"curator": who, "outcome": "link", "entities": [one, one], "reason": None}
            place = {"spans": [[4 * at, 4 * at + 3]], "mention": "x", "type": "Disease"}
            lines.append({**head, **place, **said, "at": "2026-11-28T09:00:00+00:00"})
    lines[0]["made"] = lines[2]["at"]
    path = world.write("".join(json.dumps(one) + "\n" for one in lines), name="r.jsonl")
    report = world.project.round_files.read(path)
    assert report.judgements == 6
    with world.store.read() as unit:
        judged = {(one.mention_id, one.curator): one.verdict.entity_ids for one in unit.rounds.current(found.id)}
    assert [judged[at] for at in sorted(judged)] == [
        (one,) for one in ("MESH:D1", "MESH:D1", "MESH:D2", "MESH:D2", "MESH:D2", "MESH:D7")
    ]

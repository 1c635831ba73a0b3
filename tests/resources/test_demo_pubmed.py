"""The PubMed demo keeps its promises: real MeSH ids, exact offsets, gold that resolves, enough NIL in every split."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

PUBMED = files("resources") / "demo" / "pubmed"
SPLITS = ("train", "validation", "test")
KB_FIELDS = ["id", "name", "synonyms", "types", "definition", "alt_ids", "tree_numbers", "parents"]
TYPES = {"Disease", "Chemical", "Organism", "Anatomy", "Procedure"}
NIL = "-1"


@dataclass(frozen=True)
class Line:
    """One annotation as it stands in the file; `ids` are bare MeSH ids or `-1`."""

    start: int
    end: int
    text: str
    type: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Doc:
    pmid: str
    title: str
    abstract: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return f"{self.title} {self.abstract}"


def read_text(name: str) -> str:
    return (PUBMED / name).read_bytes().decode("utf-8")


def parse_line(line: str, pmid: str) -> Line:
    found, start, end, text, kind, ids = line.split("\t")
    assert found == pmid
    return Line(start=int(start), end=int(end), text=text, type=kind, ids=tuple(ids.split("|")))


def parse_doc(block: str) -> Doc:
    head, body, *rest = block.split("\n")
    pmid, tag, title = head.split("|", 2)
    assert (tag, body.split("|", 2)[:2]) == ("t", [pmid, "a"])
    return Doc(pmid, title, body.split("|", 2)[2], tuple(parse_line(line, pmid) for line in rest))


def read_split(name: str) -> list[Doc]:
    text = read_text(f"{name}.pubtator")
    assert text.endswith("\n\n")
    return [parse_doc(block) for block in text[:-2].split("\n\n")]


@pytest.fixture(scope="module")
def kb() -> list[dict[str, Any]]:
    text = read_text("kb.jsonl")
    assert text.endswith("\n")
    return [json.loads(line) for line in text[:-1].split("\n")]


@pytest.fixture(scope="module")
def splits() -> dict[str, list[Doc]]:
    return {name: read_split(name) for name in SPLITS}


def mentions(docs: list[Doc]) -> list[Line]:
    return [line for doc in docs for line in doc.lines]


def names_of(kb: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Lower-cased name or synonym -> the bare ids that own it."""
    owners: dict[str, set[str]] = defaultdict(set)
    for entity in kb:
        for name in (entity["name"], *entity["synonyms"]):
            owners[name.casefold()].add(entity["id"].removeprefix("MESH:"))
    return owners


def test_every_entity_is_whole_and_its_id_is_a_unique_mesh_descriptor(kb: list[dict[str, Any]]) -> None:
    ids = {entity["id"] for entity in kb}
    assert len(kb) >= 400
    assert len(ids) == len({entity["name"] for entity in kb}) == len(kb)
    for entity in kb:
        assert list(entity) == KB_FIELDS
        assert re.fullmatch(r"MESH:D\d{6}(\d{3})?", entity["id"]), entity["id"]
        assert len(entity["types"]) == 1
        assert set(entity["types"]) <= TYPES
        assert entity["definition"].endswith("."), entity["name"]
        assert entity["tree_numbers"], entity["name"]
        assert set(entity["parents"]) <= ids - {entity["id"]}


def test_nearly_every_entity_has_synonyms_but_not_every_wording_is_one(
    kb: list[dict[str, Any]], splits: dict[str, list[Doc]]
) -> None:
    """Wordings that the knowledge base lacks are what a retrained linker can learn."""
    assert sum(bool(entity["synonyms"]) for entity in kb) >= 0.95 * len(kb)
    owners = names_of(kb)
    linked = [line for docs in splits.values() for line in mentions(docs) if line.ids != (NIL,)]
    assert sum(line.text.casefold() not in owners for line in linked) >= 0.2 * len(linked)


def test_no_synonym_is_empty_padded_or_repeated(kb: list[dict[str, Any]]) -> None:
    for entity in kb:
        names = [entity["name"], *entity["synonyms"]]
        assert all(name and name == name.strip() for name in names), entity["name"]
        assert len({name.casefold() for name in names}) == len(names), entity["name"]


def test_alternate_ids_belong_to_one_entity_each(kb: list[dict[str, Any]]) -> None:
    alternates = Counter(alt for entity in kb for alt in entity["alt_ids"])
    assert len(alternates) >= 5
    assert set(alternates.values()) == {1}
    assert not set(alternates) & {entity["id"] for entity in kb}


def test_types_and_homonyms_make_linking_worth_the_name(kb: list[dict[str, Any]]) -> None:
    per_type = Counter(entity["types"][0] for entity in kb)
    assert all(per_type[kind] >= 20 for kind in TYPES)
    shared = {name for name, owners in names_of(kb).items() if len(owners) > 1}
    assert {"ms", "ad", "pd", "ra", "lockjaw", "st anthony's fire"} <= shared


def test_ids_and_preferred_names_are_those_of_mesh(kb: list[dict[str, Any]], shared_data: Path) -> None:
    with gzip.open(shared_data / "kb" / "mesh_medic.jsonl.gz", "rt", encoding="utf-8") as lines:
        mesh = {(row["id"], row["name"]): row for row in map(json.loads, lines)}
    for entity in kb:
        row = mesh[entity["id"], entity["name"]]
        assert entity["tree_numbers"] == row["tree_numbers"]
        assert set(entity["parents"]) <= set(row["parents"])
        assert entity["definition"] != row["definition"]


def test_there_are_enough_documents_and_pmids_are_invented_and_unique(splits: dict[str, list[Doc]]) -> None:
    pmids = [doc.pmid for docs in splits.values() for doc in docs]
    assert len(pmids) >= 46
    assert len(set(pmids)) == len(pmids)
    assert all(90_000_001 <= int(pmid) < 90_001_000 for pmid in pmids)


@pytest.mark.parametrize("split", SPLITS)
def test_title_and_abstract_are_clean_prose(splits: dict[str, list[Doc]], split: str) -> None:
    for doc in splits[split]:
        assert not re.search(r"[\t\r\n|\[\]]| {2}|^\s|\s$", doc.title), doc.pmid
        assert not re.search(r"[\t\r\n|\[\]]| {2}|^\s|\s$", doc.abstract), doc.pmid
        assert 110 <= len(doc.abstract.split()) <= 225, doc.pmid
        assert doc.abstract.endswith("."), doc.pmid


@pytest.mark.parametrize("split", SPLITS)
def test_every_offset_selects_the_quoted_text(splits: dict[str, list[Doc]], split: str) -> None:
    for doc in splits[split]:
        assert doc.lines
        for line in doc.lines:
            assert doc.text[line.start : line.end] == line.text, doc.pmid
            assert line.text == line.text.strip() != ""


@pytest.mark.parametrize("split", SPLITS)
def test_mentions_are_sorted_unique_and_nest_without_crossing(splits: dict[str, list[Doc]], split: str) -> None:
    for doc in splits[split]:
        spans = [(line.start, line.end) for line in doc.lines]
        assert len(set(spans)) == len(spans)
        assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
        crossing = [(a, b) for a in spans for b in spans if a[0] < b[0] < a[1] < b[1]]
        assert not crossing, (doc.pmid, crossing)


@pytest.mark.parametrize("split", SPLITS)
def test_mentions_stand_at_word_boundaries(splits: dict[str, list[Doc]], split: str) -> None:
    for doc in splits[split]:
        for line in doc.lines:
            before, after = doc.text[line.start - 1 : line.start], doc.text[line.end : line.end + 1]
            assert not before.isalnum(), (doc.pmid, line)
            assert not after.isalnum() or after == "s", (doc.pmid, line)


@pytest.mark.parametrize("split", SPLITS)
def test_gold_is_in_the_knowledge_base_with_the_same_type_or_nil(
    kb: list[dict[str, Any]], splits: dict[str, list[Doc]], split: str
) -> None:
    types = {entity["id"].removeprefix("MESH:"): entity["types"][0] for entity in kb}
    for line in mentions(splits[split]):
        assert line.type in TYPES
        assert line.ids == (NIL,) or {types[i] for i in line.ids} == {line.type}, line


@pytest.mark.parametrize("split", SPLITS)
def test_an_exact_name_is_nil_or_another_entity_only_when_it_is_an_abbreviation(
    kb: list[dict[str, Any]], splits: dict[str, list[Doc]], split: str
) -> None:
    owners = names_of(kb)
    for line in mentions(splits[split]):
        known = owners.get(line.text.casefold())
        assert known is None or set(line.ids) <= known or line.text.isupper(), line


@pytest.mark.parametrize("split", SPLITS)
def test_at_least_fifteen_percent_of_each_split_is_nil(splits: dict[str, list[Doc]], split: str) -> None:
    lines = mentions(splits[split])
    assert sum(line.ids == (NIL,) for line in lines) / len(lines) >= 0.15


def test_validation_is_large_enough_to_tune_the_nil_threshold(splits: dict[str, list[Doc]]) -> None:
    nil = Counter(line.ids == (NIL,) for line in mentions(splits["validation"]))
    assert nil[True] >= 30
    assert nil[False] >= 100


def test_the_gold_is_large_and_varied(splits: dict[str, list[Doc]]) -> None:
    lines = [line for docs in splits.values() for line in mentions(docs)]
    assert len(lines) >= 600
    assert sum(len(line.ids) > 1 for line in lines) >= 8
    assert {line.type for line in lines} == TYPES
    nil = Counter(line.text.casefold() for line in lines if line.ids == (NIL,))
    assert sum(count > 1 for count in nil.values()) >= 10


def test_some_mentions_are_nested(splits: dict[str, list[Doc]]) -> None:
    docs = [doc for part in splits.values() for doc in part]
    nested = [b for d in docs for a in d.lines for b in d.lines if a is not b and a.start <= b.start and b.end <= a.end]
    assert len(nested) >= 5


def test_held_out_documents_hold_surfaces_and_wordings_that_train_never_saw(splits: dict[str, list[Doc]]) -> None:
    seen = {line.text.casefold() for line in mentions(splits["train"])}
    known = {i for line in mentions(splits["train"]) for i in line.ids}
    for split in ("validation", "test"):
        linked = [line for line in mentions(splits[split]) if line.ids != (NIL,)]
        unseen = [line for line in linked if line.text.casefold() not in seen]
        assert len(unseen) >= 0.3 * len(linked)
        assert sum(set(line.ids) <= known for line in unseen) >= 20


def test_one_abbreviation_means_different_entities_in_different_documents(splits: dict[str, list[Doc]]) -> None:
    meanings = defaultdict(set)
    for line in (line for docs in splits.values() for line in mentions(docs)):
        meanings[line.text].add(line.ids)
    assert {"MS", "AD", "PD", "RA", "CAD", "PCP"} <= {text for text, ids in meanings.items() if len(ids) > 1}


def test_offsets_are_exercised_by_accents_and_characters_beyond_the_basic_plane(splits: dict[str, list[Doc]]) -> None:
    docs = [doc for part in splits.values() for doc in part]
    assert any("Sjögren" in doc.text for doc in docs)
    astral = [d for d in docs if any(ord(c) > 0xFFFF for c in d.text[: max(line.start for line in d.lines)])]
    assert len(astral) >= 2


def test_sources_name_the_national_library_of_medicine_and_guidelines_explain_nil() -> None:
    assert "Courtesy of the U.S. National Library of Medicine" in read_text("SOURCES.md")
    assert "**NIL**" in read_text("guidelines.md")

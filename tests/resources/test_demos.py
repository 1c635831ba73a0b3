"""The demos keep their promises: the program reads them without a repair, gold resolves, and every split can teach."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from curator.domain.documents import SourceDocument, SourceMention
from curator.io.literature.pubtator import PubTatorFormat

DEMO = Path(str(files("resources"))) / "demo"
PUBMED, WIKIA = DEMO / "pubmed", DEMO / "wikia"
TYPES = {"Disease", "Chemical", "Organism", "Anatomy", "Procedure"}

Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def kb() -> dict[str, Row]:
    return {row["id"].removeprefix("MESH:"): row for row in rows(PUBMED / "kb.jsonl")}


@pytest.fixture(scope="module")
def splits() -> dict[str, list[SourceDocument]]:
    """Read as an import reads them: an offset that does not select its text would be a problem."""
    found = {}
    for split in ("train", "validation", "test"):
        reader = PubTatorFormat().open(PUBMED / f"{split}.pubtator")
        found[split] = list(reader)
        assert not reader.problems
    return found


def mentions(documents: list[SourceDocument]) -> Iterator[SourceMention]:
    return (one for document in documents for one in document.mentions)


def test_entities_of_pubmed_are_whole_and_unique(kb: dict[str, Row]) -> None:
    assert len(kb) == len({row["name"] for row in kb.values()}) >= 400
    assert all(row["definition"] and row["tree_numbers"] and set(row["types"]) <= TYPES for row in kb.values())
    assert {one.removeprefix("MESH:") for row in kb.values() for one in row["parents"]} <= set(kb)
    alternates = Counter(one for row in kb.values() for one in row["alt_ids"])
    assert set(alternates.values()) == {1}
    assert not {one.removeprefix("MESH:") for one in alternates} & set(kb)


def test_ids_and_names_are_those_of_mesh(kb: dict[str, Row], shared_data: Path) -> None:
    with gzip.open(shared_data / "kb" / "mesh_medic.jsonl.gz", "rt", encoding="utf-8") as lines:
        mesh = {(row["id"], row["name"]): row for row in map(json.loads, lines)}
    for row in kb.values():
        assert mesh[row["id"], row["name"]]["tree_numbers"] == row["tree_numbers"]


def test_documents_of_pubmed_are_unique_and_invented(splits: dict[str, list[SourceDocument]]) -> None:
    pmids = [one.external_id for documents in splits.values() for one in documents]
    assert len(set(pmids)) == len(pmids) >= 46
    assert all(90_000_001 <= int(pmid) < 90_001_000 for pmid in pmids)


def test_gold_is_in_the_knowledge_base_with_the_same_type_or_nil(
    kb: dict[str, Row], splits: dict[str, list[SourceDocument]]
) -> None:
    for one in (mention for documents in splits.values() for mention in mentions(documents)):
        assert one.type in TYPES
        assert one.nil or {kb[identifier]["types"][0] for identifier in one.ids} == {one.type}, one


def test_every_split_has_enough_nil_and_words_that_train_lacks(splits: dict[str, list[SourceDocument]]) -> None:
    seen = {one.text.casefold() for one in mentions(splits["train"])}
    for split, documents in splits.items():
        nil = Counter(one.nil for one in mentions(documents))
        assert nil[True] >= 0.15 * nil.total()
        if split == "validation":  # enough to fit the threshold of NIL
            assert (nil[True] >= 30, nil[False] >= 100) == (True, True)
        if split != "train":
            linked = [one for one in mentions(documents) if not one.nil]
            assert sum(one.text.casefold() not in seen for one in linked) >= 0.3 * len(linked)


def test_some_abbreviations_mean_different_entities(splits: dict[str, list[SourceDocument]]) -> None:
    meanings = defaultdict(set)
    for one in (mention for documents in splits.values() for mention in mentions(documents)):
        meanings[one.text].add(one.ids)
    assert {"MS", "AD", "PD", "RA", "CAD", "PCP"} <= {text for text, ids in meanings.items() if len(ids) > 1}


@pytest.fixture(scope="module")
def worlds() -> dict[str, dict[str, Row]]:
    """World -> document id -> document."""
    paths = sorted((WIKIA / "documents").glob("*.json"))
    return {path.stem: {row["document_id"]: row for row in rows(path)} for path in paths}


def category(text: str, title: str) -> str:
    """The four categories of Logeswaran et al. 2019, section 3, ignoring case."""
    mention, name = text.lower(), title.lower()
    if mention == name:
        return "HIGH_OVERLAP"
    if name.startswith(f"{mention} ( ") and name.endswith(" )"):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if mention in name else "LOW_OVERLAP"


def test_mentions_of_wikia_link_two_documents_of_one_world(worlds: dict[str, dict[str, Row]]) -> None:
    of_splits = [rows(WIKIA / "mentions" / f"{split}.json") for split in ("train", "val", "test")]
    assert sorted(world for found in of_splits for world in {row["corpus"] for row in found}) == sorted(worlds)
    for row in (row for found in of_splits for row in found):
        documents = worlds[row["corpus"]]
        context, label = documents[row["context_document_id"]], documents[row["label_document_id"]]
        assert context is not label
        words = context["text"].split()[row["start_index"] : row["end_index"] + 1]
        assert " ".join(words) == row["text"]
        assert row["category"] == category(row["text"], label["title"])
    for found in of_splits:
        counts = Counter(row["category"] for row in found)
        assert len(found) >= 85
        assert (len(counts), min(counts.values()) >= 9) == (4, True)


def test_the_sources_are_named() -> None:
    assert "Courtesy of the U.S. National Library of Medicine" in (PUBMED / "SOURCES.md").read_text(encoding="utf-8")
    assert "Apache-2.0" in (WIKIA / "SOURCES.md").read_text(encoding="utf-8")

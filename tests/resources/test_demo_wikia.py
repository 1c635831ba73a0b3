"""The demo worlds keep the promises of their format: indices, labels, categories and disjoint splits."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

WIKIA = files("resources") / "demo" / "wikia"
SPLITS = ("train", "val", "test")
MENTION_FIELDS = [
    "category",
    "text",
    "end_index",
    "context_document_id",
    "label_document_id",
    "mention_id",
    "corpus",
    "start_index",
]

Row = dict[str, Any]


def read_rows(*parts: str) -> list[Row]:
    text = WIKIA.joinpath(*parts).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def worlds() -> dict[str, dict[str, Row]]:
    """World -> document id -> document."""
    names = sorted(entry.name for entry in (WIKIA / "documents").iterdir() if entry.name.endswith(".json"))
    return {
        name.removesuffix(".json"): {row["document_id"]: row for row in read_rows("documents", name)} for name in names
    }


@pytest.fixture(scope="module")
def mentions() -> dict[str, list[Row]]:
    return {split: read_rows("mentions", f"{split}.json") for split in SPLITS}


@pytest.fixture(scope="module")
def all_mentions(mentions: dict[str, list[Row]]) -> list[Row]:
    return [mention for rows in mentions.values() for mention in rows]


def overlap_category(text: str, title: str) -> str:
    """The four categories of Logeswaran et al. 2019, section 3, ignoring case."""
    mention, name = text.lower(), title.lower()
    if mention == name:
        return "HIGH_OVERLAP"
    if name.startswith(f"{mention} ( ") and name.endswith(" )"):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if mention in name else "LOW_OVERLAP"


def is_hex_id(value: str) -> bool:
    return len(value) == 16 and set(value) <= set("0123456789ABCDEF")


def test_four_worlds_hold_at_least_120_documents(worlds: dict[str, dict[str, Row]]) -> None:
    assert len(worlds) == 4
    assert all(30 <= len(documents) <= 36 for documents in worlds.values())
    assert sum(map(len, worlds.values())) >= 120


def test_there_are_at_least_300_mentions(mentions: dict[str, list[Row]]) -> None:
    assert sum(map(len, mentions.values())) >= 300
    assert all(len(rows) >= 85 for rows in mentions.values())


def test_documents_have_the_zeshel_layout(worlds: dict[str, dict[str, Row]]) -> None:
    for documents in worlds.values():
        for document in documents.values():
            assert list(document) == ["title", "text", "document_id"]
            assert document["text"].startswith(document["title"] + " ")
            assert document["text"] == " ".join(document["text"].split())
            assert 60 <= len(document["text"].split()) <= 250, document["title"]


def test_ids_and_titles_are_unique(worlds: dict[str, dict[str, Row]], all_mentions: list[Row]) -> None:
    rows = [row for name in worlds for row in read_rows("documents", f"{name}.json")]
    ids = [row["document_id"] for row in rows] + [mention["mention_id"] for mention in all_mentions]
    assert len(set(ids)) == len(ids)
    assert all(map(is_hex_id, ids))
    for documents in worlds.values():
        assert len({row["title"] for row in documents.values()}) == len(documents)


def test_mentions_have_the_zeshel_fields(all_mentions: list[Row]) -> None:
    assert all(list(mention) == MENTION_FIELDS for mention in all_mentions)


def test_context_and_label_are_two_documents_of_the_world(
    worlds: dict[str, dict[str, Row]], all_mentions: list[Row]
) -> None:
    for mention in all_mentions:
        documents = worlds[mention["corpus"]]
        assert mention["context_document_id"] in documents
        assert mention["label_document_id"] in documents
        assert mention["context_document_id"] != mention["label_document_id"]


def test_indices_give_the_mention_text(worlds: dict[str, dict[str, Row]], all_mentions: list[Row]) -> None:
    for mention in all_mentions:
        document = worlds[mention["corpus"]][mention["context_document_id"]]
        start, end = mention["start_index"], mention["end_index"]
        assert start >= len(document["title"].split()), "a mention lies in the running text, not in the title"
        assert " ".join(document["text"].split()[start : end + 1]) == mention["text"]


def test_mentions_of_one_document_do_not_overlap(all_mentions: list[Row]) -> None:
    covered = [
        (mention["context_document_id"], index)
        for mention in all_mentions
        for index in range(mention["start_index"], mention["end_index"] + 1)
    ]
    assert len(set(covered)) == len(covered)


def test_splits_share_no_world(mentions: dict[str, list[Row]], worlds: dict[str, dict[str, Row]]) -> None:
    seen = [world for rows in mentions.values() for world in {row["corpus"] for row in rows}]
    assert sorted(seen) == sorted(worlds)


def test_categories_follow_the_published_definition(worlds: dict[str, dict[str, Row]], all_mentions: list[Row]) -> None:
    for mention in all_mentions:
        title = worlds[mention["corpus"]][mention["label_document_id"]]["title"]
        assert mention["category"] == overlap_category(mention["text"], title), mention


def test_every_split_has_all_categories_and_is_not_trivial(mentions: dict[str, list[Row]]) -> None:
    for rows in mentions.values():
        counts = Counter(row["category"] for row in rows)
        assert len(counts) == 4
        assert min(counts.values()) >= 9
        assert 0.4 <= counts["LOW_OVERLAP"] / len(rows) <= 0.7
        assert counts["HIGH_OVERLAP"] / len(rows) < 0.2


def test_every_world_has_homonyms_that_mentions_use(worlds: dict[str, dict[str, Row]], all_mentions: list[Row]) -> None:
    for world, documents in worlds.items():
        heads = Counter(row["title"].split(" ( ")[0] for row in documents.values())
        shared = {head for head, count in heads.items() if count > 1}
        assert len(shared) >= 3, world
        labels: dict[str, set[str]] = {head: set() for head in shared}
        for mention in all_mentions:
            if mention["corpus"] == world and mention["text"] in shared:
                labels[mention["text"]].add(mention["label_document_id"])
        assert any(len(found) > 1 for found in labels.values()), world


def test_sources_state_the_counts(worlds: dict[str, dict[str, Row]], all_mentions: list[Row]) -> None:
    text = (WIKIA / "SOURCES.md").read_text(encoding="utf-8")
    per_world = Counter(mention["corpus"] for mention in all_mentions)
    assert "Apache-2.0" in text
    assert f"{len(all_mentions)} linked mentions" in text
    for world, documents in worlds.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{world}`"))
        assert f"| {len(documents)} | {per_world[world]} |" in row

"""The published categories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.io.wiki.zeshel_write import Titles, category


@pytest.mark.parametrize(
    ("mention", "title", "expected"),
    [
        ("batman", "Batman", "HIGH_OVERLAP"),
        ("Batman", "Batman ( Lego )", "MULTIPLE_CATEGORIES"),
        ("Agent", "The  Agent", "AMBIGUOUS_SUBSTRING"),
        ("besieged Antioch", "Siege of Antioch ( 1268 )", "LOW_OVERLAP"),
        ("Batman", None, "LOW_OVERLAP"),
        ("", "x", "LOW_OVERLAP"),
    ],
)
def test_categories(mention: str, title: str | None, expected: str) -> None:
    assert category(mention, title) == expected


def test_titles_may_be_gone(tmp_path: Path) -> None:
    assert Titles(None).of("w", "A") is None
    assert Titles(tmp_path / "mentions" / "x.json").of("w", "A") is None
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "w.json").write_bytes(b"\xff\xfe\n")
    assert Titles(tmp_path / "mentions" / "x.json").of("w", "A") is None


def test_the_real_mentions_have_their_published_category(shared_data: Path) -> None:
    path = shared_data / "zeshel/mentions/train.json"
    titles = Titles(path)
    for line in path.read_text(encoding="utf-8").splitlines():
        value = json.loads(line)
        assert category(value["text"], titles.of(value["corpus"], value["label_document_id"])) == value["category"]

"""The published categories."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.io.wiki import zeshel
from curator.io.wiki.zeshel import Titles, ZeshelFormat, category


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


def test_numbers_of_mentions_with_one_text_take_time_by_their_number(
    make: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are hashes of hashes; each was once searched from the first on."""
    hashed: list[bytes] = []

    def sha256(data: bytes) -> object:
        hashed.append(data)
        return hashlib.sha256(data)

    monkeypatch.setattr(zeshel, "hashlib", SimpleNamespace(sha256=sha256))
    text = "x" * 200  # one token, to which all mentions are widened
    mentions = tuple(SourceMention((Span(at, at + 1),), "x", "Disease") for at in range(200))
    item = make.export(SourceDocument("D", "", text, (), mentions))
    fresh = make.fresh(item, [("E1",)] * 200)
    ZeshelFormat().write([(SourceFile(1, "x.json", "x.json", "other", ""), [fresh])], tmp_path / "out")
    lines = (tmp_path / "out" / "mentions" / "x.json").read_text(encoding="utf-8").splitlines()
    assert len({json.loads(one)["mention_id"] for one in lines}) == len(lines) == 200
    assert len(hashed) < 2.5 * 200


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("place", ["documents", "mentions"])
def test_titles_come_from_the_same_folder(tmp_path: Path, place: str) -> None:
    (tmp_path / "private.json").write_text(json.dumps({"title": "T", "text": "T", "document_id": "A"}) + "\n")
    (folder := tmp_path / "c" / place).mkdir(parents=True)
    (folder / "w.json").symlink_to(tmp_path / "private.json")
    source = tmp_path / "c/mentions/x.json"
    assert Titles(source).of("w", "A") is None
    (folder / "w.json").unlink()
    (folder / "w.json").write_bytes((tmp_path / "private.json").read_bytes())
    assert Titles(source).of("w", "A") == "T"

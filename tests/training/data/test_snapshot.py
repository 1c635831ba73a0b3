import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelError
from training.data.snapshot import Gold, Split, read_snapshot

MENTION = {
    "key": "m1",
    "spans": [[0, 4]],
    "types": ["Disease"],
    "gold": {"ids": ["X:1"], "nil": False},
    "shown": ["X:2"],
}
DOCUMENT: dict[str, Any] = {"key": "d1", "split": "train", "text": "🧬ache.", "mentions": [MENTION]}


def write(folder: Path, *lines: Any, kb_hash: str = "kb") -> Path:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    (folder / "snapshot.json").write_text(json.dumps({"kb_hash": kb_hash, "files": {"documents.jsonl": digest}}))
    return folder


def changed(**mention: Any) -> dict[str, Any]:
    return {**DOCUMENT, "mentions": [{**MENTION, **mention}]}


def test_reads_documents_and_decisions(tmp_path: Path) -> None:
    undecided = {"key": "m2", "spans": [[0, 1], [3, 4]], "types": [], "gold": None, "shown": []}
    nil = {"key": "m3", "spans": [[1, 2]], "types": [], "gold": {"ids": [], "nil": True}, "shown": []}
    other = {"key": "d2", "split": "validation", "text": "abcd", "mentions": [undecided, nil]}
    snapshot = read_snapshot(write(tmp_path, DOCUMENT, other))
    train, validation = snapshot.documents
    assert snapshot.kb_hash == "kb"
    assert train.mentions[0].gold == Gold(ids=("X:1",))
    assert train.to_input().mentions[0].surface(train.text) == "🧬ach"
    assert [mention.key for mention in validation.to_input().mentions] == ["m3"]
    assert [mention.key for mention in validation.to_input(decided_only=False).mentions] == ["m2", "m3"]
    assert snapshot.of_split(Split.VALIDATION) == (validation,)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2"),
        ("[]", "line 2"),
        ({"key": "d2", "split": "train", "text": "x"}, "'mentions' is missing"),
        ({**DOCUMENT, "split": "dev"}, "dev"),
        ({**DOCUMENT, "text": 3}, "'text' must be a string"),
        (changed(spans=[[0, 40]]), "do not fit"),
        (changed(spans=[]), "do not fit"),
        (changed(spans=[[2, 2]]), "do not fit"),
        (changed(spans=[[0.0, 1]]), "whole number"),
        (changed(gold={"ids": ["X:1"], "nil": True}), "gold must name"),
        (changed(gold={"ids": [], "nil": False}), "gold must name"),
        (changed(types="Disease"), "list of strings"),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, line: Any, complaint: str) -> None:
    first = {**DOCUMENT, "key": "first", "mentions": []}
    with pytest.raises(ModelError, match=complaint) as caught:
        read_snapshot(write(tmp_path, first, line))
    assert "documents.jsonl, line 2" in str(caught.value)


def test_test_documents_never_enter_training(tmp_path: Path) -> None:
    folder = write(tmp_path, {**DOCUMENT, "split": "test"})
    with pytest.raises(ModelError, match="never used for training"):
        read_snapshot(folder)
    assert read_snapshot(folder, allow_test=True).documents[0].split is Split.TEST


def test_altered_or_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="missing"):
        read_snapshot(tmp_path)
    write(tmp_path, DOCUMENT)
    (tmp_path / "documents.jsonl").write_text("\n")
    with pytest.raises(ModelError, match="altered"):
        read_snapshot(tmp_path)
    (tmp_path / "documents.jsonl").unlink()
    with pytest.raises(ModelError, match="missing"):
        read_snapshot(tmp_path)
    (tmp_path / "snapshot.json").write_text("[]")
    with pytest.raises(ModelError, match="malformed"):
        read_snapshot(tmp_path)


def test_keys_are_unique(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="document key 'd1' occurs twice"):
        read_snapshot(write(tmp_path, DOCUMENT, {**DOCUMENT, "mentions": []}))
    with pytest.raises(ModelError, match="mention key 'm1' occurs twice"):
        read_snapshot(write(tmp_path, DOCUMENT, {**DOCUMENT, "key": "d2"}))

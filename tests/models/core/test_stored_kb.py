"""A knowledge base in its file answers as the one in memory does, with what is changed over it too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models.core import stored_kb
from models.core.kb import KnowledgeBase, read_kb, record_to_json
from models.core.stored_kb import StoredKnowledgeBase, open_kb, ordered
from models.errors import ModelError
from models.linker.overlay import LiveKnowledgeBase
from models.types import EntityRecord


def entities() -> list[EntityRecord]:
    kinds = ("Disease", "Chemical", "Gene")
    return [
        EntityRecord(
            f"X:{(number * 7) % 60:03}",
            f"name {number} β\U0001f600",
            (*(f"synonym {number}.{at}" for at in range(number % 4)), "", f"name {number} β\U0001f600"),
            tuple(kinds[: number % 3]),
            f"It is {number}." if number % 2 else "",
            (f"Y:{number % 9}", "X:001") if number % 5 == 0 else (),
        )
        for number in range(60)
    ]


def written(path: Path, found: list[EntityRecord]) -> Path:
    lines = [json.dumps(record_to_json(one)) + "\n" for one in found]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[KnowledgeBase, KnowledgeBase]:
    """The same in memory and in its file."""
    source = written(tmp_path / "any.jsonl", entities())
    memory, first = ordered(source, tmp_path / "memory.jsonl")
    monkeypatch.setattr(stored_kb, "LARGE", 0)
    stored, second = ordered(source, tmp_path / "stored.jsonl")
    assert first == second
    assert (tmp_path / "memory.jsonl").read_bytes() == (tmp_path / "stored.jsonl").read_bytes()
    assert isinstance(stored, StoredKnowledgeBase)
    assert isinstance(open_kb(tmp_path / "memory.jsonl"), StoredKnowledgeBase)
    return memory, stored


def same(one: KnowledgeBase, other: KnowledgeBase) -> None:
    assert list(one.entities) == list(other.entities)
    assert list(one.names) == list(other.names)
    for row in (0, 5, len(one.names) - 1, -1):
        assert one.names[row] == other.names[row]
    for part in (slice(0, 0), slice(3, 17), slice(50, None), slice(None, None, 3)):
        assert tuple(one.names[part]) == tuple(other.names[part])
        assert tuple(one.entities[part]) == tuple(other.entities[part])
    for name in ("name_starts", "name_entity", "has_definition"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert dict(one.rows) == dict(other.rows)
    assert dict(one.resolved) == dict(other.resolved)
    assert len(one.resolved) == len(other.resolved)
    assert dict(one.alternates) == dict(other.alternates)
    assert one.types == other.types
    for types in ((), ("Gene",), ("Disease",), ("Disease", "Chemical"), ("none",)):
        assert one.ranges(types) == other.ranges(types)
        assert one.name_ranges(types) == other.name_ranges(types)
    for key in ("X:001", "Y:0", "nothing"):
        assert one.rows.get(key) == other.rows.get(key)
        assert one.resolved.get(key) == other.resolved.get(key)


def test_it_answers_as_the_one_in_memory(pair: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    same(*pair)


def test_changes_over_it_answer_the_same(pair: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    new = [EntityRecord("NEW:1", "made", ("here",), ("Gene",), "", ("Y:0",))]
    memory, stored = (LiveKnowledgeBase.of(kb).changed(new, [3]) for kb in pair)
    assert list(memory.names) == list(stored.names)
    assert [memory.entities[at] for at in range(61)] == [stored.entities[at] for at in range(61)]
    assert dict(memory.rows) == dict(stored.rows)
    for key in ("NEW:1", "Y:0", "X:001", pair[0].entities[3].id):
        assert memory.resolved.get(key) == stored.resolved.get(key)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ([EntityRecord("a", "x", (), ("T",)), EntityRecord("a", "y")], "'a' twice"),
        ([EntityRecord("a", " ")], "has no name"),
        ([], "is empty"),
    ],
)
def test_what_is_wrong_is_told_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: list[EntityRecord], why: str
) -> None:
    source = written(tmp_path / "any.jsonl", found)
    with pytest.raises(ModelError, match=why):
        read_kb(source)
    monkeypatch.setattr(stored_kb, "LARGE", 0)
    with pytest.raises(ModelError, match=why):
        ordered(source, tmp_path / "kb.jsonl")
    assert not (tmp_path / "kb.jsonl").exists()

"""Knowledge bases as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.kb.jsonl import JsonlReader

Put = Callable[..., Path]


def read(path: Path) -> tuple[list[Entity], JsonlReader]:
    reader = JsonlReader.open(path)
    return list(reader), reader


def lines(*values: Any) -> str:
    return "".join(json.dumps(v) + "\n" for v in values)


def report(reader: JsonlReader) -> list[tuple[int, str]]:
    return [(p.line, p.severity) for p in reader.problems]


def test_an_obsolete_id_with_one_replacement_is_an_alternate_id_of_it(put: Put) -> None:
    old = {"name": "old", "obsolete": True}
    entities, reader = read(
        put(
            lines(
                {"id": "X:2", **old, "replaced_by": ["X:3"]},
                {"id": "X:3", **old, "replaced_by": "X:1"},
                {"id": "X:4", **old, "replaced_by": ["X:1", "X:5"]},
                {"id": "X:6", **old, "consider": ["X:1"]},
                {"id": "X:7", **old, "replaced_by": ["X:8"]},
                {"id": "X:8", **old, "replaced_by": ["X:7"]},
                {"id": "X:1", "name": "one", "alt_ids": ["X:9"]},
                {"id": "X:5", "name": "five"},
            ),
        )
    )
    assert {one.id: one.alt_ids for one in entities} == {"X:1": ("X:9", "X:2", "X:3"), "X:5": ()}
    assert len(reader.obsolete) == 6


def test_all_fields(put: Put) -> None:
    value = {
        "id": "MESH:D1",
        "name": "one",
        "synonyms": ["uno", "one", " uno ", ""],
        "types": ["Disease"],
        "definition": "The first. ",
        "alt_ids": ["OMIM:1", "MESH:D1"],
        "tree_numbers": ["C01"],
        "parents": ["MESH:D0"],
    }
    (entity,), reader = read(put("\ufeff" + lines(value) + "\n"))
    assert entity == Entity("MESH:D1", "one", ("uno",), ("Disease",), "The first.", ("OMIM:1",), ("C01",), ("MESH:D0",))
    assert reader.problems == []


def test_missing_fields_and_nulls(put: Put) -> None:
    (entity,), reader = read(put(lines({"id": "X", "name": "x", "synonyms": None, "definition": None})))
    assert entity == Entity("X", "x")
    assert reader.problems == []


def test_unknown_fields_are_noted_once(put: Put) -> None:
    _, reader = read(put(lines({"id": "X", "name": "x", "cui": 1}, {"id": "Y", "name": "y", "cui": 2})))
    assert report(reader) == [(1, "note")]
    assert "'cui'" in reader.problems[0].text


def test_wrong_types_are_reported_with_their_line(put: Put) -> None:
    entities, reader = read(
        put(
            lines(
                {"id": "A", "name": "a", "synonyms": "b"},
                {"id": "B", "name": "b", "types": {"x": 1}, "definition": 5},
                {"id": "C", "name": "c", "parents": ["D", 5]},
            )
            + "{broken\n[]\n"
            + lines({"id": 5, "name": "x"}, {"id": "E"})
        )
    )
    assert [(e.id, e.synonyms, e.parents) for e in entities] == [("A", ("b",), ()), ("B", (), ()), ("C", (), ("D",))]
    aside = "set aside"
    assert report(reader) == [(1, "repaired"), *((n, aside) for n in (2, 2, 3, 4, 5, 6, 7))]


def test_the_first_of_one_id_wins(put: Put) -> None:
    entities, reader = read(put(lines({"id": "A", "name": "a"}, {"id": "A", "name": "b"})))
    assert [e.name for e in entities] == ["a"]
    assert report(reader) == [(2, "set aside")]
    assert "line 1" in reader.problems[0].text


def test_lone_surrogates_are_replaced(put: Put) -> None:
    (entity,), _ = read(put('{"id": "A", "name": "a\\ud800", "synonyms": ["\\udfff"]}\n'))
    assert (entity.name, entity.synonyms) == ("a\ufffd", ("\ufffd",))


def test_nothing_usable_is_an_error(put: Put) -> None:
    with pytest.raises(UserError, match="no usable entity"):
        read(put(lines({"id": "", "name": "x"})))
    with pytest.raises(UserError, match="is not a JSON lines knowledge base"):
        JsonlReader.open(put("hello"))

"""Files of rounds from strangers: a sentence and no change, whatever is in them; and every text comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from curator.domain.wording import UserError
from tests.curator.services.fakes import World, make_world

SEED = Path(__file__).resolve().parents[3] / "fuzz" / "seeds" / "round" / "pilot.jsonl"
Line = dict[str, Any]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path, kb=True, documents=2)
    yield made
    made.project.close()


def lines_with(change: Callable[[list[Line]], None]) -> str:
    lines = [json.loads(one) for one in SEED.read_text(encoding="utf-8").splitlines()]
    change(lines)
    return "".join(json.dumps(one) + "\n" for one in lines)


def put(place: int, name: str, value: object) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        lines[place][name] = value

    return change


DEFINED = {"id": 1, "name": "x", "types": [], "hidden": False, "values": []}
LONG = 10**20
CASES = {
    "infinite": put(1, "occurrence", float("inf")),
    "infinite place": put(3, "spans", [[0, float("inf")]]),
    "backward place": put(3, "spans", [[9, 0]]),
    "surrogate": put(3, "curator", "\ud800"),
    "surrogate in the type": put(3, "type", "\ud800"),
    "local time": put(3, "at", "2026-01-02"),
    "nobody": put(3, "curator", " "),
    "nobody to be seen": put(3, "curator", "\ufeff"),
    "curator in two lines": put(3, "curator", "ben\nAdopted."),
    "name in two lines": put(0, "name", "pilot\nAdopted."),
    "reason of a link": lambda lines: lines[3].update(outcome="link", reason="ambiguous"),
    "several curators": put(3, "curator", ["ben"]),
    "long curator": put(3, "curator", "x" * 10**6),
    "nobody's attribute": put(6, "curator", ""),
    "long name": put(0, "name", "x" * 10**6),
    "no version": put(0, "version", None),
    "entities that are a text": put(3, "entities", "MESH:D008012"),
    "blank entity": put(3, "entities", [""]),
    "no time": put(3, "at", []),
    "name of half a character": put(0, "name", "a\ud800"),
    "name that is a list": put(0, "name", ["a"]),
    "definition with a list": put(0, "attributes", [{**DEFINED, "values": [{"id": [], "name": "y", "hidden": False}]}]),
    "definition without a name": put(0, "attributes", [{**DEFINED, "name": 0.5}]),
    "definition twice": put(0, "attributes", [DEFINED, DEFINED]),
    "long definition": put(0, "attributes", [{**DEFINED, "name": "x" * 1000}]),
    "infinite attribute": put(6, "attributes", [{"attribute": float("inf"), "value": 1, "at": "2026-01-02"}]),
    "local time of an attribute": put(6, "attributes", [{"attribute": 1, "value": 1, "at": "2026-01-02"}]),
}


LEFT_OUT = {
    "huge place": put(3, "spans", [[0, LONG]]),
    "no place": put(3, "spans", []),
    "partly behind the text": lambda lines: lines[3].update(spans=[[0, 9], [LONG, LONG + 1]], mention="Lidocaine "),
    "the same place twice": lambda lines: lines[3].update(spans=[[0, 9], [0, 9]], mention="Lidocaine Lidocaine"),
    "white space": lambda lines: lines[3].update(spans=[[9, 10]], mention=" "),
    "no type": put(3, "type", ""),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_not_in_the_project_is_left_out(world: World, name: str) -> None:
    found = world.project.round_files.read(world.write(lines_with(LEFT_OUT[name]), name="r.jsonl"))
    assert len([one for one in found.problems if "left out" in one]) == 1


@pytest.mark.parametrize("name", CASES)
def test_a_damaged_file_is_refused_with_its_line_and_changes_nothing(world: World, tmp_path: Path, name: str) -> None:
    path = world.write(lines_with(CASES[name]), name="r.jsonl")
    with pytest.raises(UserError) as refused:
        world.project.round_files.read(path)
    assert "r.jsonl" in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert world.project.rounds.all() == []
    assert world.project.attributes.scheme().attributes == ()


def test_nesting_and_long_lines_are_refused_in_a_short_sentence(world: World) -> None:
    head = SEED.read_text(encoding="utf-8").splitlines()[0]
    for line in ("[" * 100_000, '{"document": "x"}' + "x" * 1_000_000, json.dumps({"at": "x" * 1_000_000})):
        with pytest.raises(UserError) as refused:
            world.project.round_files.read(world.write(f"{head}\n{line}\n", name="r.jsonl"))
        assert "line 2" in str(refused.value)
        assert len(str(refused.value)) < 1000
    assert world.project.rounds.all() == []


def test_a_huge_file_is_not_taken_into_memory(world: World) -> None:
    path = world.write(SEED.read_text(encoding="utf-8"), name="r.jsonl")
    os.truncate(path, 2**40)  # nothing but zeros, which take no space
    with pytest.raises(UserError, match=r"r\.jsonl is not a round"):
        world.project.round_files.read(path)
    assert world.project.rounds.all() == []


def test_judgements_under_ones_own_name_are_said_once(world: World) -> None:
    """A colleague may have the same name: both would be one curator."""
    path = world.write(SEED.read_text(encoding="utf-8"), name="r.jsonl")
    found = world.project.round_files.read(path)
    assert next(one for one in found.problems if "your own name, “ada”" in one).startswith("2 judgements")
    assert world.project.round_files.read(path).problems == []
    elsewhere = put(4, "curator", "eve")
    assert not any("your own name" in one for one in world.project.round_files.read(changed(world, elsewhere)).problems)


def test_spaces_make_no_other_curator(world: World) -> None:
    found = world.project.round_files.read(changed(world, put(3, "curator", " ben\ufeff")))
    assert "ben" in found.curators
    assert not any("ben\ufeff" in one for one in found.curators)


def test_what_is_wrong_with_a_line_is_said_in_words(world: World) -> None:
    def refused(change: Callable[[list[Line]], None]) -> str:
        with pytest.raises(UserError) as error:
            world.project.round_files.read(changed(world, change))
        return str(error.value)

    assert "(this outcome has no reasons)" in refused(CASES["reason of a link"])
    assert "(“sha256” is missing)" in refused(lambda lines: lines[1].pop("sha256"))
    assert "(a value has the wrong form)" in refused(put(3, "spans", [1]))


def changed(world: World, *changes: Callable[[list[Line]], None]) -> Path:
    def all_of_them(lines: list[Line]) -> None:
        for change in changes:
            change(lines)

    return world.write(lines_with(all_of_them), name="changed.jsonl")


def test_judgements_of_one_name_that_differ_are_said_whichever_counts(world: World) -> None:
    """Of two people with one name, or of one whose clock was set back."""
    read = world.project.round_files.read
    read(changed(world))
    other = put(3, "entities", ["MESH:D006323"])
    older = read(changed(world, other, put(3, "at", "2025-01-02T03:04:05+00:00")))
    assert older.problems == ["1 judgement by “ben” differs from a later one here and was left out."]
    later = read(changed(world, other, put(3, "at", "2026-01-03T03:04:05+00:00")))
    assert (later.judgements, later.problems) == (
        1,
        ["1 judgement by “ben” was replaced by a later one from the file."],
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_or_a_folder_is_refused_at_once(world: World, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull)):
        with pytest.raises(UserError, match="a folder, a device or a pipe"):
            world.project.round_files.read(path)


def test_texts_with_other_line_ends_travel(world: World, tmp_path: Path) -> None:
    """A type with the line ends of Unicode, which JSON leaves as they are."""
    odd = "a\u2028b\x85c\x0bd\x1ce"

    def change(lines: list[Line]) -> None:
        lines[3]["type"] = odd

    project = world.project
    project.round_files.read(world.write(lines_with(change), name="r.jsonl"))
    out = tmp_path / "out.jsonl"
    project.round_files.export("pilot", out)
    assert odd in out.read_text(encoding="utf-8").replace("\\u000b", "\x0b").replace("\\u001c", "\x1c")
    again = project.round_files.read(out)
    assert (again.judgements, again.problems) == (0, [])

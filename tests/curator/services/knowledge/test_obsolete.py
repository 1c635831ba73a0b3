"""Obsolete terms of a knowledge base: kept apart, found by their id, replaced in decisions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from curator.domain.decisions import Verdict
from curator.domain.entities import ObsoleteEntity
from curator.services.importing.kb_importing import KbWish
from tests.curator.services.fakes import World, make_world

OBO = "format-version: 1.2\ndefault-namespace: Disease\n\n"
OLD: dict[str, Any] = {"name": "Old", "obsolete": True}
FORMER = [{"id": f"X:{n}", "name": f"Disease {n}", "types": ["Disease"]} for n in range(1, 9)]
TEXT = "1|t|Gout, gout\n1|a|gout.\n1\t0\t4\tGout\tDisease\tX\n1\t6\t10\tgout\tDisease\tX\n1\t11\t15\tgout\tDisease\tX\n"


def term(number: int, *lines: str) -> str:
    return "\n".join(["[Term]", f"id: X:{number}", f"name: Disease {number}", *lines, "", ""])


def obsolete(number: int, *lines: str) -> str:
    return term(number, "is_obsolete: true", *lines)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Disease 1 to 8, and three mentions."""
    made = make_world(tmp_path)
    made.kb(FORMER)
    for _ in made.project.importing.documents([made.write(TEXT)]):
        pass
    yield made
    made.project.close()


def take(world: World, text: str) -> None:
    path = world.folder / "kb.obo"
    path.write_text(OBO + text, encoding="utf-8")
    for _ in world.project.importing.knowledge_base(path):
        pass


def known(world: World, *ids: str) -> dict[str, ObsoleteEntity]:
    with world.store.read() as unit:
        return unit.kb.obsolete(ids)


def link(world: World, number: int, *ids: str) -> int:
    mention = world.mentions(1)[number]
    world.project.curation.decide(mention, Verdict.link(*ids))
    return mention


def proposed(world: World) -> dict[str, list[str]]:
    rows = world.project.inconsistencies.find().rows
    return {one.entity_id: [new.id for new in one.replacements] for one in rows if one.entity_id}


def test_they_are_no_entities_but_found_by_their_id_with_what_replaces_them(world: World) -> None:
    take(world, term(1) + obsolete(2, "replaced_by: X:1", "consider: X:3") + term(3))
    knowledge = world.project.knowledge
    info = knowledge.info()
    assert info is not None
    assert info.entities == 2
    found = known(world, "X:2", "x:2", "X:1")
    assert found == dict.fromkeys(
        ("X:2", "x:2"), ObsoleteEntity("X:2", "Disease 2", ("Disease",), "", ("X:1",), ("X:3",))
    )
    matches = knowledge.search("X:2")
    assert [one.entity.id for one in matches] == ["X:1", "X:3"]
    assert matches.obsolete == found["X:2"]
    assert knowledge.search("Disease 2").obsolete is None
    former = knowledge.former("X:2")
    assert former is not None
    assert former.name == "Disease 2"


def test_an_obsolete_id_has_its_own_name_with_what_took_its_place(world: World) -> None:
    link(world, 0, "X:6")
    take(world, term(1) + obsolete(2, "replaced_by: X:1") + obsolete(4, "consider: X:1") + term(3, "alt_id: X:5"))
    names = {one: world.project.knowledge.name_of(one) for one in ("X:1", "X:2", "X:4", "X:5", "X:99")}
    assert names == {
        "X:1": "Disease 1",
        "X:2": "Disease 2 [obsolete, now Disease 1]",
        "X:4": "Disease 4 [obsolete]",
        "X:5": "Disease 3",
        "X:99": "X:99",
    }


def test_without_them_a_file_is_imported_as_ever(world: World) -> None:
    take(world, term(1) + term(2))
    with closing(sqlite3.connect(world.project.folder / "project.sqlite")) as conn:
        names = [name for (name,) in conn.execute("SELECT name FROM sqlite_master")]
    assert not [one for one in names if "obsolete" in one]
    assert known(world, "X:1") == {}
    info = world.project.knowledge.info()
    take(world, term(1) + term(2) + obsolete(3))
    again = world.project.knowledge.info()
    assert info is not None
    assert again is not None
    assert again.content_hash == info.content_hash  # the linker's index stays as it is


def test_links_to_them_are_listed_with_the_replacement_first_and_choices_after_it(world: World) -> None:
    link(world, 0, "X:2")
    link(world, 1, "X:4")
    link(world, 2, "X:5")
    take(
        world,
        term(1)
        + term(3)
        + obsolete(2, "replaced_by: X:1", "consider: X:3")
        + obsolete(4, "consider: X:3", "consider: X:1")
        + obsolete(5),
    )
    assert proposed(world) == {"X:2": ["X:1", "X:3"], "X:4": ["X:3", "X:1"], "X:5": []}
    assert all(one.obsolete for one in world.project.inconsistencies.find().rows if one.entity_id)
    plan = {one.key: one.proposed for one in world.project.remapping.plan().lines}
    assert (plan["X:2"] is not None, plan["X:4"]) == (True, None)  # what is only to be considered is never proposed


def test_replacements_that_are_obsolete_missing_or_in_a_circle(world: World) -> None:
    for number, entity in enumerate(("X:2", "X:4", "X:6")):
        link(world, number, entity)
    take(
        world,
        term(1)
        + obsolete(2, "replaced_by: X:3", "replaced_by: X:8")
        + obsolete(3, "consider: X:8", "replaced_by: X:1")
        + obsolete(4, "replaced_by: X:99")
        + obsolete(6, "replaced_by: X:7")
        + obsolete(7, "replaced_by: X:6"),
    )
    assert proposed(world) == {"X:2": ["X:1"], "X:4": [], "X:6": []}
    assert list(world.project.knowledge.search("X:6")) == []


def test_another_source_keeps_them_and_a_living_entity_is_not_obsolete(world: World) -> None:
    take(world, term(1) + obsolete(2, "replaced_by: X:1"))
    add(world, "other.jsonl", {"id": "Y:1", "name": "Other"}, {"id": "Y:2", **OLD, "replaced_by": ["Y:1"]})
    assert sorted(known(world, "X:2", "Y:2", "Y:1")) == ["X:2", "Y:2"]
    add(world, "third.jsonl", {"id": "X:2", "name": "Alive"})
    assert known(world, "X:2") == {}


def add(world: World, name: str, *entities: dict[str, Any]) -> None:
    path = world.folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in entities), encoding="utf-8")
    for _ in world.project.importing.knowledge_base(path, KbWish(add=True)):
        pass

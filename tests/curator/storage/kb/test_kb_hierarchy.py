"""Broader and narrower entities, and what a bad hierarchy does."""

from __future__ import annotations

import time

import pytest

from curator.domain.entities import Entity
from curator.storage.kb import kb_hierarchy
from tests.curator.storage.filler import Filler, in_a_folder


def entity(entity_id: str, *parents: str, name: str = "", numbers: tuple[str, ...] = ()) -> Entity:
    return Entity(entity_id, name or entity_id.lower(), parents=parents, tree_numbers=numbers)


HEART, VESSEL, STROKE = entity("HEART", "BODY"), entity("VESSEL", "BODY"), entity("STROKE", "HEART", "VESSEL")
SMALL = (entity("BODY"), VESSEL, HEART, STROKE, entity("ALONE"))


def ids(page):
    return [one.entity.id for one in page.nodes]


def below(fill: Filler, *branches: str, among: tuple[str, ...]) -> set[str]:
    with fill.store.read() as unit:
        return set(unit.kb.below(branches, among))


def test_without_a_knowledge_base_nothing_is_broader(fill: Filler) -> None:
    with fill.store.read() as unit:
        assert unit.kb.narrower(None, count=5).total == 0
        assert (unit.kb.broader("A"), unit.kb.way_down("A"), unit.kb.tree_node("A")) == ([], [], None)
        assert unit.kb.below(["A"], ["A", "B"]) == {"A"}


def test_an_entity_stands_below_each_of_its_parents(fill: Filler) -> None:
    fill.kb(*SMALL)
    with fill.store.read() as unit:
        top = unit.kb.narrower(None, count=10)
        assert ids(top) == ["BODY"], "what is neither above nor below anything is left out"
        assert (top.nodes[0].children, top.nodes[0].below) == (2, 3), "stroke counts once"
        assert ids(unit.kb.narrower("BODY", count=10)) == ["HEART", "VESSEL"], "by name, not as loaded"
        assert ids(unit.kb.narrower("HEART", count=10)) == ids(unit.kb.narrower("VESSEL", count=10)) == ["STROKE"]
        assert [one.entity for one in unit.kb.broader("STROKE")] == [HEART, VESSEL]
        assert unit.kb.way_down("STROKE") == ["BODY", "VESSEL", "STROKE"], (
            "of equally short ones by the order of loading"
        )
        assert (unit.kb.way_down("ALONE"), unit.kb.way_down("NOBODY")) == (["ALONE"], [])


def test_a_node_is_read_a_page_at_a_time(fill: Filler) -> None:
    fill.kb(entity("TOP"), *(entity(f"C{n:03}", "TOP") for n in range(30)))
    with fill.store.read() as unit:
        page = unit.kb.narrower("TOP", start=10, count=5)
    assert (ids(page), page.total) == ([f"C{n:03}" for n in range(10, 15)], 30)


def test_a_parent_that_is_missing_and_an_entity_above_itself_are_passed_over(fill: Filler) -> None:
    fill.kb(entity("A", "GONE"), entity("B", "B", "A"))
    with fill.store.read() as unit:
        assert ids(unit.kb.narrower(None, count=10)) == ["A"]
        assert [one.entity.id for one in unit.kb.broader("B")] == ["A"]
        assert unit.kb.broader("A") == []


def test_a_parent_in_another_spelling_is_the_same(fill: Filler) -> None:
    spellings = ("mesh:D1", "MSH:D1", "http://id.nlm.nih.gov/mesh/D1", "MESH:D1")
    fill.kb(
        entity("MESH:D1"),
        entity("Foo"),
        entity("FOO"),
        entity("X", "foo"),
        *(entity(f"C{n}", one) for n, one in enumerate(spellings)),
    )
    with fill.store.read() as unit:
        assert ids(unit.kb.narrower("MESH:D1", count=9)) == ["C0", "C1", "C2", "C3"]
        assert unit.kb.broader("X") == [], "two entities differ from it only in case"


def test_a_cycle_is_entered_at_its_first_entity_and_ends(fill: Filler) -> None:
    fill.kb(entity("A", "C"), entity("B", "A"), entity("C", "B"), entity("D", "C"), entity("T"), entity("U", "T"))
    with fill.store.read() as unit:
        top = unit.kb.narrower(None, count=10)
        assert ids(top) == ["A", "T"]
        assert {one.entity.id: one.below for one in top.nodes} == {"A": 3, "T": 1}
        assert unit.kb.way_down("D") == ["A", "B", "C", "D"]
    assert below(fill, "B", among=("A", "B", "C", "D", "T", "U")) == {"A", "B", "C", "D"}


def test_tree_numbers_say_who_is_above_where_the_record_does_not(fill: Filler) -> None:
    fill.kb(
        entity("C", numbers=("C14",)),
        entity("H", numbers=("C14.280", "X9.1")),
        entity("N", "C", numbers=("Z1.2",)),
        entity("A", numbers=("C14.280.067.001",)),
        entity("O", numbers=("C15.1",)),
    )
    with fill.store.read() as unit:
        assert ids(unit.kb.narrower("C", count=10)) == ["H", "N"]
        assert ids(unit.kb.narrower("H", count=10)) == ["A"], "the nearest that is there"
        assert unit.kb.broader("O") == []


def test_who_is_below_a_branch(fill: Filler) -> None:
    fill.kb(*SMALL)
    every = ("BODY", "HEART", "VESSEL", "STROKE", "ALONE", "NOBODY")
    assert below(fill, "HEART", among=every) == {"HEART", "STROKE"}
    assert below(fill, "VESSEL", "ALONE", among=every) == {"VESSEL", "STROKE", "ALONE"}
    assert below(fill, "NOBODY", among=every) == {"NOBODY"}
    assert below(fill, among=every) == set()


def test_what_is_below_is_not_counted_where_that_takes_too_long(fill: Filler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb_hierarchy, "MOST_STEPS", 100)
    fill.kb(entity("N0"), *(entity(f"N{n}", f"N{n - 1}") for n in range(1, 60)))
    with fill.store.read() as unit:
        node = unit.kb.narrower(None, count=1).nodes[0]
        assert (node.children, node.below) == (1, None)
        assert len(unit.kb.way_down("N59")) == 60


def test_very_many_children_of_one_node_are_read_a_page_at_a_time(fill: Filler) -> None:
    fill.kb(entity("TOP"), *(entity(f"C{n:06}", "TOP") for n in range(20_000)))
    with fill.store.read() as unit:
        began = time.process_time()
        first, last = unit.kb.narrower("TOP", count=200), unit.kb.narrower("TOP", start=19_990, count=200)
        took = time.process_time() - began
    assert (len(first.nodes), ids(last)[-1], first.total) == (200, "C019999", 20_000)
    assert took < 0.5, "pages, whatever the number"


@in_a_folder
def test_a_version_takes_its_index_with_it(fill: Filler) -> None:
    fill.kb(*SMALL)
    fill.kb(entity("A"))
    with fill.store.read() as unit:
        rows = unit.connection.exec_driver_sql("SELECT count(*) FROM sqlite_master WHERE name LIKE 'kb1_%'")
        assert rows.scalar() == 0

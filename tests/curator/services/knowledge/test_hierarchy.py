"""The tree as the window and the command line read it."""

from __future__ import annotations

import json

import pytest

from curator.domain.entities import EntityDraft
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, finish

TREE = (
    {"id": "T:1", "name": "Heart diseases", "types": ["Disease"], "alt_ids": ["OLD:1"]},
    {"id": "T:2", "name": "Arrhythmia", "types": ["Disease"], "parents": ["T:1"]},
    {"id": "T:3", "name": "Lidocaine", "types": ["Chemical"]},
)


@pytest.fixture
def tree(world: World) -> World:
    text = "".join(json.dumps(one) + "\n" for one in TREE)
    finish(world.project.importing.knowledge_base(world.write(text, name="tree.jsonl")))
    return world


def test_the_way_down_and_the_pages(tree: World) -> None:
    hierarchy = tree.project.hierarchy
    assert [one.entity.id for one in hierarchy.way("T:2").nodes] == ["T:1", "T:2"]
    assert [one.entity.id for one in hierarchy.narrower().nodes] == ["T:1"]
    assert [one.entity.id for one in hierarchy.narrower("T:1").nodes] == ["T:2"]
    assert [one.entity.id for one in hierarchy.broader("T:2")] == ["T:1"]
    assert hierarchy.narrower("T:9").total == 0


def test_an_entity_in_no_hierarchy_is_alone(tree: World) -> None:
    made = tree.project.provisional.make(EntityDraft("Blorbitis"), ())
    assert tree.project.hierarchy.way("T:3").alone
    assert tree.project.hierarchy.way(made.entity_id).alone
    assert not tree.project.hierarchy.way("T:1").alone
    assert [one.entity.id for one in tree.project.hierarchy.way("OLD:1").nodes] == ["T:1"]


def test_an_unknown_entity_is_named(tree: World) -> None:
    with pytest.raises(UserError, match="no entity T:9"):
        tree.project.hierarchy.way("T:9")

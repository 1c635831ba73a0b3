"""Candidates and search restricted to branches of the knowledge base."""

from __future__ import annotations

import pytest

from curator.domain.decisions import ChangeKind
from curator.domain.entities import Branches, EntityDraft
from curator.domain.wording import UserError
from tests.curator.services.fakes import KB, World, ignore

TREE = (
    {"id": "T:1", "name": "Heart diseases", "types": ["Disease"]},
    {**KB[1], "parents": ["T:1"]},
    {"id": "T:2", "name": "Heart arrest, induced", "types": ["Disease"], "parents": ["MESH:D006323"]},
    *(KB[0], KB[2]),
)


@pytest.fixture
def tree(world: World) -> World:
    world.kb(TREE)
    world.documents(1)
    return world


def found(world: World, text: str, mention_type: str | None = "SpecificDisease") -> list[str]:
    return [one.entity.id for one in world.project.knowledge.search(text, mention_type=mention_type)]


def test_the_search_finds_what_is_in_the_branches_and_counts_the_rest(tree: World) -> None:
    change = tree.project.branches.restrict("SpecificDisease", ["T:1"])
    assert (change.kind, change.text) == (
        ChangeKind.TYPE_MAPPING,
        "Restricted mentions of the type SpecificDisease to one branch",
    )
    assert set(found(tree, "heart")) == {"T:1", "MESH:D006323", "T:2"}
    assert found(tree, "arrhythmia") == []
    assert tree.project.knowledge.search("arrhythmia", mention_type="SpecificDisease").left_out == 1
    assert found(tree, "arrhythmia", "Chemical") == found(tree, "arrhythmia", None) == ["MESH:D001145"]


def test_a_type_s_own_branches_replace_those_of_the_project(tree: World) -> None:
    tree.project.branches.restrict("", ["T:1"])
    assert found(tree, "lidocaine", "Chemical") == found(tree, "lidocaine", None) == []
    tree.project.branches.restrict("Chemical", ["D008012"])
    assert found(tree, "lidocaine", "Chemical") == ["MESH:D008012"]
    tree.project.branches.restrict("Chemical", ["T:2"], add=True)
    assert tree.project.branches.branches() == Branches({"": ("T:1",), "Chemical": ("MESH:D008012", "T:2")})
    tree.project.branches.restrict("Chemical", [])
    tree.project.branches.restrict("", [])
    assert tree.project.branches.branches() == Branches({})
    assert found(tree, "lidocaine", "Chemical") == ["MESH:D008012"]


def test_what_curators_made_is_in_every_branch(tree: World) -> None:
    made = tree.project.provisional.make(EntityDraft("Blorbitis", ("Disease",)), ())
    tree.project.branches.restrict("SpecificDisease", ["T:1"])
    assert found(tree, "blorbitis") == [made.entity_id]


def test_suggestions_outside_of_the_branches_are_not_stored(tree: World) -> None:
    project = tree.project
    project.retraining.build_index(on_progress=ignore, on_end=ignore).wait(30)
    project.suggestions.start()
    [document_id] = [one.document_id for one in project.queue.rows(_every())]

    def shown() -> dict[str, list[str]]:
        views = project.queue.open(document_id).mentions
        return {
            one.mention.text: [each.entity_id for each in one.suggestion.candidates]
            for one in views
            if one.suggestion is not None and not one.stale
        }

    project.suggestions.request([document_id])
    before = shown()
    assert "MESH:D001145" in before["arrhythmia"]
    project.branches.restrict("SpecificDisease", ["T:1"])
    after = shown()
    assert set(after["arrhythmia"]) <= {"T:1", "MESH:D006323", "T:2"}
    assert after["Lidocaine"] == before["Lidocaine"], "another type"
    hidden = project.knowledge.hidden("arrhythmia", "SpecificDisease", after["arrhythmia"])
    assert ([one.entity.id for one in hidden.others], hidden.outside) == (["MESH:D001145"], 1)
    assert hidden.restricted
    project.branches.restrict("SpecificDisease", [])
    assert shown() == before


def test_what_is_unknown_is_named_and_nothing_changed(tree: World) -> None:
    with pytest.raises(UserError, match="no entity T:9"):
        tree.project.branches.restrict("", ["T:1", "T:9"])
    with pytest.raises(UserError, match=r"No mention has the type Gene\. The types are: Chemical"):
        tree.project.branches.restrict("Gene", ["T:1"])
    assert tree.project.branches.branches() == Branches({})


def test_a_knowledge_base_without_the_branches_is_not_restricted(tree: World) -> None:
    tree.project.branches.restrict("SpecificDisease", ["T:1"])
    tree.kb(name="other.jsonl")
    assert found(tree, "arrhythmia") == ["MESH:D001145"]


def _every():  # type: ignore[no-untyped-def]
    from curator.services.ports.queue import QueueFilter

    return QueueFilter()

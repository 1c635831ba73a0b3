"""Who stands above whom, and how deep."""

from __future__ import annotations

from models.core.hierarchy import DEEPEST, LEVELS
from models.core.kb import KnowledgeBase
from models.types import EntityRecord


def tree(**parents: str) -> KnowledgeBase:
    """Entities in the order given, each with its parents' ids between spaces."""
    return KnowledgeBase(tuple(EntityRecord(one, one, parents=tuple(up.split())) for one, up in parents.items()))


def above(kb: KnowledgeBase, entity_id: str) -> set[str]:
    return {kb.entities[row].id for row in kb.hierarchy.above(kb.rows[entity_id])}


def test_several_parents_are_all_above() -> None:
    kb = tree(root="", left="root", right="root", leaf="left right")
    assert above(kb, "leaf") == {"left", "right", "root"}
    assert above(kb, "root") == set()


def test_only_near_kin_counts() -> None:
    kb = tree(**{f"e{n}": f"e{n - 1}" if n else "" for n in range(9)})
    assert above(kb, "e8") == {f"e{n}" for n in range(8 - LEVELS, 8)}


def test_depth_is_the_shortest_way_to_the_top() -> None:
    kb = tree(root="", left="root", deep="left", leaf="deep root")
    assert [kb.hierarchy.depth(row) for row in range(4)] == [0, 1, 2, 1]


def test_a_cycle_and_unknown_parents_end() -> None:
    kb = tree(a="b", b="a", c="gone", d="c")
    assert above(kb, "a") == {"b"}
    assert above(kb, "c") == set()
    assert [kb.hierarchy.depth(row) for row in range(4)] == [1, 1, 0, 1]


def test_a_very_deep_tree_has_a_bottom() -> None:
    kb = tree(**{f"e{n}": f"e{n - 1}" if n else "" for n in range(DEEPEST + 20)})
    assert kb.hierarchy.depth(DEEPEST + 19) == DEEPEST

"""How near candidates are, in the tree, to what was decided before."""

from __future__ import annotations

import numpy as np
import pytest

from models.core.kb import KnowledgeBase
from models.rankers.conventions import CONVENTIONS, Conventions, Elsewhere
from models.types import EntityRecord

KB = KnowledgeBase((
    EntityRecord("A", "movement disorders"),
    EntityRecord("B", "akathisia", parents=("A",)),
    EntityRecord("C", "akathisia, drug-induced", ("akathisia",), parents=("B",)),
    EntityRecord("D", "ataxia"),
))  # fmt: skip
HEAD = np.arange(4)


def columns(
    decided: dict[int, float] | None = None,
    elsewhere: Elsewhere | None = None,
    head: np.ndarray = HEAD,
) -> dict[str, list[float]]:
    found = Conventions(KB.hierarchy, np.arange(4), decided or {}, elsewhere).columns(head)
    assert tuple(found) == CONVENTIONS
    return {name: np.asarray(values).tolist() for name, values in found.items()}


def test_broader_and_narrower_than_what_was_decided_for_the_string() -> None:
    found = columns({1: 0.8, 3: 0.5})
    assert found["string_broader"] == [0.8, 0.0, 0.0, 0.0]
    assert found["string_narrower"] == [0.0, 0.0, 0.8, 0.0]


def test_the_best_of_several_decisions_counts() -> None:
    assert columns({1: 0.2, 2: 0.7})["string_broader"] == [0.7, 0.7, 0.0, 0.0]


def test_depth_in_tenths() -> None:
    assert columns()["depth"] == pytest.approx([0.0, 0.1, 0.2, 0.0])


def test_the_documents_other_mentions_are_taken_in_the_heads_order() -> None:
    values = np.eye(3, 4, dtype=np.float32) + np.arange(3, dtype=np.float32)[:, None]
    beside = Elsewhere(*values, lambda rows: np.asarray([rows, rows + 10, rows + 20]))
    found = columns(elsewhere=beside, head=np.asarray([2, 1, 0]))
    assert found["document_broader"] == [1.0, 2.0, 1.0]
    assert found["document_narrower"] == [3.0, 2.0, 2.0]
    assert [found[name] for name in CONVENTIONS[-3:]] == [[2, 1, 0], [12, 11, 10], [22, 21, 20]]
    assert [columns()[name] for name in CONVENTIONS if name.startswith(("document", "own", "names"))] == [[0.0] * 4] * 5

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from models.inputs import MentionTokens
from models.kb import KnowledgeBase
from models.types import EntityRecord
from training import mining
from training.examples import Example
from training.losses import Similarity
from training.mining import Miner
from training.negatives import Kinship, MixedNegatives

KB = KnowledgeBase(tuple(EntityRecord(f"E{n}", f"e{n}", types=("A",) if n < 4 else ("B",)) for n in range(6)))
VECTORS = np.eye(6, dtype=np.float32)


def example(key: str, gold: Sequence[int], types: tuple[str, ...], shown: tuple[int, ...] = ()) -> Example:
    return Example(key, MentionTokens((1, 2), 0, 1), tuple(gold), types, 0, shown)


EXAMPLES = [example("a", [0], ("A",), shown=(3,)), example("b", [4], ())]


def miner(vectors: Any) -> Miner:
    sampler = MixedNegatives(size=4, entities=6, seed=0, mined={})
    towers = cast(Any, SimpleNamespace(entity_vectors=vectors))
    ranked = [[0, 1, 2], [4, 5]]
    return Miner(
        towers, EXAMPLES, kb=KB, kinship=Kinship(KB.entities), ranked=ranked, sampler=sampler,
        similarity=Similarity.COSINE,
    )  # fmt: skip


def mined(made: Miner, epoch: int) -> dict[int, list[int]]:
    assert [event.text for event in made(epoch)] == ["Looking for entities that are easily confused"]
    return {number: list(rows) for number, rows in made.sampler.mined.items()}


def test_first_epoch_uses_the_linkers_candidates_and_what_was_shown() -> None:
    assert mined(miner(VECTORS), 0) == {0: [3, 1, 2], 1: [5]}


@pytest.mark.parametrize("frozen", [True, False])
def test_later_epochs_search_with_the_towers_within_the_types(frozen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = np.array([[0.9, 0.1, 0.8, 0, 0.95, 0], [0, 0, 0.5, 0, 1, 0.7]], dtype=np.float32)
    monkeypatch.setattr(mining, "mention_vectors", lambda towers, examples: queries)
    monkeypatch.setattr(mining, "pool_vectors", lambda towers, rows: VECTORS[list(rows)])
    made = miner(VECTORS if frozen else None)
    found = mined(made, 1)
    assert found[0][:2] == [3, 2]
    assert 4 not in found[0]
    assert found[1][0] == 5
    assert made.pool == [0, 1, 2, 4, 5]

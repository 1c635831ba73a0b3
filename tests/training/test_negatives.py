from collections import Counter

import numpy as np
import pytest

from models.errors import ModelError
from models.types import EntityRecord
from training.negatives import Kinship, MixedNegatives, RandomNegatives, eligible, hard_rows, nearest

ENTITIES = [
    EntityRecord("A", "a", alt_ids=("x", "y")),
    EntityRecord("B", "b", alt_ids=("x",)),
    EntityRecord("C", "c", alt_ids=("A",)),
    EntityRecord("D", "d"),
]


def test_kin_share_an_id_primary_or_alternate() -> None:
    kinship = Kinship(ENTITIES)
    assert kinship.of([0]) == {0, 1, 2}
    assert kinship.of([1]) == {0, 1}
    assert kinship.of([3]) == {3}
    assert kinship.of([]) == frozenset()


def test_gold_and_aliases_are_never_eligible() -> None:
    mask = eligible([[0], [3], [], [1, 3]], np.array([3, 2, 1, 0]), Kinship(ENTITIES))
    assert mask.tolist() == [
        [True, False, False, False],
        [False, True, True, True],
        [True, True, True, True],
        [False, True, False, False],
    ]


def test_random_rows_are_distinct_uniform_and_seeded() -> None:
    sampler = RandomNegatives(size=3, entities=10, seed=5)
    draws = [sampler.draw([0, 1]).rows.tolist() for _ in range(4000)]
    assert all(len(set(draw)) == 3 for draw in draws)
    counts = Counter(row for draw in draws for row in draw)
    expected = 4000 * 3 / 10
    assert set(counts) == set(range(10))
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 27.9  # chi-square, 9 df, p = .001
    again = RandomNegatives(size=3, entities=10, seed=5)
    assert [again.draw([0, 1]).rows.tolist() for _ in range(5)] == draws[:5]
    assert [RandomNegatives(size=3, entities=10, seed=6).draw([0]).rows.tolist() for _ in range(2)] != draws[:2]


def test_a_small_knowledge_base_gives_what_it_has() -> None:
    assert sorted(RandomNegatives(size=9, entities=4, seed=0).draw([0]).rows.tolist()) == [0, 1, 2, 3]
    assert RandomNegatives(size=0, entities=4, seed=0).draw([0]).rows.tolist() == []


def test_mixed_takes_turns_and_keeps_the_share() -> None:
    mined = {0: [10, 11, 12], 1: [20, 10, 22], 2: []}
    sampler = MixedNegatives(size=8, entities=1000, seed=1, mined=mined, share=0.5)
    rows = sampler.draw([0, 1, 2]).rows.tolist()
    assert rows[:4] == [10, 20, 11, 12]
    assert len(set(rows)) == 8
    assert MixedNegatives(size=8, entities=1000, seed=1, mined=mined, share=0.0).draw([0]).rows.tolist()[:1] != [10]
    sampler.refresh({0: [30]})
    fresh = sampler.draw([0, 1]).rows
    assert fresh[0] == 30
    assert len(fresh) == 8


def test_hard_rows_are_shown_then_ranked_without_gold_and_kin() -> None:
    kinship = Kinship(ENTITIES)
    assert hard_rows([0, 1, 2, 3], [1], kinship, limit=5, shown=[3, 0]) == [3, 2]
    assert hard_rows([0, 1, 2, 3], [], kinship, limit=2) == [0, 1]


def test_nearest_by_inner_product() -> None:
    vectors = np.eye(3, dtype=np.float32)
    found = nearest(np.array([[0, 1, 0.5]] * 300, dtype=np.float32), vectors, k=2)
    assert found.shape == (300, 2)
    assert found[-1].tolist() == [1, 2]
    assert nearest(np.empty((0, 3), dtype=np.float32), vectors, k=2).shape == (0, 2)


def test_parameters_out_of_range() -> None:
    with pytest.raises(ModelError, match="negatives"):
        RandomNegatives(size=-1, entities=4, seed=0)
    with pytest.raises(ModelError, match="share"):
        MixedNegatives(size=2, entities=4, seed=0, mined={}, share=1.5)


def test_every_sampler_is_tested() -> None:
    from pathlib import Path

    from training.negatives import NegativeSampler

    source = Path(__file__).read_text(encoding="utf-8")
    samplers = [RandomNegatives, MixedNegatives]
    assert all(issubclass(sampler, NegativeSampler) for sampler in samplers)
    assert all(f"{sampler.__name__}(" in source for sampler in samplers)

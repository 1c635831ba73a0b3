"""What holds for every sampler; `samplers.MAKERS` lists them."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from tests.training.negatives.samplers import EXAMPLES, GOLD, KB, KINSHIP, MAKERS, MENTIONS, SIZE, build, mined, reach
from training.data.domains import Domain
from training.negatives.batch import DrawnNegatives, candidate_set
from training.negatives.mined import HardNegatives, MinedNegatives, MixedNegatives
from training.negatives.sampling import RandomNegatives, Reach

RANDOM = np.random.default_rng(0)
every_sampler = pytest.mark.parametrize("kind", MAKERS)
every_sharing = pytest.mark.parametrize("sharing", ["batch", "mention"])
batches = st.lists(st.sampled_from(MENTIONS), min_size=1, max_size=len(GOLD), unique=True)


def chi_square(counts: Counter[int], rows: list[int]) -> float:
    expected = sum(counts.values()) / len(rows)
    return sum((counts[row] - expected) ** 2 / expected for row in rows)


@every_sampler
@given(
    batch=batches, sharing=st.sampled_from(["batch", "mention"]), scope=st.sampled_from(["cross", "in"]),
    seed=st.integers(0, 2**32), in_batch=st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_never_gold_nor_alias(
    kind: type, batch: list[int], sharing: str, scope: str, seed: int, in_batch: bool
) -> None:
    drawn = build(kind, sharing, scope).draw(batch, np.random.default_rng(seed))
    assert len(set(drawn.rows.tolist())) == len(drawn.rows)
    gold = [GOLD[mention] for mention in batch]
    chosen = [rows[0] if rows else -1 for rows in gold]
    rows, allowed = candidate_set(gold, chosen, drawn, KINSHIP, in_batch=in_batch)
    for number, own in enumerate(gold):
        names = {name for row in own for name in (KB.entities[row].id, *KB.entities[row].alt_ids)}
        for row in rows[allowed[number]].tolist():
            assert names.isdisjoint((KB.entities[row].id, *KB.entities[row].alt_ids))
    assert set(chosen) - {-1} <= set(rows.tolist())
    assert rows.tolist() == sorted(set(rows.tolist()))


@every_sampler
@every_sharing
@pytest.mark.parametrize("scope", ["cross", "in"])
def test_equal_seeds_draw_equally(kind: type, sharing: str, scope: str) -> None:
    sampler, seeded = build(kind, sharing, scope), [np.random.default_rng(seed) for seed in (1, 1, 2)]
    draws = [[sampler.draw(MENTIONS, random).rows.tolist() for _ in range(4)] for random in seeded]
    assert draws[0] == draws[1]
    assert (draws[0] != draws[2]) == (kind is not HardNegatives)


@pytest.mark.parametrize("kind", [HardNegatives, MixedNegatives])
def test_mined_rows_are_kept(kind: type) -> None:
    sampler, fresh = build(kind, "mention", "in"), build(kind, "mention", "in")
    fresh.refresh({})
    fresh.load_state(json.loads(json.dumps(sampler.state())))
    draws = [one.draw(MENTIONS, np.random.default_rng(4)).rows.tolist() for one in (sampler, fresh)]
    assert draws[0] == draws[1]


@every_sampler
@every_sharing
def test_in_domain_only(kind: type, sharing: str) -> None:
    sampler = build(kind, sharing, "in")
    for _ in range(20):
        drawn = sampler.draw(MENTIONS, RANDOM)
        assert drawn.own is not None
        assert drawn.own.any(axis=0).all()
        for number, own in zip(MENTIONS, drawn.own, strict=True):
            gold = GOLD[number]
            kinds = {kind for row in gold for kind in KB.entities[row].types} or set(EXAMPLES[number].types)
            assert all(not kinds.isdisjoint(KB.entities[row].types) for row in drawn.rows[own].tolist())
            assert own.any() == bool(kinds)


@every_sampler
def test_own_set_for_each_mention(kind: type) -> None:
    drawn = build(kind, "mention", "cross").draw(MENTIONS, RANDOM)
    assert drawn.own is not None
    assert drawn.own.sum(axis=1).tolist() == [SIZE] * len(GOLD)
    assert drawn.own.any(axis=0).all()
    for gold, own in zip(GOLD, drawn.own, strict=True):
        assert not KINSHIP.of(gold) & set(drawn.rows[own].tolist())
    assert len({tuple(drawn.rows[own].tolist()) for own in drawn.own}) > 1


@every_sampler
def test_one_set_for_a_batch(kind: type) -> None:
    drawn = build(kind, "batch", "cross").draw(MENTIONS, RANDOM)
    assert drawn.own is None
    assert len(drawn.rows) == SIZE


@every_sampler
def test_distribution(kind: type) -> None:
    """Mined rows are always there; the others are uniform over what the mined ones leave."""
    sampler = build(kind, "mention", "in")
    certain = set(sampler.hardest([0], without=np.array([]))) if isinstance(sampler, MinedNegatives) else set()
    domain = reach("mention", "in").domains
    assert domain is not None
    left = [row for row in range(60) if domain[0].holds(np.array([row]))[0]]
    left = [row for row in left if row not in certain | KINSHIP.of(GOLD[0])]
    counts: Counter[int] = Counter()
    for _ in range(3000):
        rows = set(sampler.draw([0], RANDOM).rows.tolist())
        assert certain <= rows
        counts.update(rows - certain)
    if kind is HardNegatives:
        assert not counts
    else:
        assert set(counts) == set(left)
        assert chi_square(counts, left) < chi2.ppf(0.999, len(left) - 1)


@every_sampler
def test_no_mention_and_no_row(kind: type) -> None:
    for sharing in ("batch", "mention"):
        assert len(build(kind, sharing, "in").draw([], RANDOM).rows) == 0
    sampler = build(kind, "mention", "cross")
    sampler.size = 0
    assert sampler.uniform([0], RANDOM, 0, without=np.array([], dtype=np.int64)).tolist() == []


def test_a_shared_in_domain_set_is_divided_evenly() -> None:
    near, far = Domain(((0, 30),)), Domain(((30, 33), (40, 60)))
    sampler = RandomNegatives(size=8, entities=60, reach=Reach(domains=[near, far, near, near, Domain(())]))
    for mentions, low in (([0, 1, 2, 3], 6), ([1], 0), ([1, 0], 4)):
        rows = sampler.draw(mentions, RANDOM).rows
        assert (len(rows), int((rows < 30).sum())) == (8, low)
    uneven = [int((sampler.draw([0, 1, 2], RANDOM).rows < 30).sum()) for _ in range(200)]
    assert {5, 6} == set(uneven)
    own = sampler.draw([1, 4], RANDOM).own
    assert own is not None
    assert own.sum(axis=1).tolist() == [4, 0]


def test_mixed_takes_turns_and_keeps_the_share() -> None:
    rows = {0: [10, 11, 12], 1: [20, 10, 22], 2: []}
    sampler = MixedNegatives(size=8, entities=1000, mined=rows, share=0.5)
    drawn = sampler.draw([0, 1, 2], RANDOM).rows.tolist()
    assert drawn[:4] == [10, 20, 11, 12]
    assert len(set(drawn)) == 8
    assert MixedNegatives(size=8, entities=1000, mined=rows, share=0.0).draw([0], RANDOM).rows.tolist()[:1] != [10]
    sampler.refresh({0: [30]})
    fresh = sampler.draw([0, 1], RANDOM).rows
    assert fresh[0] == 30
    assert len(fresh) == 8


def test_hard_has_no_more_than_was_mined() -> None:
    sampler = HardNegatives(size=8, entities=1000, mined={0: [10, 11], 1: [11]})
    assert sampler.draw([0, 1, 2], RANDOM).rows.tolist() == [10, 11]
    assert mined(reach("batch", "cross"))[5]


def test_others_gold_serves_only_in_batch_or_when_drawn() -> None:
    drawn = DrawnNegatives(np.array([7, 2]), np.array([[True, False], [True, True]]))
    for in_batch, expected in ((False, [[0, 0, 1, 0], [1, 0, 1, 0]]), (True, [[0, 0, 1, 1], [1, 1, 1, 0]])):
        rows, allowed = candidate_set([[4], [30]], [4, 30], drawn, KINSHIP, in_batch=in_batch)
        assert rows.tolist() == [2, 4, 7, 30]
        assert allowed.astype(int).tolist() == expected
    rows, allowed = candidate_set(
        [[], []], [-1, -1], DrawnNegatives(np.array([], dtype=np.int64)), KINSHIP, in_batch=True
    )
    assert rows.shape == (0,)
    assert allowed.shape == (2, 0)

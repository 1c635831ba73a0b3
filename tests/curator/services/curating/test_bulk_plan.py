"""What is chosen before anybody looks, and that what is accepted keeps its bound with any probabilities."""

from __future__ import annotations

import random

import pytest

from curator.services.curating.bulk_plan import Audit, AuditState, BulkPlan, limit_left, make_plan, percent_up
from curator.services.ports.queue import Chance, Tried
from tests.curator.services.bulk_samples import unseen_too_bad


def chances(*probabilities: float) -> list[Chance]:
    ordered = sorted(probabilities, reverse=True)
    return [Chance(number, number // 10, one, "A") for number, one in enumerate(ordered, start=1)]


def world(size: int = 3000, *, worst: float = 0.5, seed: int = 1) -> list[Chance]:
    dice = random.Random(seed)
    return chances(*(1.0 - dice.random() ** 4 * worst for _ in range(size)))


def played(plan: BulkPlan, bad: set[int]) -> Audit:
    """Checked by somebody who knows."""
    audit = Audit(plan)
    while audit.state is AuditState.CHECKING:
        for one in audit.left[:20]:
            audit.mark(one, one not in bad)
    return audit


def test_a_plan_is_made_before_anything_is_known() -> None:
    plan = make_plan(world(), [], error=0.02, seed=5)
    assert plan == make_plan(world(), [], error=0.02, seed=5)
    assert 1 <= len(plan.sets) <= 3
    for number, one in enumerate(plan.sets):
        assert one.expected < 0.02
        assert limit_left(one.allowed, one.checks, one.size, alpha=one.alpha) <= 0.02
        assert len(set(plan.samples[number])) == one.checks
        assert set(plan.samples[number]) <= {chance.mention_id for chance in plan.members(number)}
    assert sum(one.alpha for one in plan.sets) <= 0.05
    assert [one.size for one in plan.sets] == sorted({one.size for one in plan.sets}, reverse=True)


@pytest.mark.parametrize("error", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("size", [60, 150, 400, 600, 1258, 3000])
@pytest.mark.parametrize("worst", [0.02, 0.2, 0.5])
def test_all_sets_of_a_plan_together_keep_the_error_in_the_unseen(error: float, size: int, worst: float) -> None:
    """The sets are tried one after the other: the probabilities of accepting too many wrong ones add up to 5 %."""
    plan = make_plan(world(size, worst=worst), [], error=error, seed=3)
    risk = sum(unseen_too_bad(one.size, one.checks, one.allowed, error) for one in plan.sets)
    assert risk <= 0.05 + 1e-9
    for number, one in enumerate(plan.sets):
        members = {chance.mention_id for chance in plan.members(number)}
        seen = {mention_id for sample in plan.samples[: number + 1] for mention_id in sample} & members
        assert seen == set(plan.samples[number]), "what a larger set checked is in the sample, not unseen"
        assert one.checks < one.size


def test_a_smaller_set_allows_what_its_larger_sample_allows() -> None:
    """A strict first set: its sample holds more of the second than that needs."""
    plan = make_plan(world(3000, worst=0.2), [], error=0.02, seed=1)
    for one in plan.sets:
        assert limit_left(one.allowed, one.checks, one.size, alpha=one.alpha) <= 0.02
        assert limit_left(one.allowed + 1, one.checks, one.size, alpha=one.alpha) > 0.02


def test_a_displayed_limit_is_rounded_up() -> None:
    assert [percent_up(one, 1) for one in (0.02, 0.07, 0.0194, 0.02001, 0.0)] == [2.0, 7.0, 2.0, 2.1, 0.0]
    assert percent_up(7 / 351, 2) == 2.0


def test_another_draw_is_another_sample() -> None:
    assert make_plan(world(), [], error=0.02, seed=1).samples != make_plan(world(), [], error=0.02, seed=2).samples


def test_a_smaller_error_accepts_less() -> None:
    sizes = [make_plan(world(), [], error=error, seed=1).sets[0].size for error in (0.01, 0.02, 0.05)]
    assert sizes == sorted(sizes)


def test_too_few_or_too_unsure_suggestions_make_no_plan() -> None:
    assert make_plan([], [], error=0.02, seed=1).sets == ()
    assert make_plan(chances(*[0.999] * 20), [], error=0.01, seed=1).sets == ()
    assert make_plan(chances(*[0.6] * 3000), [], error=0.05, seed=1).sets == ()


def test_equal_probabilities_are_never_torn_apart() -> None:
    plan = make_plan(chances(*[0.999] * 700, *[0.5] * 300), [], error=0.05, seed=1)
    assert [one.size for one in plan.sets] == [700]


def test_held_out_gold_that_speaks_against_a_threshold_is_heard() -> None:
    """The probabilities promise 0.1 % wrong; of those that were tried every tenth was."""
    sure = chances(*[0.999] * 1000, *[0.995] * 1000)
    tried = [Tried(0.999, True)] * 400 + [Tried(0.995, number % 10 > 0) for number in range(400)]
    assert make_plan(sure, [], error=0.02, seed=1).sets[0].size == 2000
    plan = make_plan(sure, tried, error=0.02, seed=1)
    assert plan.sets[0].size == 1000
    assert plan.held_out == (400, 0)


def test_a_set_without_errors_passes_and_its_checked_ones_are_not_accepted_again() -> None:
    plan = make_plan(world(), [], error=0.02, seed=1)
    audit = played(plan, set())
    assert audit.state is AuditState.PASSED
    assert audit.limit <= 0.02
    ids = {one.mention_id for one in audit.accepted()}
    assert len(ids) == plan.sets[0].size - plan.sets[0].checks
    assert not ids & set(plan.samples[0])


def test_too_many_wrong_ones_shrink_the_set_and_earlier_checks_count() -> None:
    plan = make_plan(world(), [], error=0.02, seed=1)
    assert len(plan.sets) > 1
    inner = {one.mention_id for one in plan.members(1)}
    outer = {one.mention_id for one in plan.members(0)} - inner
    audit = played(plan, outer)
    assert audit.number == 1
    assert audit.state is AuditState.PASSED
    assert {one.mention_id for one in audit.accepted()} <= inner
    assert any(one in plan.samples[0] for one in plan.samples[1])


def test_nothing_is_accepted_where_every_set_fails_or_is_still_checked() -> None:
    plan = make_plan(world(), [], error=0.02, seed=1)
    assert Audit(plan).accepted() == ()
    assert Audit(plan).limit == 1.0
    failed = played(plan, {one.mention_id for one in plan.chances})
    assert failed.state is AuditState.FAILED
    assert failed.accepted() == ()
    assert len(failed.marks) < 100, "hopeless checking ends early"


def test_a_mark_can_be_taken_back() -> None:
    plan = make_plan(world(), [], error=0.02, seed=1)
    audit = Audit(plan)
    sample = plan.samples[0][: plan.sets[0].allowed + 1]
    for one in sample:
        audit.mark(one, False)
    assert audit.number > 0
    audit.mark(sample[0], True)
    assert audit.number == 0


@pytest.mark.parametrize("rate", [0.025, 0.04])
def test_probabilities_that_lie_do_not_break_the_bound(rate: float) -> None:
    """Suggestions that are wrong far more often than they say: 95 % of the procedure's runs keep to the error."""
    said = world(1000, worst=0.02)
    dice, broken, runs = random.Random(9), 0, 100
    for seed in range(runs):
        bad = {one.mention_id for one in said if dice.random() < rate}
        accepted = played(make_plan(said, [], error=0.02, seed=seed), bad).accepted()
        wrong = sum(one.mention_id in bad for one in accepted)
        broken += wrong > 0.02 * max(len(accepted), 1)
    assert broken <= 0.05 * runs + 4

"""The time left that is shown during simulated work."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from curator.services.core.pace import Pace


def work(pace: Pace, until: float, rate: Callable[[float], float], *, at: float = 0.0, done: float = 0.0) -> float:
    """Reports of half a second each; returns how much is done then."""
    pace.take(at, done)
    while at < until:
        done += 0.5 * rate(at)
        at += 0.5
        pace.take(at, done)
    return done


def contains(found: tuple[float, float] | None, truth: float) -> bool:
    return found is not None and found[0] <= truth <= found[1]


def test_nothing_is_said_before_it_was_measured() -> None:
    pace = Pace()
    assert pace.left(0.0, 100.0) is None
    work(pace, 3.0, lambda _: 10.0)
    assert pace.left(3.0, 100.0) is None


@pytest.mark.parametrize("seconds", [5.0, 20.0, 300.0])
def test_a_steady_pace_gives_a_range_that_narrows(seconds: float) -> None:
    pace = Pace()
    work(pace, seconds, lambda _: 10.0)
    found = pace.left(seconds, 6000.0)
    assert contains(found, 600.0)
    assert found is not None
    assert found[1] / found[0] < (2.6 if seconds < 20 else 1.3)


def test_a_load_that_comes_is_seen_within_a_minute_and_one_that_sways_is_within_the_range() -> None:
    pace = Pace()
    done = work(pace, 100.0, lambda _: 30.0)
    work(pace, 170.0, lambda _: 6.0, at=100.0, done=done)
    assert contains(pace.left(170.0, 600.0), 100.0), "not what it was before"
    dice, swaying = random.Random(3), Pace()
    work(swaying, 20.0, lambda _: dice.choice([3.0, 9.0]))
    found = swaying.left(20.0, 3600.0)
    assert contains(found, 600.0)


@pytest.mark.parametrize("at", [0.0, 0.4, 2.0, 6.0])
def test_what_was_kept_from_before_is_no_speed(at: float) -> None:
    """6,000 of 10,000 vectors are in the cache: they are done at once, at the start or in between."""
    pace, done = Pace(), 0.0
    for half in range(1, 41):
        pace.take((half - 1) / 2, done)
        done += 5.0 + (6000.0 if at <= half / 2 < at + 0.5 else 0.0)
    pace.take(20.0, done)
    assert contains(pace.left(20.0, 4000.0), 400.0)
    first = Pace()
    first.take(0.0, 6000.0)  # the first report has them
    work(first, 20.0, lambda _: 10.0, at=0.5, done=6000.0)
    assert contains(first.left(20.0, 4000.0), 400.0)


def test_silence_is_slowness() -> None:
    pace = Pace()
    work(pace, 20.0, lambda _: 10.0)
    before, later = pace.left(20.0, 1000.0), pace.left(60.0, 1000.0)
    assert before is not None
    assert later is not None
    assert later[1] > 2 * before[1]


def test_rare_reports_are_measured_from_the_first_on() -> None:
    pace = Pace()
    pace.take(0.0, 0.0)
    pace.take(10.0, 1024.0)
    assert contains(pace.left(10.0, 10_240.0), 100.0)


def test_other_steps_in_between_count_for_nothing() -> None:
    pace = Pace()
    done = work(pace, 20.0, lambda _: 10.0)
    pace.pause()
    work(pace, 120.0, lambda _: 10.0, at=100.0, done=done)
    assert contains(pace.left(120.0, 1000.0), 100.0)

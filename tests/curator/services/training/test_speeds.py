"""What is known of this machine's speed, and what an estimate makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.jobs import Progress
from curator.services.training.recipes import estimate, find_recipe, grouped, load_recipes
from curator.services.training.speeds import (
    CAUTION,
    OTHERS,
    OWN,
    RULE,
    EncodingWatch,
    Speeds,
    job_slower_now,
    slower_now,
)


def test_measured_runs_replace_the_cautious_rule(tmp_path: Path) -> None:
    speeds = Speeds(tmp_path / "cache")
    assert speeds.factor("a", "cpu") == (CAUTION, RULE)
    speeds.measured("a", "cpu", predicted=100.0, seconds=50.0)
    assert speeds.factor("a", "cpu") == (0.5, OWN)
    speeds.measured("a", "cpu", predicted=100.0, seconds=150.0)
    assert speeds.factor("a", "cpu")[0] == 1.0
    assert speeds.factor("a", "cuda")[0] == CAUTION


def test_a_forecast_is_a_range_that_a_first_run_makes_narrower(tmp_path: Path) -> None:
    speeds = Speeds(tmp_path)

    def ratio() -> float:
        low, high = speeds.spread("a", "cpu")
        return high / low

    unknown = ratio()
    assert unknown <= 5
    speeds.measured("a", "cpu", predicted=100.0, seconds=100.0)
    assert ratio() < unknown / 2


@pytest.mark.parametrize(("load", "times"), [(0.0, 1.0), (3.0, 2.5), (40.0, 4.0)])
def test_other_programs_make_it_longer_by_what_they_use_now(
    monkeypatch: pytest.MonkeyPatch, load: float, times: float
) -> None:
    """Two processors; however many programs run, the figure of the window's own work is bounded."""
    monkeypatch.setattr("curator.services.training.speeds.os.getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr("curator.services.training.speeds.os.cpu_count", lambda: 2)
    assert slower_now() == times
    assert job_slower_now() == 1 + 9 * load / 2, "trainings give way, and nothing is left out"


def test_vectors_of_a_knowledge_base_are_kept_for_the_recipe_and_its_quick_variant(tmp_path: Path) -> None:
    speeds = Speeds(tmp_path)
    assert not speeds.kept("a", "kb1")
    speeds.keeps("a-quick", "kb1")
    assert [speeds.kept(*one) for one in (("a", "kb1"), ("a-quick", "kb1"), ("b", "kb1"), ("a", "kb2"))] == [
        *(True, True, False, False),
    ]
    assert speeds.factor("a", "cpu") == (CAUTION, RULE), "that is no speed"


def test_what_was_encoded_before_training_is_known_from_its_progress() -> None:
    watch = EncodingWatch(clock=lambda: 0.0)
    watch.take(Progress("prepare", 5, 10))
    assert watch.before == 0, "decisions are read there, too"
    watch.take(Progress("prepare", 512, 4000, data={"work": 0.1}))
    assert watch.before == 512


def test_runs_of_other_recipes_tell_about_the_machine(tmp_path: Path) -> None:
    speeds = Speeds(tmp_path)
    speeds.measured_encoding("cpu", 200.0)
    assert speeds.factor("b", "cpu") == (CAUTION, RULE), "the rate of encoding is no factor"
    for name, seconds in (("x", 50.0), ("y", 80.0), ("z", 900.0)):
        speeds.measured(name, "cpu", predicted=100.0, seconds=seconds)
    assert speeds.factor("b", "cpu") == (0.8, OTHERS)
    assert speeds.encoding("cpu") == 200.0
    assert speeds.encoding("cuda") is None


def test_encoding_is_timed_from_its_progress() -> None:
    now = [100.0]
    watch = EncodingWatch(clock=lambda: now[0])
    for seconds, phase, done in ((0, "train", 5), (0, "encode", 512), (10, "encode", 1512)):
        now[0] += seconds
        watch.take(Progress(phase, done, 4000))
    assert watch.rate == pytest.approx(100.0)
    early = EncodingWatch(clock=lambda: 0.0)
    early.take(Progress("encode", 4000, 4000))
    assert early.rate is None, "vectors that were kept tell nothing"


def test_a_trained_entity_encoder_is_paid_for_again() -> None:
    recipe = find_recipe("pel-pb-quick")
    values = recipe.values(None)
    frozen = estimate(recipe, values | {"entity_tower": "frozen"}, decisions=100, entities=10_000)
    trained = estimate(recipe, values | {"entity_tower": "train"}, decisions=100, entities=10_000)
    assert (frozen.encoded, frozen.encoding) == (0, 0.0)
    assert 0.0 < frozen.before < frozen.seconds
    assert trained.encoded == 10_000
    assert trained.seconds > frozen.seconds + trained.encoding - 1e-6
    twice = estimate(recipe, values | {"entity_tower": "train"}, decisions=100, entities=10_000, factor=2.0)
    assert twice.seconds == pytest.approx(2 * trained.seconds)


def test_a_time_budget_decides_whether_entities_are_encoded_anew() -> None:
    recipe = find_recipe("pel-pb-quick")
    values = recipe.values({"entity_tower": "auto"})
    long, short = (estimate(recipe, values, decisions=100, entities=10_000, minutes=m) for m in (600.0, 2.0))
    assert long.encoded == 10_000
    assert short.encoded == 0
    assert short.seconds <= 120


def test_quick_recipes_come_first_in_their_group() -> None:
    groups = dict(grouped(load_recipes()))
    assert list(groups) == ["fit", "names", "retriever", "ranker"]
    for recipes in groups.values():
        flags = [one.quick for one in recipes]
        assert flags == sorted(flags, reverse=True)
        assert flags[0]

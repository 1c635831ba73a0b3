"""What a bundle's metrics say of flips, queue and learning curve, and its map, read tolerantly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.statistics import StatisticsFilter
from curator.services.records.plots import LEARNING, bundle_plots
from curator.services.training.bundle_metrics import (
    MEASURED,
    NIL,
    RIGHT,
    DiffKind,
    comparison_of,
    diff_rows,
    diff_words,
    expectation,
    learning_points,
    queue_asked,
)
from curator.services.training.embedding_map import EmbeddingMap, has_map, nearest_with_map, read_map
from curator.services.training.recipes import find_recipe
from tests.curator.services.fakes import World
from tests.curator.services.samples import FLIPS, METRICS, QUEUE, bundle_info


def test_what_becomes_wrong_comes_first_and_the_queue_last() -> None:
    rows = diff_rows(METRICS)
    assert [one.kind for one in rows] == [DiffKind.WORSE, DiffKind.BETTER, DiffKind.BETTER, DiffKind.QUEUE]
    worse = rows[0]
    assert (worse.document, worse.mention, worse.surface) == (1, 2, "cardiac arrest")
    assert (worse.gold, worse.before, worse.after) == (("MESH:D006323",), "MESH:D006323", NIL)
    assert diff_words(rows) == (
        "2 decisions become right, 1 become wrong; 1 undecided mentions get a different first suggestion."
    )
    assert diff_words(rows[:-1]) == "2 decisions become right, 1 become wrong."


def test_the_queue_may_tell_how_many_were_asked() -> None:
    metrics = {"queue": {"documents": 1, "mentions": 40, "changes": QUEUE}}
    assert [one.kind for one in diff_rows(metrics)] == [DiffKind.QUEUE]
    assert "1 of 40 undecided mentions" in diff_words(diff_rows(metrics), asked=queue_asked(metrics))
    assert queue_asked(METRICS) == queue_asked({}) == 0
    assert "0 of 40 undecided" in diff_words([], asked=40)


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {"flips": None, "queue": "no"},
        {"flips": ["no", {"direction": "sideways"}]},
    ],
)
def test_what_is_absent_or_foreign_gives_nothing(metrics: dict[str, Any]) -> None:
    assert diff_rows(metrics) == []
    assert comparison_of(metrics) == {}


def test_ids_of_another_kind_cannot_be_opened() -> None:
    [row] = diff_rows({"flips": [{**FLIPS[0], "document": "PMID:1", "mention": None}]})
    assert (row.document, row.mention) == (None, None)


def test_an_answer_may_be_an_object_or_nothing() -> None:
    [row] = diff_rows({"queue": [{**QUEUE[0], "before": {"id": "A", "probability": 0.5}, "after": None}]})
    assert (row.before, row.after) == ("A", NIL)


# --- the map ---

POINTS = [
    {
        "key": "7",
        "label": "arrest",
        "kind": "mention",
        "group": "D1",
        "document": "1",
        "before": [0, 1],
        "after": [2, 3],
    },
    {"key": "D1", "label": "Heart Arrest", "kind": "entity", "x_before": 0, "y_before": 0, "x_after": 1, "y_after": 1},
    {"key": "8", "kind": "mention", "before": [0, 1]},
    {"key": "9", "kind": "mention", "before": [0, float("nan")], "after": [1, 1]},
    "no point",
]
MAP = {"points": POINTS, "stress": 0.125, "nearest_before": 0.5, "nearest_after": 0.75}


def test_the_map_is_read_from_metrics_or_file(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(json.dumps(MAP), encoding="utf-8")
    for info in (bundle_info(path=tmp_path), bundle_info(metrics={"map": MAP})):
        assert has_map(info)
        drawn = read_map(info)
        mention, entity = drawn.points
        assert (drawn.stress, drawn.nearest) == (0.125, (0.5, 0.75))
        assert (mention.mention, mention.document, mention.before, mention.after) == (7, 1, (0.0, 1.0), (2.0, 3.0))
        assert (entity.mention, entity.is_mention, entity.after) == (None, False, (1.0, 1.0))


def test_a_calibrated_bundle_has_the_map_of_the_one_it_was_made_from() -> None:
    first = bundle_info(id="first")
    trained = bundle_info(id="trained", parent="first", metrics={"map": MAP})
    calibrated = bundle_info(id="calibrated", parent="trained")
    bundles = [first, trained, calibrated]
    assert nearest_with_map(bundles, "calibrated") == "trained"
    assert nearest_with_map(bundles, "trained") == "trained"
    assert nearest_with_map(bundles, "first") == "first", "it has none"
    assert nearest_with_map([calibrated], "calibrated") == "calibrated", "the one before was deleted"
    assert nearest_with_map([bundle_info(id="a", parent="a")], "a") == "a"


def test_without_a_map_there_are_no_points(tmp_path: Path) -> None:
    assert not has_map(bundle_info(path=tmp_path))
    assert read_map(bundle_info(path=tmp_path)) == EmbeddingMap()
    (tmp_path / "map.json").write_text("{", encoding="utf-8")
    assert read_map(bundle_info(path=tmp_path)) == EmbeddingMap()


# --- the learning curve ---

NOBODY = "This recipe has not run in this project yet, so its effect here is not known."


def trained(
    day: int,
    *,
    links: int | None,
    after: float,
    recipe: str = "names",
    without: float | None = None,
    interval: tuple[float, float] | None = (-0.005, 0.025),
    verdict: GateVerdict = GateVerdict.NO_GAIN,
) -> BundleInfo:
    metrics: dict[str, Any] = {"old": {"accuracy": 0.9}, "new": {"accuracy": after}}
    if links is not None:
        metrics["links"] = links
    if without is not None:
        metrics["without"] = {"accuracy": without}
    if interval is not None:
        metrics["comparison"] = {"figures": {RIGHT: {"difference": {"low": interval[0], "high": interval[1]}}}}
    at = datetime(2026, 3, day, 12, tzinfo=UTC)
    return BundleInfo(f"b{day}", recipe, at, "", False, verdict, "", metrics=metrics)


def test_the_curve_goes_by_links_and_leaves_out_what_was_not_compared() -> None:
    untrained = BundleInfo("u", "untrained", datetime(2026, 3, 1, tzinfo=UTC), "", False, GateVerdict.NOT_GATED, "")
    old = trained(2, links=None, after=0.95)
    curve = learning_points([untrained, trained(9, links=500, after=0.91), trained(3, links=2000, after=0.93), old])
    assert [(one.links, one.after) for one in curve] == [(500, 0.91), (2000, 0.93)]
    assert (curve[0].low, curve[0].high) == (-0.005, 0.025)


def test_without_an_interval_the_difference_itself_is_there() -> None:
    [point] = learning_points([trained(2, links=300, after=0.92, interval=None)])
    assert (point.low, point.high) == pytest.approx((0.02, 0.02))


@pytest.mark.parametrize("metrics", [{}, {"links": 3}, {"links": "3", "old": {"accuracy": 1}}, {"links": 3, "old": 7}])
def test_metrics_of_another_form_are_no_point(metrics: Mapping[str, Any]) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    assert learning_points([BundleInfo("b", "names", at, "", False, GateVerdict.NO_GAIN, "", metrics=metrics)]) == []


def test_what_never_ran_here_promises_nothing() -> None:
    other = trained(2, links=500, after=0.95, recipe="conventions")
    assert expectation([other], find_recipe("curator"), links=900) == NOBODY
    elsewhere = expectation([other], find_recipe("names"), links=900)
    assert elsewhere == f"{MEASURED['names']} {NOBODY}"


def test_the_last_run_of_the_recipe_is_what_is_known() -> None:
    runs = [trained(5, links=500, after=0.91, without=0.905), trained(2, links=800, after=0.99)]
    assert expectation(runs, find_recipe("names"), links=1200) == (
        "When it last ran, with 500 links, correct answers on held-out documents, NIL included, went from 90.0 % to "
        "91.0 % (difference -0.5 to +2.5 points): no gain beyond chance. Refitting the weights alone would "
        "have given 90.5 %. There are 1,200 links now."
    )


def test_refitting_is_not_compared_with_itself() -> None:
    runs = [trained(5, links=500, after=0.91, without=0.91, recipe="conventions", verdict=GateVerdict.PROMOTE)]
    words = expectation(runs, find_recipe("conventions"), links=1200)
    assert "alone" not in words
    assert "the new linker was put into use" in words


def test_it_is_a_plot_with_the_interval_of_the_difference() -> None:
    bundles = [trained(9, links=500, after=0.91), trained(3, links=2000, after=0.93, verdict=GateVerdict.PROMOTE)]
    plot = next(one for one in bundle_plots(bundles, StatisticsFilter()) if one.id == LEARNING)
    assert plot.places == ("500 names", "2,000 names")
    before, after = plot.series
    assert (before.values, after.values) == ((0.9, 0.9), (0.91, 0.93))
    assert after.low == pytest.approx((0.895, 0.895))
    assert (
        plot.summary == "With 2,000 links, names changed the linker's share of correct answers from 90.0 % to 93.0 %."
    )
    assert bundle_plots([], StatisticsFilter())[0].is_empty


def test_a_preview_says_what_may_be_expected(world: World) -> None:
    world.kb()
    world.index()
    assert world.project.retraining.preview("names").expects.endswith(NOBODY)

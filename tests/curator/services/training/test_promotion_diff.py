"""What a bundle's metrics say of flips and queue, and its map, read tolerantly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.services.training.embedding_map import EmbeddingMap, has_map, nearest_with_map, read_map
from curator.services.training.promotion_diff import NIL, DiffKind, comparison_of, diff_rows, diff_words, queue_asked
from tests.curator.services.samples import FLIPS, METRICS, QUEUE, bundle_info


def test_what_becomes_wrong_comes_first_and_the_queue_last() -> None:
    rows = diff_rows(METRICS)
    assert [one.kind for one in rows] == [DiffKind.WORSE, DiffKind.BETTER, DiffKind.BETTER, DiffKind.QUEUE]
    worse = rows[0]
    assert (worse.document, worse.mention, worse.surface) == (1, 2, "cardiac arrest")
    assert (worse.gold, worse.before, worse.after) == (("MESH:D006323",), "MESH:D006323", NIL)
    assert diff_words(rows) == (
        "2 decisions become right, 1 become wrong; 1 undecided mentions get another first suggestion."
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


def test_an_untrained_bundle_is_a_bundle(tmp_path: Path) -> None:
    info: BundleInfo = bundle_info(path=tmp_path)
    assert info.verdict is GateVerdict.NOT_GATED

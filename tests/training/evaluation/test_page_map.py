"""The map in the report: the bundle's own or its parent's, drawn within its frame."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from training.evaluation import page_map
from training.evaluation.embedding_map import MAP_FILE, EmbeddingMap, MapPoint, PointKind
from training.evaluation.page_map import map_of, map_section

POINTS = (
    MapPoint("D1", "Pain <acute>", PointKind.ENTITY, "D1", (-1.0, 0.5), (0.0, 0.0)),
    MapPoint("7", "ache", PointKind.MENTION, "D1", (3.0, 0.5), (0.5, 0.25), "1"),
    MapPoint("D2", "Fever", PointKind.ENTITY, "D2", (0.0, 2.0), (1.0, 1.0)),
)
MAP = EmbeddingMap(POINTS, 0.125, 0.25, 0.75)


def bundle(folder: Path, name: str, *, parent: str = "", drawn: bool = False) -> Any:
    path = folder / name
    path.mkdir()
    if drawn:
        (path / MAP_FILE).write_text(json.dumps(MAP.to_json()))
    return SimpleNamespace(path=path, manifest=SimpleNamespace(id=name, parent=parent))


def test_both_moments_are_drawn_with_what_is_true_in_the_full_space() -> None:
    page = map_section(MAP.to_json()).replace("\u00a0", " ")
    assert "25.0 % of the mentions" in page
    assert "75.0 % of the mentions" in page
    assert "Stress 0.125" in page
    before, after = (etree.fromstring(one) for one in re.findall(r"<svg.*?</svg>", page))
    for chart in (before, after):
        assert [one.tag.rpartition("}")[2] for one in chart] == ["rect", "circle", "rect"]
        assert chart[0][0].text == "Pain <acute>"
        assert chart[0].get("fill") == chart[1].get("fill") != chart[2].get("fill")
        for mark in chart:
            x, y = (float(mark.get(f"c{axis}") or mark.get(axis)) for axis in "xy")
            assert 0 <= x <= page_map.SIZE
            assert 0 <= y <= page_map.SIZE
    assert before[1].get("cx") != after[1].get("cx")


def test_no_map_no_section() -> None:
    assert map_section(None) == ""
    assert map_section(EmbeddingMap((), 0.0, 0.0, 0.0).to_json()) == ""


def test_a_calibrated_bundle_shows_the_map_of_the_one_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"old": bundle(tmp_path, "old", drawn=True), "gone": None}
    monkeypatch.setattr(page_map, "open_bundle", lambda path: made[path.name])
    assert map_of(made["old"]) == MAP.to_json()
    assert map_of(bundle(tmp_path, "new", parent="old")) == MAP.to_json()
    assert map_of(bundle(tmp_path, "alone", parent="gone")) is None
    damaged = bundle(tmp_path, "damaged")
    (damaged.path / MAP_FILE).write_text("{")
    assert map_of(damaged) is None

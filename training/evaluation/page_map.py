"""The embedding map in a report: mentions and entities before and after training, in two charts with the same axes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from models.errors import ModelError
from models.linker.bundle import Bundle, open_bundle
from training.evaluation.embedding_map import MAP_FILE, EmbeddingMap, MapPoint, PointKind
from training.evaluation.page_parts import charts, paragraph, percent, plain

SIZE, EDGE = 440, 14
GOLDEN = 137.508
"""Degrees of hue between one entity's colour and the next: neighbours in the list never have similar colours."""
WORDS = (
    "Held-out mentions (dots) and their entities (squares), alike in colour where they belong together, laid out by "
    "multidimensional scaling. Both charts share one layout, so a point's way from left to right means something."
)


def map_of(bundle: Bundle) -> dict[str, Any] | None:
    """The JSON of the map of the bundle, or of the bundle it was calibrated from, since calibration makes no map. None
    if there is no map."""
    seen: set[str] = set()
    while bundle.manifest.id not in seen:
        seen.add(bundle.manifest.id)
        if (found := _read(bundle.path / MAP_FILE)) is not None:
            return found.to_json()
        parent = bundle.manifest.parent
        if not parent or not (bundle.path.parent / parent).is_dir():
            return None
        try:
            bundle = open_bundle(bundle.path.parent / parent)
        except ModelError:
            return None
    return None


def map_section(raw: Mapping[str, Any] | None) -> str:
    """Both charts with a caption; empty without points."""
    found = EmbeddingMap.from_json(raw) if raw else EmbeddingMap((), 0.0, 0.0, 0.0)
    if not found.points:
        return ""
    hues = {group: GOLDEN * at % 360 for at, group in enumerate(dict.fromkeys(one.group for one in found.points))}
    places = _unit([one.before for one in found.points] + [one.after for one in found.points])
    halves = places[: len(found.points)], places[len(found.points) :]
    near = (found.nearest_before, found.nearest_after)
    figures = [
        _figure(f"{when} training", found.points, half, hues, share)
        for when, half, share in zip(("Before", "After"), halves, near, strict=True)
    ]
    said = f"Stress {plain(found.stress)}: 0 shows all distances exactly, above 0.2 poorly."
    return paragraph(WORDS) + charts(figures) + paragraph(said, muted=True)


def _read(path: Path) -> EmbeddingMap | None:
    try:
        return EmbeddingMap.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ModelError):
        return None


def _unit(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Scales positions into the chart's frame, with one scale for both axes."""
    lows = [min(place[axis] for place in places) for axis in (0, 1)]
    wide = max(max(place[axis] for place in places) - lows[axis] for axis in (0, 1)) or 1.0
    scale = (SIZE - 2 * EDGE) / wide
    return [(EDGE + (x - lows[0]) * scale, SIZE - EDGE - (y - lows[1]) * scale) for x, y in places]


def _figure(
    title: str,
    points: Sequence[MapPoint],
    places: Sequence[tuple[float, float]],
    hues: Mapping[str, float],
    nearest: float,
) -> str:
    marks = "".join(_mark(point, *place, hues[point.group]) for point, place in zip(points, places, strict=True))
    words = f"{percent(nearest)} of the mentions are nearer to their own entity than to any other on the map."
    return (
        f'<figure><strong>{title}</strong><svg class="chart" viewBox="0 0 {SIZE} {SIZE}" role="img" '
        f'aria-label="Embedding map: {title.lower()}" xmlns="http://www.w3.org/2000/svg">{marks}</svg>'
        f"<figcaption>{escape(words)}</figcaption></figure>\n"
    )


def _mark(point: MapPoint, x: float, y: float, hue: float) -> str:
    """Entities as squares, mentions as dots, both with tooltips."""
    colour, said = f'fill="hsl({hue:.0f} 65% 48%)"', f"<title>{escape(point.label)}</title>"
    if point.kind is PointKind.ENTITY:
        return f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" {colour}>{said}</rect>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" {colour} fill-opacity="0.75">{said}</circle>'

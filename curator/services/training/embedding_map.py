"""The map of mentions and entities from a training: their positions before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from curator.domain.jobs import BundleInfo
from curator.foreign_files import read_small

FILE = "map.json"
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapPoint:
    """`key` is a mention's id or an entity's id; `group` determines the colour: the gold entity or its type. `document`
    is the mention's, None if unknown."""

    key: str
    label: str
    is_mention: bool
    group: str
    before: Place
    after: Place
    document: int | None = None

    @property
    def mention(self) -> int | None:
        """The mention's id in the project; None for an entity."""
        return int(self.key) if self.is_mention and self.key.isdigit() else None


@dataclass(frozen=True, slots=True)
class EmbeddingMap:
    """One layout of both states. `stress` measures the error of the distances in two dimensions (0: exact), `nearest`
    the share of mentions that are nearest to their own entity in the full space, before and after; None if unknown."""

    points: tuple[MapPoint, ...] = ()
    stress: float | None = None
    nearest: tuple[float, float] | None = None


def has_map(bundle: BundleInfo) -> bool:
    return isinstance(bundle.metrics.get("map"), Mapping) or (Path(bundle.path) / FILE).is_file()


def nearest_with_map(bundles: Sequence[BundleInfo], bundle_id: str) -> str:
    """The bundle itself, or its nearest ancestor with a map, since calibration makes none.

    The bundle's own id if none has a map.
    """
    there = {one.id: one for one in bundles}
    seen: set[str] = set()
    found = bundle_id
    while found in there and found not in seen:
        if has_map(there[found]):
            return found
        seen.add(found)
        found = there[found].parent
    return bundle_id


def read_map(bundle: BundleInfo) -> EmbeddingMap:
    """The bundle's map; without points if it has none. Points without both positions are left out."""
    raw = bundle.metrics.get("map") or _file(Path(bundle.path) / FILE)
    listed = raw.get("points") if isinstance(raw, Mapping) else raw
    points = [_point(one) for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    facts = raw if isinstance(raw, Mapping) else {}
    stress, before, after = (_number(facts.get(name)) for name in ("stress", "nearest_before", "nearest_after"))
    nearest = None if before is None or after is None else (before, after)
    return EmbeddingMap(tuple(one for one in points if one is not None), stress, nearest)


def _number(raw: Any) -> float | None:
    return float(raw) if isinstance(raw, int | float) and isfinite(raw) else None


def _file(path: Path) -> Any:
    try:
        return json.loads(read_small(path))
    except (OSError, ValueError, RecursionError):
        return None


def _point(raw: Mapping[str, Any]) -> MapPoint | None:
    before, after = (_place(raw, which) for which in ("before", "after"))
    if before is None or after is None:
        return None
    document = str(raw.get("document", ""))
    return MapPoint(
        key=str(raw.get("key", raw.get("id", ""))),
        label=str(raw.get("label", "")),
        is_mention=raw.get("kind") == "mention",
        group=str(raw.get("group") or ""),
        before=before,
        after=after,
        document=int(document) if document.isdigit() else None,
    )


def _place(raw: Mapping[str, Any], which: str) -> Place | None:
    """`{"before": [x, y]}`, or `x_before` and `y_before`."""
    pair = raw.get(which, [raw.get(f"x_{which}"), raw.get(f"y_{which}")])
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    try:
        x, y = float(pair[0]), float(pair[1])
    except (TypeError, ValueError):
        return None
    return (x, y) if isfinite(x) and isfinite(y) else None

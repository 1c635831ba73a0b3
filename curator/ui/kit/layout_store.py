"""The layout of windows: one for every project, and the last one for new projects. A JSON file next to the settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize

from curator.settings import config_folder

# Small things that the window keeps beside the settings: lists and layouts that may be lost without harm.


def read_state(name: str) -> Any:
    """What was kept under this file name; None where nothing was, or where it cannot be read."""
    try:
        return json.loads((config_folder() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def write_state(name: str, what: Any) -> None:
    """Write it whole. What cannot be written is no reason to complain."""
    path = config_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(what, indent=2, ensure_ascii=False), encoding="utf-8")
        beside.replace(path)
    except OSError:
        return


FILE = "layout.json"
MOST = 50
"""Projects whose layout is kept, the last used ones."""


@dataclass(frozen=True, slots=True)
class SavedLayout:
    """Pixels; `splitters` and `columns` are sizes by name, `hidden` are names of panes that were put away."""

    place: tuple[int, int, int, int] | None = None
    maximised: bool = False
    splitters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()


def usual_layout() -> SavedLayout:
    """The layout of the window that was used last."""
    return _layout(_kept().get("usual"))


def layout_of(project: Path) -> SavedLayout:
    """A project's own, or the last used one."""
    mine = _projects(_kept()).get(str(project.resolve()))
    return _layout(mine) if mine is not None else usual_layout()


def keep_layout(layout: SavedLayout, project: Path | None) -> None:
    kept = _kept()
    projects = _projects(kept)
    if project is not None:
        projects.pop(str(project.resolve()), None)
        projects[str(project.resolve())] = asdict(layout)
        projects = dict(list(projects.items())[-MOST:])
    write_state(FILE, {"usual": asdict(layout), "projects": projects})


def forget_layout(project: Path | None) -> None:
    """Back to the program's own layout, for this project and for new ones."""
    projects = _projects(_kept())
    if project is not None:
        projects.pop(str(project.resolve()), None)
    write_state(FILE, {"usual": None, "projects": projects})


def on_screen(place: QRect, screens: list[QRect], smallest: QSize) -> QRect | None:
    """The rectangle moved and shrunk to where it can be seen and reached; None where there is no screen."""
    if not screens:
        return None

    def shared(screen: QRect) -> int:
        common = screen.intersected(place)
        return common.width() * common.height() if not common.isEmpty() else 0

    screen = max(screens, key=shared)
    width = min(max(place.width(), smallest.width()), screen.width())
    height = min(max(place.height(), smallest.height()), screen.height())
    left = min(max(place.left(), screen.left()), screen.left() + screen.width() - width)
    top = min(max(place.top(), screen.top()), screen.top() + screen.height() - height)
    return QRect(left, top, width, height)


STEP = 32
"""Pixels by which a further window is moved, so that the one below is seen."""


def cascaded(beside: QRect, screen: QRect, taken: Sequence[QPoint], smallest: QSize) -> QRect:
    """Where a further window goes, its frame included: a step down and to the right of `beside`, smaller where that
    would leave `screen`, and from the screen's corner again where that would be smaller than `smallest`. No corner of
    `taken` is used twice as long as another one is free."""
    smallest = smallest.boundedTo(screen.size())
    inside = on_screen(beside, [screen], smallest) or screen
    room = min(screen.width() - smallest.width(), screen.height() - smallest.height()) // STEP
    corners = [screen.topLeft() + QPoint(STEP, STEP) * step for step in range(room + 1)]
    corners = [one for one in corners if one not in taken] or corners
    next_to = inside.topLeft() + QPoint(STEP, STEP)
    for corner in (next_to, *corners):
        left = QSize(screen.right() + 1 - corner.x(), screen.bottom() + 1 - corner.y())
        fits = left.width() >= smallest.width() and left.height() >= smallest.height()
        if fits and (corner is not next_to or corner not in taken):
            return QRect(corner, inside.size().boundedTo(left))
    return QRect(screen.topLeft(), inside.size())


def _kept() -> dict[str, Any]:
    raw = read_state(FILE)
    return raw if isinstance(raw, dict) else {}


def _projects(kept: Mapping[str, Any]) -> dict[str, Any]:
    projects = kept.get("projects")
    return dict(projects) if isinstance(projects, dict) else {}


def _layout(raw: Any) -> SavedLayout:
    """What can be used of what was kept; a damaged part is left out."""
    if not isinstance(raw, dict):
        return SavedLayout()
    place = raw.get("place")
    hidden = raw.get("hidden")
    return SavedLayout(
        place=tuple(place) if _are_numbers(place) and len(place) == 4 else None,  # type: ignore[arg-type]
        maximised=raw.get("maximised") is True,
        splitters=_sizes(raw.get("splitters")),
        columns=_sizes(raw.get("columns")),
        hidden=tuple(one for one in hidden if isinstance(one, str)) if isinstance(hidden, list) else (),
    )


def _sizes(raw: Any) -> dict[str, tuple[int, ...]]:
    if not isinstance(raw, dict):
        return {}
    return {name: tuple(sizes) for name, sizes in raw.items() if _are_numbers(sizes)}


def _are_numbers(raw: Any) -> bool:
    return isinstance(raw, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in raw)

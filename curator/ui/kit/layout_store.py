"""The layout of windows: one for every project, and the last one for new projects. A JSON file next to the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize

from curator.settings.file import read_state, write_state

FILE = "layout.json"
MOST = 50
"""The most projects whose layout is kept, last used first."""
MOST_PIXELS = 1_000_000
"""Qt raises an exception for numbers of more than 32 bits."""


@dataclass(frozen=True, slots=True)
class SavedLayout:
    """Pixels; `splitters` and `columns` are sizes by name, `hidden` are names of closed panes."""

    place: tuple[int, int, int, int] | None = None
    maximised: bool = False
    splitters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()


def usual_layout() -> SavedLayout:
    """The layout of the window that was used last."""
    return _layout(_kept().get("usual"))


def layout_of(project: Path) -> SavedLayout:
    """The layout of a project, or the last used one."""
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
    """Return to the default layout, for this project and for new ones."""
    projects = _projects(_kept())
    if project is not None:
        projects.pop(str(project.resolve()), None)
    write_state(FILE, {"usual": None, "projects": projects})


def on_screen(place: QRect, screens: list[QRect], smallest: QSize) -> QRect | None:
    """The rectangle, moved and shrunk to be visible and reachable; None without a screen."""
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
"""Offset in pixels of a further window, so that the one below stays visible."""


def cascaded(beside: QRect, screen: QRect, taken: Sequence[QPoint], smallest: QSize) -> QRect:
    """The rectangle of a further window, including its frame: a step down and right of `beside`, shrunk to fit
    `screen`, starting again at the screen's corner if it would be smaller than `smallest`. Corners in `taken` are
    reused only if no other is free."""
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
    """The usable parts of a stored layout; damaged parts are left out."""
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
    return isinstance(raw, list) and all(type(one) is int and abs(one) <= MOST_PIXELS for one in raw)

"""The recent projects, stored next to the settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from curator.domain.wording import tr
from curator.ui.kit import read_state, tip, write_state

FILE = "recent.json"
MOST = 12


@dataclass(frozen=True, slots=True)
class Recent:
    """A project opened before; `there`: whether its folder still exists."""

    folder: Path
    there: bool

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")


def opened_before() -> list[Recent]:
    """Recent projects, last opened first, including missing ones (an unplugged disk may return)."""
    raw = read_state(FILE)
    folders = [Path(one) for one in raw if isinstance(one, str)] if isinstance(raw, list) else []
    return [Recent(one, _is_there(one)) for one in folders[:MOST]]


def recent_projects() -> list[Path]:
    """Existing folders, last opened first; none if the list cannot be read."""
    return [one.folder for one in opened_before() if one.there]


def remember(folder: Path) -> None:
    """Put a project first."""
    wanted = folder.resolve()
    others = [one.folder for one in opened_before() if one.folder != wanted]
    write_state(FILE, [str(one) for one in (wanted, *others)][:MOST])


def forget_missing() -> None:
    """Remove missing projects from the list."""
    write_state(FILE, [str(one) for one in recent_projects()])


def _is_there(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:  # an unresponsive mount
        return False


# *Project > Open recent*: the last ten projects, missing ones greyed.

SHOWN = 10


class RecentMenu(QMenu):
    """Reloaded whenever it opens. `chosen` carries the folder."""

    chosen = Signal(object)  # Path

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)
        self.fill()

    def fill(self) -> None:
        self.clear()
        projects = opened_before()[:SHOWN]
        for number, one in enumerate(projects, 1):
            self._add(number, one)
        if not projects:
            self.addAction(tr("No project has been opened yet")).setEnabled(False)
            return
        self.addSeparator()
        forget = self.addAction(tr("&Remove projects that were not found"))
        forget.setEnabled(any(not one.there for one in projects))
        forget.triggered.connect(forget_missing)

    def _add(self, number: int, one: Recent) -> None:
        """Ten projects, ten letters: 1 to 9 and 0."""
        name = one.name.replace("&", "&&")
        words = name if one.there else tr("{name} (not found)", name=name)
        action = self.addAction(f"&{number % 10}  {words}")
        action.setToolTip(tip(str(one.folder)))
        action.setEnabled(one.there)
        action.setShortcut(QKeySequence())
        action.triggered.connect(lambda _=False: self.chosen.emit(one.folder))

"""The recent projects, stored next to the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QWidget

from curator.domain.wording import UserError, tr
from curator.settings.file import read_state, write_state
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.messages import tell

if TYPE_CHECKING:
    from curator.services.ports.address import ProjectPlace
    from curator.ui.files.new_project import ProjectWish

FILE = "recent.json"
MOST = 12


@dataclass(frozen=True, slots=True)
class Recent:
    """A project opened before; `there`: whether its folder still exists. A server is not asked."""

    folder: ProjectPlace
    there: bool

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")

    @property
    def where(self) -> str:
        """The folder that the project's folder is in, or the address."""
        return str(self.folder.parent if isinstance(self.folder, Path) else self.folder)


def opened_before() -> list[Recent]:
    """Recent projects, last opened first, including missing ones (an unplugged disk may return)."""
    raw = read_state(FILE)
    places = [_place(one) for one in raw if isinstance(one, str)] if isinstance(raw, list) else []
    return [Recent(one, _is_there(one)) for one in places[:MOST] if one is not None]


def recent_projects() -> list[ProjectPlace]:
    """Existing folders, last opened first; none if the list cannot be read."""
    return [one.folder for one in opened_before() if one.there]


def remember(place: ProjectPlace) -> None:
    """Put a project first."""
    wanted = written(place)
    others = [str(one.folder) for one in opened_before() if str(one.folder) != wanted]
    write_state(FILE, [wanted, *others][:MOST])


def written(place: ProjectPlace) -> str:
    """The same for every way to write a project's place."""
    return str(place.resolve() if isinstance(place, Path) else place)


def forget_missing() -> None:
    """Remove missing projects from the list."""
    write_state(FILE, [str(one) for one in recent_projects()])


def _place(text: str) -> ProjectPlace | None:
    if not text.startswith("postgres"):
        return Path(text)
    from curator.services.ports.address import SharedAddress

    try:
        return SharedAddress.parse(text)
    except UserError:
        return None


def _is_there(place: ProjectPlace) -> bool:
    try:
        return not isinstance(place, Path) or place.is_dir()
    except OSError:  # a mount that does not answer
        return False


# *Project > Open shared project*.


def ask_address(parent: QWidget, then: Callable[[ProjectPlace], None]) -> QInputDialog:
    """Ask for the address of a shared project."""
    from curator.services.ports.address import SharedAddress

    dialog = QInputDialog(parent)
    dialog.setWindowTitle(tr("Open shared project"))
    asked = tr("Address of the project, such as postgresql://user@host/base")
    dialog.setLabelText(asked)
    dialog.resize(dialog.fontMetrics().averageCharWidth() * 70, dialog.sizeHint().height())

    def chosen(text: str) -> None:
        try:
            place = SharedAddress.parse(text.strip())
        except UserError as error:
            tell(parent, tr("Open shared project"), str(error), wrong=True)
            return
        then(place)

    dialog.textValueSelected.connect(chosen)
    dialog.open()
    for line in dialog.findChildren(QLineEdit):  # there is none before
        line.setAccessibleName(asked)
    return dialog


def create_shared(wish: ProjectWish) -> str:
    """Create the shared project in a database, while the dialog is still open; the reason if this fails, '' for a
    folder."""
    from curator import bootstrap

    if isinstance(wish.folder, Path):
        return ""
    try:
        bootstrap.create_project(wish.folder, name=wish.name, linker=False).close()
    except UserError as error:
        return str(error)
    return ""


# *Project > Open recent*: the last ten projects, those that are gone greyed.

SHOWN = 10


class RecentMenu(QMenu):
    """Reloaded whenever it opens. `chosen` carries the folder."""

    chosen = Signal(object)  # ProjectPlace

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
        action.setShortcut(QKeySequence())
        action.triggered.connect(lambda _=False: self.chosen.emit(one.folder))

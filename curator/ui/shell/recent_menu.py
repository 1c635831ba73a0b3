"""*Project > Open recent*: the last ten projects, those that are gone greyed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from curator.domain.wording import tr
from curator.ui.shell.recent import Recent, forget_missing, opened_before

SHOWN = 10


class RecentMenu(QMenu):
    """Read anew whenever it opens. `chosen` carries the folder."""

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
            self.addAction(tr("No project was opened yet")).setEnabled(False)
            return
        self.addSeparator()
        forget = self.addAction(tr("&Forget those that are not found"))
        forget.setEnabled(any(not one.there for one in projects))
        forget.triggered.connect(forget_missing)

    def _add(self, number: int, one: Recent) -> None:
        """Ten projects, ten letters: 1 to 9 and 0."""
        name = one.name.replace("&", "&&")
        words = name if one.there else tr("{name} (not found)", name=name)
        action = self.addAction(f"&{number % 10}  {words}")
        action.setToolTip(str(one.folder))
        action.setEnabled(one.there)
        action.setShortcut(QKeySequence())
        action.triggered.connect(lambda _=False: self.chosen.emit(one.folder))

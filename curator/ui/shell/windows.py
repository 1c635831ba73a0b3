"""The windows of this process: each has its own session, all share the settings, and none opens what another has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QSize

from curator.ui.kit.layout_store import cascaded

if TYPE_CHECKING:
    from curator.ui.shell.main_window import MainWindow

FRAME = QSize(16, 44)
"""As much as a window manager may put around a window that is not maximised."""


class Windows(QObject):
    """`make` builds a window that belongs to these."""

    def __init__(self, make: Callable[[Windows], MainWindow], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._windows: list[MainWindow] = []

    def __iter__(self) -> Iterator[MainWindow]:
        return iter(list(self._windows))

    def __len__(self) -> int:
        return len(self._windows)

    def add(self, window: MainWindow) -> None:
        """Called by every window about itself."""
        self._windows.append(window)
        window.preferences.saved.connect(lambda: self._share(window))

    def remove(self, window: MainWindow) -> None:
        """A closed window; the last one is left standing for who made it."""
        if window in self._windows:
            self._windows.remove(window)

    def new(self, beside: MainWindow | None = None) -> MainWindow:
        """One more window, shown."""
        others = [one for one in self._windows if one.isVisible()]
        window = self._make(self)
        if beside is not None:
            _place(window, beside, others)
        window.show()
        window.activateWindow()
        return window

    def raise_project(self, folder: Path) -> bool:
        """Bring the window forward that has this project open; False where none has."""
        wanted = folder.resolve()
        for window in self._windows:
            bench = window.bench
            if bench is not None and bench.project.folder.resolve() == wanted:
                window.raise_()
                window.activateWindow()
                return True
        return False

    def open(self, folders: list[Path], *, beside: MainWindow) -> None:
        """The first in `beside` where that is free, every other in a window of its own."""
        for folder in folders:
            if self.raise_project(folder):
                continue
            window = beside if beside.bench is None else self.new(beside)
            window.session.open(folder)

    def name_held(self) -> str:
        """Why the curator's name, which all windows share, cannot change now; '' where it can."""
        everyone = [one.session.people for one in self._windows]
        return next((one.holds_name for one in everyone if one is not None and one.holds_name), "")

    def close_all(self) -> None:
        """Close every window; one whose work would be stopped asks first and stays until it is answered."""
        for window in list(self._windows):
            window.close()

    def _share(self, origin: MainWindow) -> None:
        """What one window saved is felt in the others, and none writes its older settings over it."""
        for window in self._windows:
            if window is not origin:
                window.preferences.adopt(origin.preferences.settings)


def _place(window: MainWindow, beside: MainWindow, others: Sequence[MainWindow]) -> None:
    """Whole on the screen of `beside`, its frame too; a frame that is not there yet is as wide as that one's."""
    frame, inner = beside.frameGeometry(), beside.geometry()
    margins = frame.size() - inner.size()
    if beside.isMaximized():  # it has the screen, and less of a frame; the further one is as large as it was before
        margins = margins.expandedTo(FRAME)
        frame = QRect(frame.topLeft(), beside.normalGeometry().size() + margins)
    taken = [one.frameGeometry().topLeft() for one in others]
    screen = beside.screen().availableGeometry()
    place = cascaded(frame, screen, taken, window.minimumSize() + margins)
    window.resize(place.size() - margins)
    window.move(place.topLeft())

"""The way back: from a mention in the text to the window beside it that was used last."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QWidget


class WayBack(QObject):
    """Remembers which window beside the main one had the keyboard last, whoever opened it."""

    def __init__(self, main: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent or main)
        self._main = main
        self._used: list[QWidget] = []
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._moved)

    @Slot(QWidget, QWidget)
    def _moved(self, old: QWidget | None, new: QWidget | None) -> None:  # noqa: ARG002 Qt's signature
        if new is not None:
            self.remember(new.window())

    def remember(self, window: QWidget) -> None:
        beside = window is not self._main and window.isWindow() and window.parentWidget() is not None
        if not beside or window.isModal() or window.windowType() not in (Qt.WindowType.Window, Qt.WindowType.Dialog):
            return
        parent = window.parentWidget()
        assert parent is not None
        if parent.window() is not self._main:
            return
        if window in self._used:
            self._used.remove(window)
        else:
            window.destroyed.connect(lambda: self._forget(window))
        self._used.append(window)

    def _forget(self, window: QWidget) -> None:
        if window in self._used:
            self._used.remove(window)

    def go_back(self) -> bool:
        """Bring the window forward, with the keyboard where it was; False where there is none."""
        window = next((one for one in reversed(self._used) if one.isVisible()), None)
        if window is None:
            return False
        window.raise_()
        window.activateWindow()
        return True

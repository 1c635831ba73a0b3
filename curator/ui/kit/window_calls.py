"""Calls from other threads into the window's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, Slot


class _WindowCalls(QObject):
    """Lives as long as the process: a thread that emitted from a part of a window could do so while the window is being
    taken down, which ends the program."""

    called = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        app = QCoreApplication.instance()
        assert app is not None, "windows need an application"
        self.moveToThread(app.thread())
        self.called.connect(self._call, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def _call(self, call: Callable[[], None]) -> None:
        call()


@cache
def _window_calls() -> _WindowCalls:
    return _WindowCalls()


def call_in_window(call: Callable[[], None]) -> None:
    """Through the event loop of the application, in the order asked, from any thread; also from the window's own, never
    in the middle of what it does. `call` must see for itself whether what it touches still lives."""
    _window_calls().called.emit(call)

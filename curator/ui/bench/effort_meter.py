"""Measures the effort of each decision: keys and clicks in the window, and working time, since the previous step."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication, QInputEvent, QKeyEvent

from curator.domain.decisions import Change, ChangeKind
from curator.services.curating.efforts import EffortService
from curator.ui.kit.sight import MODIFIERS

IDLE_SECONDS = 60.0
"""A longer pause does not count as work."""
BUILT_MS = 300
"""Filling a window takes 150 ms and makes 8,000 events, none of them a key; to watch them took 40 ms."""
_CLICKS = {QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick}


class EffortMeter(QObject):
    """Watches the application's events; `took` is called after every step.

    A key is counted when Qt first delivers it to the focused widget, as a shortcut or as text; propagation to parents,
    auto-repeat and lone modifiers are not counted. A click is counted at its window.
    """

    def __init__(
        self, efforts: EffortService, parent: QObject | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._efforts = efforts
        self._clock = clock
        self._keys = 0
        self._worked = 0.0  # seconds
        self._last: float | None = None
        self._closed = False
        QTimer.singleShot(BUILT_MS, self, self.watch)

    def watch(self) -> None:
        """Begin to count; it begins by itself when the window has been filled."""
        application = QGuiApplication.instance()
        if application is not None and not self._closed:
            application.installEventFilter(self)

    def took(self, change: Change) -> None:
        """A step is done: record its effort if it decided something, and restart counting."""
        self._pass_time()
        if change.kind is ChangeKind.DECIDED and change.operation_id:
            self._efforts.record(change.operation_id, keys=self._keys, milliseconds=round(self._worked * 1000))
        self._keys, self._worked = 0, 0.0

    def close(self) -> None:
        self._closed = True
        application = QGuiApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QInputEvent):  # by far the most events
            return False
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride:
            self._key(watched, event)
        elif kind in _CLICKS and watched.isWindowType():
            self._count()
        elif kind == QEvent.Type.Wheel and watched.isWindowType():
            self._pass_time()
        return False

    def _key(self, watched: QObject, event: QEvent) -> None:
        if not isinstance(event, QKeyEvent) or watched is not QGuiApplication.focusObject():
            return
        if not event.isAutoRepeat() and event.key() not in MODIFIERS:
            self._count()

    def _count(self) -> None:
        self._keys += 1
        self._pass_time()

    def _pass_time(self) -> None:
        now, last = self._clock(), self._last
        self._last = now
        if last is not None and 0.0 <= now - last <= IDLE_SECONDS:
            self._worked += now - last

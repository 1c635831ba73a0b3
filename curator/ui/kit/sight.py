"""Tracks what was visible when a key was pressed, so that a key decides only what the curator saw.

The rule: a key decides only what was on the screen for at least `SEEN_SECONDS` before the key was pressed, and a key
pressed for one view never acts on another that appeared in the meantime. Two classes enforce it:

* `Sight` filters the keys of every window before any shortcut or widget gets them. A view (window, dialog, strip,
  panel) that has only just been drawn does not get the key, and `dropped` says so.
* `PaintLog` records since when each item of a view has been visible. Code that decides calls `Glance.saw` first.

Times are those of the key events. A held key counts from its first press. An X server repeats it as releases and
presses of the same time, which Qt marks as repeats only if both have arrived: not on a busy computer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWindow
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

SEEN_SECONDS = 0.15
WRAP_MS = 1 << 32
"""X servers count milliseconds in 32 bits."""
DELAY_MS = 60_000
"""An event older than this has a time from another clock."""
ASKED_SECONDS = 1.0
"""A view that appears within this time after a key press counts as opened by that key."""
MODIFIERS = {
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock,
}
COMMANDING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
ENTRIES = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox)

Kind = QEvent.Type
_KEYS = (Kind.KeyPress, Kind.ShortcutOverride)
_PRESSES = (Kind.MouseButtonPress, Kind.MouseButtonDblClick)
_FRAMES = (Kind.UpdateRequest, Kind.Paint)


class PressClock:
    """Converts the milliseconds of an input event to seconds of `clock`.

    X11, Wayland, Windows and macOS stamp events with the monotonic clock. For any other clock the difference is
    estimated from the event that arrived with the least delay.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._least: float | None = None

    def seconds(self, stamp_ms: int) -> float:
        """The time of the event; the current time if it has none."""
        now = self._clock()
        if stamp_ms <= 0:
            return now
        late = (now * 1000 - stamp_ms) % WRAP_MS
        if late <= DELAY_MS:
            return now - late / 1000
        if self._least is None or late < self._least or late - self._least > DELAY_MS:
            self._least = late
        return now - (late - self._least) / 1000


class PaintLog(QObject):
    """Records since when each item of `view` has been visible.

    `shown` returns the keys of the items in the next painting; it is called before each painting.
    """

    def __init__(
        self,
        view: QWidget,
        shown: Callable[[], Iterable[Hashable]],
        *,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(view)
        self._shown = shown
        self._clock = clock
        self._since: dict[Hashable, float | None] = {}
        view.installEventFilter(self)

    def since(self, key: Hashable) -> float | None:
        """The time since when the item is visible, in seconds of the clock; None if it is not."""
        return self._since.get(key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002
        kind = event.type()
        if kind == Kind.Paint:
            self._painted(dict.fromkeys(self._shown()))
        elif kind == Kind.Hide:
            self._since = {}
        return False

    def _painted(self, keys: dict[Hashable, float | None]) -> None:
        if keys.keys() == self._since.keys():
            return
        self._since = {key: self._since.get(key) for key in keys}
        QTimer.singleShot(0, self, self._framed)  # when the frame has been handed to the display

    def _framed(self) -> None:
        now = self._clock()
        self._since = {key: now if since is None else since for key, since in self._since.items()}


class SeenLog(PaintLog):
    """Also remembers items that were visible for `SEEN_SECONDS` before they were scrolled away or hidden."""

    def __init__(self, view: QWidget, shown: Callable[[], Iterable[Hashable]], *, clock: Callable[[], float]) -> None:
        super().__init__(view, shown, clock=clock)
        self._seen: set[Hashable] = set()

    def was_seen(self, key: Hashable) -> bool:
        return key in self._seen

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == Kind.Hide:
            self._keep(())
        return super().eventFilter(watched, event)

    def _painted(self, keys: dict[Hashable, float | None]) -> None:
        self._keep(keys)
        super()._painted(keys)

    def _keep(self, staying: Iterable[Hashable]) -> None:
        before = self._clock() - SEEN_SECONDS
        leaving = self._since.keys() - set(staying)
        self._seen.update(key for key in leaving if (since := self._since[key]) is not None and since <= before)


def rows_in_sight(view: QAbstractItemView) -> range:
    """The rows of a list that are at least half visible."""
    model, height = view.model(), view.viewport().height()
    first = view.indexAt(view.viewport().rect().topLeft())
    if model is None or not first.isValid():
        return range(0)

    def middle(row: int) -> int:
        return view.visualRect(model.index(row, first.column())).center().y()

    start = first.row() + int(middle(first.row()) < 0)
    last = view.indexAt(view.viewport().rect().bottomLeft()).row()
    if last >= 0:
        return range(start, last + int(middle(last) < height))
    end = next((row for row in range(start, model.rowCount()) if middle(row) >= height), model.rowCount())
    return range(start, end)


class Sight(QObject):
    """One for the process, a child of the application.

    API: `watch` a view that can open by itself or by a key; top-level windows and their hidden parts are watched
    automatically.
    """

    dropped = Signal()  # a key pressed too early was dropped
    began = Signal()  # a key was pressed, before anything handles it

    def __init__(
        self, app: QApplication, *, clock: Callable[[], float] = time.monotonic, times: PressClock | None = None
    ) -> None:
        super().__init__(app)
        self.clock = clock
        self._times = times or PressClock(clock)
        self._views: dict[int, QWidget] = {}
        self._drawn: dict[int, float] = {}  # of the visible views
        self._waiting: set[int] = set()  # shown, but not painted yet
        self._asked: set[int] = set()  # opened by a key
        self._pressed: float | None = None
        self._clicked = 0.0
        self._down = (0, 0.0)
        self._released = (0, 0)  # the physical key that was last released, and when, in ms of the event
        app.focusWindowChanged.connect(self._listen)
        self._listen(QApplication.focusWindow())

    @classmethod
    def of_process(cls) -> Sight | None:
        """The installed instance; None if there is none."""
        app = QApplication.instance()
        return app.findChild(cls) if app is not None else None

    def has_seen(self, since: float | None) -> bool:
        """Whether something visible since then was seen before the press of the current key or button. True if none is
        being handled."""
        return self._pressed is None or (since is not None and since + SEEN_SECONDS <= self._pressed)

    def watch(self, view: QWidget) -> None:
        """Deliver keys to this view only after it was visible for `SEEN_SECONDS`."""
        if id(view) in self._views:
            return
        self._views[id(view)] = view
        view.installEventFilter(self)
        view.destroyed.connect(partial(self._forget, id(view)))
        if not view.isWindow():
            self.watch(view.window())
        if view.isVisible():
            self._shown(view)

    def watch_parts(self, window: QWidget) -> None:
        """Watch every hidden part of the window that could take the focus when shown."""
        for part in window.findChildren(QWidget):
            around = part.parentWidget()
            hidden = not part.isVisibleTo(window) and around is not None and around.isVisibleTo(window)
            if hidden and _takes_keys(part):
                self.watch(part)

    def watches(self, view: QWidget) -> bool:
        return id(view) in self._views

    # --- events ---

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(watched, QWindow):
            return self._input(event, kind)
        if kind in _FRAMES:
            self._painted(watched)
        elif kind == Kind.Show:
            self._shown(self._views[id(watched)])
        elif kind == Kind.Hide:
            self._gone(id(watched))
        return False

    def _input(self, event: QEvent, kind: QEvent.Type) -> bool:
        if kind in _KEYS and isinstance(event, QKeyEvent):
            return self._key(event)
        if kind == Kind.KeyRelease and isinstance(event, QKeyEvent):
            self._released = _stamp(event)
        elif kind in _PRESSES and isinstance(event, QMouseEvent):
            self._clicked = self._times.seconds(event.timestamp())
            self._handle(self._clicked)
        elif kind == Kind.MouseButtonRelease:
            self._handle(self._clicked)  # a click acts on release
        return False

    def _handle(self, pressed: float) -> None:
        """Remember the time of the current press until control returns to the event loop."""
        self._pressed = pressed
        QTimer.singleShot(0, self, self._handled)

    def _handled(self) -> None:
        self._pressed = None

    def _key(self, event: QKeyEvent) -> bool:
        if event.key() in MODIFIERS:
            return False
        self.began.emit()
        pressed = self._time_of(event)
        self._handle(pressed)
        if self._is_due(event, pressed):
            return False
        event.accept()
        if event.type() == Kind.KeyPress and not self._is_repeated(event):
            self.dropped.emit()
        return True

    def _is_repeated(self, event: QKeyEvent) -> bool:
        return event.isAutoRepeat() or (event.nativeScanCode() != 0 and _stamp(event) == self._released)

    def _time_of(self, event: QKeyEvent) -> float:
        """The time of the key press; for auto-repeat, of the first press."""
        if not (self._is_repeated(event) and self._down[0] == event.key()):
            self._down = event.key(), self._times.seconds(event.timestamp())
        return self._down[1]

    def _is_due(self, event: QKeyEvent, pressed: float) -> bool:
        """Whether all watched parents of the widget that gets the key were seen before."""
        popup, focused = QApplication.activePopupWidget(), QApplication.focusWidget()
        if isinstance(popup, QAbstractItemView) and _is_typed(focused, event):
            popup = None  # a completion list passes typed text to its field
        target = popup or focused or QApplication.activeWindow()
        typed = _is_typed(target, event)
        view = target
        while view is not None:
            early = id(view) in self._waiting or self._drawn.get(id(view), 0.0) + SEEN_SECONDS > pressed
            if early and not (typed and id(view) in self._asked):
                return False
            view = None if view.isWindow() else view.parentWidget()
        return True

    # --- what is on the screen ---

    def _shown(self, view: QWidget) -> None:
        self._gone(id(view))
        self._waiting.add(id(view))
        if self.clock() - self._down[1] < ASKED_SECONDS:
            self._asked.add(id(view))
        view.update()

    def _gone(self, view: int) -> None:
        self._waiting.discard(view)
        self._asked.discard(view)
        self._drawn.pop(view, None)

    def _painted(self, window: QObject) -> None:
        painted = [one for one in self._waiting if self._views[one].window() is window and self._views[one].isVisible()]
        if painted:
            QTimer.singleShot(0, self, partial(self._framed, painted))  # when the display has the frame

    def _framed(self, painted: list[int]) -> None:
        for one in painted:
            if one in self._waiting:
                self._waiting.discard(one)
                self._drawn[one] = self.clock()

    def _listen(self, window: QWindow | None) -> None:
        if window is None:
            return
        window.installEventFilter(self)  # repeated calls have no effect
        for widget in QApplication.topLevelWidgets():
            if widget.windowHandle() is window and not self.watches(widget):
                self.watch(widget)
                self.watch_parts(widget)  # such as the further pages of a dialog

    def _forget(self, view: int) -> None:
        self._gone(view)
        self._views.pop(view, None)


def _stamp(event: QKeyEvent) -> tuple[int, int]:
    return event.nativeScanCode(), event.timestamp()


def _takes_keys(part: QWidget) -> bool:
    return any(one.focusPolicy() & Qt.FocusPolicy.TabFocus for one in (part, *part.findChildren(QWidget)))


def _is_typed(target: QWidget | None, event: QKeyEvent) -> bool:
    """Whether the key is text for a field, which decides nothing. Fields in which characters trigger actions have the
    property `typing_acts`."""
    if isinstance(target, QTextEdit | QPlainTextEdit) and target.isReadOnly():
        return False
    if not isinstance(target, ENTRIES) or target.property("typing_acts") or event.modifiers() & COMMANDING:
        return False
    return event.key() == Qt.Key.Key_Backspace or (bool(event.text()) and event.text().isprintable())


def watch(view: QWidget) -> None:
    """If the process has a `Sight`, deliver keys to a view that opens by itself or by a key only after it was seen."""
    sight = Sight.of_process()
    if sight is not None:
        sight.watch(view)


class Glance:
    """Shows a window before a decision whether all items were seen. Without a `Sight`, all were."""

    def __init__(self, sight: Sight | None) -> None:
        self._sight = sight
        self._logs: list[PaintLog] = []

    def log(self, view: QWidget, shown: Callable[[], Iterable[Hashable]]) -> None:
        """Record what `view` paints."""
        if self._sight is not None:
            self._logs.append(PaintLog(view, shown, clock=self._sight.clock))

    def remember(self, view: QWidget, shown: Callable[[], Iterable[Hashable]]) -> None:
        """Record what `view` paints, for `unseen`."""
        if self._sight is not None:
            self._logs.append(SeenLog(view, shown, clock=self._sight.clock))

    def unseen(self, keys: Iterable[Hashable]) -> list[Hashable]:
        """Remembered items that were never visible long enough before the key was pressed."""
        return [] if self._sight is None else [key for key in keys if not self.saw(key) and not self._was_seen(key)]

    def saw(self, *keys: Hashable) -> bool:
        """Whether each of these was visible long enough before the key was pressed."""
        sight = self._sight
        return sight is None or all(sight.has_seen(self._since(key)) for key in keys)

    def is_shown(self, key: Hashable) -> bool:
        """Whether the item is visible now."""
        return self._sight is None or self._since(key) is not None

    def _was_seen(self, key: Hashable) -> bool:
        return any(isinstance(log, SeenLog) and log.was_seen(key) for log in self._logs)

    def _since(self, key: Hashable) -> float | None:
        return next((since for log in self._logs if (since := log.since(key)) is not None), None)

"""The real window under a real X server, with keys sent like the display's own, and the time when the answer is
painted.

A key is handed to Qt's window-system interface (`QTest` on the top-level `QWindow`), as the display's own plugin does:
shortcuts, the focus widget and every event filter meet it as ever. *Painted* means that text and candidates were both
painted after the key and handed to the display; records and history are laid out after that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from curator.bootstrap import Project
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.sight import Sight
from curator.ui.shell.app import make_application, make_window
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.quiet_time import collect_in_quiet_times

SCREEN = "1440x900x24"
PATIENCE = 5.0
"""Seconds after which a key that paints nothing is given up."""


@contextmanager
def display(screen: str = SCREEN) -> Iterator[None]:
    """The display that is there; an Xvfb of our own, which is said, where there is none."""
    if os.environ.get("DISPLAY"):
        yield
        return
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as told:
        os.environ["DISPLAY"] = f":{told.readline().strip()}"
    print(f"No display: Xvfb {os.environ['DISPLAY']} was started, {screen}.")
    try:
        yield
    finally:
        del os.environ["DISPLAY"]
        server.terminate()
        server.wait()


@dataclass(frozen=True, slots=True)
class Answer:
    """From a key to what it paints, in milliseconds: of the clock, and of the window's thread on a processor. A key
    that was not taken paints nothing but `said`: why."""

    clock: float
    thread: float
    painted: bool
    said: str = ""


class _Painted(QObject):
    """Notes when both parts were painted and the frame was handed to the display, before any timer comes."""

    def __init__(self, *parts: QObject) -> None:
        super().__init__()
        self.parts = parts
        self.left: set[int] = set()
        self.at: tuple[float, float] | None = None
        for one in parts:
            one.installEventFilter(self)
        _frames.append(self.framed)

    def arm(self) -> None:
        self.left, self.at = {id(one) for one in self.parts}, None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.left.discard(id(watched))
        return False

    def framed(self) -> None:
        if not self.left and self.at is None:
            self.at = time.perf_counter(), time.thread_time()


_frames: list[Callable[[], None]] = []


def _tell_frames() -> None:
    """Have `_frames` called at the end of each frame of the window: Qt paints and flushes in `UpdateRequest`."""
    event_of = MainWindow.event

    def event(self: MainWindow, event: QEvent) -> bool:
        done = event_of(self, event)
        if event.type() == QEvent.Type.UpdateRequest:
            for one in _frames:
                one()
        return done

    MainWindow.event = event  # type: ignore[method-assign]


class Desk:
    """The window with an open project, and a hand on its keyboard."""

    def __init__(self, app: QApplication, window: MainWindow) -> None:
        self.app, self.window = app, window
        assert window.bench is not None
        self.attach(window.bench)

    def attach(self, bench: Workbench) -> None:
        """The workbench of the project that is open now; what it paints first is waited for by `wait_painted`."""
        self.bench = bench
        _frames.clear()
        self._painted = _Painted(bench.document.viewport(), bench.candidates.list.viewport())
        self._painted.arm()

    def wait_painted(self) -> bool:
        """Until text and candidates were painted; False where that takes too long."""
        return self.until(lambda: self._painted.at is not None)

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """One key, down and up; what it sets off has been begun when this returns."""
        if not self.window.isActiveWindow():  # another program's window came up: its keys would go nowhere
            self.window.activateWindow()
            QTest.qWaitForWindowActive(self.window, 2000)
        QTest.keyClick(self.window.windowHandle(), key, modifier)

    def type(self, character: str) -> None:
        """One character into what has the keyboard."""
        if character.isascii():
            QTest.keyClick(self.window.windowHandle(), ord(character))
        else:  # no key of this keyboard: as an input method gives it
            QTest.keyClicks(self.app.focusWidget() or self.window, character)

    def keys_counted(self) -> int:
        """What the window itself counted for the steps that decided something."""
        self.bench.project.efforts.flush()
        return sum(one.keys for one in self.bench.project.efforts.spent())

    def timed_press(self, key: Qt.Key) -> Answer:
        """One key, until the answer is painted, or until the window has said why it does nothing."""
        self.app.processEvents()  # what was asked for before is painted before
        self._painted.arm()
        said: list[str] = []
        telling = self.bench.decider.said.connect(said.append)
        began, worked = time.perf_counter(), time.thread_time()
        self.press(key)
        while self._painted.at is None and not said and time.perf_counter() - began < PATIENCE:
            self.app.processEvents()
        self.bench.decider.said.disconnect(telling)
        if said or self._painted.at is None:
            return Answer(0.0, 0.0, False, said[0] if said else "")
        return Answer(1000 * (self._painted.at[0] - began), 1000 * (self._painted.at[1] - worked), True)

    def rest(self, seconds: float) -> None:
        """Let the window do what it does while its user reads."""
        loop = QEventLoop()
        QTimer.singleShot(round(1000 * seconds), loop.quit)
        loop.exec()

    def until(self, done: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Run the window until `done`; False where that takes too long."""
        end = time.perf_counter() + seconds
        tick = QTimer(interval=2)  # wakes the window up, so that looking costs no processor
        tick.start()
        while not done():
            if time.perf_counter() > end:
                return False
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        return True


@contextmanager
def desk(project: Project | Path, *, rule: bool = False) -> Iterator[Desk]:
    """The program's own window, with fresh settings, over a project (or its folder, with its own linker process).
    With `rule`, keys decide only what was on the screen before them, as in the program."""
    folder = Path(tempfile.mkdtemp())
    os.environ.setdefault("CURATOR_CONFIG_DIR", str(folder))
    _tell_frames()
    app = make_application(sys.argv[:1])
    collect_in_quiet_times(app)  # as the window's process does
    if rule:
        Sight(app)
    window = make_window(app)
    window.show()
    if isinstance(project, Path):
        window.session.open(project)
    else:
        window.session.show(project)
    window.activateWindow()
    QTest.qWaitForWindowActive(window, 2000)
    try:
        found = Desk(app, window)
        found.rest(0.5)
        yield found
    finally:
        window.session.close()
        window.close()
        shutil.rmtree(folder, ignore_errors=True)

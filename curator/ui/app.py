"""The window's process: application, log, settings, one window."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from curator import __version__
from curator.services.logs import log_folder, start_logging, stop_logging
from curator.settings.file import load
from curator.ui.dialogs.messages import tell
from curator.ui.main_window import MainWindow
from curator.ui.theme import Scheme, ThemeController

log = logging.getLogger(__name__)
Hook = Callable[[type[BaseException], BaseException, TracebackType | None], None]
PROBE = "import sys; from PySide6.QtGui import QGuiApplication; QGuiApplication(sys.argv[:1])"
BUG = "Something went wrong in Curator itself. Every decision up to now is saved. The log in {log} has the details."


def run(project_path: Path | None = None, *, read_only: bool = False) -> int:
    """Open the window, with a project where one is given; returns the exit code when it is closed."""
    handler = start_logging()
    qInstallMessageHandler(to_log)
    app = make_application(sys.argv[:1])
    window = make_window(app)
    old_hook, sys.excepthook = sys.excepthook, _hook(window)
    show_fitting(window)
    if project_path is not None:
        QTimer.singleShot(0, lambda: window.session.open(project_path, read_only=read_only))
    try:
        return app.exec()
    finally:
        window.session.close()
        sys.excepthook = old_hook
        qInstallMessageHandler(None)
        stop_logging(handler)


def show_fitting(window: MainWindow) -> None:
    """Show the window at its size, or filling a screen that has no room for it and its frame."""
    room = window.screen().availableSize()
    if room.width() <= window.width() or room.height() <= window.height():
        window.showMaximized()
    else:
        window.show()


def make_application(arguments: list[str]) -> QApplication:
    """The application of this process; Qt allows one."""
    app = QApplication.instance() or QApplication(arguments)
    assert isinstance(app, QApplication)
    app.setApplicationName("Curator")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("curator")
    return app


def make_window(app: QApplication) -> MainWindow:
    """The window with the user's settings; problems of the settings file are told in it."""
    loaded = load()
    theme = ThemeController(app, scheme=Scheme(loaded.settings.theme.value))
    theme.apply()
    window = MainWindow(theme, loaded)
    if loaded.problems:
        QTimer.singleShot(0, lambda: tell(window, "Settings", "\n".join(loaded.problems), wrong=True))
    return window


def has_display() -> bool:
    """Whether a window can be seen: on Linux there must be an X or Wayland server to connect to."""
    if os.environ.get("QT_QPA_PLATFORM") in ("offscreen", "minimal"):
        return False
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def can_show() -> bool:
    """Whether Qt can open a window here. Without a display or its libraries Qt ends the process, so a child tries."""
    if not has_display():
        return False
    child = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)  # noqa: S603 - our own code
    return child.returncode == 0


def to_log(kind: QtMsgType, context: QMessageLogContext, words: str) -> None:
    """Qt's own messages belong into the log, not between those of the command line."""
    level = logging.INFO if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) else logging.WARNING
    log.log(level, "Qt %s: %s", context.category or "", words)


def _hook(window: MainWindow) -> Hook:
    """Bugs go to the log with their traceback; the curator sees a sentence and goes on."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.error("A bug", exc_info=(kind, error, trace))
        if not issubclass(kind, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        tell(window, "Curator", BUG.format(log=log_folder()), details=f"{kind.__name__}: {error}", wrong=True)

    return hook

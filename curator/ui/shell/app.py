"""The window's process: application, log, settings, one window."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QEvent,
    QLibraryInfo,
    QLocale,
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    QTranslator,
    Slot,
    qInstallMessageHandler,
    qVersion,
)
from PySide6.QtGui import QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QPushButton,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from curator import __version__
from curator.domain import wording
from curator.domain.wording import catalogue, languages, read_po, tr
from curator.services.records import log_folder, sqlite_words, start_logging, stop_logging
from curator.settings import Language, load
from curator.ui.document import speak_to_screen_readers
from curator.ui.kit import Scheme, Sight, ThemeController, icon, read_state, tell, theme_of, write_state
from curator.ui.shell.dropping import FileDrops
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.quiet_time import collect_in_quiet_times

# The window's language: which one, and Qt's own words beside the program's.

__all__ = ["catalogue", "code_of", "languages", "read_po", "speak"]


def speak(app: QApplication, wanted: Language) -> None:
    """Let the program, and what Qt says by itself, speak the wanted language; English where there is no other."""
    code = code_of(wanted)
    wording.use(catalogue(code))
    if code == "en":
        return
    translator = QTranslator(app)
    if translator.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(translator)


def code_of(wanted: Language) -> str:
    """`en` or the code of a language that there is a catalogue for."""
    code = QLocale.system().name().partition("_")[0] if wanted is Language.SYSTEM else wanted.value
    return code if code in languages() else "en"


log = logging.getLogger(__name__)
Hook = Callable[[type[BaseException], BaseException, TracebackType | None], None]
SEEN = "display.json"
"""With which Qt a window could be opened here."""
PROBE = "import sys; from PySide6.QtGui import QGuiApplication; QGuiApplication(sys.argv[:1])"
BUG = "Something went wrong in Curator itself. Your decisions so far are kept. See the log in {log} for details."


def run(*projects: Path, read_only: bool = False) -> int:
    """Open the window, and one more for each further project; returns the exit code when the last is closed."""
    handler = start_logging()
    qInstallMessageHandler(to_log)
    app = make_application(sys.argv[:1])
    collect_in_quiet_times(app)
    Sight(app)
    FileDrops(app)
    window = make_window(app)
    old_hook, sys.excepthook = sys.excepthook, _hook(app, window)
    if projects:
        window.show_opening(projects[0])
    AfterPaint(window, lambda: open_projects(window, projects, read_only=read_only))
    show_fitting(window, projects[0] if projects else None)
    try:
        return app.exec()
    finally:
        for one in (window, *window.windows):
            one.session.close()
        sys.excepthook = old_hook
        qInstallMessageHandler(None)
        stop_logging(handler)


class AfterPaint(QObject):
    """Calls `then` once, when the window was painted for the first time."""

    def __init__(self, window: MainWindow, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._window, self._then = window, then
        window.pages.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._then)
        return super().eventFilter(watched, event)


def open_projects(window: MainWindow, projects: Sequence[Path], *, read_only: bool) -> None:
    """Open what was asked for; without a project, load what opening one needs while the first page is read."""
    log.info(sqlite_words())
    if not projects:
        threading.Thread(target=import_module, args=("curator.bootstrap",), daemon=True).start()
    elif read_only:
        window.session.open(projects[0], read_only=True)
    else:
        window.windows.open(list(projects), beside=window)
    if window.bench is None:
        window.pages.setCurrentWidget(window.welcome)


def show_fitting(window: MainWindow, project: Path | None = None) -> None:
    """Show the window where it stood last; else at its size, or filling a screen that has no room for it."""
    if window.layout_keeper.restore_window(project):
        window.show()
        return
    room = window.screen().availableSize()
    if room.width() <= window.width() or room.height() <= window.height():
        window.showMaximized()
    else:
        window.show()


RING = 2
"""Pixels of the frame around what has the keyboard."""


RINGED = (QAbstractItemView, QPushButton, QToolButton, QComboBox, QAbstractSpinBox)


class FocusRing(QObject):
    """Frames the list, table, button or box that has the keyboard, which the style hardly does. Lines of text have
    frames of their own."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._frame: FocusFrame | None = None
        app.focusChanged.connect(self._moved)

    @Slot(QWidget, QWidget)
    def _moved(self, old: QWidget | None, new: QWidget | None) -> None:  # noqa: ARG002 Qt's signature
        if self._frame is not None and isValid(self._frame):
            self._frame.hide()
            self._frame.deleteLater()
        framed = isinstance(new, RINGED)
        self._frame = FocusFrame(new) if framed and new is not None else None


class FocusFrame(QWidget):
    """A part of what it frames, so that it goes where that goes."""

    def __init__(self, framed: QWidget) -> None:
        super().__init__(framed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        framed.installEventFilter(self)
        self._fit(framed)
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self._fit(watched)
        return False

    def _fit(self, framed: QWidget) -> None:
        """Only the frame is covered: what scrolls inside it is moved, not painted again."""
        self.setGeometry(framed.rect())
        inner = self.rect().adjusted(RING, RING, -RING, -RING)
        self.setMask(QRegion(self.rect()).subtracted(QRegion(inner)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme_of(self.palette()).accent)
        painter.end()


SWITCH_SECONDS = 0.0005
"""After so long a thread that runs Python gives the interpreter's lock to one that waits for it; usually after 5 ms.

Beside a thread that runs Python, as one does that stores the linker's answers, waking up and the 15 reads of a key took
22 ms at 5 ms and 14 ms at 0.5 ms, 6 ms with no such thread (medians, two busy cores); at best 8 ms, 3 ms and 2 ms.
"""


def make_application(arguments: list[str]) -> QApplication:
    """The application of this process; Qt allows one."""
    sys.setswitchinterval(SWITCH_SECONDS)
    app = QApplication.instance() or QApplication(arguments)
    assert isinstance(app, QApplication)
    app.setApplicationName("Curator")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("curator")
    app.setWindowIcon(icon("curator"))
    speak_to_screen_readers()
    FocusRing(app)
    return app


def make_window(app: QApplication) -> MainWindow:
    """The window with the user's settings; it shows problems of the settings file."""
    loaded = load()
    speak(app, loaded.settings.language)
    theme = ThemeController(app, scheme=Scheme(loaded.settings.theme.value))
    theme.set_percent(loaded.settings.interface_size)
    theme.apply()
    window = MainWindow(theme, loaded)
    if loaded.problems:
        QTimer.singleShot(0, lambda: tell(window, tr("Settings"), "\n".join(loaded.problems), wrong=True))
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
    if not sys.platform.startswith("linux"):
        return True
    if read_state(SEEN) == _this_qt() and _x_answers():
        return True  # it could here before; asking takes longer than half of the rest of the start
    child = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)  # noqa: S603 - our own code
    if child.returncode == 0:
        write_state(SEEN, _this_qt())
    return child.returncode == 0


def _this_qt() -> list[str]:
    return [qVersion(), sys.executable]


def _x_answers() -> bool:
    """Whether the X server of this computer that DISPLAY names takes a connection; others have to be tried by Qt."""
    name = os.environ.get("DISPLAY", "")
    number = name.removeprefix(":").partition(".")[0]
    if not name.startswith(":") or not number.isdigit() or os.environ.get("WAYLAND_DISPLAY"):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.settimeout(1.0)
        try:
            one.connect(f"/tmp/.X11-unix/X{number}")  # noqa: S108 - where X servers listen
        except OSError:
            return False
    return True


def to_log(kind: QtMsgType, context: QMessageLogContext, words: str) -> None:
    """Qt's own messages belong into the log, not between those of the command line."""
    level = logging.INFO if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) else logging.WARNING
    log.log(level, "Qt %s: %s", context.category or "", words)


def _hook(app: QApplication, window: MainWindow) -> Hook:
    """Bugs go to the log with their traceback; the curator sees a sentence and can continue."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.error("A bug", exc_info=(kind, error, trace))
        if not issubclass(kind, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        shown = app.activeWindow() or window
        tell(shown, "Curator", tr(BUG, log=log_folder()), details=f"{kind.__name__}: {error}", wrong=True)

    return hook

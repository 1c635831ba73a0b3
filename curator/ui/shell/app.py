"""The window's process: application, log, settings, one window."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QEvent,
    QLibraryInfo,
    QLocale,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
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
from curator.domain.wording import DamagedProjectError, UserError, catalogue, languages, read_po, tr
from curator.services.records.diagnostics import log_folder, sqlite_words, start_logging, stop_logging
from curator.settings.file import load, read_state, write_state
from curator.settings.schema import Language
from curator.temporary import remove_abandoned
from curator.ui.document.screen_reader import speak_to_screen_readers
from curator.ui.kit.messages import tell
from curator.ui.kit.sight import Sight
from curator.ui.kit.theme import Scheme, ThemeController, icon, theme_of
from curator.ui.kit.window_calls import call_in_window
from curator.ui.shell.dropping import FileDrops
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.quiet_time import collect_in_quiet_times

if TYPE_CHECKING:
    from curator.services.ports.address import ProjectPlace

# Sets the window's language, for the program's texts and Qt's.

__all__ = ["catalogue", "code_of", "languages", "read_po", "speak"]


def speak(app: QApplication, wanted: Language) -> None:
    """Set the language of the program's and Qt's own texts; English if there is no catalogue."""
    code = code_of(wanted)
    wording.use(catalogue(code))
    if code == "en":
        return
    translator = QTranslator(app)
    if translator.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(translator)


def code_of(wanted: Language) -> str:
    """`en`, or the code of a language with a catalogue."""
    code = QLocale.system().name().partition("_")[0] if wanted is Language.SYSTEM else wanted.value
    return code if code in languages() else "en"


log = logging.getLogger(__name__)
Hook = Callable[[type[BaseException], BaseException, TracebackType | None], None]
SEEN = "display.json"
"""File recording the Qt version with which a window could be opened."""
PROBE = "import sys; from PySide6.QtGui import QGuiApplication; QGuiApplication(sys.argv[:1])"
BUG = "Something went wrong in Curator itself. Your decisions so far are kept. See the log in {log} for details."


def run(*projects: ProjectPlace, read_only: bool = False) -> int:
    """Open a window for each project; returns the exit code when the last is closed."""
    handler = start_logging()
    qInstallMessageHandler(to_log)
    app = make_application(sys.argv[:1])
    collect_in_quiet_times(app)
    Sight(app)
    FileDrops(app)
    window = make_window(app)
    hook = _hook(app, window)
    old_hook, sys.excepthook = sys.excepthook, hook
    old_thread_hook, threading.excepthook = threading.excepthook, _of_threads(hook)
    if projects:
        window.show_opening(projects[0])
    AfterPaint(window, lambda: open_projects(window, projects, read_only=read_only))
    show_fitting(window, next((one for one in projects[:1] if isinstance(one, Path)), None))
    signals = EndSignals(app, lambda number: app.exit(128 + number))
    try:
        return app.exec()
    finally:
        signals.close()
        for one in (window, *window.windows):
            one.session.close()
        sys.excepthook = old_hook
        threading.excepthook = old_thread_hook
        qInstallMessageHandler(None)
        stop_logging(handler)


class EndSignals(QObject):
    """Calls `end` in the event loop when the system ends the program: at a logout, at a shutdown, when its terminal is
    closed, after Ctrl+C there. Projects are then closed as usual. The signals themselves would end it at once, or
    interrupt any step."""

    def __init__(self, parent: QObject, end: Callable[[int], None]) -> None:
        super().__init__(parent)
        self._end = end
        self._here, self._there = socket.socketpair()
        self._former: dict[int, Any] = {}
        if os.name != "posix":  # Windows closes the windows first
            return
        for one in (self._here, self._there):
            one.setblocking(False)
        self._notifier = QSocketNotifier(self._here.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._arrived)
        self._woken = signal.set_wakeup_fd(self._there.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup
                self._former[number] = signal.signal(number, self._came)

    def close(self) -> None:
        """The signals act as before."""
        for number, handler in self._former.items():
            signal.signal(number, handler)
        if os.name == "posix":
            self._notifier.setEnabled(False)
            signal.set_wakeup_fd(self._woken)
        self._here.close()
        self._there.close()

    @Slot()
    def _arrived(self) -> None:
        for number in self._here.recv(1024):
            if number in self._former:
                log.info("ending because of signal %d", number)
                self._end(number)

    def _came(self, number: int, _frame: FrameType | None) -> None:
        """The byte in the socket is enough. A second signal acts as before, should closing take too long."""
        signal.signal(number, self._former[number])


class AfterPaint(QObject):
    """Calls `then` once, after the first painting of the window."""

    def __init__(self, window: MainWindow, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._window, self._then = window, then
        window.installEventFilter(self)  # not its pages, which an opaque page covers

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._then)
        return super().eventFilter(watched, event)


def open_projects(window: MainWindow, projects: Sequence[ProjectPlace], *, read_only: bool) -> None:
    """Open the requested projects; without any, preload the modules for opening one."""
    log.info(sqlite_words())
    threading.Thread(target=remove_abandoned, daemon=True).start()
    if not projects:
        threading.Thread(target=import_module, args=("curator.bootstrap",), daemon=True).start()
    elif read_only:
        window.session.open(projects[0], read_only=True)
    else:
        window.windows.open(list(projects), beside=window)
    if window.bench is None:
        window.pages.setCurrentWidget(window.welcome)


def show_fitting(window: MainWindow, project: Path | None = None) -> None:
    """Show the window at its last position; else at its default size, or maximised on a small screen."""
    if window.layout_keeper.restore_window(project):
        window.show()
        return
    room = window.screen().availableSize()
    if room.width() <= window.width() or room.height() <= window.height():
        window.showMaximized()
    else:
        window.show()


RING = 2
"""Width of the focus frame in pixels."""


RINGED = (QAbstractItemView, QPushButton, QToolButton, QComboBox, QAbstractSpinBox)


class FocusRing(QObject):
    """Draws a frame around the focused list, table, button or box, since the style's frame is faint. Text fields have
    their own frames."""

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
    """A child of the framed widget, so that it moves with it."""

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
        """Mask the inside, so that scrolling contents are moved instead of repainted."""
        self.setGeometry(framed.rect())
        inner = self.rect().adjusted(RING, RING, -RING, -RING)
        self.setMask(QRegion(self.rect()).subtracted(QRegion(inner)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme_of(self.palette()).accent)
        painter.end()


SWITCH_SECONDS = 0.0005
"""Python's thread switch interval in seconds; the default is 5 ms.

With a second busy Python thread (such as the one storing suggestions), the wake-up and 15 reads of a key press took 22
ms at 5 ms and 14 ms at 0.5 ms, 6 ms without that thread (medians, two busy cores); at best 8 ms, 3 ms and 2 ms.
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
    """The window with the user's settings; shows problems of the settings file."""
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
    """Whether there is a display: on Linux, whether an X or Wayland server is set."""
    if os.environ.get("QT_QPA_PLATFORM") in ("offscreen", "minimal"):
        return False
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def can_show() -> bool:
    """Whether Qt can open a window here. Without a display or its libraries Qt aborts the process, so a child process
    tries."""
    if not has_display():
        return False
    if not sys.platform.startswith("linux"):
        return True
    if read_state(SEEN) == _this_qt() and x_answers():
        return True  # it could before; trying takes longer than half of the rest of the start
    child = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)  # noqa: S603 - our own code
    if child.returncode == 0:
        write_state(SEEN, _this_qt())
    return child.returncode == 0


def _this_qt() -> list[str]:
    return [qVersion(), sys.executable]


def x_answers() -> bool:
    """Whether the local X server in DISPLAY accepts a connection; remote ones are left to Qt."""
    name = os.environ.get("DISPLAY", "")
    number = name.removeprefix(":").partition(".")[0]
    if sys.platform == "win32" or not name.startswith(":") or not number.isdigit() or os.environ.get("WAYLAND_DISPLAY"):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.settimeout(1.0)
        try:
            one.connect(f"/tmp/.X11-unix/X{number}")  # noqa: S108 - where X servers listen
        except OSError:
            return False
    return True


def to_log(kind: QtMsgType, context: QMessageLogContext, words: str) -> None:
    """Write Qt's messages to the log instead of the terminal."""
    level = logging.INFO if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) else logging.WARNING
    log.log(level, "Qt %s: %s", context.category or "", words)


def _of_threads(hook: Hook) -> Callable[[threading.ExceptHookArgs], None]:
    """What ends another thread is logged and said like what fails in the window's own."""

    def ended(what: threading.ExceptHookArgs) -> None:
        kind, error, trace = what.exc_type, what.exc_value, what.exc_traceback
        if error is not None and not issubclass(kind, SystemExit):
            call_in_window(lambda: hook(kind, error, trace))

    return ended


def _hook(app: QApplication, window: MainWindow) -> Hook:
    """Log bugs with their traceback; the curator sees a sentence and can continue."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, UserError):  # such as the server of a shared project that is gone
            log.warning("%s", error, exc_info=(kind, error, trace))
            features = window.session.features
            if isinstance(error, DamagedProjectError) and features is not None:
                features.safety.say_damage(error)
            else:
                window.say(str(error))
            return
        log.error("A bug", exc_info=(kind, error, trace))
        if not issubclass(kind, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        shown = app.activeWindow() or window
        tell(shown, "Curator", tr(BUG, log=log_folder()), details=f"{kind.__name__}: {error}", wrong=True)

    return hook

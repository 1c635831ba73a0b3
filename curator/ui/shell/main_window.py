"""The main window: menus generated from the commands, the first page or a workbench, and the status at the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget

from curator import tracing
from curator.commands.command import Command, WindowState
from curator.domain.wording import tr
from curator.settings.file import LoadedSettings
from curator.settings.schema import SameString, Snapping
from curator.ui.bench.window_layout import WindowLayout
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.key_names import belongs_to, use_keys
from curator.ui.kit.messages import tell
from curator.ui.kit.sight import Sight
from curator.ui.kit.theme import ThemeController
from curator.ui.panels.status_line import StatusLine
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.dropping import DropFlow
from curator.ui.shell.menus import CommandMenus
from curator.ui.shell.palette import PaletteFlow
from curator.ui.shell.preferences import Preferences
from curator.ui.shell.quiet_time import QuietTime
from curator.ui.shell.recent import opened_before, remember
from curator.ui.shell.shell_commands import NAME, SHELL
from curator.ui.shell.welcome import WelcomePage
from curator.ui.shell.windows import Session, Windows

if TYPE_CHECKING:
    from curator.services.ports.address import ProjectPlace
    from curator.ui.bench.workbench import Workbench

DROPPED = "The key was ignored because what it acts on had only just appeared. Press it again."
OPENED_MS = 500
"""Delay after opening a project for less urgent work: the recent list and pending jobs."""
SIZE = QSize(1440, 900)
SMALLEST = QSize(900, 560)


class MainWindow(QMainWindow):
    """API: `session` opens and closes projects, `bench` is the workbench of the open one, `menus` holds the actions."""

    # declared for mypy, which reads the commands before this class
    session: Session
    preferences: Preferences
    palette_flow: PaletteFlow
    layout_keeper: WindowLayout

    def __init__(self, theme: ThemeController, loaded: LoadedSettings, *, windows: Windows | None = None) -> None:
        """`windows`: the windows of this process; without them, this is the first."""
        super().__init__()
        self._pressed: int | None = None  # time of the last key whose frame is not painted yet, for a trace
        self.windows = windows or Windows(lambda all_: MainWindow(theme, self.preferences.loaded, windows=all_))
        self.setWindowTitle("Curator")
        self.setMinimumSize(SMALLEST)
        self.resize(SIZE)
        self.setAcceptDrops(True)
        self.session = Session(self, self.windows)
        self.preferences = Preferences(self, theme, loaded, refuse=self.say, name_held=self.windows.name_held)
        self.status = StatusLine(self)
        self.pages = QStackedWidget(self)
        self.welcome = WelcomePage(self.session, self)
        self.pages.addWidget(self.welcome)
        self.opening = PlainLabel("", self)
        self.opening.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pages.addWidget(self.opening)
        self.setCentralWidget(self.pages)
        self.menus = CommandMenus(self.menuBar(), run=self._run, settle=self._settle)
        self.session.commands.register((*SHELL, *NAME), self)
        self.menuBar().setStyleSheet("QMenuBar { border-bottom: 1px solid palette(mid) }")  # one line, not one a title
        self.menuBar().setCornerWidget(self.status, Qt.Corner.TopRightCorner)
        self.layout_keeper = WindowLayout(self, usual_size=SIZE)
        self.palette_flow = PaletteFlow(self)
        self.drops = DropFlow(self)
        self.windows.add(self)
        self._connect()
        if (sight := Sight.of_process()) is not None:
            sight.dropped.connect(self._dropped)
            sight.began.connect(self._key_began)
        self.preferences.apply()
        self._closed()

    def _connect(self) -> None:
        session = self.session
        session.opened.connect(self._opened)
        session.closing.connect(self._closed)
        self.status.i_am.clicked.connect(lambda: self.menus.action("people.i_am").trigger())
        self.layout_keeper.was_reset.connect(self._lay_out)
        self.preferences.changed.connect(self._preferences_changed)
        for signal in (self.preferences.changed, self.preferences.saved):  # in another window and in this one
            signal.connect(session.renew_opinions)
        self.menus.recent.chosen.connect(session.open)

    @property
    def bench(self) -> Workbench | None:
        return self.session.bench

    # --- projects come and go ---

    def show_opening(self, project: ProjectPlace) -> None:
        """Show an empty page while a project is opened, so that the first page does not flash."""
        self.opening.setText(tr("Opening {name}…", name=project.name.removesuffix(".curation")))
        self.pages.setCurrentWidget(self.opening)

    @Slot(object)
    def _opened(self, bench: Workbench) -> None:
        self.pages.addWidget(bench)
        self.pages.setCurrentWidget(bench)
        read_only = tr(" (read-only)") if bench.project.read_only else ""
        self.setWindowTitle(f"{bench.project.name}{read_only} – Curator")
        self.status.clear()
        self._preferences_changed()
        bench.state_changed.connect(self.show_state)
        quiet = QuietTime(bench)
        bench.navigator.mention_changed.connect(quiet.busy)
        quiet.busy()
        bench.document.zoom_wanted.connect(self.preferences.zoom)
        bench.document.menu_wanted.connect(lambda place: bench.text.show_menu(place, self.menus.action))
        from curator.ui.bench.refresher import Refresher  # with the first project

        Refresher(bench, self.status).start()
        self.layout_keeper.take(bench, bench.project.folder)
        features = self.session.features
        assert features is not None
        features.people.start()
        bench.focus_document()
        self.show_state()
        if (sight := Sight.of_process()) is not None:
            sight.watch_parts(bench)
        bench.later(features.model.build_if_needed, ms=OPENED_MS).start()
        bench.later(partial(remember, bench.project.place), ms=OPENED_MS).start()

    @Slot()
    def _closed(self) -> None:
        self.layout_keeper.leave()
        self.setWindowTitle("Curator")
        self.status.clear()
        self.pages.setCurrentWidget(self.welcome)
        self.welcome.show_recent(opened_before())
        self.show_state()
        self.welcome.first.setFocus()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.session.bench is not None and not self.session.leave(self._close_all):
            event.ignore()  # ask first; after a yes the window closes by itself
            return
        self.layout_keeper.save()
        self.drops.close()
        self.session.close()
        self.windows.remove(self)
        event.accept()

    def _close_all(self) -> None:
        """The project, then the window; repeated calls have no effect."""
        self.session.close()
        self.close()

    # --- state ---

    @Slot()
    def show_state(self) -> None:
        state = self.bench.state if self.bench is not None else WindowState()
        self.menus.show_state(state)
        if self.bench is not None:
            searching = self.bench.searching or self.bench.hierarchy.focus is not None
            self.bench.bottom.show_state(state, searching=searching, many=self.bench.many.hints)
            self.status.show_curator(self.bench.project.curation.curator)

    def _settle(self) -> None:
        """Show the state of the new mention if that is still pending."""
        if self.bench is not None:
            self.bench.state_later.settle()

    @Slot()
    def _preferences_changed(self) -> None:
        settings = self.preferences.settings
        self.menuBar().setFont(QApplication.font())  # a widget with its own style sheet keeps its old font
        self.menus.fit_overflow()
        self.menus.check_theme(settings.theme.value)
        self.menus.set_keymap(self.preferences.keymap)
        use_keys(self.preferences.keymap, COMMANDS)
        if self.bench is not None:
            self.bench.document.set_reading_font(self.preferences.reading_font(self.font()))
            self.bench.document.set_spacing(settings.line_spacing / 100, settings.text_width)
            self.bench.document.set_snapping(settings.snapping is Snapping.WORDS)
            self.bench.navigator.set_limit(settings.candidates_shown)
            self.bench.many.same.always = settings.same_string is SameString.LIST
            self.bench.navigator.set_candidate_order(settings.candidate_order)
            self.bench.decider.enter_least = settings.enter_least / 100
            self.bench.candidates.set_enter_least(settings.enter_least / 100)
            self.bench.desk.set_close_call(settings.contrast_margin)

    @Slot(str)
    def say(self, words: str) -> None:
        """Show a sentence in the bottom line, or in a box on the first page."""
        if self.bench is not None:
            self.bench.say(words)
        else:
            tell(self, "Curator", words)

    @Slot()
    def _dropped(self) -> None:
        """Report a key dropped because its view had not been seen yet."""
        window = QApplication.activeWindow()
        while window is not None and window is not self:
            window = window.parentWidget()
        if window is self and self.bench is not None:
            self.bench.say(tr(DROPPED))

    @Slot()
    def _lay_out(self) -> None:
        if self.bench is not None:
            self.bench.reset_layout()

    def toggle_focus_mode(self) -> None:
        """Switch between full screen with text and candidates only, and the previous layout."""
        if self.bench is None:
            return
        text = self.bench.text
        text.set_focused(not text.focused)
        self.menuBar().setVisible(not text.focused)
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # --- what is dropped ---

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self.drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drops.leave()
        event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drops.drop(event)

    # --- keys ---

    @Slot()
    def _key_began(self) -> None:
        if self.bench is not None:
            self.bench.project.make_way()

    def _run(self, command: Command[Any]) -> None:
        """Run a command after checking again that it is enabled."""
        state = self.bench.state if self.bench is not None else WindowState()
        if command.enabled(state):
            with tracing.span("command", id=command.id):
                self.session.commands.run(command)
        else:
            self.show_state()

    def event(self, event: QEvent) -> bool:
        """Keep shortcuts from taking a key that a text field or list uses."""
        if event.type() != QEvent.Type.UpdateRequest:
            return self._event(event)
        done = self._frame(event)
        if self.bench is not None:
            self.bench.project.go_on()
        return done

    def _frame(self, event: QEvent) -> bool:
        """Paint. Traces a span for it, and one from the key before it."""
        with tracing.span("frame"):
            done = self._event(event)
        if self._pressed is not None:
            tracing.since("key to frame", self._pressed)
            self._pressed = None
        return done

    def _event(self, event: QEvent) -> bool:
        typed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if typed:
            self._pressed = tracing.clock() if tracing.is_on() else None
            self._settle()  # the key may belong to a command that was disabled before
        if typed and belongs_to(QApplication.focusWidget(), cast(QKeyEvent, event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.bench is not None:
            self.bench.focus_document()
        elif self.bench is not None and (why := self.menus.why_not(QKeySequence(event.keyCombination()))):
            self.bench.say(why)
        else:
            super().keyPressEvent(event)

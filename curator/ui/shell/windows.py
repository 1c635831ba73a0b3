"""The windows of this process: each has its own session, all share the settings, and no two open the same project."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QSize, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from curator.commands.command import Commands
from curator.domain.wording import DamagedProjectError, UnwritableProjectError, UserError, tr
from curator.services.records.diagnostics import last_lines
from curator.ui.files.demo_project import demo_folder, is_filled, world_of
from curator.ui.kit.form import file_dialog
from curator.ui.kit.layout_store import cascaded
from curator.ui.kit.messages import ask, tell
from curator.ui.shell.quiet_time import keep_loaded
from curator.ui.shell.recent import create_shared, written

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.ports.address import ProjectPlace
    from curator.ui.bench.workbench import Workbench
    from curator.ui.files.new_project import NewProjectDialog, ProjectWish
    from curator.ui.safety.rescue import Rescue
    from curator.ui.shell.features import Features
    from curator.ui.shell.main_window import MainWindow


FRAME = QSize(16, 44)
"""Upper estimate of the frame that a window manager adds to a normal window."""


class Windows(QObject):
    """`make` builds a window of this group."""

    def __init__(self, make: Callable[[Windows], MainWindow], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._windows: list[MainWindow] = []

    def __iter__(self) -> Iterator[MainWindow]:
        return iter(list(self._windows))

    def __len__(self) -> int:
        return len(self._windows)

    def add(self, window: MainWindow) -> None:
        """Register a window; every window calls it."""
        self._windows.append(window)
        window.preferences.saved.connect(lambda: self._share(window))

    def remove(self, window: MainWindow) -> None:
        """Unregister a closed window; the last one is left to its creator."""
        if window in self._windows:
            self._windows.remove(window)

    def new(self, beside: MainWindow | None = None) -> MainWindow:
        """Open and show a further window."""
        others = [one for one in self._windows if one.isVisible()]
        window = self._make(self)
        if beside is not None:
            _place(window, beside, others)
        window.show()
        window.activateWindow()
        return window

    def raise_project(self, place: ProjectPlace) -> bool:
        """Raise the window with this open project; False if none has it."""
        wanted = written(place)
        for window in self._windows:
            bench = window.bench
            if bench is not None and written(bench.project.place) == wanted:
                window.raise_()
                window.activateWindow()
                return True
        return False

    def open(self, folders: Sequence[ProjectPlace], *, beside: MainWindow) -> None:
        """Open projects: the first in `beside` if that is empty, the others each in a new window."""
        for folder in folders:
            if self.raise_project(folder):
                continue
            window = beside if beside.bench is None else self.new(beside)
            window.session.open(folder)

    def name_held(self) -> str:
        """The reason why the curator's name, shared by all windows, cannot change now; '' if it can."""
        held = (one.session.features.people.holds_name for one in self._windows if one.session.features is not None)
        return next((one for one in held if one), "")

    def close_all(self) -> None:
        """Close every window; a window with running work asks first and stays open until answered."""
        for window in list(self._windows):
            window.close()

    def _share(self, origin: MainWindow) -> None:
        """Apply settings saved by one window to the others, so that none overwrites them."""
        for window in self._windows:
            if window is not origin:
                window.preferences.adopt(origin.preferences.settings)


def _place(window: MainWindow, beside: MainWindow, others: Sequence[MainWindow]) -> None:
    """Place the window fully on the screen of `beside`, including its frame, assumed as wide as that of `beside`."""
    frame, inner = beside.frameGeometry(), beside.geometry()
    margins = frame.size() - inner.size()
    if beside.isMaximized():  # it is maximised; use its normal size for the new one
        margins = margins.expandedTo(FRAME)
        frame = QRect(frame.topLeft(), beside.normalGeometry().size() + margins)
    taken = [one.frameGeometry().topLeft() for one in others]
    screen = beside.screen().availableGeometry()
    place = cascaded(frame, screen, taken, window.minimumSize() + margins)
    window.resize(place.size() - margins)
    window.move(place.topLeft())


# Which project is open in the window: opening, creating, closing, and what prevents it.

log = logging.getLogger(__name__)
READ_ONLY = "A read-only window cannot record decisions, and it does not show changes that are made elsewhere."
WORKING = "“{job}” is still running. If you leave, it stops; existing data is not changed. Decisions are kept."
TRAINING = (
    "“{job}” is still running. If you leave, it stops; you can resume it after you open the project "
    "again. The linker in use is not changed. Decisions are kept."
)


class Session(QObject):
    """Holds at most one open project. `opened` carries its workbench, `closed` is emitted before it is deleted."""

    opened = Signal(object)  # Workbench
    closing = Signal()

    def __init__(self, window: MainWindow, windows: Windows) -> None:
        super().__init__(window)
        self.window = window
        self._windows = windows
        self.commands = Commands()
        self.bench: Workbench | None = None
        self.features: Features | None = None

    # --- opening ---

    def choose_project(self, *, beside: bool = False) -> QFileDialog:
        """`beside`: in a new window if this one has a project."""
        dialog = file_dialog(self.window, tr("Open project"), mode=QFileDialog.FileMode.Directory)
        open_it = self._open_beside if beside else self.open
        dialog.fileSelected.connect(lambda name: open_it(Path(name)))
        dialog.open()
        return dialog

    def _open_beside(self, folder: Path) -> None:
        self._windows.open([folder], beside=self.window)

    def new_window(self) -> None:
        self._windows.new(self.window)

    def quit(self) -> None:
        self._windows.close_all()

    def open(self, folder: ProjectPlace, *, read_only: bool = False) -> None:
        """Open a project instead of the current one, or raise the window that has it open. If it cannot be written, or
        another process writes to it, offer to open it read-only."""
        if self._windows.raise_project(folder):
            return
        self.leave(lambda: self._open(folder, read_only=read_only))

    def _open(self, folder: ProjectPlace, *, read_only: bool) -> None:
        from curator import bootstrap  # storage takes longer to import than the window: not before the first paint

        keep_loaded()
        try:
            project = _whole(bootstrap.open_project(folder, read_only=read_only))
        except UserError as error:
            if isinstance(folder, Path) and (isinstance(error, DamagedProjectError) or self.rescue(folder).is_lost):
                self.rescue(folder).offer(error)
            elif read_only or not isinstance(error, UnwritableProjectError):
                tell(self.window, tr("Open project"), str(error), wrong=True)
            else:
                words, again = f"{error} {tr(READ_ONLY)}", lambda: self.open(folder, read_only=True)
                ask(self.window, tr("Open project"), words, yes=tr("Open read-only"), then=again)
        else:
            self.close()
            self.show(project)

    def rescue(self, folder: Path) -> Rescue:
        """Offer recovery options for a project that cannot be opened."""
        from curator.ui.safety.rescue import Rescue

        return Rescue(self, folder)

    def new_project(self, *, documents: Sequence[Path] = (), knowledge_base: Path | None = None) -> NewProjectDialog:
        """Show the dialog for a new project, filled in with dropped files."""
        from curator import bootstrap
        from curator.ui.files.new_project import NewProjectDialog

        formats = bootstrap.document_formats()
        dialog = NewProjectDialog(
            place=Path.home(), formats=formats, documents=documents, knowledge_base=knowledge_base, parent=self.window
        )
        dialog.refused = create_shared
        dialog.accepted.connect(lambda: self.leave(lambda: self._create(dialog.wish)))
        dialog.open()
        return dialog

    def _create(self, wish: ProjectWish) -> None:
        from curator import bootstrap

        try:
            make = bootstrap.create_project if isinstance(wish.folder, Path) else bootstrap.open_project
            project = make(wish.folder)
        except UserError as error:
            tell(self.window, tr("New project"), str(error), wrong=True)
            return
        self.close()
        self.show(project)
        if self.features is not None and (wish.knowledge_base is not None or wish.documents is not None):
            self.features.flows.fill(wish.knowledge_base, wish.documents)

    def open_demo(self, world: str) -> None:
        """Open the demo project; the first time, it is created and filled in the background."""
        folder = demo_folder(world)
        if self._windows.raise_project(folder):
            return
        self.leave(lambda: self._open_demo(folder, world))

    def _open_demo(self, folder: Path, world: str) -> None:
        if folder.exists():
            self._open(folder, read_only=False)
        else:
            self._create_demo(folder)
        project = self.bench.project if self.bench is not None else None
        if project is None or written(project.place) != written(folder):
            return  # it could not be opened, and what was open still is
        if not project.read_only and not is_filled(project):
            assert self.features is not None
            self.features.flows.fill_demo(world_of(world))

    def _create_demo(self, folder: Path) -> None:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            words = tr(
                "{folder} cannot be created ({reason}). Check the folder's permissions and the free disk space.",
                folder=folder.parent,
                reason=error.strerror,
            )
            tell(self.window, tr("Demo project"), words, wrong=True)
            return
        from curator.ui.files.new_project import ProjectWish

        self._create(ProjectWish(folder))

    def show(self, project: Project) -> None:
        """Show an open project in the window."""
        from curator.ui.bench.workbench import Workbench
        from curator.ui.shell.features import Features

        self.bench = bench = Workbench(project)
        self.features = Features(self, bench)
        self.opened.emit(bench)

    # --- closing ---

    def leave(self, then: Callable[[], None]) -> bool:
        """Call `then`, which closes the project, after confirmation if background work would be stopped. True if called
        already."""
        job = self.bench.jobs.shown if self.bench is not None else None
        if job is None:
            then()
            return True

        from curator.ui.jobs.jobs import JobKind

        words = TRAINING if job.kind is JobKind.TRAIN else WORKING
        ask(self.window, tr("Background work"), tr(words, job=job.title), yes=tr("Stop it and close"), then=then)
        return False

    def close(self) -> None:
        """Close the project, end its processes and release its lock. Idempotent."""
        bench, features = self.bench, self.features
        if features is not None:
            features.close_windows()
        self.bench = self.features = None
        if bench is not None:
            try:
                bench.close_project()
            except UserError as error:  # the disk failed under the last decisions
                tell(self.window, tr("Close project"), str(error), wrong=True)
            self.closing.emit()
            bench.deleteLater()

    # --- about the session ---

    def renew_opinions(self) -> None:
        """Apply changed settings."""
        if self.features is not None:
            self.features.opinions.renew()

    def copy_diagnostics(self) -> None:
        QGuiApplication.clipboard().setText(self.diagnostics())
        self.window.say(tr("Diagnostics were copied to the clipboard; they contain no document text."))

    def device(self) -> str:
        return self.bench.project.suggestions.status().device if self.bench is not None else ""

    def diagnostics(self) -> str:
        """Diagnostics without any document text; without a project, only the last lines of the log."""
        if self.bench is not None:
            return self.bench.project.diagnostics.text()
        return "\n".join([tr("No project is open."), tr("Last lines of the log:"), *last_lines()]) + "\n"


def _whole(project: Project) -> Project:
    """The project. Raises DamagedProjectError, and closes it, if the list of its documents cannot be read: then the
    window could show nothing of it."""
    try:
        project.queue.counts()
    except DamagedProjectError:
        project.close()
        raise
    return project

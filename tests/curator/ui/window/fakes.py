"""A window on a small real project: real storage and worker threads; the linker and the jobs' processes are fakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from curator.bootstrap import Project, join
from curator.domain.decisions import Decision
from curator.domain.jobs import JobOutcome, Progress
from curator.jobs.runner import JobRunner
from curator.settings.file import LoadedSettings
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.ui.bench.workbench import Workbench
from curator.ui.candidates.search_panel import SearchPanel
from curator.ui.kit.theme import ThemeController
from curator.ui.shell.main_window import MainWindow
from tests.curator.services.fakes import FakeJobs, FakeLinker, World, make_store

PLAIN = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class WindowJobs(FakeJobs):
    """Child processes are faked, worker threads are real."""

    def __init__(self, log_dir: Path) -> None:
        super().__init__()
        self.runner = JobRunner(log_dir)

    def run_here(
        self,
        work: Callable[[], Iterator[Progress]],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> Any:
        return self.runner.run_here(work, on_progress=on_progress, on_end=on_end)

    def close(self) -> None:
        self.runner.close()


@dataclass
class Desk:
    """The window, its project, and hands to press keys with. What several tests look at is named here, so that its
    place in the window is written once."""

    window: MainWindow
    world: World

    @property
    def bench(self) -> Workbench:
        assert self.window.bench is not None
        return self.window.bench

    @property
    def project(self) -> Project:
        return self.bench.project

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = PLAIN, *, at: QWidget | None = None) -> None:
        QTest.keyClick(at or QApplication.focusWidget() or self.window, key, modifiers)

    @property
    def word(self) -> str:
        """The text of the current mention."""
        view = self.bench.navigator.mention
        return view.mention.text if view is not None else ""

    def decision(self, word: str) -> Decision | None:
        """The current decision on the first mention with this text in the open document."""
        opened = self.bench.navigator.opened
        assert opened is not None
        view = next(one for one in opened.mentions if one.mention.text == word)
        return self.project.queue.open(opened.document.id).view(view.mention.id).decision  # type: ignore[union-attr]

    @property
    def note(self) -> str:
        return self.bench.candidates.note.text()

    @property
    def said(self) -> str:
        """The sentence in the bottom line."""
        return self.bench.bottom.message.words

    @property
    def search(self) -> SearchPanel:
        return self.bench.search.panel

    @property
    def document(self) -> str:
        """The identifier of the open document."""
        assert self.bench.navigator.opened is not None
        return self.bench.navigator.opened.document.external_id


MakeDesk = Callable[..., Desk]


def make_project(
    folder: Path, *, manual: bool = False, name: str = "p", kb: bool = False, documents: int = 0, linked: bool = False
) -> World:
    """A project whose jobs run in threads or not at all; the linker starts."""
    linker, jobs = FakeLinker(manual=manual), WindowJobs(folder / "log")
    store = make_store(folder, name=name, kb=kb, documents=documents, linked=linked)
    project = join(store, Settings(), curator="ada", linker=True, linker_port=linker, job_port=jobs)
    return World(project, store, linker, jobs, folder)


def reopen(desk: Desk) -> None:
    """Close the window's project, and show it as it is opened again."""
    folder = desk.project.folder
    desk.window.session.close()
    linker, jobs = FakeLinker(), WindowJobs(desk.world.folder / "log")
    store = storage.open_project(folder)
    project = join(store, Settings(), curator="ada", linker=True, linker_port=linker, job_port=jobs)
    desk.world = World(project, store, linker, jobs, desk.world.folder)
    desk.window.session.show(project)


def make_window(app: QApplication) -> MainWindow:
    return MainWindow(ThemeController(app), LoadedSettings(Settings()))

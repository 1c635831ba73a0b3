"""`curator demo`: create the demo project and open the window, or run the same session off screen without a display."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import click
from PySide6.QtCore import QEventLoop, Qt, QTimer, SignalInstance, qInstallMessageHandler
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from curator import bootstrap
from curator.bootstrap import Project
from curator.domain.jobs import JobOutcome, JobState, LinkerState, Progress
from curator.domain.wording import UserError, tr
from curator.services.records.diagnostics import start_logging, stop_logging
from curator.ui.bench.workbench import Workbench
from curator.ui.files.demo_project import fill, is_filled, world_of
from curator.ui.files.save_as import ExportDialog
from curator.ui.shell.app import can_show, make_application, make_window, run, to_log
from curator.ui.shell.main_window import MainWindow

# Simulated input for the demo without a display: presses a curator's keys and waits for the results.

PATIENCE_MS = 180_000
REST_MS = 1_000
Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PLAIN = Qt.KeyboardModifier.NoModifier
FORMATS = {"pubmed": ("pubtator", "gold.pubtator"), "wikia": ("zeshel", "gold-zeshel")}


class Hands:
    def __init__(self, window: MainWindow) -> None:
        self._window = window
        window.activateWindow()
        QTest.qWaitForWindowActive(window)

    @property
    def _bench(self) -> Workbench:
        assert self._window.bench is not None
        return self._window.bench

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Press a key in the widget with the focus."""
        QTest.keyClick(QApplication.focusWidget() or self._window, key, modifiers)

    def wait(self, ready: Callable[[], bool], *signals: SignalInstance, what: str) -> None:
        """Run the event loop until `ready`, checked at each of the signals. Raises UserError on timeout."""
        loop = QEventLoop()
        timer = QTimer(singleShot=True, interval=PATIENCE_MS)
        timer.timeout.connect(loop.quit)

        def look(*_: object) -> None:
            if ready():
                loop.quit()

        for signal in signals:
            signal.connect(look)
        timer.start()
        if not ready():
            loop.exec()
        for signal in signals:
            signal.disconnect(look)
        if not ready():
            minutes = PATIENCE_MS // 60_000
            raise UserError(tr("{what} did not appear within {n} minutes. See the log.", what=what, n=minutes))

    def wait_for_suggestions(self) -> None:
        """Wait for the suggestions of the open document, except its held-out mentions. Raises UserError if the linker
        gave up."""
        bench = self._bench
        failed = bench.project.suggestions.status

        def ready() -> bool:
            opened = bench.navigator.opened
            answered = opened is not None and all(one.suggestion is not None or one.held_out for one in opened.mentions)
            return answered or failed().state is LinkerState.FAILED

        self.wait(ready, bench.state_changed, what=tr("Suggestions"))
        if failed().state is LinkerState.FAILED:
            raise UserError(tr("The linker failed: {message}", message=failed().message))

    def rest(self) -> None:
        """Wait for the lookups that the window makes for an idle curator."""
        QTest.qWait(REST_MS)

    # --- a curator's minute ---

    def curate(self) -> Iterator[str]:
        """Use each of the deciding keys; yields the effect of each."""
        bench = self._bench
        for keys, act in (
            ("↵", self._accept),
            ("1", lambda: self.press(Key.Key_1)),
            ("Space ↵", self._search_and_link),
            ("N ↵", lambda: self._reason(Key.Key_N)),
            ("2", lambda: self.press(Key.Key_2)),
            ("X ↵", lambda: self._reason(Key.Key_X)),
            ("Ctrl+Z", lambda: self.press(Key.Key_Z, CTRL)),
        ):
            if bench.navigator.mention is None or bench.navigator.mention.decision is not None:
                self.press(Key.Key_Tab)  # this document is decided: the next one
                self.wait_for_suggestions()
            self._pass_held_out()
            view = bench.navigator.mention
            if view is None or view.decision is not None:
                yield tr("Everything is decided.")
                return
            before = view.mention.text
            act()
            yield tr("{keys:8} at “{mention}”: {words}", keys=keys, mention=before, words=bench.bottom.message.words)

    def _pass_held_out(self) -> None:
        """Go on to a mention with visible suggestions, for the next keys."""
        bench = self._bench
        opened = bench.navigator.opened
        for _ in opened.mentions if opened is not None else ():
            view = bench.navigator.mention
            if view is None or not view.held_out:
                return
            self.press(Key.Key_Down)

    def _accept(self) -> None:
        self.press(Key.Key_Return)

    def _reason(self, key: Qt.Key) -> None:
        self.press(key)
        self.press(Key.Key_Return)

    def _search_and_link(self) -> None:
        """Search the mention's text, or else the first candidate's name; link to the first result."""
        view, panel = self._bench.navigator.mention, self._bench.search.panel
        found = lambda: not panel.worker.busy  # noqa: E731
        self.press(Key.Key_Space)
        self.wait(found, panel.model.modelReset, what=tr("The search"))
        if (
            not panel.list.currentIndex().isValid()
            and view is not None
            and view.suggestion is not None
            and view.suggestion.candidates
        ):
            QTest.keyClicks(panel.line, view.suggestion.candidates[0].name)
            self.wait(found, panel.model.modelReset, what=tr("The search"))
        self.press(Key.Key_Return)
        if panel.isVisible():
            self.press(Key.Key_Escape)

    def export(self, out: Path) -> Path:
        """Export through the dialog, into `out`."""
        bench = self._bench
        form, name = FORMATS[bench.project.name]
        path = out / name
        self.press(Key.Key_E, CTRL)
        dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, ExportDialog))
        dialog.formats.setCurrentIndex(dialog.formats.findData(form))
        dialog.path.set_path(path)
        dialog.accept()
        self.wait(lambda: len(bench.jobs) == 0, bench.jobs.ended, what=tr("The export"))
        self._leave_boxes()
        return path

    def _leave_boxes(self) -> None:
        boxes: list[QWidget] = [one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox)]
        for box in boxes:
            button = box.findChild(QPushButton)
            if button is not None:
                QTest.mouseClick(button, Qt.MouseButton.LeftButton)


SCREENSHOT = "screenshot.png"


def run_demo(out: Path, *, world: str) -> int:
    """Build `out`/WORLD.curation if incomplete, then show it. Raises UserError; returns the exit code."""
    folder = make_project(out, world=world)
    if can_show():
        click.echo(tr("Opening {folder}", folder=folder))
        return run(folder)
    click.echo(tr("No display was found: the session runs off screen."))
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return off_screen(folder, out)


def make_project(out: Path, *, world: str) -> Path:
    """Create the demo project with documents and a complete index; a complete one is left unchanged."""
    files = world_of(world)
    folder = out / f"{world}.curation"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            tr(
                "{path} cannot be created ({reason}). Choose a folder that you can write to.",
                path=out,
                reason=error.strerror,
            )
        ) from error
    project = bootstrap.open_project(folder, linker=False) if folder.exists() else _create(folder)
    try:
        if not is_filled(project):
            _show(fill(project, files))
        if project.retraining.needs_index():
            _build_index(project)
    finally:
        project.close()
    return folder


def _create(folder: Path) -> Project:
    click.echo(tr("Creating {folder}", folder=folder))
    return bootstrap.create_project(folder, linker=False)


def _bar() -> Bar:
    columns = (TextColumn("{task.description:32}"), BarColumn(), TextColumn("{task.fields[said]}"))
    return Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True))


def _show(steps: Generator[Progress, None, Any]) -> None:
    """Run an import in this thread with a progress bar."""
    with _bar() as bar:
        task = bar.add_task("", said="")
        for step in steps:
            bar.update(task, description=tr(step.phase), completed=step.done, total=step.total or None, said=step.text)


def _build_index(project: Project) -> None:
    """Raises UserError with the job's message if it does not finish."""
    ended: list[JobOutcome] = []
    with _bar() as bar:
        task = bar.add_task("index", said="")

        def tell(step: Progress) -> None:
            bar.update(task, description=tr(step.phase), completed=step.done, total=step.total or None, said=step.text)

        handle = project.retraining.build_index(on_progress=tell, on_end=ended.append)
        try:
            outcome = handle.wait()
        except KeyboardInterrupt:
            handle.cancel()
            raise
    if outcome is None or outcome.state is not JobState.DONE:
        why = outcome.message if outcome else tr("it did not finish")
        raise UserError(tr("The index was not built: {message}", message=why))


def off_screen(folder: Path, out: Path) -> int:
    """Run a minute of curation with real key presses in an invisible window; writes a screenshot and the gold."""
    handler = start_logging()
    qInstallMessageHandler(to_log)
    app = make_application(sys.argv[:1])
    window = make_window(app)
    window.show()
    hands = Hands(window)
    try:
        window.session.open(folder)
        click.echo(tr("Opened {folder}", folder=folder))
        hands.wait_for_suggestions()
        for line in hands.curate():
            click.echo(line)
        hands.rest()
        window.grab().save(str(out / SCREENSHOT))
        gold = hands.export(out)
    finally:
        window.session.close()
        window.close()
        window.deleteLater()
        qInstallMessageHandler(None)
        stop_logging(handler)
    click.echo(tr("Screenshot: {path}", path=out / SCREENSHOT))
    click.echo(tr("Gold: {path}", path=gold))
    click.echo(
        tr(
            "The project is kept in {folder}; on a computer with a display, `curator open {folder}` opens it.",
            folder=folder,
        )
    )
    return 0

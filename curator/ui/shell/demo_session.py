"""`curator demo`: make the demo project, then open the window; without a display, the same session off screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import click
from PySide6.QtCore import qInstallMessageHandler
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from curator import bootstrap
from curator.bootstrap import Project
from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import tr
from curator.services.records.logs import start_logging, stop_logging
from curator.ui.files.demo_project import fill, is_filled, world_of
from curator.ui.shell.app import can_show, make_application, make_window, run, to_log
from curator.ui.shell.demo_hands import Hands

SCREENSHOT = "screenshot.png"


def run_demo(out: Path, *, world: str) -> int:
    """Build `out`/WORLD.curation where it is not complete, then show it. Raises UserError; returns the exit code."""
    folder = make_project(out, world=world)
    if can_show():
        click.echo(tr("Opening {folder}", folder=folder))
        return run(folder)
    click.echo(tr("There is no display: the same session runs off screen."))
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return off_screen(folder, out)


def make_project(out: Path, *, world: str) -> Path:
    """The demo project with documents and a complete index; one that is complete is left as it is."""
    files = world_of(world)
    folder = out / f"{world}.curation"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            tr(
                "{path} cannot be made ({reason}). Choose a folder that you can write to.",
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
    click.echo(tr("Making {folder}", folder=folder))
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
    """Raises UserError with the job's sentence where it does not finish."""
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
        why = outcome.message if outcome else tr("it did not end")
        raise UserError(tr("The index was not built: {message}", message=why))


def off_screen(folder: Path, out: Path) -> int:
    """A curator's minute with real key presses in a window that nobody sees; a screenshot and the gold remain."""
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
        tr("The project stays in {folder}; `curator open {folder}` opens it where there is a display.", folder=folder)
    )
    return 0

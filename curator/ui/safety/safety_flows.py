"""Flows of an open project: the list of backups, the check, and notices about both."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from PySide6.QtCore import QObject

from curator import bootstrap
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import DamagedProjectError, tr
from curator.services.ports.safety import Backup, Checked
from curator.ui.bench.workbench import Workbench
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.messages import tell
from curator.ui.kit.worker import Worker
from curator.ui.safety.backups_dialog import BackupsDialog
from curator.ui.safety.rescue import Opener, Rescue

NOTHING_NEW = "Nothing changed since the last backup."


class SafetyFlows(QObject):
    """*Project > Backups* and *Check project*."""

    def __init__(self, bench: Workbench, opener: Opener) -> None:
        super().__init__(bench)
        self._bench = bench
        self.rescue = Rescue(opener, bench.project.folder)
        self._damage: DamagedProjectError | None = None
        self._ear = Worker(self)
        bench.project.backups.on_trouble(self._ear.reporter(self._trouble))

    def show_backups(self) -> BackupsDialog:
        dialog = BackupsDialog(writable=not self._bench.project.read_only, parent=self._bench.window())
        dialog.restore_wanted.connect(self.rescue.ask_restore)
        dialog.make_wanted.connect(self._make)
        dialog.finished.connect(self._gone)
        self.rescue.dialog = dialog
        self._read()
        dialog.open()
        return dialog

    def check(self) -> None:
        """Check in a worker thread, with progress in the bottom line; the result is a notice."""
        place, title = self._bench.project.place, tr("Check project")

        def work() -> Generator[Progress, None, dict[str, Any]]:
            found: Checked = yield from bootstrap.check_project(place)
            lines = [f"{one.where}: {one.text}" for one in found.findings]
            return {"message": found.text, "notes": "\n\n".join(lines), "found": len(lines)}

        def then(outcome: JobOutcome) -> None:
            notes = str(outcome.result.get("notes", ""))
            if outcome.state is JobState.DONE and notes:
                self._trouble(outcome.message, notes)
            else:
                self._bench.notices.add_outcome(title, outcome)

        if not self._bench.jobs.runs(JobKind.CHECK):
            self._bench.jobs.run(JobKind.CHECK, title, work, then=then)

    def close_windows(self) -> None:
        """Close the windows of a closed project."""
        self._ear.close()
        if self.rescue.dialog is not None:
            self.rescue.dialog.close()

    def _read(self) -> None:
        backups = self._bench.project.backups
        self._bench.jobs.ask(lambda: {"backups": backups.all()}, then=self._show)

    def _open_backups(self) -> None:
        self.show_backups()

    def _make(self) -> None:
        backups = self._bench.project.backups
        self._bench.jobs.ask(lambda: {"made": backups.make(), "backups": backups.all()}, then=self._show)

    def _show(self, outcome: JobOutcome) -> None:
        dialog = self.rescue.dialog
        if dialog is None:
            return
        if outcome.state is not JobState.DONE:
            dialog.say(outcome.message)
            return
        found: list[Backup] = outcome.result["backups"]
        dialog.show_backups(found)
        if "made" in outcome.result:
            made: Backup | None = outcome.result["made"]
            dialog.say(tr("Backed up to {path}.", path=made.path) if made is not None else tr(NOTHING_NEW))

    def say_damage(self, error: DamagedProjectError) -> None:
        """Show damage that was met while the project is open as a notice, which leads to its backups."""
        self._damage = error
        self._bench.notices.add(str(error), self._offer, wrong=True)

    def _offer(self) -> None:
        if self._damage is not None:
            self.rescue.offer(self._damage)

    def _trouble(self, words: str, details: str = "") -> None:
        """Show it as a notice, which stays until it is read and does not take the focus."""
        window, title = self._bench.window(), tr("Project safety")
        self._bench.notices.add(words, lambda: tell(window, title, words, details=details, wrong=True), wrong=True)

    def _gone(self) -> None:
        self.rescue.dialog = None

"""Restores backups and offers recovery options for projects that cannot be opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMainWindow

from curator import bootstrap
from curator.domain.wording import DamagedProjectError, MissingStepsError, UserError, tr
from curator.services.ports.safety import Backup
from curator.ui.kit.form import file_dialog
from curator.ui.kit.messages import ask, tell
from curator.ui.kit.worker import Worker
from curator.ui.safety.backups_dialog import BackupsDialog

SURE = (
    "Restore the project to its state of {when}? It then has the decisions and documents of that time. The present "
    "state is kept in the project's folder under another name."
)
AGAIN = "Restore the project to its state of {when}? Its folder {folder} is made again."
ELSEWHERE = "The backup was made in {place}, not in this folder: it may hold other work."


class Opener(Protocol):
    """The part of the window that opens and closes projects. `leave` calls a function, after confirmation if background
    work would be stopped."""

    bench: Any  # None while no project is open

    @property
    def window(self) -> QMainWindow: ...

    def open(self, folder: Path) -> None: ...

    def close(self) -> None: ...

    def leave(self, then: Callable[[], None]) -> bool: ...


class Rescue(QObject):
    """Works on the project in `folder`, which need not be readable. It belongs to the opener's window."""

    def __init__(self, opener: Opener, folder: Path) -> None:
        super().__init__(opener.window)
        self._opener = opener
        self._folder = folder
        self._worker = Worker(self, in_turn=True)
        self.dialog: BackupsDialog | None = None

    @property
    def is_lost(self) -> bool:
        """Whether the folder is missing, not the disk that it was on, and the project has backups."""
        try:
            missing = not self._folder.exists() and self._folder.parent.is_dir()
            return missing and bool(bootstrap.backups_of(self._folder))
        except (OSError, UserError):
            return False

    def offer(self, error: UserError) -> BackupsDialog:
        """Show the problem of the project, its backups, and other options."""
        lacking = isinstance(error, MissingStepsError)
        found = error.__cause__ if isinstance(error.__cause__, DamagedProjectError) else error  # no other options
        lost = not self._folder.exists()
        dialog = BackupsDialog(trouble=str(found), lacking=lacking, lost=lost, parent=self._opener.window)
        dialog.restore_wanted.connect(self.ask_restore)
        dialog.salvage_wanted.connect(self.ask_salvage)
        dialog.continue_wanted.connect(self._continue)
        dialog.finished.connect(self._gone)
        self.dialog = dialog
        folder = self._folder
        self._do(lambda: bootstrap.backups_of(folder), self._show_backups)
        dialog.open()
        return dialog

    def ask_restore(self, backup: Backup) -> None:
        """Restore it after confirmation."""
        parent = self.dialog or self._opener.window
        there = self._folder.exists()
        words = tr(SURE, when=backup.when) if there else tr(AGAIN, when=backup.when, folder=self._folder)
        if not backup.is_of(self._folder):
            words += " " + tr(ELSEWHERE, place=backup.place)
        ask(parent, tr("Restore backup"), words, yes=tr("Restore"), then=lambda: self._restore(backup))

    def ask_salvage(self) -> QFileDialog:
        """Ask for the file to which the readable decisions are saved."""
        dialog = file_dialog(self._opener.window, tr("Save readable decisions"), mode=QFileDialog.FileMode.AnyFile)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(f"{self._folder.name.removesuffix('.curation')}-decisions.jsonl")
        dialog.fileSelected.connect(lambda name: self.salvage(Path(name)))
        dialog.open()
        return dialog

    def salvage(self, out: Path) -> None:
        """Save the readable decisions to `out`; the dialog shows the result."""
        folder = self._folder
        self._do(lambda: bootstrap.salvage_decisions(folder, out), lambda found: self._say(found.text))

    def _restore(self, backup: Backup) -> None:
        self._close_dialog()
        self._opener.leave(lambda: self._restore_now(backup))

    def _restore_now(self, backup: Backup) -> None:
        folder, was_open = self._folder, self._opener.bench is not None
        self._opener.close()

        def then(done: Any) -> None:
            self._opener.open(folder)
            tell(self._opener.window, tr("Restore backup"), done.text)

        def failed() -> None:
            if was_open:
                self._opener.open(folder)

        self._do(lambda: bootstrap.restore_project(folder, backup), then, failed=failed)

    def _continue(self) -> None:
        folder = self._folder

        def then(_: Any) -> None:
            self._close_dialog()
            self._opener.open(folder)

        self._do(lambda: bootstrap.continue_without(folder), then)

    def _do(
        self, work: Callable[[], Any], then: Callable[[Any], None], *, failed: Callable[[], None] = lambda: None
    ) -> None:
        """Run in a thread; user and environment errors are shown, after `failed`."""

        def outcome() -> Any:
            try:
                return work()
            except UserError as error:
                return error

        def done(found: Any) -> None:
            if isinstance(found, UserError):
                failed()
                tell(self.dialog or self._opener.window, tr("Project damaged"), str(found), wrong=True)
            else:
                then(found)

        self._worker.ask(outcome, done)

    def _show_backups(self, found: Sequence[Backup]) -> None:
        if self.dialog is not None:  # not closed meanwhile
            self.dialog.show_backups(found)

    def _say(self, words: str) -> None:
        if self.dialog is not None:
            self.dialog.say(words)

    def _close_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.accept()

    def _gone(self) -> None:
        self.dialog = None

"""Flows around imports that are over or were stopped: their list, undoing one, and going on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from PySide6.QtCore import QObject

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import tr
from curator.services.imports import UndoPlan
from curator.ui.dialogs.import_documents import ImportWish
from curator.ui.dialogs.imports import ImportsDialog
from curator.ui.dialogs.messages import ask, tell
from curator.ui.workbench import Workbench

STOPPED = (
    "The import was stopped. {inside:,} of {all:,} files are in; of the others nothing is. Project › Imports… goes on "
    "with them, and so does importing the same files again."
)
NOTHING = "There is no import to undo."


class ImportFlows(QObject):
    """`go_on` imports what a wish says."""

    def __init__(
        self,
        bench: Workbench,
        *,
        go_on: Callable[[ImportWish], None],
        tell_outcome: Callable[[str, JobOutcome], None],
    ) -> None:
        super().__init__(bench)
        self._bench = bench
        self._go_on_with = go_on
        self._tell_outcome = tell_outcome

    def show_imports(self, chosen: Sequence[int] = ()) -> ImportsDialog:
        project = self._bench.project
        dialog = ImportsDialog(
            project.imports.files(),
            chosen=chosen or project.imports.last(),
            stopped=project.importing.unfinished(),
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        dialog.undo_wanted.connect(lambda ids: self.ask_undo(ids, dialog))
        dialog.go_on_wanted.connect(self.go_on)
        dialog.open()
        return dialog

    def undo_last(self) -> None:
        """The list with the last import chosen, and what undoing it would do."""
        last = self._bench.project.imports.last()
        if not last:
            tell(self._bench.window(), tr("Undo import"), tr(NOTHING))
            return
        self.ask_undo(last, self.show_imports(last))

    def ask_undo(self, file_ids: tuple[int, ...], dialog: ImportsDialog) -> None:
        plan = self._bench.project.imports.plan(file_ids)
        words = "\n\n".join((_heading(plan), "\n".join(plan.words())))
        ask(dialog, tr("Undo import"), words, yes=tr("Undo the import"), then=lambda: self._undo(file_ids, dialog))

    def _undo(self, file_ids: tuple[int, ...], dialog: ImportsDialog) -> None:
        project = self._bench.project

        def work() -> Generator[Progress, None, dict[str, Any]]:
            yield Progress(tr("undo import"), 0, 0)
            return {"message": project.imports.undo(file_ids).text}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                self._bench.say(outcome.message)
                dialog.show_files(project.imports.files(), stopped=project.importing.unfinished())
            else:
                self._tell_outcome(tr("Undo import"), outcome)

        self._bench.jobs.ask(lambda p, end: project.jobs.run_here(work, on_progress=p, on_end=end), then=then)

    def go_on(self) -> None:
        stopped = self._bench.project.importing.unfinished()
        if stopped is not None:
            self._go_on_with(ImportWish(stopped.left, stopped.split, stopped.gold, stopped.hold_out))

    def say_stopped(self) -> None:
        """Which files are in after an import was cancelled; nothing where it was of one file."""
        stopped = self._bench.project.importing.unfinished()
        if stopped is not None:
            words = tr(STOPPED, inside=len(stopped.inside), all=len(stopped.paths))
            details = "\n".join(str(one) for one in stopped.inside)
            tell(self._bench.window(), tr("Import stopped"), words, details=details)


def _heading(plan: UndoPlan) -> str:
    names = ", ".join(one.record.file.name for one in plan.files[:3]) + (", …" if len(plan.files) > 3 else "")
    return tr("Undo the import of {names}?", names=names)

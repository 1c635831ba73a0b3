"""The list of imports and undoing one; fetching from PubMed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from PySide6.QtCore import QObject

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import ntr, tr
from curator.services.importing.fetching import FetchWish
from curator.services.importing.import_report import ImportReport
from curator.services.importing.imports import UndoPlan
from curator.ui.bench.workbench import Workbench
from curator.ui.files.fetch_pubmed import FetchPubMedDialog
from curator.ui.files.imports import ImportsDialog
from curator.ui.kit.messages import ask, tell

NOTHING = "There is no import to undo."
SYNCHRONISED = "The project's folder is synchronised by another program"
PLACE = "Folder of the project"


class ImportFlows(QObject):
    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        if not bench.project.read_only and (warning := bench.project.place_warning()):
            bench.notices.add(tr(SYNCHRONISED), lambda: tell(bench.window(), tr(PLACE), warning), wrong=True)

    def show_imports(self, chosen: Sequence[int] = ()) -> ImportsDialog:
        project = self._bench.project
        dialog = ImportsDialog(
            project.imports.files(),
            chosen=chosen or project.imports.last(),
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        dialog.undo_wanted.connect(lambda ids: self.ask_undo(ids, dialog))
        dialog.open()
        return dialog

    def undo_last(self) -> None:
        """Show the list with the last import selected, and the effects of undoing it."""
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
        open_ = [True]
        dialog.finished.connect(lambda _: open_.clear())

        def work() -> dict[str, Any]:
            return {"message": project.imports.undo(file_ids).text}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                self._bench.say(outcome.message)
            else:
                self._bench.notices.add_outcome(tr("Undo import"), outcome)
            if open_:
                dialog.show_files(project.imports.files())

        self._bench.jobs.ask(work, then=then)


def _heading(plan: UndoPlan) -> str:
    names = ", ".join(one.record.file.name for one in plan.files[:3]) + (", …" if len(plan.files) > 3 else "")
    return tr("Undo the import of {names}?", names=names)


# The flow of *Project > Fetch from PubMed*: the dialog, counting in the background, and the fetch as a job.

Reporting = Generator[Progress, None, ImportReport]
Run = Callable[[str, Callable[[], Reporting], Callable[[ImportReport], None]], None]


class FetchFlow(QObject):
    """Exists as long as its dialog or a fetch started by it."""

    def __init__(self, bench: Workbench, *, run: Run, done: Callable[[ImportReport, set[str]], None]) -> None:
        """`run` starts an import with a callback for its end; `done` shows a report."""
        super().__init__(bench)
        self._bench = bench
        self._run = run
        self._done = done
        self._dialog: FetchPubMedDialog | None = None

    def open(self) -> FetchPubMedDialog:
        fetching = self._bench.project.fetching
        dialog = FetchPubMedDialog(
            host=fetching.host,
            stopped=fetching.unfinished(),
            count=self._count,
            forget=fetching.forget,
            parent=self._bench.window(),
        )
        self._dialog = dialog
        dialog.accepted.connect(lambda: self._fetch(dialog.wish))
        dialog.finished.connect(self._closed)
        dialog.open()
        return dialog

    def _closed(self) -> None:
        """Called when the dialog is closed; a late answer is dropped."""
        self._dialog = None

    def _fetch(self, wish: FetchWish) -> None:
        fetching = self._bench.project.fetching
        before = set(self._bench.project.queue.mention_types())
        self._run(tr("Fetch from PubMed"), lambda: fetching.pubmed(wish), lambda report: self._done(report, before))

    def _count(self, query: str) -> None:
        project = self._bench.project

        def work() -> Generator[Progress, None, dict[str, Any]]:
            number = yield from project.fetching.count(query)
            return {"count": number}

        def then(outcome: JobOutcome) -> None:
            words = outcome.message
            if outcome.state is JobState.DONE:
                words = ntr("{n:,} record matches.", "{n:,} records match.", outcome.result["count"])
            if self._dialog is not None:
                self._dialog.set_count(query, words)

        self._bench.jobs.ask_in_steps(work, then=then)

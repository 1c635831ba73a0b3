"""What *Project > Fetch from PubMed* does: the dialog, counting beside it, and the fetch as a job like an import."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from PySide6.QtCore import QObject

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import ntr, tr
from curator.services.importing.fetching import FetchWish
from curator.services.importing.importing import ImportReport
from curator.ui.bench.workbench import Workbench
from curator.ui.files.fetch_pubmed import FetchPubMedDialog

Reporting = Generator[Progress, None, ImportReport]
Run = Callable[[str, Callable[[], Reporting], Callable[[ImportReport], None]], None]


class FetchFlow(QObject):
    """Lives as long as its dialog, and as a fetch that the dialog began."""

    def __init__(self, bench: Workbench, *, run: Run, done: Callable[[ImportReport, set[str]], None]) -> None:
        """`run` starts an import with what is called at its end; `done` shows a report."""
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
        """An answer that is still under way finds nobody."""
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

"""*View > Background work*: every job of the session with its progress, its log and a training's live curves."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QWidget

from curator.domain.jobs import JobState
from curator.domain.wording import localised, tr
from curator.ui.jobs.jobs import JobKind, Jobs, RunningJob
from curator.ui.jobs.jobs_bar import JobBar, words_of
from curator.ui.jobs.training_panel import TrainingPanel
from curator.ui.kit.compose import button, pane, row, splitter
from curator.ui.kit.form import sentence
from curator.ui.kit.messages import tell
from curator.ui.kit.record_tables import RecordColumn, RecordTable

ENDS = {
    JobState.DONE: "✓ Done",
    JobState.CANCELLED: "Cancelled",
    JobState.FAILED: "✗ Failed",
    JobState.CRASHED: "✗ Crashed",
}


def job_columns(jobs: Jobs) -> list[RecordColumn[RunningJob]]:
    def state(job: RunningJob) -> str:
        return words_of(job, jobs.now()) if job.outcome is None else tr(ENDS[job.outcome.state])

    return [
        RecordColumn(tr("Work"), lambda job: job.title),
        RecordColumn(tr("Progress"), state),
        RecordColumn(tr("Started"), lambda job: localised(job.at, "%H:%M:%S")),
        RecordColumn(tr("Duration"), lambda job: took_words(job.seconds(jobs.now()))),
    ]


def took_words(seconds: float) -> str:
    """`0:07`, `1:48`, `1 h 05 min`."""
    whole = round(max(seconds, 0.0))
    if whole >= 3600:
        return tr("{hours} h {minutes:02d} min", hours=whole // 3600, minutes=whole % 3600 // 60)
    return f"{whole // 60}:{whole % 60:02d}"


NOTHING = (
    "Nothing has run since the project was opened. Imports, index builds, training runs and evaluations are "
    "listed here."
)


class JobsDock(QDockWidget):
    """Docked below the text or floating. `left` asks to return the focus to the text."""

    left = Signal()
    training_wanted = Signal(object)  # RunningJob: its own window, with its result

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(tr("Background work"), parent)
        self.setObjectName("jobs")
        self.setAccessibleName(tr("Background work"))
        self._jobs = jobs
        self.table: RecordTable[RunningJob] = RecordTable(
            tr("Background work of this session"), job_columns(jobs), wide=1, sortable=False, parent=self
        )
        self.model = self.table.lines
        self.model.show_rows(jobs.listed)
        self.headline = sentence(tr(NOTHING), selectable=True)
        self.bar = JobBar(tr("Progress of the selected task"), self)
        self.cancel = button(tr("&Cancel"), self._cancel, name=tr("Cancel the selected task"), parent=self)
        result = tr("Show the result of the training: the comparison and what changes")
        self.result = button(tr("&Details…"), self._show_result, name=result, parent=self)
        self.panel = TrainingPanel(self)
        export = tr("Export the curves of the selected training")
        self.export = button(tr("E&xport curves…"), self.panel.ask_export, name=export, parent=self)
        line = row((self.headline, 1), self.cancel, self.result, self.export)
        detail = pane(line, self.bar, (self.panel, 1), parent=self, margins=(8, 4, 8, 8))
        self.parts = splitter(self.table, detail, parent=self, sizes=(480, 800), across=True)
        self.setWidget(self.parts)
        self._shown = 0  # number of the job shown in the panel
        self._connect()
        self._show_chosen()

    def _connect(self) -> None:
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._tick)
        self._jobs.changed.connect(self._changed)
        self._jobs.progressed.connect(self._progressed)
        self.table.moved.connect(self._show_chosen)
        self.table.chosen.connect(self._activated)
        self.panel.refused.connect(lambda words: tell(self, tr("Export the curves"), words, wrong=True))

    # --- coming and going ---

    def turn(self) -> None:
        """Open and focus the table, or close if it has the focus already."""
        focus = self.focusWidget()
        if self.isVisible() and focus is not None and focus.hasFocus():
            self.leave()
            return
        self.show()
        self.raise_()
        if self.chosen is None and self.model.rowCount():
            self.table.go_to(0)
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        self.hide()
        self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._changed()

    # --- what is shown ---

    @property
    def chosen(self) -> RunningJob | None:
        return self.table.current

    def _changed(self) -> None:
        newest, rows = self.model.row(0), self.model.rows
        self.model.add_rows([one for one in self._jobs.listed if one not in rows], at=0)  # others keep their rows
        self.model.refresh()
        found = self.model.row(0)
        if found is not None and (self.chosen is None or (newest is self.chosen and newest is not found)):
            self.table.go_to(0)  # the newest stays selected
        if len(self._jobs):
            self._timer.start()
        else:
            self._timer.stop()
        self._show_chosen()

    def _tick(self) -> None:
        if self.isVisible():
            self.model.refresh()
            self._show_state()

    def _progressed(self, job: RunningJob) -> None:
        if self.isVisible() and job is self.chosen:
            self.model.refresh()
            self._show_state()
            self.panel.grown()

    def _show_chosen(self) -> None:
        job = self.chosen
        if job is not None and job.number != self._shown:
            self._shown = job.number
            self.panel.show_history(job.history)
        elif job is not None:
            self.panel.grown()
        self.panel.setVisible(job is not None)
        self.panel.set_charts(job is not None and job.kind is JobKind.TRAIN)
        self._show_state()

    def _show_state(self) -> None:
        job = self.chosen
        runs = job is not None and job.outcome is None
        training = job is not None and job.kind is JobKind.TRAIN
        self.bar.setVisible(runs)
        self.cancel.setVisible(runs)
        self.result.setVisible(training)
        self.export.setVisible(training and job is not None and bool(job.history.rows))
        if job is None:
            self.headline.setText(tr(NOTHING))
            return
        self.cancel.setEnabled(not job.cancelling)
        self.bar.show_job(job)
        self.headline.setText(job.outcome.message if job.outcome is not None else words_of(job, self._jobs.now()))

    def _activated(self) -> None:
        if self.chosen is not None and self.chosen.kind is JobKind.TRAIN:
            self._show_result()

    def _show_result(self) -> None:
        self.training_wanted.emit(self.chosen)

    def _cancel(self) -> None:
        self._jobs.cancel(self.chosen)

"""A retraining while it runs, and what came of it."""

from __future__ import annotations

import time

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from curator.domain.bundles import GateVerdict
from curator.domain.jobs import JobOutcome, JobState
from curator.ui.dialogs.figures import gate_rows
from curator.ui.dialogs.form import ShowDialog, sentence
from curator.ui.dialogs.table import FigureTable
from curator.ui.jobs import RunningJob
from curator.ui.jobs_bar import flat, words_of
from curator.ui.sparkline import Sparkline

VERDICTS = {GateVerdict.PROMOTE: "Promoted", GateVerdict.NO_GAIN: "No gain", GateVerdict.REFUSED: "Refused"}
SERVES = "the new bundle serves now."
BEFORE = "the bundle before goes on serving."
KEPT = "The new bundle is kept in Model › History. It can be promoted knowingly."
IN_BACKGROUND = "It goes on in the background when this window is closed; deciding goes on, too."


class RetrainLive(ShowDialog):
    """Loss, figures and time left of one job; closing it leaves the job alone."""

    cancel_wanted = Signal()
    promote_wanted = Signal(str)  # bundle id

    def __init__(self, job: RunningJob, parent: QWidget | None = None) -> None:
        super().__init__(job.title, parent)
        self.job = job.number
        self._bundle = ""
        self.headline = sentence(IN_BACKGROUND)
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName("Progress of the retraining")
        flat(self.bar)
        self.bar.setFixedHeight(10)
        self.words = sentence("")
        self.words.setMinimumHeight(self.words.fontMetrics().height() * 2 + 4)
        self.loss = Sparkline("Training loss", self)
        self.table = FigureTable("Old and new linker", ["On held-out documents", "before", "after"], self)
        self.table.hide()
        self.cancel = self.add_button("Cancel &training")
        self.promote = self.add_button("&Promote anyway…")
        self.promote.hide()
        for widget in (self.headline, self.bar, self.words, self.loss, self.table):
            self.body.addWidget(widget, 1 if widget is self.loss else 0)
        self.cancel.clicked.connect(self.cancel_wanted)
        self.promote.clicked.connect(lambda: self.promote_wanted.emit(self._bundle))
        self.resize(620, 420)
        self.show_job(job)

    def show_job(self, job: RunningJob) -> None:
        fraction = job.progress.fraction
        self.bar.setRange(0, 1000 if fraction is not None else 0)
        self.bar.setValue(round(1000 * (fraction or 0)))
        self.words.setText(words_of(job, time.monotonic()))
        self.loss.set_values(job.losses)
        self.cancel.setEnabled(not job.cancelling)

    def show_outcome(self, outcome: JobOutcome) -> None:
        """Promoted, no gain or refused with old and new figures; cancelled or failed with its sentence."""
        self.bar.hide()
        self.cancel.hide()
        if outcome.state is not JobState.DONE:
            self.headline.setText("Cancelled." if outcome.state is JobState.CANCELLED else "It did not finish.")
            self.words.setText(outcome.message if outcome.state is not JobState.CANCELLED else "Nothing was changed.")
            return
        verdict = GateVerdict(outcome.result["verdict"])
        self._bundle = str(outcome.result["bundle"])
        active = bool(outcome.result.get("active"))
        self.headline.setText(f"{VERDICTS[verdict]}: {SERVES if active else BEFORE}")
        self.words.setText(outcome.message + ("" if active else f" {KEPT}"))
        self.promote.setVisible(not active)
        rows = gate_rows(outcome.result.get("metrics", {}))
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.adjustSize()

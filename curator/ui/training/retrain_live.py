"""A running retraining and its result: the comparison, the promotion diff, and whether it is in use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialogButtonBox, QTabWidget, QWidget

from curator.domain.jobs import GateVerdict, JobOutcome, JobState
from curator.domain.wording import tr
from curator.services.training.bundle_metrics import comparison_of, diff_rows, queue_asked
from curator.services.training.retraining import RESUMABLE
from curator.ui.jobs.jobs import RunningJob
from curator.ui.jobs.jobs_bar import JobBar, words_of
from curator.ui.jobs.training_panel import TrainingPanel
from curator.ui.kit.compose import column
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.messages import tell
from curator.ui.kit.record_tables import FigureTable
from curator.ui.training.evaluate import ALONE, comparison_rows, gate_rows, mcnemar_words
from curator.ui.training.promotion_diff import PromotionDiff

VERDICTS = {GateVerdict.PROMOTE: "Better", GateVerdict.NO_GAIN: "No gain", GateVerdict.REFUSED: "Worse"}
SERVES = "the new linker is now in use."
BEFORE = "the previous linker stays in use."
KEPT = "The new linker is kept in Model › Linkers. You can still put it into use there."
IN_BACKGROUND = "Training continues in the background when you close this window. You can keep deciding."
CANCELLING = "Cancelling… The current linker stays in use."


class RetrainLive(ShowDialog):
    """Curves, figures, log and remaining time of one job; closing it does not stop the job. `name_of` and `title_of`
    give the names of entities and the titles of documents."""

    cancel_wanted = Signal()
    promote_wanted = Signal(str)  # bundle id
    rollback_wanted = Signal()
    resume_wanted = Signal(str)  # id of the interrupted training
    map_wanted = Signal(str)  # bundle id
    mention_wanted = Signal(int, int)  # document, mention

    def __init__(
        self,
        job: RunningJob,
        parent: QWidget | None = None,
        *,
        name_of: Callable[[str], str] = str,
        title_of: Callable[[int], str] = str,
    ) -> None:
        super().__init__(job.title, parent)
        self.job = job.number
        self._name_of, self._title_of = name_of, title_of
        self._bundle = self._resumable = ""
        self.headline = sentence(tr(IN_BACKGROUND))
        self.bar = JobBar(tr("Progress of the retraining"), self)
        self.words = sentence("")
        self.panel = TrainingPanel(self)
        self.panel.show_history(job.history)
        self.panel.refused.connect(lambda words: tell(self, tr("Export the curves"), words, wrong=True))
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.panel, tr("&Curves and log"))
        self.tabs.tabBar().hide()
        self._add_buttons()
        for widget in (self.headline, self.bar, self.words, self.tabs):
            self.body.addWidget(widget, 1 if widget is self.tabs else 0)
        self.resize(860, 620)
        self.show_job(job)

    def _add_buttons(self) -> None:
        self.cancel = self.add_button(tr("Cancel &training"), self.cancel_wanted.emit)
        self.promote = self.add_button(tr("&Use anyway…"), lambda: self.promote_wanted.emit(self._bundle))
        self.rollback = self.add_button(tr("Roll &back…"), self.rollback_wanted.emit)
        self.resume = self.add_button(tr("&Resume"), lambda: self.resume_wanted.emit(self._resumable))
        self.map = self.add_button(tr("Embedding &map…"), lambda: self.map_wanted.emit(self._bundle))
        self.export = self.add_button(tr("E&xport curves…"), self.panel.ask_export)
        for button in (self.promote, self.rollback, self.resume, self.map):
            button.hide()

    # --- while it runs ---

    def show_job(self, job: RunningJob) -> None:
        self.bar.show_job(job)
        self.words.setText(tr(CANCELLING) if job.cancelling else words_of(job, time.monotonic()))
        self.cancel.setEnabled(not job.cancelling)
        self.export.setVisible(bool(job.history.rows))
        self.panel.grown()

    # --- what came of it ---

    def show_outcome(self, outcome: JobOutcome) -> None:
        """Show the outcome: promoted, no gain or refused with old and new figures and flips; cancelled or failed with a
        sentence."""
        self.bar.hide()
        if self.cancel.hasFocus():  # else the focus would go to the next button
            self.buttons.button(QDialogButtonBox.StandardButton.Close).setFocus()
        self.cancel.hide()
        if outcome.state is not JobState.DONE:
            self._show_end(outcome)
            return
        verdict = GateVerdict(outcome.result["verdict"])
        self._bundle = str(outcome.result["bundle"])
        active = bool(outcome.result.get("active"))
        first = f"{tr(VERDICTS[verdict])}: "
        self.headline.setText(first + (tr(SERVES) if active else tr(BEFORE)))
        why = outcome.message.removeprefix(first)
        self.words.setText(why[:1].upper() + why[1:] + ("" if active else f" {tr(KEPT)}"))
        self.promote.setVisible(not active)
        self.rollback.setVisible(active)
        self._show_metrics(outcome.result.get("metrics", {}))

    def _show_end(self, outcome: JobOutcome) -> None:
        cancelled = outcome.state is JobState.CANCELLED
        self.headline.setText(tr("Cancelled.") if cancelled else tr("It did not finish."))
        self.words.setText(tr("Nothing was changed, and nothing was kept.") if cancelled else outcome.message)
        self._resumable = str(outcome.result.get(RESUMABLE, ""))
        self.resume.setVisible(bool(self._resumable))

    def _show_metrics(self, metrics: Mapping[str, Any]) -> None:
        self.compared = ComparisonView(metrics, self)
        diff = PromotionDiff(
            diff_rows(metrics),
            name_of=self._name_of,
            title_of=self._title_of,
            asked=queue_asked(metrics),
            parent=self,
        )
        diff.mention_wanted.connect(self.mention_wanted)
        self.tabs.insertTab(0, self.compared, tr("Before and &after"))
        self.tabs.insertTab(1, diff, tr("&What changes ({n:,})", n=len(diff.rows)))
        self.tabs.setCurrentIndex(0)
        self.tabs.tabBar().show()

    def offer_map(self) -> None:
        """Offer the map of the bundle's embeddings."""
        self.map.show()

    @property
    def bundle(self) -> str:
        """The id of the new bundle; '' before the end."""
        return self._bundle


class ComparisonView(QWidget):
    """The old and the new linker on the same held-out documents: with differences, intervals and an exact test if the
    job computed them, else only the figures."""

    def __init__(self, metrics: Mapping[str, Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        comparison = comparison_of(metrics)
        compared = [(name, old, new, apart, between) for name, new, old, apart, between in comparison_rows(comparison)]
        plain = gate_rows(metrics)
        words = mcnemar_words(comparison)
        head_words = [sentence(words, selectable=True)] if words else []
        head = [tr("On held-out documents"), tr("before"), tr("after")]
        if compared:
            head += [tr("difference"), tr("95 % interval")]
            alone = [(*row, "", "") for row in plain if row[0] == ALONE]
            self.rows: list[tuple[str, ...]] = [*compared, *alone]
        else:
            self.rows = list(plain)
        table = FigureTable(tr("Old and new linker"), head)
        table.show_rows(self.rows)
        column(*head_words, (table, 1), of=self, margins=(0, 8, 0, 0))

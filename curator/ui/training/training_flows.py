"""Flows around training: choose a recipe, follow the run, see the result, resume after a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UserError, tr
from curator.services.training.retraining import InterruptedTraining
from curator.ui.bench.workbench import Workbench
from curator.ui.jobs.jobs import JobKind, Launch, RunningJob
from curator.ui.kit.form import bring_up
from curator.ui.kit.messages import choose, tell
from curator.ui.training.bundle_flows import BundleFlows

if TYPE_CHECKING:
    from curator.ui.training.retrain import RetrainDialog, TrainingWish
    from curator.ui.training.retrain_live import RetrainLive

RESUME = "Resume the interrupted training"
LATER = "It stays available in Model › Resume the interrupted training until it is resumed or discarded."


class TrainingFlows(QObject):
    """The retrain dialog and the window of a running training."""

    def __init__(self, bench: Workbench, bundles: BundleFlows) -> None:
        super().__init__(bench)
        self._bench = bench
        self._bundles = bundles
        self._live: RetrainLive | None = None
        self._job: RunningJob | None = None  # the last one started
        bench.jobs.progressed.connect(self._progressed)
        bench.jobs.changed.connect(self._look_for_interrupted)
        bench.bottom.job.details_wanted.connect(self.show_training)
        self._look_for_interrupted()

    @property
    def _window(self) -> QWidget:
        return self._bench.window()

    # --- the dialog ---

    def retrain(self) -> RetrainDialog:
        from curator.ui.training.retrain import RetrainDialog

        project = self._bench.project
        dialog = RetrainDialog(project.retraining.recipes(), device=project.settings.device.value, parent=self._window)
        dialog.preview_wanted.connect(lambda *wanted: self._preview(dialog, *wanted))
        dialog.accepted.connect(lambda: self._train(dialog.wish))
        dialog.open()
        dialog.ask_preview()
        return dialog

    def _preview(self, dialog: RetrainDialog, recipe: str, values: Mapping[str, Any]) -> None:
        """Compute the preview in a worker thread; it reads every train and validation document."""
        project = self._bench.project
        open_ = [True]
        dialog.finished.connect(lambda _: open_.clear())

        def work() -> dict[str, Any]:
            return {"preview": project.retraining.preview(recipe, values)}

        def then(outcome: JobOutcome) -> None:
            if open_:
                dialog.show_preview(recipe, outcome.result.get("preview"), problem=outcome.message)

        self._bench.jobs.ask(work, then=then)

    def _train(self, wish: TrainingWish) -> None:
        retraining = self._bench.project.retraining

        def launch(progress: Callable[[Progress], None], end: Callable[[JobOutcome], None]) -> Any:
            return retraining.start(
                wish.recipe,
                wish.parameters,
                seed=wish.seed,
                device=wish.device,
                max_minutes=wish.max_minutes,
                tensorboard=wish.tensorboard,
                on_progress=progress,
                on_end=end,
            )

        self._start(self._title(wish.recipe), launch)

    def _title(self, recipe: str) -> str:
        titles = {one.id: tr(one.title.removesuffix(", quick")) for one in self._bench.project.retraining.recipes()}
        return tr("Retrain: {recipe}", recipe=titles.get(recipe, recipe))

    # --- after a crash ---

    def _look_for_interrupted(self) -> None:
        self._bench.set_interrupted(bool(self._bench.project.retraining.interrupted()))

    def offer_resume(self) -> QMessageBox | None:
        """Ask how to continue a training interrupted by a crash; None if there is none."""
        if self._bench.project.read_only or self._bench.jobs.runs(JobKind.TRAIN):
            return None
        found = next(iter(self._bench.project.retraining.interrupted()), None)
        if found is None:
            return None
        return choose(
            self._window,
            tr(RESUME),
            f"{found.words} {tr(LATER)}",
            {
                tr("Resume"): lambda: self.resume(found.id),
                tr("Discard"): lambda: self._discard(found),
                tr("Later"): _nothing,
            },
        )

    def resume(self, training_id: str = "") -> None:
        """Resume an interrupted training, by default the newest."""
        retraining = self._bench.project.retraining
        found = next((one for one in retraining.interrupted() if training_id in ("", one.id)), None)
        if found is not None:
            self._start(
                self._title(found.recipe),
                lambda progress, end: retraining.resume(found.id, on_progress=progress, on_end=end),
            )

    def _discard(self, training: InterruptedTraining) -> None:
        self._bench.project.retraining.discard_interrupted(training.id)
        self._look_for_interrupted()

    # --- while it runs, and after ---

    def _start(self, title: str, launch: Launch) -> None:
        try:
            job = self._bench.jobs.start(JobKind.TRAIN, title, launch, then=self._trained)
        except UserError as error:
            tell(self._window, title, str(error), wrong=True)
            return
        self._job = job
        self.show_training(job)

    def show_training(self, job: RunningJob) -> None:
        if self._live is not None and self._live.job != job.number:
            self._live.close()  # the result of the previous training was seen
        if self._live is None:
            self._live = self._make_live(job)
            if job.outcome is not None:
                self._show_outcome(job.outcome)
        bring_up(self._live)

    def _make_live(self, job: RunningJob) -> RetrainLive:
        from curator.ui.training.retrain_live import RetrainLive

        live = RetrainLive(job, self._window, name_of=self._bundles.name_of, title_of=self._bundles.title_of)
        live.setWindowFlags(Qt.WindowType.Window)  # its rows open in the text, which it must not cover
        live.cancel_wanted.connect(lambda: self._bench.jobs.cancel(job))
        live.promote_wanted.connect(self._bundles.ask_promote)
        live.rollback_wanted.connect(self._bundles.ask_rollback)
        live.resume_wanted.connect(self.resume)
        live.map_wanted.connect(self._bundles.show_map)
        live.mention_wanted.connect(self._bundles.open_mention)
        live.finished.connect(self._live_gone)
        return live

    def _live_gone(self) -> None:
        self._live = None

    def _progressed(self, job: RunningJob) -> None:
        if self._live is not None and self._live.job == job.number:
            self._live.show_job(job)

    def _trained(self, outcome: JobOutcome) -> None:
        """Show the result in the open window; if that is not visible, as a notice until it is read."""
        self._look_for_interrupted()
        job = self._job
        if job is None:
            return
        if self._live is not None and self._live.job == job.number:
            self._show_outcome(outcome)
            if self._live.isActiveWindow():
                return
        if outcome.state is not JobState.CANCELLED:
            words = f"{job.title}: {outcome.message}"
            wrong = outcome.state is not JobState.DONE
            self._bench.notices.add(words, lambda: self.show_training(job), wrong=wrong)

    def _show_outcome(self, outcome: JobOutcome) -> None:
        from curator.services.training.embedding_map import has_map

        assert self._live is not None
        self._live.show_outcome(outcome)
        made = next((one for one in self._bench.project.retraining.bundles() if one.id == self._live.bundle), None)
        if made is not None and has_map(made):
            self._live.offer_map()

    def close_windows(self) -> None:
        """Close the windows: nothing can be promoted in a closed project."""
        if self._live is not None:
            self._live.close()


def _nothing() -> None:
    return

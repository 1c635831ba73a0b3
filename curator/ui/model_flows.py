"""Flows around the linker: retraining, history of bundles, index, detection, evaluation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from curator.domain.bundles import GateVerdict
from curator.domain.changes import Change, ChangeKind
from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.services.evaluation import EvaluationWish, ReplayWish
from curator.ui.dialogs.bundles import BundlesDialog, promote_question
from curator.ui.dialogs.detect import DetectDialog
from curator.ui.dialogs.evaluate import EvaluateDialog, FiguresDialog
from curator.ui.dialogs.messages import ask, tell
from curator.ui.dialogs.retrain import RetrainDialog, TrainingWish
from curator.ui.dialogs.retrain_live import RetrainLive
from curator.ui.jobs import JobKind, Launch, RunningJob
from curator.ui.workbench import Workbench

NOTHING_TO_DETECT = "Every document has mentions already. Detect mentions (Ctrl+D) adds to the open one."


class ModelFlows(QObject):
    """What *Model* and *Tools* do with an open project."""

    def __init__(self, bench: Workbench, *, tell_outcome: Callable[[str, JobOutcome], None]) -> None:
        super().__init__(bench)
        self._bench = bench
        self._tell_outcome = tell_outcome
        self._live: RetrainLive | None = None
        self._history: BundlesDialog | None = None
        self._detect_types: tuple[str, ...] = ()  # what was ticked last
        bench.jobs.progressed.connect(self._progressed)
        bench.bridge.changed.connect(self._changed)
        bench.bottom.job.details_wanted.connect(self.show_training)

    @property
    def _window(self) -> QWidget:
        return self._bench.window()

    # --- the index ---

    def build_index(self, *, anew: bool = False) -> None:
        """Lexical first, then full; each serves as soon as it is there. `anew`: also what is there already."""
        retraining = self._bench.project.retraining
        self._start(
            JobKind.INDEX,
            "Build the index",
            lambda progress, end: retraining.build_index(anew=anew, on_progress=progress, on_end=end),
            self._built,
        )

    def _built(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            self.calibrate_if_due()
        else:
            self._tell_outcome("Build the index", outcome)

    def build_if_needed(self) -> None:
        """Go on with what was interrupted: an index that is not complete, or a calibration that is due."""
        project = self._bench.project
        if project.read_only or self._bench.jobs.runs(JobKind.INDEX):
            return
        if project.retraining.needs_index():
            self.build_index()
        else:
            self.calibrate_if_due()

    def calibrate_if_due(self) -> None:
        """Look in a worker thread, since it reads every validation document; calibrate in the background."""
        project = self._bench.project

        def work() -> Generator[Progress, None, dict[str, Any]]:
            yield Progress("count", 0, 0)
            return {"due": project.retraining.needs_calibration()}

        def then(outcome: JobOutcome) -> None:
            if outcome.result.get("due") and not len(self._bench.jobs):
                self.calibrate()

        self._bench.jobs.ask(lambda p, end: project.jobs.run_here(work, on_progress=p, on_end=end), then=then)

    def calibrate(self) -> None:
        """Refit fusion and the NIL threshold on the validation documents."""
        retraining = self._bench.project.retraining
        self._start(
            JobKind.CALIBRATE,
            "Calibrate",
            lambda progress, end: retraining.calibrate(on_progress=progress, on_end=end),
            self._calibrated,
        )

    def _calibrated(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            self._bench.say(outcome.message)
        else:
            self._tell_outcome("Calibrate", outcome)

    # --- retraining ---

    def retrain(self) -> RetrainDialog:
        project = self._bench.project
        dialog = RetrainDialog(project.retraining.recipes(), device=project.settings.device.value, parent=self._window)
        dialog.preview_wanted.connect(lambda *wanted: self._preview(dialog, *wanted))
        dialog.accepted.connect(lambda: self._train(dialog.wish))
        dialog.open()
        self._preview(dialog, dialog.recipe.id, dialog.values, dialog.device.currentText())
        return dialog

    def _preview(self, dialog: RetrainDialog, recipe: str, values: Mapping[str, Any], device: str) -> None:
        """Count in a worker thread; it reads every train and validation document."""
        project = self._bench.project
        open_ = [True]
        dialog.finished.connect(lambda _: open_.clear())

        def work() -> Generator[Progress, None, dict[str, Any]]:
            yield Progress("count", 0, 0)
            return {"preview": project.retraining.preview(recipe, values, device=device)}

        def then(outcome: JobOutcome) -> None:
            if open_:
                dialog.show_preview(recipe, outcome.result.get("preview"), problem=outcome.message)

        self._bench.jobs.ask(lambda p, end: project.jobs.run_here(work, on_progress=p, on_end=end), then=then)

    def _train(self, wish: TrainingWish) -> None:
        retraining = self._bench.project.retraining

        def launch(progress: Callable[[Progress], None], end: Callable[[JobOutcome], None]) -> Any:
            return retraining.start(
                wish.recipe,
                wish.parameters,
                seed=wish.seed,
                device=wish.device,
                max_minutes=wish.max_minutes,
                on_progress=progress,
                on_end=end,
            )

        job = self._start(JobKind.TRAIN, f"Retrain with {wish.recipe}", launch, self._trained)
        if job is not None:
            self.show_training(job)

    def show_training(self, job: RunningJob) -> None:
        if self._live is not None and self._live.job != job.number:
            self._live.close()  # what came of the training before was seen
        if self._live is None:
            live = RetrainLive(job, self._window)
            live.cancel_wanted.connect(lambda: self._bench.jobs.cancel(job))
            live.promote_wanted.connect(self.ask_promote)
            live.finished.connect(self._live_gone)
            self._live = live
        self._live.show()
        self._live.raise_()
        self._live.activateWindow()

    def _live_gone(self) -> None:
        self._live = None

    def _progressed(self, job: RunningJob) -> None:
        if self._live is not None and job.kind is JobKind.TRAIN:
            self._live.show_job(job)

    def _trained(self, outcome: JobOutcome) -> None:
        """The open panel tells; where it was closed, one is opened: an outcome never comes and goes unseen."""
        if self._live is None and outcome.state is JobState.CANCELLED:
            return
        if self._live is None:
            self.show_training(RunningJob(0, JobKind.TRAIN, "Retraining", lambda _: None, 0.0, 0.0))
        assert self._live is not None
        self._live.show_outcome(outcome)

    # --- bundles ---

    def show_bundles(self) -> BundlesDialog:
        project = self._bench.project
        if self._history is None:
            dialog = BundlesDialog(project.retraining.bundles(), writable=not project.read_only, parent=self._window)
            dialog.promote_wanted.connect(self.ask_promote)
            dialog.rollback_wanted.connect(self._ask_rollback)
            dialog.finished.connect(self._history_gone)
            self._history = dialog
        self._history.show()
        self._history.raise_()
        self._history.activateWindow()
        return self._history

    def _history_gone(self) -> None:
        self._history = None

    def ask_promote(self, bundle_id: str) -> None:
        retraining = self._bench.project.retraining
        bundle = next((one for one in retraining.bundles() if one.id == bundle_id), None)
        gated = bundle is not None and bundle.verdict in (GateVerdict.REFUSED, GateVerdict.NO_GAIN)
        ask(
            self._history or self._live or self._window,
            "Promote a bundle",
            promote_question(bundle),
            yes="Promote anyway" if gated else "Let it serve",
            then=lambda: self._try("Promote a bundle", lambda: retraining.promote(bundle_id)),
        )

    def _ask_rollback(self) -> None:
        retraining = self._bench.project.retraining
        words = "Let the bundle serve that served before this one? Decisions stay; suggestions are made anew."
        ask(
            self._history or self._window,
            "Roll back",
            words,
            yes="Roll back",
            then=lambda: self._try("Roll back", retraining.rollback),
        )

    def _changed(self, change: Change) -> None:
        if self._history is not None and change.kind is ChangeKind.BUNDLE:
            self._history.show_bundles(self._bench.project.retraining.bundles())

    # --- tools ---

    def detect(self, *, everywhere: bool) -> DetectDialog | None:
        """Asks which entity types are looked for, where the knowledge base has several."""
        project = self._bench.project
        opened = self._bench.navigator.opened
        ids = project.detection.documents_without_mentions() if everywhere else []
        if not everywhere and opened is not None:
            ids = [opened.document.id]
        if not ids:
            tell(self._window, "Detect mentions", NOTHING_TO_DETECT)
            return None
        info = project.knowledge.info()
        types = info.types if info is not None else ()
        if len(types) < 2:
            self._detect(ids, ())
            return None
        ticked = self._detect_types or project.detection.usual_types() or types
        dialog = DetectDialog(types, ticked=ticked, documents=len(ids), parent=self._window)

        def start() -> None:
            self._detect_types = dialog.types
            self._detect(ids, () if dialog.types == tuple(types) else dialog.types)

        dialog.accepted.connect(start)
        dialog.open()
        return dialog

    def _detect(self, ids: Sequence[int], types: Sequence[str]) -> None:
        service = self._bench.project.detection
        self._start(
            JobKind.DETECT,
            "Detect mentions",
            lambda progress, end: service.start(ids, types=types, on_progress=progress, on_end=end),
            self._detected,
        )

    def _detected(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            self._bench.say(outcome.message)
        else:
            self._tell_outcome("Detect mentions", outcome)

    def evaluate(self) -> EvaluateDialog:
        project = self._bench.project
        counts = project.queue.counts().documents_by_split
        dialog = EvaluateDialog(counts, project.evaluation.bundles(), parent=self._window)
        dialog.accepted.connect(lambda: self._evaluate(dialog.wish))
        dialog.open()
        return dialog

    def _evaluate(self, wish: EvaluationWish | ReplayWish) -> None:
        service = self._bench.project.evaluation

        def launch(progress: Callable[[Progress], None], end: Callable[[JobOutcome], None]) -> Any:
            if isinstance(wish, ReplayWish):
                return service.replay(wish, on_progress=progress, on_end=end)
            return service.start(wish, on_progress=progress, on_end=end)

        what = "Replay" if isinstance(wish, ReplayWish) else "Evaluate on"
        self._start(JobKind.EVALUATE, f"{what} {wish.split.value}", launch, self._evaluated)

    def _evaluated(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            FiguresDialog(outcome.result, self._window).show()
        else:
            self._tell_outcome("Evaluate", outcome)

    def close_windows(self) -> None:
        """Windows that stay beside the project's go with it: nothing can be promoted in a closed project."""
        for one in (self._live, self._history):
            if one is not None:
                one.close()

    # --- inside ---

    def _start(
        self, kind: JobKind, title: str, launch: Launch, then: Callable[[JobOutcome], None]
    ) -> RunningJob | None:
        try:
            return self._bench.jobs.start(kind, title, launch, then=then)
        except UserError as error:
            tell(self._window, title, str(error), wrong=True)
            return None

    def _try(self, title: str, action: Callable[[], object]) -> None:
        try:
            action()
        except UserError as error:
            tell(self._window, title, str(error), wrong=True)

"""Flows around the linker: retraining, history of bundles, index, detection, evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UserError, tr
from curator.services.ports.storage import Role
from curator.services.training.evaluation import EvaluationWish, ReplayWish
from curator.ui.bench.workbench import Workbench
from curator.ui.jobs.jobs import JobKind, Launch, RunningJob
from curator.ui.kit.key_names import place_of
from curator.ui.kit.messages import tell
from curator.ui.queue.queue_model import SPLIT_WORDS
from curator.ui.training.bundle_flows import BundleFlows
from curator.ui.training.training_flows import TrainingFlows

if TYPE_CHECKING:
    from curator.ui.training.bundles import BundlesDialog
    from curator.ui.training.detect import DetectDialog
    from curator.ui.training.errors_window import ErrorsWindow
    from curator.ui.training.evaluate import EvaluateDialog
    from curator.ui.training.retrain import RetrainDialog


from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from curator.ui.kit.form import OneWindow

QUIET_MS = 1000
"""Delay after the last decision before the list is updated, so that it never happens between two key presses."""


class ErrorFlows(QObject):
    """The window is created on request, and stays behind the main window while its mentions are viewed."""

    def __init__(self, bench: Workbench, bundles: BundleFlows) -> None:
        """`bundles` opens mentions and shows windows that close with the project."""
        super().__init__(bench)
        self._bench, self._bundles, self._wanted = bench, bundles, ""
        self._errors = OneWindow(self._make)
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._refresh)
        bench.bridge.stepped.connect(self._stepped)
        bench.bridge.changed.connect(self._changed)

    def show_errors(self, evaluation: str = "") -> ErrorsWindow:
        """The list of an evaluation; '' keeps an open list."""
        open_before, self._wanted = self._errors.window is not None, evaluation
        window = self._errors.show()
        if open_before and evaluation:
            window.load(evaluation)
        return window

    def _make(self) -> ErrorsWindow:
        from curator.ui.training.errors_window import ErrorsWindow

        window = ErrorsWindow(self._bench.project.evaluations, evaluation=self._wanted, parent=self._bench.window())
        window.mention_wanted.connect(self._bundles.open_mention)
        window.said.connect(self._bench.say)
        window.finished.connect(self._timer.stop)
        return window

    def step(self, by: int) -> None:
        """Go to the next or previous error of the open list."""
        if self._errors.window is None:
            self._bench.say(tr("No list of errors is open: {place} opens one.", place=place_of("model.errors")))
        else:
            self._errors.window.step(by)

    def _stepped(self) -> None:
        if self._errors.window is not None:
            self._timer.start()

    def _changed(self) -> None:
        if not self._timer.isActive():  # a team never pauses
            self._stepped()

    def _refresh(self) -> None:
        if self._errors.window is not None:
            self._errors.window.refresh()

    def close_windows(self) -> None:
        self._errors.close()


NO_BUNDLE = "No linker yet. Import a knowledge base; its index becomes the first one."
NOTHING_TO_DETECT = "Every document already has mentions. {way} adds more to the open one."


class ModelFlows(QObject):
    """The *Model* and *Tools* commands for an open project."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self.bundles = BundleFlows(bench)
        self.training = TrainingFlows(bench, self.bundles)
        self.errors = ErrorFlows(bench, self.bundles)
        self.bundles.compare_wanted.connect(self.evaluate)
        self._detect_types: tuple[str, ...] = ()  # last ticked values

    @property
    def _window(self) -> QWidget:
        return self._bench.window()

    # --- the index ---

    def build_index(self, *, again: bool = False) -> None:
        """Build the lexical, then the full index; each is used as soon as it is ready. `again`: rebuild existing ones,
        as the curator asked."""
        retraining = self._bench.project.retraining
        self._start(
            JobKind.INDEX,
            tr("Build the index"),
            lambda progress, end: retraining.build_index(again=again, on_progress=progress, on_end=end),
            self._built,
            asked=again,
        )

    def _built(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            self._bench.say(outcome.message)
            self._do_what_is_due(index=False)
        else:
            self._bench.notices.add_outcome(tr("Build the index"), outcome)

    def build_if_needed(self) -> None:
        """Resume interrupted work: a training, an incomplete index, or a pending refit."""
        project = self._bench.project
        if project.read_only or project.role is Role.CURATOR or self._bench.jobs.runs(JobKind.INDEX):
            return
        self.training.offer_resume()
        self._do_what_is_due(index=True)

    def _do_what_is_due(self, *, index: bool) -> None:
        """Build the `index`, or refit the weights in the background, if needed. A worker thread checks this, since it
        may have to download the linker in use, and reads every decided document."""
        retraining = self._bench.project.retraining

        def work() -> dict[str, Any]:
            needed = index and retraining.needs_index()
            return {"index": needed, "due": not needed and retraining.needs_calibration()}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is not JobState.DONE:
                self._bench.say(outcome.message)
            elif outcome.result["index"]:
                self.build_index()
            elif outcome.result["due"] and not len(self._bench.jobs):
                self.calibrate(asked=False)

        self._bench.jobs.ask(work, then=then)

    def calibrate(self, *, asked: bool = True) -> None:
        """Refit the weights. `asked`: requested by the curator; otherwise only a promoted bundle is reported."""
        retraining = self._bench.project.retraining
        self._start(
            JobKind.CALIBRATE,
            tr("Refit weights"),
            lambda progress, end: retraining.calibrate(on_progress=progress, on_end=end),
            lambda outcome: self._calibrated(outcome, asked=asked),
            asked=asked,
        )

    def _calibrated(self, outcome: JobOutcome, *, asked: bool) -> None:
        if outcome.state is JobState.DONE:
            if asked or outcome.result.get("active"):
                self._bench.say(outcome.message)
        else:
            self._bench.notices.add_outcome(tr("Refit weights"), outcome)

    # --- retraining and bundles ---

    def retrain(self) -> RetrainDialog:
        return self.training.retrain()

    def resume(self) -> None:
        """Handle the choice for an interrupted training."""
        self.training.offer_resume()

    def show_training(self, job: RunningJob) -> None:
        self.training.show_training(job)

    def show_bundles(self) -> BundlesDialog:
        return self.bundles.show_bundles()

    def show_map(self) -> None:
        """Show the map of the bundle in use, or of its parent."""
        from curator.services.training.embedding_map import nearest_with_map

        bundles = self._bench.project.retraining.bundles()
        active = next((one for one in bundles if one.active), None)
        if active is None:
            tell(self._window, tr("Embedding map"), tr(NO_BUNDLE))
        else:
            self.bundles.show_map(nearest_with_map(bundles, active.id))

    # --- tools ---

    def detect(self, *, everywhere: bool) -> DetectDialog | None:
        """Detect mentions; ask for the entity types if the knowledge base has several."""
        from curator.ui.training.detect import DetectDialog

        project = self._bench.project
        opened = self._bench.navigator.opened
        ids = project.detection.documents_without_mentions() if everywhere else []
        if not everywhere and opened is not None:
            ids = [opened.document.id]
        if not ids:
            tell(self._window, tr("Detect mentions"), tr(NOTHING_TO_DETECT, way=place_of("tools.detect")))
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
            tr("Detect mentions"),
            lambda progress, end: service.start(ids, types=types, on_progress=progress, on_end=end),
            self._detected,
        )

    def _detected(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            self._bench.say(outcome.message)
        else:
            self._bench.notices.add_outcome(tr("Detect mentions"), outcome)

    def evaluate(self, bundle: str = "") -> EvaluateDialog:
        """Evaluate the bundle in use, or another compared with it."""
        from curator.ui.training.evaluate import EvaluateDialog

        project = self._bench.project
        counts = project.queue.counts().documents_by_split
        dialog = EvaluateDialog(counts, project.evaluation.bundles(), parent=self._window, bundle=bundle)
        dialog.accepted.connect(lambda: self._evaluate(dialog.wish))
        dialog.open()
        return dialog

    def _evaluate(self, wish: EvaluationWish | ReplayWish) -> None:
        service = self._bench.project.evaluation

        def launch(progress: Callable[[Progress], None], end: Callable[[JobOutcome], None]) -> Any:
            if isinstance(wish, ReplayWish):
                return service.replay(wish, on_progress=progress, on_end=end)
            return service.start(wish, on_progress=progress, on_end=end)

        what = tr("Replay") if isinstance(wish, ReplayWish) else tr("Evaluate on")
        title = f"{what} {tr(SPLIT_WORDS[wish.split])}"
        self._start(JobKind.EVALUATE, title, launch, lambda outcome: self._evaluated(title, outcome))

    def _evaluated(self, title: str, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE:
            self._bench.notices.add(tr("{title}: the results are ready.", title=title), lambda: self._figures(outcome))
        else:
            self._bench.notices.add_outcome(tr("Evaluate"), outcome)

    def _figures(self, outcome: JobOutcome) -> None:
        from curator.ui.training.evaluate import FiguresDialog

        found = self.bundles
        dialog = FiguresDialog(outcome.result, self._window, name_of=found.name_of, title_of=found.title_of)
        dialog.mention_wanted.connect(found.open_mention)
        dialog.errors_wanted.connect(self.errors.show_errors)
        found.show_beside(dialog)

    def close_windows(self) -> None:
        """Close the separate windows: nothing can be promoted in a closed project."""
        for flows in (self.training, self.errors, self.bundles):
            flows.close_windows()

    # --- inside ---

    def _start(
        self, kind: JobKind, title: str, launch: Launch, then: Callable[[JobOutcome], None], *, asked: bool = True
    ) -> RunningJob | None:
        """`asked`: a refusal is shown in a box; for automatic jobs as a notice."""
        try:
            return self._bench.jobs.start(kind, title, launch, then=then)
        except UserError as error:
            if asked:
                tell(self._window, title, str(error), wrong=True)
            else:
                self._bench.notices.add_outcome(title, JobOutcome(JobState.FAILED, str(error)))
            return None

"""The background work of the window: what runs, how far it is, how long it will take."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from curator.domain.jobs import JobOutcome, Progress
from curator.domain.wording import tr
from curator.services.ports import JobHandle
from curator.services.retraining import OnEnd, OnProgress
from curator.ui.bridge import Bridge
from curator.ui.training_history import TrainingHistory

Launch = Callable[[OnProgress, OnEnd], JobHandle]
Then = Callable[[JobOutcome], None]


class JobKind(StrEnum):
    """Jobs of one kind never run twice at a time."""

    IMPORT = "import"
    INDEX = "index"
    CALIBRATE = "calibrate"
    TRAIN = "train"
    DETECT = "detect"
    EVALUATE = "evaluate"


@dataclass(slots=True)
class RunningJob:
    """A job that runs. `history` is what a training told so far; times are monotonic seconds."""

    number: int
    kind: JobKind
    title: str
    then: Then
    started: float
    phase_started: float
    progress: Progress = Progress("", 0, 0, "Starting…")  # noqa: RUF009 - frozen
    phase_begin: int = 0
    history: TrainingHistory = field(default_factory=TrainingHistory)
    handle: JobHandle | None = None
    cancelling: bool = False

    def take(self, progress: Progress, now: float) -> None:
        if progress.phase != self.progress.phase:
            self.phase_started, self.phase_begin = now, progress.done
        if self.kind is JobKind.TRAIN:
            self.history.take(progress, datetime.now().astimezone())
        self.progress = progress

    def seconds_left(self, now: float) -> float | None:
        """As the job says it, else of the present step from its pace so far; None before two seconds of it."""
        if "seconds_left" in self.progress.data:
            return float(self.progress.data["seconds_left"])
        done = self.progress.done - self.phase_begin
        elapsed = now - self.phase_started
        if not self.progress.total or done <= 0 or elapsed < 2.0:
            return None
        return elapsed / done * max(self.progress.total - self.progress.done, 0)


class Jobs(QObject):
    """Starts jobs and tells about them in the window's thread."""

    changed = Signal()  # something started or ended
    progressed = Signal(object)  # RunningJob
    ended = Signal(object, object)  # RunningJob, JobOutcome

    def __init__(self, bridge: Bridge, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(bridge)
        self._bridge = bridge
        self._clock = clock
        self._numbers = itertools.count(1)
        self._running: dict[int, RunningJob] = {}
        self._questions: dict[int, Then] = {}
        bridge.progressed.connect(self._progress)
        bridge.ended.connect(self._end)

    def start(self, kind: JobKind, title: str, launch: Launch, *, then: Then = lambda _: None) -> RunningJob:
        """Launch a job; `then` gets its outcome in the window's thread. Raises UserError where it cannot start."""
        now = self._clock()
        job = RunningJob(next(self._numbers), kind, title, then, now, now)
        self._running[job.number] = job
        try:
            job.handle = launch(
                lambda progress: self._bridge.tell_progress(job.number, progress),
                lambda outcome: self._bridge.tell_end(job.number, outcome),
            )
        except Exception:
            del self._running[job.number]
            raise
        self.changed.emit()
        return job

    def ask(self, launch: Launch, *, then: Then) -> None:
        """A question to a worker thread that the bar does not show and nothing waits for."""
        number = next(self._numbers)
        self._questions[number] = then
        launch(lambda _: None, lambda outcome: self._bridge.tell_end(number, outcome))

    @property
    def shown(self) -> RunningJob | None:
        """The job that the bar shows: the one started last."""
        return next(reversed(self._running.values()), None)

    def __len__(self) -> int:
        return len(self._running)

    def runs(self, *kinds: JobKind) -> bool:
        return any(job.kind in kinds for job in self._running.values())

    @property
    def importing(self) -> bool:
        return self.runs(JobKind.IMPORT)

    def job(self, kind: JobKind) -> RunningJob | None:
        return next((job for job in self._running.values() if job.kind is kind), None)

    def cancel(self, job: RunningJob | None = None) -> None:
        """Ask the job (by default the one shown) to end: shown at once, its outcome follows."""
        job = job or self.shown
        if job is not None and job.handle is not None and not job.cancelling:
            job.cancelling = True
            self.progressed.emit(job)
            job.handle.cancel()

    def _progress(self, number: int, progress: Progress) -> None:
        job = self._running.get(number)
        if job is not None:
            job.take(progress, self._clock())
            self.progressed.emit(job)

    def _end(self, number: int, outcome: JobOutcome) -> None:
        if number in self._questions:
            self._questions.pop(number)(outcome)
            return
        job = self._running.pop(number, None)
        if job is not None:
            self.changed.emit()
            self.ended.emit(job, outcome)
            job.then(outcome)


def minutes_words(seconds: float | None) -> str:
    """`1:48 left`, `1 h 05 min left`; '' when unknown."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole >= 3600:
        return tr("{hours} h {minutes:02d} min left", hours=whole // 3600, minutes=whole % 3600 // 60)
    return tr("{minutes}:{seconds:02d} left", minutes=whole // 60, seconds=whole % 60)


def figures_words(progress: Progress) -> str:
    """The live figures that a job sends, in one line."""
    parts = [f"{FIGURES[name]} {value:.3f}" for name, value in progress.data.items() if name in FIGURES]
    return " · ".join(parts)


FIGURES = {"loss": "loss", "recall_at_1": "recall@1", "nil_aupr": "NIL auPR"}

"""The background work of the window: running jobs, their progress and remaining time."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QObject, Signal

from curator.domain.jobs import JobOutcome, Progress
from curator.domain.wording import localised, tr
from curator.services.core.pace import Pace
from curator.services.ports.processes import JobHandle, JobPort
from curator.services.training.job_chain import OnEnd, OnProgress
from curator.ui.jobs.training_panel import TrainingHistory
from curator.ui.kit.window_calls import Bridge

Launch = Callable[[OnProgress, OnEnd], JobHandle]
Then = Callable[[JobOutcome], None]
Steps = Callable[[], Generator[Progress, None, Mapping[str, Any]]]
MINUTE, HOUR, DAY = 60, 3600, 24 * 3600
LONGER = 2.0
"""Factor by which a step may exceed the training's own estimate, which ignores validation."""
KEPT = 200
"""The most ended jobs that are kept, with their logs and curves."""


class JobKind(StrEnum):
    """What a job does: commands that must wait for it ask for its kind. EXPORT writes outside of the project:
    documents, a release, the audit trail, the knowledge base."""

    IMPORT = "import"
    EXPORT = "export"
    CHECK = "check"
    INDEX = "index"
    CALIBRATE = "calibrate"
    TRAIN = "train"
    DETECT = "detect"
    EVALUATE = "evaluate"
    OPINION = "opinion"


@dataclass(slots=True)
class RunningJob:
    """A running job, or an ended one with an `outcome`. `history` is its log, for a training with curves; `at` is the
    time of day of its start, other times are monotonic seconds."""

    number: int
    kind: JobKind
    title: str
    then: Then
    started: float
    progress: Progress = Progress("", 0, 0, "Starting…")  # noqa: RUF009 - frozen
    paces: dict[str, Pace] = field(default_factory=lambda: defaultdict(Pace))
    history: TrainingHistory = field(default_factory=TrainingHistory)
    handle: JobHandle | None = None
    cancelling: bool = False
    at: datetime = field(default_factory=lambda: datetime.now().astimezone())
    outcome: JobOutcome | None = None
    ended: float = 0.0

    def take(self, progress: Progress, now: float) -> None:
        if progress.phase != self.progress.phase:
            self.paces[self.progress.phase].pause()
        self.paces[progress.phase].take(now, _units(progress)[0])
        told = progress
        if self.kind is not JobKind.TRAIN and progress.phase == self.progress.phase:
            told = replace(progress, text="")  # an import reports every file it reads: steps are enough for a log
        self.history.take(told, datetime.now().astimezone())
        self.progress = progress

    def end(self, outcome: JobOutcome, now: float) -> None:
        """Mark the job as ended; the outcome is the last line of the log."""
        self.outcome, self.ended = outcome, now
        self.history.say(outcome.message, datetime.now().astimezone())

    def seconds(self, now: float) -> float:
        """How long it ran, or runs."""
        return (self.ended if self.outcome is not None else now) - self.started

    def seconds_left(self, now: float) -> tuple[float, float] | None:
        """Lower and upper estimate for the current step, from its rate during the last minute; includes the job's own
        estimate. None before the rate is known and when the step is done, although the work continues."""
        done, total = _units(self.progress)
        if total <= done:
            return None
        found = self.paces[self.progress.phase].left(now, total - done)
        if found is None or "seconds_left" not in self.progress.data:
            return found
        said = float(self.progress.data["seconds_left"])  # a time budget may end it earlier
        return min(found[0], said), max(min(found[1], LONGER * said), said)


class Jobs(QObject):
    """Starts jobs and reports on them in the window's thread."""

    changed = Signal()  # something started or ended
    progressed = Signal(object)  # RunningJob
    ended = Signal(object, object)  # RunningJob, JobOutcome

    def __init__(self, bridge: Bridge, runner: JobPort) -> None:
        super().__init__(bridge)
        self._bridge, self._runner = bridge, runner
        self._numbers = itertools.count(1)
        self._running: dict[int, RunningJob] = {}
        self._past: deque[RunningJob] = deque(maxlen=KEPT)
        self._questions: dict[int, Then] = {}
        bridge.progressed.connect(self._progress)
        bridge.ended.connect(self._end)

    def start(self, kind: JobKind, title: str, launch: Launch, *, then: Then = lambda _: None) -> RunningJob:
        """Start a job; `then` gets its outcome in the window's thread. Raises UserError if it cannot start."""
        now = time.monotonic()
        job = RunningJob(next(self._numbers), kind, title, then, now)
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

    def run(self, kind: JobKind, title: str, steps: Steps, *, then: Then = lambda _: None) -> RunningJob:
        """Like `start`, for steps in a worker thread: their return value is the outcome's result."""
        return self.start(
            kind, title, lambda p, end: self._runner.run_here(steps, on_progress=p, on_end=end), then=then
        )

    def ask(self, question: Callable[[], Mapping[str, Any]], *, then: Then) -> None:
        """Run a function in a worker thread without showing it in the bar; its return value is the outcome's result."""
        self.ask_in_steps(lambda: _at_once(question), then=then)

    def ask_in_steps(self, steps: Steps, *, then: Then) -> None:
        """Like `ask`; stops between two steps when the project is closed."""
        number = next(self._numbers)
        self._questions[number] = then
        self._runner.run_here(
            steps, on_progress=lambda _: None, on_end=lambda outcome: self._bridge.tell_end(number, outcome)
        )

    @property
    def shown(self) -> RunningJob | None:
        """The job in the bar: the last one started."""
        return next(reversed(self._running.values()), None)

    @property
    def listed(self) -> list[RunningJob]:
        """Running jobs and those ended since the project was opened, newest first."""
        return sorted((*self._running.values(), *self._past), key=lambda job: -job.number)

    def now(self) -> float:
        """The current time on the clock of the jobs' times."""
        return time.monotonic()

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
        """Ask a job (by default the one in the bar) to stop: shown at once, its outcome follows later."""
        job = job or self.shown
        if job is not None and job.handle is not None and not job.cancelling:
            job.cancelling = True
            self.progressed.emit(job)
            job.handle.cancel()

    def _progress(self, number: int, progress: Progress) -> None:
        job = self._running.get(number)
        if job is not None:
            job.take(progress, time.monotonic())
            self.progressed.emit(job)

    def _end(self, number: int, outcome: JobOutcome) -> None:
        if number in self._questions:
            self._questions.pop(number)(outcome)
            return
        job = self._running.pop(number, None)
        if job is not None:
            job.end(outcome, time.monotonic())
            self._past.append(job)
            self.changed.emit()
            self.ended.emit(job, outcome)
            job.then(outcome)


def _at_once(question: Callable[[], Mapping[str, Any]]) -> Generator[Progress, None, Mapping[str, Any]]:
    yield Progress("", 0, 0)
    return question()


def _units(progress: Progress) -> tuple[float, float]:
    """Done and total units; in weighted work units if the job has weights."""
    work = progress.data.get("work")
    return (float(work), 1.0) if isinstance(work, float) else (progress.done, progress.total)


def left_words(seconds: tuple[float, float] | None, *, step: bool = False) -> str:
    """`about 8 to 14 min left`; '' when unknown. `step`: other steps follow."""
    if seconds is None:
        return ""
    words = range_words(*seconds)
    return tr("{time} left in this step", time=words) if step else tr("{time} left", time=words)


def range_words(low: float, high: float) -> str:
    """`less than a minute`, `about 4 min`, `about 8 to 14 min`, `about 1.5 to 3 h`, `about 2 to 5 days`."""
    if high < MINUTE:
        return tr("less than a minute")
    if high < 90 * MINUTE:
        first, last = localised(max(low / MINUTE, 1), ".0f"), localised(high / MINUTE, ".0f")
        return (
            tr("about {n} min", n=last) if first == last else tr("about {first} to {last} min", first=first, last=last)
        )
    if high < 36 * HOUR:
        first, last = (localised(round(one / HOUR, 1), "g") for one in (max(low, MINUTE * 6), high))
        return tr("about {n} h", n=last) if first == last else tr("about {first} to {last} h", first=first, last=last)
    first, last = localised(max(low / DAY, 1), ".0f"), localised(high / DAY, ".0f")
    return tr("about {n} days", n=last) if first == last else tr("about {first} to {last} days", first=first, last=last)


def figures_words(progress: Progress) -> str:
    """The live figures that a job sends, in one line."""
    parts = [f"{FIGURES[name]} {localised(value, '.3f')}" for name, value in progress.data.items() if name in FIGURES]
    return " · ".join(parts)


FIGURES = {"loss": "loss", "recall_at_1": "recall@1", "nil_aupr": "NIL auPR"}

"""Jobs one after another as one job: progress, cancelling and the outcome look like those of a single one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from curator.boundary import logged
from curator.domain.jobs import UNRESPONSIVE, JobOutcome, JobState, Progress
from curator.domain.wording import tr
from curator.services.ports.processes import JobHandle

log = logging.getLogger(__name__)
OnProgress = Callable[[Progress], None]
OnEnd = Callable[[JobOutcome], None]
Step = Callable[[OnProgress, OnEnd], JobHandle]
"""Starts a job and returns its handle; it may raise UserError."""
RESTARTING = "The background process stopped responding. It was ended and is being restarted."
RESTARTED = "The background process had stopped responding once and was restarted."


def _cancelled() -> JobOutcome:
    return JobOutcome(JobState.CANCELLED, tr("Cancelled."))


class JobChain:
    """Implements `JobHandle`. The first step that is not done ends the chain with its outcome.

    With `repeats`, a step whose process stopped responding is started once more, and the outcome says so; not a step
    that is itself a chain, such as a training.

    `finish` runs last in the last step's thread, with any outcome; what it returns is the chain's outcome.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        on_progress: OnProgress,
        on_end: OnEnd,
        finish: Callable[[JobOutcome], JobOutcome] = lambda outcome: outcome,
        repeats: bool = False,
    ) -> None:
        self._steps, self._step = list(steps), steps[0]
        self._may_repeat, self._repeated = repeats, False
        self._on_progress = on_progress
        self._on_end = on_end
        self._finish = finish
        self._lock = threading.Lock()
        self._current: JobHandle | None = None
        self._cancelled = False
        self._ended = threading.Event()
        self._outcome: JobOutcome | None = None

    def start(self) -> JobChain:
        """Start the chain. Raises UserError if the first step cannot start."""
        try:
            self._advance()
        except BaseException:
            self._finish(_cancelled())
            raise
        return self

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            current = self._current
        if current is not None:
            current.cancel()

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        self._ended.wait(timeout)
        return self._outcome

    def _advance(self) -> None:
        step = self._step = self._steps.pop(0)
        handle = step(self._on_progress, self._step_ended)
        with self._lock:
            self._current = handle
            cancelled = self._cancelled
        if cancelled:
            handle.cancel()

    def _step_ended(self, outcome: JobOutcome) -> None:
        if outcome.result.get(UNRESPONSIVE) and self._cancelled:
            outcome = _cancelled()
        elif outcome.result.get(UNRESPONSIVE) and self._may_repeat:
            self._may_repeat, self._repeated = False, True
            self._steps.insert(0, self._step)
            self._on_progress(Progress("", 0, 0, tr(RESTARTING)))
            outcome = JobOutcome(JobState.DONE, "")  # of this attempt
        if outcome.state is JobState.DONE and self._steps and not self._cancelled:
            try:
                self._advance()
            except Exception as error:
                log.exception("A job failed between two steps")
                outcome = JobOutcome.of_error(error)
            else:
                return
        elif outcome.state is JobState.DONE and self._steps:
            outcome = _cancelled()
        self._end(outcome)

    def _end(self, outcome: JobOutcome) -> None:
        rest = {key: value for key, value in outcome.result.items() if key != UNRESPONSIVE}  # for the steps alone
        outcome = replace(outcome, result=rest)
        try:
            self._outcome = self._finish(outcome)
        except Exception as error:
            log.exception("A job failed after its steps")
            self._outcome = JobOutcome.of_error(error)
        if self._repeated and self._outcome.state is JobState.DONE:
            self._outcome = replace(self._outcome, message=f"{self._outcome.message} {tr(RESTARTED)}")
        with logged(log, "The end of a job was not taken"):
            self._on_end(self._outcome)
        self._ended.set()

"""Jobs one after another as one job: progress, cancelling and the outcome look like those of a single one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UserError, tr
from curator.services.ports import JobHandle

OnProgress = Callable[[Progress], None]
OnEnd = Callable[[JobOutcome], None]
Step = Callable[[OnProgress, OnEnd], JobHandle]
"""Starts a job and returns its handle; it may raise UserError."""


def _cancelled() -> JobOutcome:
    return JobOutcome(JobState.CANCELLED, tr("Cancelled."))


class JobChain:
    """Implements `JobHandle`. The first step that is not done ends the chain with its outcome.

    `finish` runs last in the last step's thread, with any outcome; what it returns is the chain's outcome.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        on_progress: OnProgress,
        on_end: OnEnd,
        finish: Callable[[JobOutcome], JobOutcome] = lambda outcome: outcome,
    ) -> None:
        self._steps = list(steps)
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
        except UserError:
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
        step = self._steps.pop(0)
        handle = step(self._on_progress, self._step_ended)
        with self._lock:
            self._current = handle
            cancelled = self._cancelled
        if cancelled:
            handle.cancel()

    def _step_ended(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE and self._steps and not self._cancelled:
            try:
                self._advance()
            except UserError as error:
                outcome = JobOutcome(JobState.FAILED, str(error))
            else:
                return
        elif outcome.state is JobState.DONE and self._steps:
            outcome = _cancelled()
        self._end(outcome)

    def _end(self, outcome: JobOutcome) -> None:
        try:
            self._outcome = self._finish(outcome)
        except UserError as error:
            self._outcome = JobOutcome(JobState.FAILED, str(error))
        try:
            self._on_end(self._outcome)
        finally:
            self._ended.set()

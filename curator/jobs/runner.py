"""Runs jobs: child processes that build, train or evaluate, and generators in worker threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from curator.boundary import logged
from curator.domain.jobs import UNRESPONSIVE, JobOutcome, JobState, Progress
from curator.domain.wording import CancelledError, UserError, tr
from curator.jobs import wire
from curator.jobs.child import ChildGoneError, ChildProcess
from curator.jobs.heartbeat import FOR_JOBS, TICK
from curator.jobs.wire import Message

MODULES = {
    "index": "curator.jobs.index_main",
    "train": "curator.jobs.train_main",
    "evaluate": "curator.jobs.evaluate_main",
    "bulk": "curator.jobs.bulk_main",
    "suspicious": "curator.jobs.suspicious_main",
}
KILLED = 9
KILLED_SENTENCE = (
    "The background process was killed by signal {code} before it had finished. The system does this "
    "when memory runs out: close other programs. Nothing was changed; start it again."
)
SIGNAL = (
    "The background process was killed by signal {code} before it had finished. Nothing was changed; start it again."
)
ENDED = "The background process ended with code {code} before it had finished. Nothing was changed; start it again."
SILENT = "The background process stopped responding and was ended. Nothing was changed; start it again."
log = logging.getLogger(__name__)
CANCEL_SECONDS = 4.0  # a child that ignores a cancel for longer is killed: within 5 seconds it is gone

OnProgress = Callable[[Progress], None]
OnEnd = Callable[[JobOutcome], None]


def cancelled() -> JobOutcome:
    return JobOutcome(JobState.CANCELLED, tr("Cancelled."))


def closed() -> JobOutcome:
    """The result of a job that was not cancelled by the user, so its checkpoints stay."""
    return JobOutcome(JobState.CANCELLED, tr("Stopped because the program was closed."), {"closing": True})


class JobRunner:
    """Implements `JobPort`. Each outcome is reported exactly once, from the job's own thread."""

    def __init__(self, log_dir: Path, *, modules: Mapping[str, str] = MODULES, tick: float = TICK) -> None:
        """`tick`: seconds between two checks whether a child process is alive (`heartbeat`)."""
        self._log_dir = log_dir
        self._tick = tick
        self._modules = modules
        self._running: set[_ChildJob | _ThreadJob] = set()
        self._lock = threading.Lock()

    def start(self, kind: str, spec: Mapping[str, Any], *, on_progress: OnProgress, on_end: OnEnd) -> _ChildJob:
        """Start a child process for `kind`. Raises UserError if the process cannot be started."""
        job = _ChildJob(on_progress, on_end, self._forget)
        with self._lock:
            self._running.add(job)
        try:
            job.start(self._modules[kind], spec, self._log_dir / f"{kind}.log", self._tick)
        except OSError as error:
            self._forget(job)
            raise UserError(
                tr(
                    "The {kind} process could not be started ({error}). Free some memory and try again.",
                    kind=kind,
                    error=error,
                )
            ) from error
        return job

    def run_here(self, work: Callable[[], Iterator[Progress]], *, on_progress: OnProgress, on_end: OnEnd) -> _ThreadJob:
        job = _ThreadJob(work, on_progress, on_end, self._forget)
        with self._lock:
            self._running.add(job)
        job.start()
        return job

    def close(self) -> None:
        """Cancel all running jobs, and jobs started when they end, and wait for them and for the listeners of their
        end; the outcomes' result holds `closing`."""
        waited: set[_ChildJob | _ThreadJob] = set()
        while running := self._others(waited):
            for job in running:
                job.cancel(closed())
            for job in running:
                job.join()
            waited |= running

    def _others(self, than: set[_ChildJob | _ThreadJob]) -> set[_ChildJob | _ThreadJob]:
        with self._lock:
            return self._running - than

    def _forget(self, job: _ChildJob | _ThreadJob) -> None:
        with self._lock:
            self._running.discard(job)


class _Job:
    def __init__(self, on_progress: OnProgress, on_end: OnEnd) -> None:
        self._on_progress = on_progress
        self._on_end = on_end
        self._cancelled = threading.Event()
        self._ended = threading.Event()
        self._outcome: JobOutcome | None = None
        self._when_cancelled = cancelled()

    def _acknowledge(self, outcome: JobOutcome) -> bool:
        """Report at once that the job is being cancelled, with its future outcome; False if it was already reported."""
        if self._cancelled.is_set() or self._ended.is_set():
            return False
        self._when_cancelled = outcome
        self._cancelled.set()
        self._report(Progress("cancelling", 0, 0, tr("Cancelling…")))
        return True

    def _report(self, progress: Progress) -> None:
        with logged(log, "The progress of a job was not taken"):
            self._on_progress(progress)

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        self._ended.wait(timeout)
        return self._outcome

    def _end(self, outcome: JobOutcome) -> None:
        """If what follows the job fails, the job itself did: whoever waits for its end gets one."""
        self._outcome = outcome
        try:
            self._on_end(outcome)
        except Exception as error:  # the boundary of a callback
            log.exception("The end of a job was not taken")
            self._outcome = JobOutcome.of_error(error)
            with logged(log, "The end of a job was not taken again"):
                self._on_end(self._outcome)
        finally:
            self._ended.set()


class _ChildJob(_Job):
    def __init__(self, on_progress: OnProgress, on_end: OnEnd, forget: Callable[[_ChildJob], None]) -> None:
        super().__init__(on_progress, on_end)
        self._forget = forget
        self._child: ChildProcess | None = None
        self._last: JobOutcome | None = None
        self._killer: threading.Timer | None = None

    def start(self, module: str, spec: Mapping[str, Any], log: Path, tick: float) -> None:
        self._child = ChildProcess(
            module, log=log, on_message=self._receive, on_exit=self._exited, limits=FOR_JOBS, tick=tick
        )
        try:
            self._child.send(wire.RunJob(op="run", spec=spec))
        except ChildGoneError:
            return  # its end is reported by `_exited`

    def cancel(self, outcome: JobOutcome | None = None) -> None:
        if self._child is None or not self._acknowledge(outcome or cancelled()):
            return
        self._killer = threading.Timer(CANCEL_SECONDS, self._child.kill)
        self._killer.daemon = True
        self._killer.start()
        try:
            self._child.send(wire.Cancel(op="cancel"))
        except ChildGoneError:
            return

    def join(self) -> None:
        if self._child is not None:
            self._child.close()

    def _receive(self, message: Message) -> None:
        event = message["event"]
        if event == "progress":
            if not self._cancelled.is_set():
                self._report(_progress(message))
        elif event == "done":
            self._last = JobOutcome(JobState.DONE, message["result"].get("message", tr("Done.")), message["result"])
        elif event == "cancelled":
            self._last = self._when_cancelled
        elif event in ("failed", "misunderstood"):
            self._last = JobOutcome(JobState.FAILED, message["message"])
        else:
            self._last = JobOutcome(JobState.CRASHED, message["message"], detail=message["detail"])

    def _exited(self, code: int, log_tail: str) -> None:
        if self._killer is not None:
            self._killer.cancel()
        outcome = self._last
        if outcome is None and self._cancelled.is_set():
            outcome = self._when_cancelled
        if outcome is None and self._child is not None and self._child.unresponsive:
            outcome = JobOutcome(JobState.FAILED, tr(SILENT), {UNRESPONSIVE: True}, detail=log_tail)
        if outcome is None:
            outcome = JobOutcome(
                JobState.CRASHED,
                tr(KILLED_SENTENCE if code == -KILLED else SIGNAL if code < 0 else ENDED, code=abs(code)),
                result={"signal": -code} if code < 0 else {},
                detail=log_tail,
            )
        try:
            self._end(outcome)
        finally:
            self._forget(self)  # last: closing the project waits until its end was reported


class _ThreadJob(_Job):
    def __init__(
        self,
        work: Callable[[], Iterator[Progress]],
        on_progress: OnProgress,
        on_end: OnEnd,
        forget: Callable[[_ThreadJob], None],
    ) -> None:
        super().__init__(on_progress, on_end)
        self._work = work
        self._forget = forget
        self._thread = threading.Thread(target=self._run, name="background work", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self, outcome: JobOutcome | None = None) -> None:
        self._acknowledge(outcome or cancelled())

    def join(self) -> None:
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            outcome = self._drive()
        except CancelledError:
            outcome = self._when_cancelled
        except BaseException as error:  # thread boundary: a bug is shown, traceback kept
            outcome = JobOutcome.of_error(error)
        try:
            self._end(outcome)
        finally:
            self._forget(self)  # last: closing the project waits until its end was reported

    def _drive(self) -> JobOutcome:
        steps = self._work()
        while True:
            try:
                progress = next(steps)
            except StopIteration as end:
                result = end.value or {}
                return JobOutcome(JobState.DONE, result.get("message", tr("Done.")), result)
            if self._cancelled.is_set():
                close = getattr(steps, "close", None)
                if close is not None:
                    close()
                return self._when_cancelled
            self._report(progress)


def _progress(message: Message) -> Progress:
    return Progress(
        phase=message["phase"],
        done=message["done"],
        total=message["total"],
        text=message.get("text", ""),
        data=message.get("data", {}),
    )

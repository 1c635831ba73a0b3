"""Jobs whose processes stop responding end with a sentence; those that only take long are left alone."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from curator.domain.jobs import UNRESPONSIVE, JobOutcome, JobState, Progress
from curator.jobs import runner as running
from curator.jobs.heartbeat import FOR_JOBS, Watch
from curator.jobs.runner import JobRunner
from curator.services.ports.processes import JobHandle

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
TIMEOUT = 60.0
TICK = 0.02
SENTENCE = "The background process stopped responding and was ended. Nothing was changed; start it again."


class Job:
    def __init__(self, runner: JobRunner, **spec: object) -> None:
        self.steps: queue.SimpleQueue[Progress] = queue.SimpleQueue()
        self.ends: list[JobOutcome] = []
        self.handle: JobHandle = runner.start("fake", spec, on_progress=self.steps.put, on_end=self.ends.append)

    def step(self) -> Progress:
        return self.steps.get(timeout=TIMEOUT)

    def outcome(self) -> JobOutcome:
        assert self.handle.wait(TIMEOUT) is not None, "it hangs"
        (outcome,) = self.ends
        return outcome


class Checks:
    """The checks of all children, whether they are alive."""

    def __init__(self) -> None:
        self._made = threading.Semaphore(0)

    def made(self) -> None:
        self._made.release()

    def wait_for(self, number: int) -> None:
        """Until so many more were made."""
        while self._made.acquire(blocking=False):
            pass
        for _ in range(number):
            assert self._made.acquire(timeout=TIMEOUT)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Checks:
    checks, real = Checks(), Watch.must_end

    def must_end(watch: Watch) -> bool:
        checks.made()
        return real(watch)

    monkeypatch.setattr(Watch, "must_end", must_end)
    return checks


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[JobRunner]:
    runner = JobRunner(tmp_path / "log", modules={"fake": "tests.curator.jobs.fake_job"}, tick=TICK)
    yield runner
    runner.close()


def assert_ended(outcome: JobOutcome, sentence: str = SENTENCE) -> None:
    assert (outcome.state, outcome.message) == (JobState.FAILED, sentence)


def test_a_stopped_job_is_ended_with_a_sentence(runner: JobRunner) -> None:
    job = Job(runner, how="busy", steps=1)
    pid = int(job.step().data["pid"])
    os.kill(pid, signal.SIGSTOP)
    outcome = job.outcome()
    assert_ended(outcome)
    assert outcome.result[UNRESPONSIVE]
    assert "something to the log" in outcome.detail


def test_a_job_that_hangs_with_the_interpreter_lock_is_ended(
    runner: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "FOR_JOBS", replace(FOR_JOBS, asleep=20))
    assert_ended(Job(runner, how="deaf", steps=1).outcome())


def test_a_job_that_computes_with_the_interpreter_lock_is_ended_late(
    runner: JobRunner, checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "FOR_JOBS", replace(FOR_JOBS, asleep=20))
    monkeypatch.setattr(running, "CANCEL_SECONDS", 0.1)
    job = Job(runner, how="computes", steps=1)
    assert job.step()
    checks.wait_for(40)
    assert not job.ends
    job.handle.cancel()
    assert job.outcome().state is JobState.CANCELLED
    monkeypatch.setattr(running, "FOR_JOBS", replace(FOR_JOBS, busy=30))
    assert_ended(Job(runner, how="computes", steps=1).outcome())


def test_a_job_that_only_waits_is_left_alone(
    runner: JobRunner, checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "FOR_JOBS", replace(FOR_JOBS, asleep=30, busy=100))
    job = Job(runner, how="busy", steps=1)
    assert job.step()
    checks.wait_for(50)
    assert not job.ends
    job.handle.cancel()
    assert job.outcome().state is JobState.CANCELLED


def test_heartbeats_begin_before_the_module_is_loaded(
    tmp_path: Path, checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "slow_import.py").write_text(
        f"from pathlib import Path\nPath({str(pipe)!r}).read_bytes()\nimport tests.curator.jobs.fake_job\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(__file__).resolve().parents[3]}")
    monkeypatch.setattr(running, "FOR_JOBS", replace(FOR_JOBS, asleep=30, busy=100))
    runner = JobRunner(tmp_path / "log", modules={"fake": "slow_import"}, tick=TICK)
    try:
        job = Job(runner, how="well")
        with pipe.open("wb"):  # it is being imported
            checks.wait_for(50)
        assert job.outcome().state is JobState.DONE
    finally:
        runner.close()


def test_a_job_whose_messages_are_read_late_is_left_alone(
    runner: JobRunner, checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent's reader stands still, as when a terminal takes no more text, and so does the child at its pipe."""
    monkeypatch.setattr(running, "FOR_JOBS", replace(FOR_JOBS, asleep=30))
    ends: list[JobOutcome] = []
    first = iter([50])

    def read(_: Progress) -> None:
        checks.wait_for(next(first, 0))

    handle = runner.start("fake", {"how": "well", "steps": 3000}, on_progress=read, on_end=ends.append)
    assert handle.wait(TIMEOUT) is not None
    assert [one.state for one in ends] == [JobState.DONE]


def test_a_cancelled_job_that_is_stopped_ends_as_cancelled(runner: JobRunner) -> None:
    job = Job(runner, how="busy", steps=1)
    os.kill(int(job.step().data["pid"]), signal.SIGSTOP)
    job.handle.cancel()
    assert job.outcome().state is JobState.CANCELLED

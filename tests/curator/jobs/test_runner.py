"""Jobs end exactly once, with a typed outcome, however they end."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.jobs.runner import JobRunner

TIMEOUT = 20.0


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[JobRunner]:
    runner = JobRunner(tmp_path / "log", modules={"fake": "tests.curator.jobs.fake_job"})
    yield runner
    runner.close()


def run(runner: JobRunner, **spec: object) -> tuple[list[Progress], list[JobOutcome]]:
    seen: list[Progress] = []
    ends: list[JobOutcome] = []
    handle = runner.start("fake", spec, on_progress=seen.append, on_end=ends.append)
    assert handle.wait(TIMEOUT) is not None
    return seen, ends


def test_progress_and_result_arrive(runner: JobRunner) -> None:
    seen, ends = run(runner, how="well")
    assert [p.fraction for p in seen] == [1 / 3, 2 / 3, 1]
    assert seen[1].data == {"loss": 0.5}
    assert [(e.state, e.message, e.result["sum"]) for e in ends] == [(JobState.DONE, "Counted.", 6)]


@pytest.mark.parametrize(
    ("how", "state", "word"),
    [
        ("user", JobState.FAILED, "line 3"),
        ("system", JobState.FAILED, "/cache: Read-only file system. Check"),
        ("memory", JobState.FAILED, "not enough memory"),
        ("bug", JobState.CRASHED, "oops"),
        ("kill", JobState.CRASHED, "signal 9"),
    ],
)
def test_ways_to_fail(runner: JobRunner, how: str, state: JobState, word: str) -> None:
    _, ends = run(runner, how=how)
    assert [e.state for e in ends] == [state]
    assert word in ends[0].message


def test_a_bug_keeps_its_traceback_and_a_kill_the_log(runner: JobRunner) -> None:
    assert "KeyError" in run(runner, how="bug")[1][0].detail
    assert "something to the log" in run(runner, how="kill")[1][0].detail


def test_cancel_stops_between_two_steps(runner: JobRunner) -> None:
    seen: list[Progress] = []
    ends: list[JobOutcome] = []
    handle = runner.start("fake", {"how": "well", "steps": 10**9}, on_progress=seen.append, on_end=ends.append)
    handle.cancel()
    assert handle.wait(TIMEOUT) is not None
    assert [e.state for e in ends] == [JobState.CANCELLED]
    assert seen[-1].phase == "cancelling"


def test_close_cancels_what_runs(runner: JobRunner) -> None:
    ends: list[JobOutcome] = []
    runner.start("fake", {"how": "well", "steps": 10**9}, on_progress=lambda p: None, on_end=ends.append)
    runner.close()
    assert [e.state for e in ends] == [JobState.CANCELLED]


def counting(steps: int, *, error: Exception | None = None) -> Generator[Progress, None, dict[str, object]]:
    for i in range(steps):
        yield Progress("count", i, steps)
    if error is not None:
        raise error
    return {"message": "Counted.", "steps": steps}


@pytest.mark.parametrize(
    ("error", "state"),
    [(None, JobState.DONE), (UserError("Mend it."), JobState.FAILED), (KeyError("oops"), JobState.CRASHED)],
)
def test_work_in_a_thread(runner: JobRunner, error: Exception | None, state: JobState) -> None:
    ends: list[JobOutcome] = []
    handle = runner.run_here(lambda: counting(3, error=error), on_progress=lambda p: None, on_end=ends.append)
    assert handle.wait(TIMEOUT) is not None
    assert [e.state for e in ends] == [state]


def test_work_in_a_thread_is_cancelled(runner: JobRunner) -> None:
    ends: list[JobOutcome] = []
    handle = runner.run_here(lambda: counting(10**9), on_progress=lambda p: None, on_end=ends.append)
    handle.cancel()
    assert handle.wait(TIMEOUT) is not None
    assert [e.state for e in ends] == [JobState.CANCELLED]

"""Jobs end exactly once, with a typed outcome, however they end."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UserError
from curator.jobs.child_side import GRACE_SECONDS
from curator.jobs.runner import CANCEL_SECONDS, JobRunner
from curator.services.ports.processes import JobHandle
from tests.curator.services.fakes import ignore

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
    assert seen[1].data["loss"] == 0.5
    assert [(e.state, e.message, e.result["sum"]) for e in ends] == [(JobState.DONE, "Counted.", 6)]


@pytest.mark.parametrize(
    ("how", "state", "word"),
    [
        ("user", JobState.FAILED, "line 3"),
        ("system", JobState.FAILED, "/cache: Read-only file system. Nothing was changed. Check"),
        ("memory", JobState.FAILED, "not enough memory"),
        ("gpu memory", JobState.FAILED, "The GPU has too little free memory"),
        ("bug", JobState.CRASHED, "oops"),
        ("kill", JobState.CRASHED, "signal 9 before it had finished. The system does this when memory runs out"),
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


def started(runner: JobRunner, **spec: object) -> tuple[JobHandle, list[Progress], list[JobOutcome]]:
    """A job that has begun its long step."""
    seen: list[Progress] = []
    ends: list[JobOutcome] = []
    begun = threading.Event()

    def progress(one: Progress) -> None:
        seen.append(one)
        begun.set()

    handle = runner.start("fake", {"steps": 1, **spec}, on_progress=progress, on_end=ends.append)
    assert begun.wait(TIMEOUT)
    return handle, seen, ends


def test_a_cancel_amid_a_long_step_ends_the_child_itself(runner: JobRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curator.jobs.runner.CANCEL_SECONDS", 1000.0)
    handle, seen, ends = started(runner, how="busy")
    handle.cancel()
    assert seen[-1].phase == "cancelling"  # before anything else happened
    assert handle.wait(TIMEOUT) is not None
    assert [(e.state, e.message, dict(e.result)) for e in ends] == [(JobState.CANCELLED, "Cancelled.", {})]


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_a_deaf_child_is_killed_with_all_that_it_started(
    runner: JobRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("curator.jobs.runner.CANCEL_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    handle, seen, ends = started(runner, how="deaf", pipe=str(tmp_path / "pipe"))
    with (tmp_path / "pipe").open("rb", buffering=0) as pipe:
        assert pipe.read(1) == b"x"
        handle.cancel()
        assert seen[-1].phase == "cancelling"
        assert handle.wait(TIMEOUT) is not None
        assert select.select([pipe], [], [], TIMEOUT)[0]
        assert pipe.read(1) == b""  # nobody holds it any more
    assert [e.state for e in ends] == [JobState.CANCELLED]


def test_the_times_of_a_cancel_add_up_to_less_than_five_seconds() -> None:
    assert GRACE_SECONDS < CANCEL_SECONDS < 4.5


def test_close_cancels_what_runs_and_says_that_nobody_gave_it_up(runner: JobRunner) -> None:
    ends: list[JobOutcome] = []
    runner.start("fake", {"how": "well", "steps": 10**9}, on_progress=lambda p: None, on_end=ends.append)
    runner.close()
    assert [(e.state, dict(e.result)) for e in ends] == [(JobState.CANCELLED, {"closing": True})]


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
    seen: list[Progress] = []
    ends: list[JobOutcome] = []
    handle = runner.run_here(lambda: counting(10**9), on_progress=seen.append, on_end=ends.append)
    handle.cancel()
    assert "cancelling" in [p.phase for p in seen]
    assert handle.wait(TIMEOUT) is not None
    assert [e.state for e in ends] == [JobState.CANCELLED]


def test_close_waits_for_those_who_hear_of_an_end_and_for_what_they_start(runner: JobRunner) -> None:
    heard, go_on, ends = threading.Event(), threading.Event(), list[JobOutcome]()

    def forever() -> Iterator[Progress]:
        while True:
            yield Progress("step", 0, 0)

    def ended(_: JobOutcome) -> None:
        heard.set()
        assert go_on.wait(TIMEOUT)
        runner.run_here(forever, on_progress=lambda _: None, on_end=ends.append)

    runner.run_here(lambda: iter(()), on_progress=lambda _: None, on_end=ended)
    assert heard.wait(TIMEOUT)
    closing = threading.Thread(target=runner.close)
    closing.start()
    go_on.set()
    closing.join(TIMEOUT)
    assert not closing.is_alive()
    assert [(one.state, one.result) for one in ends] == [(JobState.CANCELLED, {"closing": True})]


@pytest.mark.parametrize("here", [True, False])
def test_progress_that_is_not_taken_ends_no_job(runner: JobRunner, here: bool) -> None:
    ends: list[JobOutcome] = []

    def fail(_: Progress) -> None:
        raise OSError("a read failed")

    def steps() -> Generator[Progress, None, dict[str, object]]:
        yield Progress("step", 0, 1)
        return {}

    if here:
        handle: JobHandle = runner.run_here(steps, on_progress=fail, on_end=ends.append)
    else:
        handle = runner.start("fake", {"how": "well"}, on_progress=fail, on_end=ends.append)
    assert handle.wait(TIMEOUT) is not None
    assert [one.state for one in ends] == [JobState.DONE]


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize(("error", "state"), [(OSError("x"), JobState.CRASHED), (UserError("x"), JobState.FAILED)])
def test_a_job_whose_end_is_not_taken_says_why(
    runner: JobRunner, here: bool, error: Exception, state: JobState
) -> None:
    ends: list[JobOutcome] = []

    def publish(outcome: JobOutcome) -> None:
        ends.append(outcome)
        if outcome.state is JobState.DONE:
            raise error

    if here:
        handle: JobHandle = runner.run_here(lambda: iter(()), on_progress=ignore, on_end=publish)
    else:
        handle = runner.start("fake", {"how": "well"}, on_progress=ignore, on_end=publish)
    outcome = handle.wait(TIMEOUT)
    assert outcome is not None
    assert outcome.message == (str(error) if state is JobState.FAILED else repr(error))
    assert [one.state for one in ends] == [JobState.DONE, state]


def test_work_that_leaves_the_program_ends_as_crashed(runner: JobRunner) -> None:
    ends: list[JobOutcome] = []

    def leave() -> Generator[Progress, None, None]:
        yield Progress("step", 0, 1)
        raise SystemExit

    handle = runner.run_here(leave, on_progress=ignore, on_end=ends.append)
    assert handle.wait(TIMEOUT) is not None
    assert [one.state for one in ends] == [JobState.CRASHED]

"""Jobs one after another: the first that fails ends the chain, cancelling reaches the one that runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from curator.domain.jobs import UNRESPONSIVE, JobOutcome, JobState, Progress
from curator.domain.wording import UserError
from curator.services.training.job_chain import JobChain, OnEnd, OnProgress
from tests.curator.services.fakes import ignore

DONE = JobOutcome(JobState.DONE, "Done.")
SILENT = JobOutcome(JobState.FAILED, "It stopped responding.", {UNRESPONSIVE: True})


@dataclass
class Slow:
    """A step that runs until `end` is called."""

    on_end: OnEnd | None = None
    cancelled: bool = False
    outcome: JobOutcome = field(default_factory=lambda: DONE)

    def __call__(self, on_progress: OnProgress, on_end: OnEnd) -> Slow:
        self.on_end = on_end
        on_progress(Progress("slow", 0, 1))
        return self

    def cancel(self) -> None:
        self.cancelled = True
        self.outcome = JobOutcome(JobState.CANCELLED, "Cancelled.")

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        return None

    def end(self) -> None:
        assert self.on_end is not None
        self.on_end(self.outcome)


def test_steps_follow_each_other_and_the_last_outcome_counts() -> None:
    first, second, ended = Slow(), Slow(), list[JobOutcome]()
    second.outcome = JobOutcome(JobState.DONE, "second")
    chain = JobChain([first, second], on_progress=ignore, on_end=ended.append).start()
    assert second.on_end is None
    first.end()
    assert second.on_end is not None
    assert chain.wait(0) is None
    second.end()
    assert ended == [second.outcome]
    assert chain.wait(0) == second.outcome


def test_a_failed_step_ends_the_chain() -> None:
    first, second, ended = Slow(outcome=JobOutcome(JobState.FAILED, "no")), Slow(), list[JobOutcome]()
    JobChain([first, second], on_progress=ignore, on_end=ended.append).start()
    first.end()
    assert ended == [first.outcome]
    assert second.on_end is None


def test_cancelling_reaches_the_running_step() -> None:
    first, second, ended = Slow(), Slow(), list[JobOutcome]()
    chain = JobChain([first, second], on_progress=ignore, on_end=ended.append).start()
    chain.cancel()
    assert first.cancelled
    first.outcome = DONE  # it was ready before it heard of it
    first.end()
    assert [one.state for one in ended] == [JobState.CANCELLED]
    assert second.on_end is None


def test_a_step_that_cannot_start_fails_the_chain() -> None:
    def refuse(on_progress: OnProgress, on_end: OnEnd) -> Slow:
        raise UserError("no memory")

    first, ended, finished = Slow(), list[JobOutcome](), list[JobOutcome]()

    def finish(outcome: JobOutcome) -> JobOutcome:
        finished.append(outcome)
        return outcome

    JobChain([first, refuse], on_progress=ignore, on_end=ended.append, finish=finish).start()
    first.end()
    assert [one.message for one in ended] == ["no memory"]
    assert finished == ended
    with pytest.raises(UserError, match="no memory"):
        JobChain([refuse], on_progress=ignore, on_end=ignore, finish=finish).start()
    assert len(finished) == 2, "folders are removed then too"


def test_a_step_that_stopped_responding_is_started_once_more_and_the_end_says_so() -> None:
    step, ended, seen = Slow(outcome=SILENT), list[JobOutcome](), list[Progress]()
    JobChain([step], on_progress=seen.append, on_end=ended.append, repeats=True).start()
    step.end()
    assert not ended
    assert [one.phase for one in seen] == ["slow", "", "slow"]
    assert seen[1].text == "The background process stopped responding. It was ended and is being restarted."
    step.outcome = DONE
    step.end()
    assert [one.message for one in ended] == [
        "Done. The background process had stopped responding once and was restarted."
    ]


def test_a_step_that_stopped_responding_again_ends_the_chain() -> None:
    first, second, ended = Slow(outcome=SILENT), Slow(), list[JobOutcome]()
    JobChain([first, second], on_progress=ignore, on_end=ended.append, repeats=True).start()
    first.end()
    first.end()
    assert [(one.state, one.message) for one in ended] == [(JobState.FAILED, SILENT.message)]
    assert second.on_end is None


def test_a_cancelled_step_that_stopped_responding_is_not_repeated() -> None:
    step, ended = Slow(), list[JobOutcome]()
    chain = JobChain([step], on_progress=ignore, on_end=ended.append, repeats=True).start()
    chain.cancel()
    step.outcome = SILENT
    step.end()
    assert [(one.state, one.message) for one in ended] == [(JobState.CANCELLED, "Cancelled.")]


def test_a_training_in_a_chain_is_not_repeated() -> None:
    step, ended = Slow(outcome=SILENT), list[JobOutcome]()

    def training(on_progress: OnProgress, on_end: OnEnd) -> JobChain:
        return JobChain([step], on_progress=on_progress, on_end=on_end).start()

    JobChain([training], on_progress=ignore, on_end=ended.append, repeats=True).start()
    step.end()
    assert ended == [JobOutcome(JobState.FAILED, SILENT.message)]


class BrokenError(Exception):
    """A bug."""


def test_a_bug_between_two_steps_ends_the_chain_with_its_traceback() -> None:
    first, ended = Slow(), list[JobOutcome]()

    def broken(*_: object) -> Slow:
        raise BrokenError

    chain = JobChain([first, broken], on_progress=ignore, on_end=ended.append).start()
    first.end()
    assert [one.state for one in ended] == [JobState.CRASHED]
    assert "BrokenError" in ended[0].detail
    assert chain.wait(0) == ended[0]


def test_a_bug_in_what_follows_the_last_step_ends_the_chain() -> None:
    first, ended = Slow(), list[JobOutcome]()

    def finish(_: JobOutcome) -> JobOutcome:
        raise BrokenError

    JobChain([first], on_progress=ignore, on_end=ended.append, finish=finish).start()
    first.end()
    assert [one.state for one in ended] == [JobState.CRASHED]


def test_what_was_prepared_goes_if_the_first_step_has_a_bug() -> None:
    finished: list[JobOutcome] = []

    def broken(*_: object) -> Slow:
        raise BrokenError

    def finish(outcome: JobOutcome) -> JobOutcome:
        finished.append(outcome)
        return outcome

    with pytest.raises(BrokenError):
        JobChain([broken], on_progress=ignore, on_end=ignore, finish=finish).start()
    assert [one.state for one in finished] == [JobState.CANCELLED]

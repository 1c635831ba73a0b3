"""The linker process is restarted when it dies, loses nothing, and never blocks its caller."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curator.domain.documents import Span
from curator.domain.entities import Entity
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus
from curator.domain.suggestions import Suggestion
from curator.domain.wording import LinkerUnavailableError
from curator.jobs.linker_process import LinkerProcess
from curator.services.linking.linking import open_linker
from curator.services.ports.processes import LinkDocument, LinkMention

TIMEOUT = 20.0


class Heard:
    """Collects what the linker calls back."""

    def __init__(self, linker: LinkerProcess) -> None:
        self.linker = linker
        self.states: queue.SimpleQueue[LinkerStatus] = queue.SimpleQueue()
        self.documents: list[tuple[int, list[Suggestion]]] = []
        self.ends: queue.SimpleQueue[JobOutcome] = queue.SimpleQueue()
        linker.on_status(self.states.put)

    def wait_for(self, state: LinkerState) -> LinkerStatus:
        while True:
            status = self.states.get(timeout=TIMEOUT)
            if status.state is state:
                return status

    def link(self, *texts: str, urgent: bool = False) -> int:
        documents = [
            LinkDocument(i, 7, text, (LinkMention(i * 10, (Span(0, 3),), ()),)) for i, text in enumerate(texts)
        ]
        return self.linker.link(
            documents,
            k=5,
            urgent=urgent,
            on_document=lambda i, s: self.documents.append((i, s)),
            on_end=self.ends.put,
        )

    def outcome(self) -> JobOutcome:
        return self.ends.get(timeout=TIMEOUT)


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[Heard]:
    linker = LinkerProcess(tmp_path, module="tests.curator.jobs.fake_linker")
    yield Heard(linker)
    linker.close()


def opened(heard: Heard, tmp_path: Path, bundle_id: str = "b1") -> Any:
    heard.linker.open(tmp_path / "bundle", bundle_id)
    return heard.wait_for(LinkerState.READY)


def test_answers_carry_the_stamp(heard: Heard, tmp_path: Path) -> None:
    status = opened(heard, tmp_path)
    heard.link("abcdef", "😀bcdef")
    assert heard.outcome().state is JobState.DONE
    assert status.stages == ("lexical",)
    assert [i for i, _ in heard.documents] == [0, 1]
    suggestion = heard.documents[1][1][0]
    assert (suggestion.mention_id, suggestion.candidates[0].name) == (10, "😀bc")
    assert (suggestion.stamp.bundle_id, suggestion.stamp.document_revision) == ("b1", 7)


def test_requests_wait_for_the_first_bundle(heard: Heard, tmp_path: Path) -> None:
    heard.linker.open(tmp_path / "bundle", "b1")
    heard.link(*["text"] * 20)
    assert heard.outcome().state is JobState.DONE
    assert len(heard.documents) == 20


def test_without_a_bundle_a_request_fails_with_a_sentence(heard: Heard) -> None:
    heard.link("abc")
    outcome = heard.outcome()
    assert outcome.state is JobState.FAILED
    assert "No linker" in outcome.message


def test_a_killed_process_is_restarted_and_the_request_goes_on(heard: Heard, tmp_path: Path) -> None:
    opened(heard, tmp_path)
    heard.link("first", f"DIE ONCE {tmp_path / 'mark'}", "third", urgent=True)
    assert heard.wait_for(LinkerState.RESTARTING).message
    assert heard.outcome().state is JobState.DONE
    assert {i for i, _ in heard.documents} == {0, 1, 2}
    assert heard.wait_for(LinkerState.READY).bundle_id == "b1"


def test_a_stopped_process_is_ended_and_started_again(tmp_path: Path) -> None:
    linker = LinkerProcess(tmp_path, module="tests.curator.jobs.fake_linker", tick=0.1)
    heard = Heard(linker)
    try:
        opened(heard, tmp_path)
        assert linker.pid is not None
        os.kill(linker.pid, signal.SIGSTOP)
        heard.link("abc", "def" * 100_000)  # more than the pipe takes: whoever writes it waits
        assert "stopped responding" in heard.wait_for(LinkerState.RESTARTING).message
        assert heard.outcome().state is JobState.DONE
        assert {i for i, _ in heard.documents} == {0, 1}
    finally:
        linker.close()


def test_killed_from_outside_while_idle(heard: Heard, tmp_path: Path) -> None:
    opened(heard, tmp_path)
    pid = heard.linker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    heard.wait_for(LinkerState.READY)
    heard.link("abc")
    assert heard.outcome().state is JobState.DONE


def test_a_request_that_kills_twice_ends_as_crashed(heard: Heard, tmp_path: Path) -> None:
    opened(heard, tmp_path)
    heard.link("DIE ALWAYS", urgent=True)
    outcome = heard.outcome()
    assert outcome.state is JobState.CRASHED
    assert "crashed twice" in outcome.message
    heard.wait_for(LinkerState.READY)
    heard.link("abc")
    assert heard.outcome().state is JobState.DONE


def test_a_broken_new_bundle_leaves_the_old_one_serving(heard: Heard, tmp_path: Path) -> None:
    opened(heard, tmp_path)
    heard.linker.open(tmp_path / "broken", "b2")
    status = heard.wait_for(LinkerState.READY)
    assert (status.bundle_id, status.message) == ("b1", "The bundle is broken.")
    heard.link("abc")
    assert heard.outcome().state is JobState.DONE


@pytest.mark.parametrize("in_use", ["b1", ""], ids=["another serves", "none serves"])
def test_who_waits_for_a_bundle_that_cannot_be_opened_is_told(heard: Heard, tmp_path: Path, in_use: str) -> None:
    if in_use:
        opened(heard, tmp_path, in_use)
    for _ in range(2):
        with pytest.raises(LinkerUnavailableError, match=r"Linker b2 cannot be used: The bundle is broken\."):
            list(open_linker(heard.linker, tmp_path / "broken", "b2"))
        assert heard.linker.status.bundle_id == in_use
    list(open_linker(heard.linker, tmp_path / "bundle", "b2"))
    assert (heard.linker.status.bundle_id, heard.linker.status.message) == ("b2", "ready")


def test_who_waits_for_a_bundle_is_told_that_another_was_requested(heard: Heard, tmp_path: Path) -> None:
    opened(heard, tmp_path)
    waiting = open_linker(heard.linker, tmp_path / "slow", "b2")
    next(waiting)
    heard.linker.open(tmp_path / "bundle", "b3")
    with pytest.raises(LinkerUnavailableError, match="Another linker was put into use meanwhile"):
        list(waiting)


def test_a_broken_first_bundle_says_so(heard: Heard, tmp_path: Path) -> None:
    heard.linker.open(tmp_path / "broken", "b1")
    assert heard.wait_for(LinkerState.FAILED).message == "The bundle is broken."
    heard.link("abc")
    assert heard.outcome().message == "The bundle is broken."


def test_changed_entities_are_felt_and_survive_a_restart_but_not_another_bundle(heard: Heard, tmp_path: Path) -> None:
    def expanded() -> str:
        heard.documents.clear()
        heard.link("abc")
        assert heard.outcome().state is JobState.DONE
        return heard.documents[0][1][0].expanded

    opened(heard, tmp_path)
    new = [Entity("E1", "one", ("uno",), ("T",), "First.", ("e1",)), Entity("E2", "two")]
    heard.linker.change_entities(upsert=new, remove=(), on_end=heard.ends.put)
    heard.linker.change_entities(upsert=(), remove=("two",), on_end=heard.ends.put)
    assert [heard.outcome().state, heard.outcome().state] == [JobState.DONE] * 2
    assert expanded() == "one"
    pid = heard.linker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    heard.wait_for(LinkerState.RESTARTING)
    heard.wait_for(LinkerState.READY)
    assert expanded() == "one"
    opened(heard, tmp_path, "b2")
    pid = heard.linker.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    heard.wait_for(LinkerState.RESTARTING)
    heard.wait_for(LinkerState.READY)
    assert expanded() == ""


def test_cancel_ends_a_waiting_request(heard: Heard, tmp_path: Path) -> None:
    heard.linker.open(tmp_path / "bundle", "b1")
    heard.linker.cancel(heard.link(*["text"] * 400))
    assert heard.outcome().state is JobState.CANCELLED
    assert len(heard.documents) < 400


def test_close_cancels_what_is_left_and_is_idempotent(heard: Heard, tmp_path: Path) -> None:
    opened(heard, tmp_path)
    heard.link(*["text"] * 400)
    heard.linker.close()
    heard.linker.close()
    assert heard.outcome().state in (JobState.CANCELLED, JobState.DONE)
    assert heard.linker.status.state is LinkerState.OFF


def test_who_listens_and_fails_neither_ends_the_thread_nor_other_requests(heard: Heard, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise OSError("a read failed")

    heard.linker.on_status(fail)
    opened(heard, tmp_path)
    failed: queue.SimpleQueue[JobOutcome] = queue.SimpleQueue()
    document = LinkDocument(1, 7, "text", (LinkMention(10, (Span(0, 3),), ()),))
    heard.linker.link([document], k=5, urgent=False, on_document=fail, on_end=failed.put)
    heard.linker.link([document], k=5, urgent=False, on_document=lambda *_: None, on_end=fail)
    heard.link("abc")
    outcome = failed.get(timeout=TIMEOUT)
    assert (outcome.state, outcome.message) == (JobState.CRASHED, "OSError('a read failed')")
    assert "in fail" in outcome.detail
    assert heard.outcome().state is JobState.DONE


@pytest.mark.parametrize("step", ["_batch_done", "_opened", "_pump", "_exited"])
def test_an_error_in_its_thread_starts_the_process_anew(
    heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    if step != "_opened":
        opened(heard, tmp_path)
    works = getattr(heard.linker, step)

    def fail_once(*_: object) -> None:
        monkeypatch.setattr(heard.linker, step, works)
        raise RuntimeError("a bug")

    monkeypatch.setattr(heard.linker, step, fail_once)
    if step == "_opened":
        heard.linker.open(tmp_path / "bundle", "b1")
    heard.link("abc", f"DIE ONCE {tmp_path / 'mark'}" if step == "_exited" else "def")
    assert "restarted" in heard.wait_for(LinkerState.RESTARTING).message
    assert heard.outcome().state is JobState.DONE


def test_an_error_in_its_thread_that_comes_again_ends_every_request(
    heard: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(heard, tmp_path)

    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    for step in ("_batch_done", "_exited"):
        monkeypatch.setattr(heard.linker, step, fail)
    heard.link("abc")
    assert "an error in Curator (RuntimeError('a bug'))" in heard.wait_for(LinkerState.FAILED).message
    assert heard.outcome().state is JobState.FAILED

"""Children stand still while a key is handled, and go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.jobs import child as children
from curator.jobs.child import ChildProcess, Pauses
from curator.jobs.wire import Message, RunJob

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends stopped children with their parent")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as process:
        yield process
        process.kill()


def test_a_child_stops_and_goes_on(child: subprocess.Popen[bytes]) -> None:
    pauses = Pauses()
    pauses.add(child)
    pauses.make_way()
    for kind in (os.WSTOPPED, os.WCONTINUED):  # each waits for its change
        assert os.waitid(os.P_PID, child.pid, kind) is not None
    pauses.remove(child)


def test_keys_that_follow_each_other_make_one_pause(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[signal.Signals] = []
    monkeypatch.setattr(children, "_signal", lambda _child, number: sent.append(number))
    monkeypatch.setattr(children, "GAP_SECONDS", 1000.0)
    pauses = Pauses()
    pauses.make_way()
    assert not sent  # no child yet
    pauses.add(child)
    pauses.make_way()
    pauses.make_way()
    assert sent.count(signal.SIGSTOP) == 1
    pauses.remove(child)


def test_an_ended_child_is_left_alone(child: subprocess.Popen[bytes]) -> None:
    pauses = Pauses()
    pauses.add(child)
    child.kill()
    child.wait()
    pauses.make_way()
    pauses.remove(child)


def test_a_pause_ends_when_the_key_is_painted_for_threads_too(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "PAUSE_SECONDS", 1000.0)
    pauses = Pauses()
    pauses.add(child)
    pauses.give_way()  # nothing to wait for
    pauses.make_way()
    assert os.waitid(os.P_PID, child.pid, os.WSTOPPED) is not None
    waiting = threading.Thread(target=pauses.give_way)
    waiting.start()
    pauses.go_on()
    assert os.waitid(os.P_PID, child.pid, os.WCONTINUED) is not None
    waiting.join(10)
    assert not waiting.is_alive()
    pauses.remove(child)


def test_a_log_that_cannot_be_written_stops_no_child(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended: list[str] = []
    child = ChildProcess(
        "tests.curator.jobs.fake_job",
        log=tmp_path / "file" / "job.log",
        on_message=lambda _message: None,
        on_exit=lambda _code, tail: ended.append(tail),
    )
    child.close()
    assert ended == [""]


def test_a_message_that_is_not_taken_ends_the_child_and_its_end_is_reported(tmp_path: Path) -> None:
    events: list[str] = []
    ended = threading.Event()

    def take(message: Message) -> None:
        events.append(message["event"])
        raise OSError("a read failed")

    child = ChildProcess(
        "tests.curator.jobs.fake_job",
        log=tmp_path / "job.log",
        on_message=take,
        on_exit=lambda _code, _tail: ended.set(),
    )
    child.send(RunJob(op="run", spec={"how": "well", "steps": 10**9}))
    assert ended.wait(20)
    child.close()
    assert events == ["progress", "crashed"]


def test_the_end_of_a_child_is_reported_without_its_log(tmp_path: Path) -> None:
    ended: list[str] = []
    log = tmp_path / "job.log"
    child = ChildProcess(
        "tests.curator.jobs.fake_job",
        log=log,
        on_message=lambda _: None,
        on_exit=lambda _code, tail: ended.append(tail),
    )
    log.unlink()
    log.mkdir()
    child.close()
    assert ended == [""]

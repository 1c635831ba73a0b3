"""When a child counts as dead: looks and signs are counted, without a process or a clock."""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import replace

import pytest

from curator.jobs.heartbeat import FOR_JOBS, FOR_LINKER, IDLE, Heartbeat, Limits, Look, Watch, look_at
from curator.jobs.wire import Alive

TIMEOUT = 20.0
ASLEEP = Look(0.0, 0, frozenset("S"))
STOPPED = Look(0.0, 0, frozenset("T"))
BOTH = pytest.mark.parametrize("limits", [FOR_LINKER, FOR_JOBS])


class Child:
    """What the parent sees of a child."""

    def __init__(self, limits: Limits, look: Look | None = ASLEEP) -> None:
        self.look = look
        self.cpu = 0.0
        self.watch = Watch(lambda: self.look, limits)

    def sign(self, *, works: float = 0.0, request: bool = False) -> None:
        self.cpu += works
        self.watch.heard(Alive(event="alive", cpu=self.cpu, request=request))

    def looks_until_end(self, *, most: int = 5000, cpu: float = 0.0, reads: int = 0) -> int:
        """`cpu` and `reads`: what it does from one look to the next."""
        for number in range(1, most + 1):
            if self.look is not None:
                self.look = replace(self.look, cpu=self.look.cpu + cpu, reads=self.look.reads + reads)
            if self.watch.must_end():
                return number
        return 0


@BOTH
def test_a_stopped_child_is_ended_after_ten_looks(limits: Limits) -> None:
    child = Child(limits, STOPPED)
    child.sign()
    assert child.looks_until_end() == 10


@BOTH
def test_a_child_that_sleeps_and_sends_nothing_is_ended_after_a_minute(limits: Limits) -> None:
    assert Child(limits).looks_until_end() == limits.asleep == 60
    assert Child(limits).looks_until_end(cpu=IDLE / 2) == 60  # it waits for the interpreter lock


@BOTH
def test_signs_keep_it_alive(limits: Limits) -> None:
    child = Child(limits, STOPPED)
    for _ in range(1000):
        assert not child.looks_until_end(most=limits.stopped - 1)
        child.sign()


@BOTH
def test_other_messages_keep_it_alive_and_nothing_is_counted_while_one_is_handled(limits: Limits) -> None:
    child = Child(limits, STOPPED)
    for _ in range(3):
        assert not child.looks_until_end(most=limits.stopped - 1)
        with child.watch.away():
            assert not child.looks_until_end()
    assert child.looks_until_end() == limits.stopped


@BOTH
@pytest.mark.parametrize(("cpu", "reads"), [(1.0, 0), (2 * IDLE, 0), (0.0, 1)])
def test_a_child_that_keeps_the_interpreter_lock_while_it_computes_or_reads_gets_more_time(
    limits: Limits, cpu: float, reads: int
) -> None:
    assert Child(limits).looks_until_end(cpu=cpu, reads=reads) == limits.busy


@BOTH
@pytest.mark.parametrize("state", ["R", "D"])
def test_a_child_that_gets_no_processor_or_waits_for_a_disk_gets_more_time(limits: Limits, state: str) -> None:
    assert Child(limits, Look(0.0, 0, frozenset(("S", state)))).looks_until_end() == limits.busy


@BOTH
def test_where_the_system_does_not_say_what_it_does_it_gets_more_time(limits: Limits) -> None:
    assert Child(limits, None).looks_until_end() == limits.busy


def test_a_child_that_works_again_is_not_ended_for_earlier_rests() -> None:
    child = Child(FOR_JOBS)
    for _ in range(10):
        assert not child.looks_until_end(most=FOR_JOBS.asleep - 1)
        assert not child.looks_until_end(most=1, cpu=1.0)


@pytest.mark.parametrize(("works", "ends"), [(0.0, True), (0.9, False)])
def test_a_request_in_which_nothing_happens_ends_it_and_a_long_computation_does_not(
    works: float, *, ends: bool
) -> None:
    child = Child(FOR_LINKER)
    assert FOR_LINKER.stuck is not None
    for _ in range(FOR_LINKER.stuck + 1):
        child.sign(works=works, request=True)
    assert child.watch.must_end() is ends


@pytest.mark.parametrize(("limits", "request_"), [(FOR_LINKER, False), (FOR_JOBS, True)])
def test_a_linker_without_a_request_may_rest_and_a_job_always(limits: Limits, *, request_: bool) -> None:
    child = Child(limits)
    for _ in range(5000):
        child.sign(request=request_)
        assert not child.watch.must_end()


def test_the_look_at_a_process() -> None:
    look = look_at(os.getpid())
    assert look is None or (look.cpu > 0 and "R" in look.states)
    assert look_at(2**22 + 1) is None


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="waits for a stop")
def test_the_look_at_a_stopped_process() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "kill -STOP $$"]) as process:
        assert os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT) is not None
        look = look_at(process.pid)
        process.kill()
    assert look is None or look.states == {"T"}


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="waits for an end")
def test_a_process_that_has_ended_is_not_asleep() -> None:
    with subprocess.Popen(["/bin/sh", "-c", ":"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it stays as a zombie
        assert look_at(child.pid) is None


def test_the_thread_ends_the_child_once_and_stops() -> None:
    ended = threading.Event()
    heartbeat = Heartbeat(2**22 + 1, ended.set, replace(FOR_LINKER, busy=5), tick=0.001)
    assert ended.wait(TIMEOUT)
    heartbeat.stop()
    assert heartbeat.unresponsive

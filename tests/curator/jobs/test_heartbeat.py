"""When a child counts as dead: looks and signs are counted, without a process or a clock."""

from __future__ import annotations

import os
import threading

import pytest

from curator.jobs.heartbeat import SILENT, SILENT_BUSY, STUCK, Heartbeat, Watch, use_of
from curator.jobs.wire import Alive

TIMEOUT = 20.0


class Child:
    """What the parent sees of a child."""

    def __init__(self, use: float | None = 0.0) -> None:
        self.use = use
        self.cpu = 0.0
        self.watch = Watch(lambda: self.use)

    def sign(self, *, works: float = 0.0, request: bool = False) -> None:
        self.cpu += works
        self.watch.heard(Alive(event="alive", cpu=self.cpu, request=request))

    def looks_until_end(self, *, most: int = 1000, computes: bool = False) -> int:
        for look in range(1, most + 1):
            if computes and self.use is not None:
                self.use += 1
            if self.watch.must_end():
                return look
        return 0


def test_a_stopped_child_is_ended_after_ten_looks() -> None:
    child = Child()
    child.sign()
    assert child.looks_until_end() == SILENT == 10


def test_signs_keep_it_alive() -> None:
    child = Child()
    for _ in range(100):
        assert not child.looks_until_end(most=SILENT - 1)
        child.sign()


def test_a_child_that_holds_the_interpreter_lock_while_it_computes_gets_more_time() -> None:
    assert Child().looks_until_end(computes=True) == SILENT_BUSY


def test_where_the_system_does_not_say_what_it_used_it_gets_more_time() -> None:
    assert Child(use=None).looks_until_end() == SILENT_BUSY


@pytest.mark.parametrize(("works", "ends"), [(0.0, True), (0.9, False)])
def test_a_request_in_which_nothing_happens_ends_it_and_a_long_computation_does_not(
    works: float, *, ends: bool
) -> None:
    child = Child()
    for _ in range(STUCK + 1):
        child.sign(works=works, request=True)
    assert child.watch.must_end() is ends


def test_a_child_without_a_request_may_rest() -> None:
    child = Child()
    for _ in range(10 * STUCK):
        child.sign()
    assert not child.watch.must_end()


def test_the_use_of_a_process() -> None:
    used = use_of(os.getpid())
    assert used is None or used > 0
    assert use_of(2**22 + 1) is None


def test_the_thread_ends_the_child_once_and_stops() -> None:
    ended = threading.Event()
    heartbeat = Heartbeat(2**22 + 1, ended.set, tick=0.001)
    assert ended.wait(TIMEOUT)
    heartbeat.stop()
    assert heartbeat.unresponsive

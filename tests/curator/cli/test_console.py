from __future__ import annotations

import signal
import threading
from collections.abc import Generator

import pytest

from curator.cli.console import STOPPING, echo, interrupts_held, run_steps
from curator.domain.jobs import Progress


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_step_is_ended_before_ctrl_c_has_its_effect(capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    def steps() -> Generator[Progress, None, None]:
        try:
            press()
            seen.append("the step's rest")
            yield Progress("import", 1, 2)
            seen.append("the next step")
        finally:
            seen.append("closed")

    with pytest.raises(KeyboardInterrupt):
        run_steps(steps())
    assert seen == ["the step's rest", "closed"]
    assert STOPPING.decode() in capfd.readouterr().err


def test_a_second_one_comes_at_once() -> None:
    with interrupts_held():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_afterwards_ctrl_c_is_what_it_was() -> None:
    with interrupts_held() as look:
        look()
        press()
        with pytest.raises(KeyboardInterrupt):
            look()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press()


def test_an_ignored_ctrl_c_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_held() as look:
            press()
            look()
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_have_no_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGINT)
    handlers = []

    def work() -> None:
        with interrupts_held() as look:
            look()
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [before]


HOSTILE = "\x1b[2J\x1b]0;title\x07 \x9b31m\r\x7f\x00"


def test_nothing_that_is_printed_commands_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    echo(f"one\ttwo\n{HOSTILE}\u4e2d")
    told = capfd.readouterr().out
    assert told.startswith("one\ttwo\n")
    assert told.endswith("\u4e2d\n")
    assert not set(told) & {*HOSTILE} - {*"[2J]0;title 31m"}

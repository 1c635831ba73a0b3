from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from curator.cli.console import STOPPING, PlainFormatter, echo, interrupts_held, run_steps
from curator.cli.main import run
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


@pytest.mark.parametrize(
    "arguments",
    [
        [HOSTILE[:-1]],
        ["info", f"/nowhere/{HOSTILE[:-1]}"],
        ["info", "/nowhere/\udc9b\u202e"],
        ["export", "/nowhere", f"--{HOSTILE[:-1]}"],
        ["stats", "/nowhere", "--plot", HOSTILE[:-1]],
        ["import", "/nowhere", f"{HOSTILE[:-1]}.csv", "--format", HOSTILE[:-1]],
    ],
    ids=["command", "project", "surrogate", "option", "value", "files"],
)
def test_errors_repeat_what_was_typed_without_control_characters(
    arguments: list[str], capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path))
    assert run(arguments) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.strip()
    assert not set(told.err) & set("\x00\x07\r\x1b\x7f\x9b\u202e")


def test_log_messages_on_the_terminal_have_no_control_characters() -> None:
    record = logging.LogRecord("curator", logging.WARNING, "", 0, f"{HOSTILE} \u202e", None, None)
    assert not set(PlainFormatter().format(record)) & set("\x00\x07\r\x1b\x7f\x9b\u202e")

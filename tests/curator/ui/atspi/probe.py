"""Run by the system's Python, which has AT-SPI: starts a program on a bus and a screen of its own, and prints as JSON
what a screen reader finds in it. `probe.py PROGRAM …`: the program prints a line when it is there, and ends with its
standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402 - after the version was chosen

LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
SECONDS = 180  # beside long tests


def screen() -> tuple[subprocess.Popen[bytes], str]:
    """An X server of our own; it chooses a free number itself."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as told:
        return server, f":{told.readline().strip()}"


def launcher() -> str:
    return next(one for one in LAUNCHERS if Path(one).exists())


def application() -> Any:
    """The program, once it has announced itself with its window."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        desktop = Atspi.get_desktop(0)
        for at in range(desktop.get_child_count()):
            one = desktop.get_child_at_index(at)
            if one is not None and one.get_child_count():
                return one
        time.sleep(0.05)
    raise SystemExit("no program announced itself on the bus")


def walk(one: Any) -> Iterator[dict[str, Any]]:
    states = one.get_state_set()
    found = {
        "role": one.get_role_name(),
        "name": one.get_name(),
        "description": one.get_description(),
        "interfaces": one.get_interfaces(),
        "showing": states.contains(Atspi.StateType.SHOWING),
        "read only": states.contains(Atspi.StateType.READ_ONLY),
    }
    if "Text" in found["interfaces"]:
        found |= read(one)
    yield found
    if not states.contains(Atspi.StateType.MANAGES_DESCENDANTS):
        for at in range(one.get_child_count()):
            child = one.get_child_at_index(at)
            if child is not None:
                yield from walk(child)


def read(one: Any) -> dict[str, Any]:
    """The text, its words, its marked ranges, and what is said at each word."""
    count = Atspi.Text.get_character_count(one)
    words, runs, at = [], [], 0
    while at < min(count, 400):
        word = Atspi.Text.get_string_at_offset(one, at, Atspi.TextGranularity.WORD)
        words.append(word.content)
        at = max(word.end_offset, at + 1)
    at = 0
    while at < min(count, 400):
        attributes, start, end = Atspi.Text.get_attribute_run(one, at, False)
        runs.append([Atspi.Text.get_text(one, start, end), attributes])
        at = max(end, at + 1)
    found = {"text": Atspi.Text.get_text(one, 0, count), "words": words, "runs": runs}
    if one.get_state_set().contains(Atspi.StateType.MULTI_LINE):
        said = []
        for start in (0, *(at + 1 for at, letter in enumerate(found["text"]) if letter == " ")):
            Atspi.Text.set_caret_offset(one, start)
            one.clear_cache()
            said.append([Atspi.Text.get_caret_offset(one), one.get_description()])
        found["said"] = said
    return found


def main() -> None:
    server, display = screen()
    bus = subprocess.Popen([launcher(), "--launch-immediately"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    env = {**os.environ, "DISPLAY": display, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "QT_QPA_PLATFORM": "xcb"}
    program = subprocess.Popen(sys.argv[1:], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert program.stdout is not None
        assert program.stdin is not None
        program.stdout.readline()
        json.dump(list(walk(application())), sys.stdout)
        sys.stdout.flush()  # AT-SPI ends this process together with the bus
        program.stdin.close()
        program.wait(SECONDS)
    finally:
        for one in (program, bus, server):
            one.terminate()


main()

"""A process that has imported what a target needs, and fuzzes each target in a fork of itself.

Loading the readers takes 3 s of processor time, and instrumenting them for coverage 8 s more: once, not per target.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz import limits

LOOK = 0.05
"""Seconds between two looks at whether a fork has ended."""
BUSY = 10.0
"""A fork may take so many times its processor time by the clock: other programs may have the cores."""
Main = Callable[[str, float, Path], None]


class Server:
    """Runs the module `tests.fuzz.PART`, which calls `serve`. An input may take `patience` times the limit."""

    def __init__(self, part: str, *, patience: float = 1.0) -> None:
        self._patience = patience
        command = [sys.executable, "-m", f"tests.fuzz.{part}"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def run(self, name: str, seconds: float, findings: Path, log: Path, *, grace: float) -> int | None:
        """The exit code; None where it was ended, as it took `grace` seconds of processor time more than its time. What
        it prints is in `log`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        most, patience = seconds + grace, self._patience
        order = {"name": name, "seconds": seconds, "findings": str(findings), "log": str(log), "most": most}
        self._process.stdin.write(json.dumps(order | {"patience": patience}) + "\n")
        self._process.stdin.flush()
        code: int | None = json.loads(self._process.stdout.readline())
        return code

    def close(self) -> None:
        with self._process:  # closes both pipes, and waits
            pass


def serve(main: Main) -> None:
    """Take orders from the standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        order = json.loads(line)
        answers.write(f"{json.dumps(_run(main, order))}\n")
        answers.flush()


def _run(main: Main, order: dict[str, str | float]) -> int | None:
    fork = os.fork()
    if fork == 0:
        _fuzz(main, order)
    until = time.monotonic() + BUSY * float(order["most"])
    while time.monotonic() < until:
        ended, status = os.waitpid(fork, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGXCPU else code
        time.sleep(LOOK)
    os.kill(fork, signal.SIGKILL)
    os.waitpid(fork, 0)
    return None


def _fuzz(main: Main, order: dict[str, str | float]) -> None:
    most = int(float(order["most"]))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 10))
    limits.patience = float(order["patience"])
    log = os.open(str(order["log"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    try:
        main(str(order["name"]), float(order["seconds"]), Path(str(order["findings"])))
    finally:
        sys.stdout.flush()
        os._exit(1 if sys.exc_info()[0] else 0)

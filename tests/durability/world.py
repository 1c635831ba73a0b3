"""Where scenarios run: one folder under watch, and the program as they call it."""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from curator import bootstrap
from curator.bootstrap import Project
from curator.domain.wording import UserError

INPUTS = Path(__file__).resolve().parents[2] / "resources" / "demo" / "pubmed"
BACKUPS = "CURATOR_BACKUP_DIR"
DEADLINE = 30.0
"""Seconds after which a run counts as hanging."""
BUG = "This is a bug in curator"


class Refused(Exception):
    """A command line ended with an error; the message is what it said."""


class Bug(Exception):
    """A command line called its error a bug of the program."""


@dataclass(frozen=True, slots=True)
class Place:
    """`base` holds all of a worker; the program's files lie in `root`, which alone is watched."""

    base: Path

    @property
    def root(self) -> Path:
        return self.base / "root"

    @property
    def project(self) -> Path:
        return self.root / "p.curation"

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def inputs(self) -> Path:
        return self.base / "inputs"

    def prepare(self) -> None:
        """Make the folders and point the program's settings, logs and caches into them."""
        for folder in (self.root, self.inputs, self.base / "temporary"):
            folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {
            "CURATOR_CONFIG_DIR": str(self.root / "config"),
            "CURATOR_LOG_DIR": str(self.base / "log"),
            "CURATOR_CACHE": str(self.base / "cache"),
            BACKUPS: "",  # none, but in `backing.py`
            "HOME": str(self.base),
            "TMPDIR": str(self.base / "temporary"),
            "NO_COLOR": "1",
        }

    def clear(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)


def curator(*arguments: object) -> str:
    """Run one command line in this process; returns what it printed. Raises Refused and Bug."""
    from curator.cli.main import run

    kept, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), StringIO(), StringIO()
    try:
        code = run([str(one) for one in arguments])
        printed, said = sys.stdout.getvalue(), sys.stderr.getvalue().strip()
    finally:
        sys.stdout, sys.stderr = kept
    if code:
        kind = Bug if BUG in said or "Traceback" in said else Refused
        raise kind(said if kind is Bug else said.rpartition("\nError: ")[2])  # without what it said about its work
    return printed


def open_project(place: Place) -> Project:
    return bootstrap.open_project(place.project, linker=False, curator="ada")


class Promises:
    """What the program has promised in this run: `answered` steps survive the end of the process, `saved` steps the
    end of the power."""

    def __init__(self, out: int, mark: Callable[[str], None]) -> None:
        self._out = out
        self._mark = mark

    def answered(self, step: int) -> None:
        self._say(f"answered {step}")

    def saved(self, step: int) -> None:
        self._say(f"answered {step}")
        self._say(f"saved {step}")

    def _say(self, what: str) -> None:
        self._mark(what)
        os.write(self._out, f"{what}\n".encode())


@dataclass(slots=True)
class Run:
    """How a child ended. `end`: done, refused, failed (with `said`), killed or hangs."""

    end: str
    said: str = ""
    answered: int = 0
    saved: int = 0
    facts: list[str] = field(default_factory=list)


def run_child(work: Callable[[int], Any], *, deadline: float = DEADLINE) -> Run:
    """Fork, call `work` with a descriptor for lines about its progress, and wait for its end."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        _live(work, out)
    os.close(out)
    raw, until, hangs = b"", time.monotonic() + deadline, False
    while True:
        if not select.select([into], [], [], max(0.0, until - time.monotonic()))[0]:
            hangs = True
            os.kill(child, signal.SIGKILL)
            break
        if not (read := os.read(into, 65536)):
            break
        raw += read
    os.close(into)
    _, status = os.waitpid(child, 0)
    return _told(raw.decode(errors="replace"), killed=os.WIFSIGNALED(status), hangs=hangs)


def _live(work: Callable[[int], Any], out: int) -> None:
    code = 0
    try:
        random.seed(0)
        work(out)
        last = "end done"
    except (UserError, Refused) as error:
        last = f"end refused {str(error)!r}"
    except BaseException:
        last = f"end failed {traceback.format_exc()!r}"
    with suppress(OSError):
        os.write(out, f"{last}\n".encode())
    os._exit(code)


def _told(text: str, *, killed: bool, hangs: bool) -> Run:
    found = Run("hangs" if hangs else "killed" if killed else "failed")
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "answered":
            found.answered = max(found.answered, int(rest))
        elif word == "saved":
            found.saved = max(found.saved, int(rest))
        elif word == "end" and not hangs:
            found.end, _, said = rest.partition(" ")
            found.said = str(eval(said, {})) if said else ""
        elif word == "fact":
            found.facts.append(rest)
    return found

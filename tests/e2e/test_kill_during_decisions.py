"""`kill -9` between any two decisions loses neither: a real process is killed at random moments, 200 in `make soak`.

A nursery process imports the program once and forks a child for each life. The child opens the project, decides
through the curation service, and writes a decision's id to a pipe once the service has returned: from then on the
decision is promised. The parent kills the child a few milliseconds later and looks into the database.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span, Split
from curator.storage.project import create_project, open_project

MENTIONS = 40

NURSERY = """
import itertools, json, os, sys
from datetime import UTC, datetime
from pathlib import Path
from curator.domain.decisions import NilReason, RejectReason, Verdict
from curator.services.curating.curation import CurationService
from curator.services.core.context import Context
from curator.services.core.events import EventBus
from curator.storage import open_project

class Clock:
    def now(self):
        return datetime.now(UTC)

def live(folder, first, out):
    store = open_project(Path(folder))
    service = CurationService(Context(store, EventBus(), Clock(), lambda: "ada"), related=lambda *_: [])
    with store.read() as unit:
        mentions = [m.id for d in unit.documents.ids() for m in unit.mentions.of_document(d)]
    verdicts = itertools.cycle([Verdict.nil(), Verdict.reject(), Verdict.skip(), Verdict.nil(NilReason.TOO_GENERAL)])
    for n, mention, verdict in zip(itertools.count(), itertools.cycle(mentions), verdicts):
        if n == first:
            os.write(out, b"ready\\n")
        change = service.decide(mention, verdict)
        os.write(out, json.dumps([change.operation_id, mention, verdict.reason.value]).encode() + b"\\n")

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            first, folder = line.strip().split(" ", 1)
            live(folder, int(first), 1)
        finally:
            os._exit(70)
    os.write(1, f"pid {child}\\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"gone\\n")
"""


class Nursery:
    """The forking process and the lines that it and its children write."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", NURSERY]
        root = Path(__file__).parents[2]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        assert self.process.stdout is not None
        self._out = self.process.stdout.fileno()
        self._rest = b""

    def spawn(self, folder: Path, *, first: int) -> None:
        """Start a life that says it is ready after its first `first` decisions; the very first is the slowest."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{first} {folder}\n".encode())
        self.process.stdin.flush()

    def lines(self, until: float) -> list[str]:
        """The whole lines that come before the monotonic time `until`."""
        lines: list[bytes] = []
        while (left := until - time.monotonic()) > 0 and select.select([self._out], [], [], left)[0]:
            read = os.read(self._out, 65536)
            assert read, "the nursery ended"
            *whole, self._rest = (self._rest + read).split(b"\n")
            lines += whole
            if b"gone" in whole or b"ready" in whole:
                break
        return [line.decode() for line in lines]

    def lines_with(self, word: str) -> list[str]:
        """Lines up to one that is `word`."""
        lines: list[str] = []
        until = time.monotonic() + 30
        while word not in lines:
            assert time.monotonic() < until, f"no {word!r}, only {lines}"
            lines += self.lines(until)
        return lines

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=30)


def one_life(nursery: Nursery, folder: Path, chance: random.Random) -> list[tuple[int, int, str]]:
    """Let a child decide for a random time, kill it, and return what it promised."""
    nursery.spawn(folder, first=chance.randrange(2))
    seen = nursery.lines_with("ready")
    pid = int(next(line for line in seen if line.startswith("pid ")).split()[1])
    seen += nursery.lines(time.monotonic() + chance.uniform(0.0005, 0.06))
    os.kill(pid, signal.SIGKILL)
    seen += nursery.lines_with("gone")
    return [(op, mention, reason) for op, mention, reason in (json.loads(s) for s in seen if s.startswith("["))]


def check(folder: Path, promised: list[tuple[int, int, str]]) -> int:
    """Every promised decision is there, whole; returns how many decisions there are."""
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        assert conn.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        made = set(conn.execute("SELECT operation_id, mention_id, reason FROM decisions"))
        assert set(promised) <= made
        alone = "SELECT count(*) FROM operations WHERE id NOT IN (SELECT operation_id FROM decisions)"
        assert conn.execute(alone).fetchone() == (0,), "an operation without its decision"
        behind = """SELECT count(*) FROM mentions m WHERE m.decision_id IS NOT
            (SELECT max(d.id) FROM decisions d WHERE d.mention_id = m.id)"""
        assert conn.execute(behind).fetchone() == (0,), "a mention that does not point to its last decision"
        decided = "SELECT count(*) FROM mentions WHERE outcome IS NOT NULL"
        counted = "SELECT linked + nil + rejected + skipped FROM documents"
        assert conn.execute(decided).fetchone() == conn.execute(counted).fetchone()
        return len(made)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mentions = tuple(SourceMention((Span(i, i + 1),), "x", "Disease") for i in range(MENTIONS))
    with create_project(tmp_path / "killed", name="killed") as store, store.write() as unit:
        file_id = unit.documents.add_file(SourceFile(0, "/a", "a", "pubtator", "0"))
        unit.documents.add_documents(file_id, [SourceDocument("1", "t", "x" * 50, (), mentions)], split=Split.TRAIN)
        unit.documents.complete_file(file_id, tail="", extra="")
    return store.folder


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_no_promised_decision_is_lost(folder: Path, kills: int) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - shown by pytest when the test fails
    chance = random.Random(seed)
    nursery = Nursery()
    promised: list[tuple[int, int, str]] = []
    try:
        for _ in range(kills):
            promised += one_life(nursery, folder, chance)
            made = check(folder, promised)
            assert len(promised) <= made <= len(promised) + kills  # at most one unpromised in each life
    finally:
        nursery.close()
    assert len(promised) > kills
    with open_project(folder) as store, store.read() as unit:
        assert unit.decisions.count() == made

"""One decision from its command to SQLite, to the disk and to the linker's memory, as it ran: ARCHITECTURE.md draws it.

`CURATOR_WRITE_WALK=1 python -m pytest tests/curator/ui/window/test_walk.py` puts the walk into the page.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from sqlalchemy import Engine, event

from curator.services.linking import remembering
from curator.storage.db import syncing
from tests.curator.services.fakes import FakeLinker
from tests.curator.ui.window.fakes import Desk

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "ARCHITECTURE.md"
BLOCK = re.compile(r"(?<=<!-- walk: decision -->\n).*?(?=<!-- /walk -->)", re.DOTALL)
DISPATCH = ("CommandMenus.", "MainWindow._run")
"""How a key finds its command, which calls its handler: the same for every command."""
MOST = 9
DECIDES = "INSERT INTO decisions"
Call = tuple[str, str]


@dataclass
class Walk:
    """What ran, in order: a thread, what it did there, and the calls of the program that led to it."""

    steps: list[tuple[int, str, list[Call]]] = field(default_factory=list)

    def note(self, what: str) -> None:
        self.steps.append((threading.get_ident(), what, _calls()))

    def chain(self, what: str) -> list[Call]:
        """The calls that led to the first of these."""
        return next(calls for _, done, calls in self.steps if done.startswith(what))

    @property
    def remembers(self) -> bool:
        return any(what == "remember" for _, what, _ in self.steps)


def _calls() -> list[Call]:
    """The program's functions that are running, the outermost first."""
    frame, found = sys._getframe(2), list[Call]()
    while frame is not None and frame.f_back is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT / "curator"):
            found.append((path.relative_to(ROOT).as_posix(), frame.f_code.co_qualname))
        frame = frame.f_back
    return found[::-1]


@contextmanager
def walked(patch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """Notes every statement, every sync of the disk and every lesson of the linker."""
    walk = Walk()
    remember, sync = FakeLinker.remember, syncing.sync_file

    def stated(_: object, __: object, statement: str, *___: object) -> None:
        walk.note(" ".join(statement.split()))

    def remembered(linker: FakeLinker, *given: Any, **named: Any) -> int:
        walk.note("remember")
        return remember(linker, *given, **named)

    def synced(path: Path) -> None:
        walk.note("sync")
        sync(path)

    patch.setattr(FakeLinker, "remember", remembered)
    patch.setattr(syncing, "sync_file", synced)
    event.listen(Engine, "before_cursor_execute", stated)
    try:
        yield walk
    finally:
        event.remove(Engine, "before_cursor_execute", stated)


def from_handler(calls: Sequence[Call]) -> list[Call]:
    """Without what every key goes through until its command has called its handler."""
    last = max(
        at for at, (path, name) in enumerate(calls) if name.startswith(DISPATCH) or path.startswith("curator/commands/")
    )
    return list(calls[last + 1 :])


def drawn(walk: Walk) -> str:
    calls = enumerate(from_handler(walk.chain(DECIDES)), start=1)
    lines = [f"{at}. `{_said(name)}` ({path})" for at, (path, name) in calls]
    return "\n".join(
        (
            f"Return on a mention, from its command's handler to `{DECIDES}`:\n",
            *lines,
            "",
            _filled(f"To the disk, in a second thread: {_line(walk.chain('sync'))}."),
            _filled(f"To the linker's memory, in a third thread, after the key: {_line(walk.chain('remember'))}."),
        )
    )


def _filled(sentence: str) -> str:
    return textwrap.fill(sentence, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def _said(name: str) -> str:
    return name.replace(".<locals>.<lambda>", ", its action").replace(".<locals>", "")


def _line(calls: Sequence[Call]) -> str:
    return ", ".join(f"`{_said(name)}`" for _, name in calls) + f" ({calls[-1][0]})"


_walks: list[Walk] = []


@pytest.fixture
def walk(request: pytest.FixtureRequest, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Of one Return, which is answered before the memory's moment has passed. It takes seconds: made once."""
    if _walks:
        return _walks[0]
    desk: Desk = request.getfixturevalue("desk")
    memory = desk.project.close.__self__.memory  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not (memory._fresh or memory._everything or memory._unlisted or memory._left))
    monkeypatch.setattr(remembering, "MOMENT", 3.0)  # a busy machine needed more than 1 s to follow the key
    qtbot.waitUntil(lambda: bool(desk.bench.project.disk.saving.holds(desk.bench.project.disk.saving.asked)))
    with walked(monkeypatch) as found:
        desk.press(Qt.Key.Key_Return)
        found.note("answered")
        qtbot.waitUntil(lambda: found.remembers, timeout=10_000)
        desk.bench.project.disk.settle()
    _walks.append(found)
    return found


def test_a_decision_is_in_sqlite_after_few_calls(walk: Walk) -> None:
    calls = from_handler(walk.chain(DECIDES))
    assert len(calls) <= MOST, "\n".join(name for _, name in calls)
    # nothing is read for the memory before the key is answered
    readers = {"curator/services/linking/remembering.py"}
    reads = [at for at, (_, _, calls) in enumerate(walk.steps) if readers & {path for path, _ in calls}]
    answered = [what for _, what, _ in walk.steps].index("answered")
    assert reads, "the memory was taught"
    assert min(reads) > answered
    assert {walk.steps[at][0] for at in reads}.isdisjoint({threading.get_ident()})


def test_the_walk_is_drawn_as_it_runs(walk: Walk) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("CURATOR_WRITE_WALK"):
        page = BLOCK.sub(lambda _: drawn(walk), page)
        PAGE.write_text(page, encoding="utf-8")
    assert BLOCK.findall(page) == [drawn(walk)], "write it with CURATOR_WRITE_WALK=1"

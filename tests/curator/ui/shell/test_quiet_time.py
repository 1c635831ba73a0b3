from __future__ import annotations

import gc
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.ui.shell import quiet_time
from curator.ui.shell.quiet_time import QuietTime, collect_in_quiet_times, collect_young, return_memory


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The generations that the collector, which itself is left alone, was asked for."""
    enabled, done = gc.isenabled(), []
    monkeypatch.setattr(gc, "collect", lambda generation=2: done.append(generation))
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, quiet_time.DUE))
    gc.enable()
    yield done
    (gc.enable if enabled else gc.disable)()


@pytest.fixture
def timer(qapp: QApplication) -> Iterator[QTimer]:
    """What begins the collections of the window's process."""
    collect_in_quiet_times(qapp)
    timer = qapp.findChildren(QTimer)[-1]
    yield timer
    timer.stop()
    timer.deleteLater()


def test_full_collections_wait_for_a_quiet_moment(done: list[int], timer: QTimer) -> None:
    owner = QObject()
    quiet = QuietTime(owner)
    gc.enable()
    quiet.collect()
    assert done == [], "a process that is no window keeps Python's own ways"
    gc.disable()
    quiet.busy()
    [waiting] = quiet.findChildren(QTimer)
    assert (waiting.isActive(), waiting.interval()) == (True, quiet_time.QUIET_MS)
    quiet.collect()
    quiet.collect()
    assert done == [2, 2]
    assert (waiting.isActive(), waiting.interval()) == (True, quiet_time.LATER_MS), (
        "and again later, while nobody does anything"
    )


def test_memory_is_returned_in_quiet_moments(done: list[int], timer: QTimer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet_time, "return_memory", lambda: done.append(-1))
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 0))
    owner = QObject()
    quiet = QuietTime(owner)
    quiet.busy()
    [waiting] = quiet.findChildren(QTimer)
    waiting.timeout.emit()
    assert done == [-1], "also if there is nothing to collect"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep less")
def test_freed_memory_goes_back_to_the_system() -> None:
    """Blocks too small for mappings of their own are freed below one that stays in use."""
    blocks = [b"x" * size for size in range(100_000, 100_400)]
    kept = b"x" * 100_400
    del blocks
    before = _resident()
    return_memory()
    assert before - _resident() > 20 * 2**20
    assert len(kept) == 100_400


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_nothing_is_collected_where_nothing_is_due(
    done: list[int], timer: QTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 0))
    owner = QObject()
    QuietTime(owner).collect()
    collect_young()
    assert done == []


def test_no_other_thread_collects(
    done: list[int], timer: QTimer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python itself would collect in whatever thread allocates, and widgets would die there."""
    assert not gc.isenabled()
    limit, often, _ = gc.get_threshold()
    monkeypatch.setattr(gc, "get_count", lambda: (limit, often - 1, 0))
    qtbot.waitUntil(lambda: done == [0])
    monkeypatch.setattr(gc, "get_count", lambda: (limit, often, 0))
    qtbot.waitUntil(lambda: 1 in done)

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from curator.ui import quiet_time
from curator.ui.quiet_time import QuietTime, collect_in_quiet_times


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was asked of the collector, which itself is left alone."""
    before, done = gc.get_threshold(), []
    monkeypatch.setattr(gc, "collect", lambda: done.append("collect"))
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, quiet_time.DUE))
    yield done
    gc.set_threshold(*before)


def test_full_collections_wait_for_a_quiet_moment(qapp: QApplication, done: list[str]) -> None:
    young, middle, _ = gc.get_threshold()
    owner = QObject()
    quiet = QuietTime(owner)
    quiet.collect()
    assert done == [], "a process that is no window keeps Python's own ways"
    collect_in_quiet_times()
    assert gc.get_threshold() == (young, middle, quiet_time.NEVER)
    quiet.busy()
    assert quiet._timer.interval() == quiet_time.QUIET_MS
    quiet.collect()
    quiet.collect()
    assert done == ["collect", "collect"]
    assert quiet._timer.isActive(), "and again later, while nobody does anything"


def test_nothing_is_collected_where_nothing_is_due(
    qapp: QApplication, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 0))
    collect_in_quiet_times()
    QuietTime(QObject(qapp)).collect()
    assert done == []

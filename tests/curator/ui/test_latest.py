"""Work beside the window's thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.ui.latest import Latest


@pytest.fixture
def latest(qtbot: QtBot) -> Iterator[Latest]:
    made = Latest()
    made.here = False
    yield made
    made.close()


def test_only_what_was_asked_last_is_told(qtbot: QtBot, latest: Latest) -> None:
    gate, told = threading.Event(), []
    latest.ask(lambda: gate.wait(5) and "first", told.append)
    latest.ask(lambda: "second", told.append)
    latest.ask(lambda: threading.current_thread() is threading.main_thread(), told.append)
    gate.set()
    qtbot.waitUntil(lambda: not latest.busy, timeout=5000)
    assert told == [False]


def test_what_takes_no_time_is_done_here(latest: Latest) -> None:
    latest.here = True
    told: list[bool] = []
    latest.ask(lambda: threading.current_thread() is threading.main_thread(), told.append)
    assert told == [True]


def test_after_a_failure_the_next_work_is_done(qtbot: QtBot, latest: Latest, caplog: pytest.LogCaptureFixture) -> None:
    told: list[int] = []
    with caplog.at_level(logging.CRITICAL, "curator.ui.latest"):
        latest.ask(lambda: 1 // 0, told.append)
        qtbot.waitUntil(lambda: not latest.busy, timeout=5000)
    latest.ask(lambda: 2, told.append)
    qtbot.waitUntil(lambda: told == [2], timeout=5000)


def test_nothing_is_told_after_closing(qapp: QApplication, latest: Latest) -> None:
    told: list[int] = []
    latest.ask(lambda: 1, told.append)
    latest.close()
    latest.ask(lambda: 2, told.append)
    qapp.processEvents()
    assert told == []


def test_work_outlives_what_it_was_done_for(qapp: QApplication) -> None:
    """A window may be gone before an answer is there: the thread then touches nothing of it."""
    owner, gate, told = QObject(), threading.Event(), []
    latest = Latest(owner)
    latest.here = False
    latest.ask(lambda: gate.wait(5), told.append)
    thread = latest._thread
    assert thread is not None
    shiboken6.delete(owner)
    gate.set()
    thread.join()
    qapp.processEvents()
    assert told == []

"""Work in a background thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.wording import CancelledError, ProjectClosedError
from curator.ui.kit.worker import Worker, join_left


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


def test_only_what_was_asked_last_is_told(qtbot: QtBot, worker: Worker) -> None:
    gate, told = threading.Event(), []
    worker.ask(lambda: gate.wait(5) and "first", told.append)
    worker.ask(lambda: "second", told.append)
    worker.ask(lambda: threading.current_thread() is threading.main_thread(), told.append)
    gate.set()
    qtbot.waitUntil(lambda: not worker.busy, timeout=5000)
    assert told == [False]


def test_what_takes_no_time_is_done_here(worker: Worker) -> None:
    worker.here = True
    told: list[bool] = []
    worker.ask(lambda: threading.current_thread() is threading.main_thread(), told.append)
    assert told == [True]


def test_after_a_failure_the_next_work_is_done(qtbot: QtBot, worker: Worker, caplog: pytest.LogCaptureFixture) -> None:
    told: list[int] = []
    with caplog.at_level(logging.CRITICAL, "curator.ui.kit.worker"), qtbot.captureExceptions() as said:
        worker.ask(lambda: 1 // 0, told.append)
        qtbot.waitUntil(lambda: not worker.busy, timeout=5000)
    assert [kind for kind, *_ in said] == [ZeroDivisionError], "nobody else would say it"
    with caplog.at_level(logging.CRITICAL, "curator.ui.kit.worker"):
        worker.ask(lambda: 1 // 0, told.append, failed=lambda: told.append(0))
        qtbot.waitUntil(lambda: told == [0], timeout=5000)
    told.clear()
    worker.ask(lambda: 2, told.append)
    qtbot.waitUntil(lambda: told == [2], timeout=5000)


def test_what_a_closed_project_ends_is_no_failure(
    qtbot: QtBot, worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    def work() -> None:
        raise ProjectClosedError("p.curation has been closed")

    worker.ask(work, lambda _: None)
    qtbot.waitUntil(lambda: not worker.busy, timeout=5000)
    assert caplog.text == ""


def test_nothing_is_told_after_closing_and_what_runs_can_be_waited_for(qapp: QApplication, worker: Worker) -> None:
    gate, told, ended = threading.Event(), list[int](), list[bool]()
    worker.ask(lambda: ended.append(gate.wait(5)), told.append)
    worker.close()
    assert not ended
    worker.ask(lambda: 2, told.append)
    gate.set()
    join_left()
    qapp.processEvents()
    assert (told, ended) == ([], [True])


def test_work_outlives_what_it_was_done_for(qapp: QApplication) -> None:
    """A window may be gone before an answer is there: the thread then touches nothing of it."""
    owner, gate, told = QObject(), threading.Event(), []
    worker, before = Worker(owner), set(threading.enumerate())
    worker.ask(lambda: gate.wait(5), told.append)
    [thread] = set(threading.enumerate()) - before
    shiboken6.delete(owner)
    gate.set()
    thread.join()
    qapp.processEvents()
    assert told == []


def test_in_turn_everything_asked_is_done_and_told(qtbot: QtBot) -> None:
    worker, told = Worker(in_turn=True), []
    gate = threading.Event()
    worker.ask(lambda: gate.wait(5) and 1, told.append)
    worker.ask(lambda: 1 // 0, told.append, failed=lambda: told.append("failed"))
    worker.ask(lambda: 3, told.append)
    gate.set()
    qtbot.waitUntil(lambda: not worker.busy, timeout=5000)
    assert told == [1, "failed", 3]


def test_stopped_work_neither_fails_nor_is_told(qtbot: QtBot, worker: Worker) -> None:
    told: list[object] = []

    def stopped() -> None:
        raise CancelledError

    worker.ask(stopped, told.append, failed=lambda: told.append("failed"))
    qtbot.waitUntil(lambda: not worker.busy, timeout=5000)
    assert told == []


class Listener(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[int, bool]] = []

    def hear(self, value: int) -> None:
        self.heard.append((value, threading.current_thread() is threading.main_thread()))


def test_reports_come_in_the_window_s_thread_before_the_result(qtbot: QtBot, worker: Worker) -> None:
    listener = Listener()
    report = worker.reporter(listener.hear)
    worker.ask(lambda: [report(n) for n in range(3)], lambda _: listener.hear(3))
    qtbot.waitUntil(lambda: not worker.busy, timeout=5000)
    assert listener.heard == [(n, True) for n in range(4)]


def test_reports_are_told_no_more_often_than_wanted_and_not_after_closing(qapp: QApplication, worker: Worker) -> None:
    listener = Listener()
    seldom, often = worker.reporter(listener.hear, every=60.0), worker.reporter(listener.hear)
    worker.ask(lambda: [seldom(1), seldom(2)], lambda _: None)
    worker.close()
    often(3)
    qapp.processEvents()
    assert listener.heard == []

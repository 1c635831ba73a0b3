"""Nothing that is said is cut where letters are large and the window is small."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from curator.domain.jobs import Progress
from curator.ui.jobs.jobs import JobKind
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_entities import to_front

Key = Qt.Key


@pytest.fixture
def narrow(make_desk: MakeDesk) -> Iterator[Desk]:
    """1024 × 700 in letters of twice the size."""
    desk = make_desk()
    desk.window.resize(1024, 700)
    desk.window.preferences.step("interface_size", 100)
    QApplication.processEvents()
    yield desk
    desk.window.preferences.step("interface_size", -100)
    desk.window.preferences.set_theme("light")


def test_key_hints_give_the_job_line_its_room(narrow: Desk, qtbot: QtBot) -> None:
    bench, over = narrow.bench, Event()

    def work() -> Generator[Progress, None, dict[str, Any]]:
        over.wait(10)
        yield Progress("", 1, 1)
        return {}

    assert bench.bottom.hints.isVisible()
    bench.jobs.run(JobKind.IMPORT, "Fill chemicals", work)
    qtbot.waitUntil(bench.bottom.job.isVisible)
    assert not bench.bottom.hints.isVisible()
    over.set()
    qtbot.waitUntil(lambda: len(bench.jobs) == 0)
    assert bench.bottom.hints.isVisible()


def test_side_windows_are_no_wider_than_the_screen(narrow: Desk, qtbot: QtBot) -> None:
    bench, session = narrow.bench, narrow.window.session
    people, opinions = session.features.people, session.features.opinions
    rounds = people.show_rounds()
    QApplication.processEvents()
    buttons = rounds.findChildren(QPushButton)
    assert [one.text() for one in buttons if one.width() < one.sizeHint().width()] == []
    rounds.reject()
    dialog = opinions.show_settings()
    QApplication.processEvents()
    assert dialog.minimumSizeHint().width() <= 1024
    dialog.reject()
    to_front(narrow.window)
    narrow.press(Key.Key_W)
    panel = bench.relations.panel
    qtbot.waitUntil(panel.isVisible)
    panel.show_relations([], key="R")
    QApplication.processEvents()
    heading = panel.heading
    assert heading.width() >= heading.fontMetrics().horizontalAdvance(heading.words)

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
from curator.services.curating.bulk import BulkOffer
from curator.services.curating.bulk_plan import Chance, make_plan
from curator.ui.dashboard.steps_window import LEAST, TEXT, StepsWindow
from curator.ui.jobs.jobs import JobKind
from tests.curator.ui.window.fakes import SHIFT, Desk, MakeDesk
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


def test_the_answers_of_a_question_stay_whole_after_a_change_of_theme(narrow: Desk) -> None:
    narrow.press(Key.Key_N)
    for theme in ("dark", "light"):
        narrow.window.preferences.set_theme(theme)
        for _ in range(3):
            QApplication.processEvents()
    strip = narrow.bench.reasons
    assert strip.asked
    assert [one for one in strip.buttons if one.width() < one.sizeHint().width()] == []
    assert strip.buttons[-1].geometry().right() <= strip.width()


def test_the_words_of_bulk_acceptance_scroll_above_the_list(narrow: Desk, qtbot: QtBot) -> None:
    narrow.press(Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    panel = narrow.bench.many.bulk_panel
    qtbot.waitUntil(lambda: "can be accepted unchecked" in panel.words.text())
    chances = [Chance(one, one // 10, 0.999, "A") for one in range(1, 228)]
    panel.show_offer(BulkOffer(make_plan(chances, [], error=0.02, seed=1), 227, 0, True))
    told = panel.words.parentWidget()
    assert told is not None

    def above_the_list() -> bool:  # once the words have their lines
        first, last = (told.mapTo(panel, one).y() for one in (told.rect().topLeft(), told.rect().bottomLeft()))
        checks = panel.checks_box.mapTo(panel, panel.rect().topLeft()).y()
        return checks <= first and last < panel.list.geometry().top()

    qtbot.waitUntil(lambda: panel.words.height() >= panel.words.heightForWidth(panel.words.width()))
    qtbot.waitUntil(above_the_list)


def test_an_adjudication_takes_no_width_from_the_other_columns(narrow: Desk) -> None:
    people = narrow.window.session.features.people
    assert people is not None
    panel = people.mode.panel
    panel.hint.setText(30 * "word ")
    panel.title.set_words("3 of 3 disagreements left in “pilot” and more words than a line holds")
    assert panel.minimumSizeHint().width() <= panel.title.minimumWidth() + 24


def test_lists_of_mentions_take_no_width_from_the_other_columns(narrow: Desk) -> None:
    before = narrow.bench.candidates.width()
    narrow.press(Key.Key_Return, SHIFT)
    QApplication.processEvents()
    assert narrow.bench.many.is_open
    assert narrow.bench.candidates.width() == before
    narrow.press(Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    QApplication.processEvents()
    assert narrow.bench.candidates.width() == before


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
    assert people is not None
    assert opinions is not None
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


def test_a_step_is_shown_by_some_of_its_words(narrow: Desk, qtbot: QtBot) -> None:
    narrow.press(Key.Key_Return)
    narrow.press(Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
    [window] = [one for one in QApplication.topLevelWidgets() if isinstance(one, StepsWindow) and one.isVisible()]
    window.resize(700, 500)
    qtbot.waitUntil(lambda: window.model.rowCount() > 0)
    QApplication.processEvents()
    characters = window.table.columnWidth(TEXT) / window.table.fontMetrics().averageCharWidth()
    assert characters >= LEAST - 1
    window.resize(2400, 500)
    QApplication.processEvents()
    assert window.table.columnWidth(TEXT) / window.table.fontMetrics().averageCharWidth() > LEAST
    window.close()

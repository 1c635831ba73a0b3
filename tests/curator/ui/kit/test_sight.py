"""The rule of the keys, by parts: times of events, what is on the screen since when, views that have just come up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCompleter,
    QDialog,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from curator.ui.kit.row_list import RowList
from curator.ui.kit.sight import SEEN_SECONDS, WRAP_MS, Glance, PaintLog, PressClock, Sight, rows_in_sight
from tests.curator.ui.seeing import Clock, seeing

Key = Qt.Key


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sight(qapp: QApplication, clock: Clock) -> Iterator[Sight]:
    with seeing(qapp, clock) as made:
        yield made


class Strip(QWidget):
    """A part of a window that a key opens; it counts the keys that it gets."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.keys = 0

    def keyPressEvent(self, event: object) -> None:
        self.keys += 1


class Window(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.strip, self.line = Strip(self), QLineEdit(self)
        layout = QVBoxLayout(self)
        layout.addWidget(self.strip)
        layout.addWidget(self.line)
        self.strip.setMinimumSize(80, 30)


@pytest.fixture
def window(qtbot: QtBot, sight: Sight, clock: Clock) -> Window:
    made = Window()
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made)
    sight.watch(made)
    made.strip.setFocus()
    painted(made)
    clock.now += 1
    return made


def painted(window: QWidget) -> None:
    """Until what was asked to be painted was painted, and the event loop was reached again."""
    QTest.qWaitForWindowExposed(window)
    for _ in range(3):
        QApplication.processEvents()


def press(window: QWidget, key: Qt.Key = Key.Key_Return) -> None:
    QTest.keyClick(window.windowHandle(), key)


# --- times of events ---


@pytest.mark.parametrize("wrapped", [0, 3 * WRAP_MS])
def test_an_event_of_the_monotonic_clock_says_when_it_happened(wrapped: int) -> None:
    clock = Clock(wrapped / 1000 + 500.0)
    times = PressClock(clock)
    assert times.seconds(499_700) == pytest.approx(clock.now - 0.3)


def test_the_delay_of_another_clock_is_taken_from_the_quickest_event() -> None:
    clock = Clock(10_000.0)
    times = PressClock(clock)
    assert times.seconds(1_000) == clock.now  # the first tells nothing
    clock.now += 1.0
    assert times.seconds(2_000) == pytest.approx(clock.now)
    clock.now += 1.0
    assert times.seconds(2_700) == pytest.approx(clock.now - 0.3), "handled 0.3 s after it was pressed"


def test_an_event_without_a_time_happens_now() -> None:
    assert PressClock(Clock(5.0)).seconds(0) == 5.0


def test_a_repeated_key_that_is_not_marked_as_such_counts_from_its_first_press(
    window: Window, sight: Sight, clock: Clock
) -> None:
    """As from a busy X server: a release and a press of the same time."""
    answers: list[bool] = []

    def send(kind: QEvent.Type, stamp: int) -> None:
        event = QKeyEvent(kind, Key.Key_Return, Qt.KeyboardModifier.NoModifier, 36, 0, 0, "\r")
        event.setTimestamp(stamp)
        QCoreApplication.sendEvent(window.windowHandle(), event)
        if kind == QEvent.Type.KeyPress:
            answers.append(sight.has_seen(appeared))

    appeared = clock.now
    send(QEvent.Type.KeyPress, 1_000)
    clock.now += 1
    send(QEvent.Type.KeyRelease, 2_000)
    send(QEvent.Type.KeyPress, 2_000)
    assert answers == [False, False], "the key is held down"
    send(QEvent.Type.KeyRelease, 2_000)
    clock.now += 0.1
    send(QEvent.Type.KeyPress, 2_100)
    assert answers[2:] == [True], "the key is pressed again"


# --- views that have just come up ---


def test_a_key_is_dropped_until_the_view_was_on_the_screen_long_enough(
    qtbot: QtBot, window: Window, sight: Sight, clock: Clock
) -> None:
    sight.watch(window.strip)
    window.strip.hide()
    window.strip.show()
    window.strip.setFocus()
    with qtbot.waitSignal(sight.dropped):
        press(window)  # it has not even been painted
    painted(window)
    clock.now += SEEN_SECONDS - 0.01
    with qtbot.waitSignal(sight.dropped):
        press(window)
    assert window.strip.keys == 0
    clock.now += 0.02
    press(window)
    assert window.strip.keys == 1


def test_what_was_pressed_before_a_dialog_came_up_does_not_act_on_it(
    qtbot: QtBot, window: Window, sight: Sight, clock: Clock
) -> None:
    dialog = QDialog(window)
    button = QPushButton("Delete everything", dialog)
    button.setDefault(True)
    pressed: list[bool] = []
    button.clicked.connect(lambda: pressed.append(True))
    dialog.open()
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog)
    painted(dialog)
    with qtbot.waitSignal(sight.dropped):
        press(dialog)
    clock.now += SEEN_SECONDS + 0.01
    press(dialog)
    assert pressed == [True]


def test_no_character_is_lost_to_completions_that_have_just_come_up(
    qtbot: QtBot, window: Window, sight: Sight, clock: Clock
) -> None:
    completer = QCompleter(["/home", "/tmp"], window)
    window.line.setCompleter(completer)
    window.line.setFocus()
    for key in (Key.Key_Slash, Key.Key_T, Key.Key_M):
        press(QApplication.activePopupWidget() or window, key)
        painted(window)
    assert window.line.text() == "/tm"
    assert completer.popup().isVisible()
    completer.popup().setCurrentIndex(completer.completionModel().index(0, 0))
    with qtbot.waitSignal(sight.dropped):
        press(completer.popup(), Key.Key_Return)  # takes a completion that was not seen


def test_a_page_of_a_dialog_takes_its_first_key_when_it_was_seen(
    qtbot: QtBot, window: Window, sight: Sight, clock: Clock
) -> None:
    dialog = QDialog(window)
    pages = QStackedWidget(dialog)
    for words in ("Next", "Create"):
        pages.addWidget(QPushButton(words))
    dialog.resize(200, 80)
    dialog.open()
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog)
    painted(dialog)
    clock.now += 1
    assert not sight.watches(pages.widget(0))
    pages.setCurrentIndex(1)
    pages.widget(1).setFocus()
    painted(dialog)
    with qtbot.waitSignal(sight.dropped):
        press(dialog)


def test_text_for_a_field_that_a_key_opened_is_kept(window: Window, sight: Sight, clock: Clock) -> None:
    sight.watch(window.line)
    window.line.hide()
    press(window, Key.Key_Slash)  # the key that opens it
    window.line.show()
    window.line.setFocus()
    press(window, Key.Key_A)
    assert window.line.text() == "a"
    window.line.setProperty("typing_acts", True)
    press(window, Key.Key_B)
    assert window.line.text() == "a", "where a character acts, it is a key like any other"
    painted(window)
    clock.now += SEEN_SECONDS + 0.01
    press(window, Key.Key_B)
    assert window.line.text() == "ab"


def test_modifiers_are_never_dropped(qtbot: QtBot, window: Window, sight: Sight) -> None:
    sight.watch(window.strip)
    with qtbot.assertNotEmitted(sight.dropped):
        press(window, Key.Key_Shift)


# --- what is painted ---


@pytest.fixture
def rows(qtbot: QtBot, sight: Sight) -> RowList:
    made = RowList("rows")
    made.setModel(QStringListModel([str(one) for one in range(50)], made))
    made.resize(200, 5 * made.sizeHintForRow(0))
    qtbot.addWidget(made)
    return made


def test_the_rows_in_sight_are_those_of_which_half_can_be_seen(rows: RowList) -> None:
    rows.show()
    painted(rows)
    height = rows.sizeHintForRow(0)
    assert rows_in_sight(rows) == range(5)
    rows.verticalScrollBar().setValue(2 * height + height // 4)
    assert rows_in_sight(rows) == range(2, 7)
    rows.verticalScrollBar().setValue(2 * height + 3 * height // 4)
    assert rows_in_sight(rows) == range(3, 8)


def test_a_row_is_on_the_screen_since_it_was_painted(rows: RowList, clock: Clock) -> None:
    shown = ["a", "b"]
    log = PaintLog(rows.viewport(), lambda: shown, clock=clock)
    assert log.since("a") is None
    clock.now = 10.0
    rows.show()
    painted(rows)
    assert (log.since("a"), log.since("b")) == (10.0, 10.0)
    clock.now = 11.0
    shown[1] = "c"
    assert log.since("c") is None, "the painting counts, not the change"
    rows.viewport().update()
    painted(rows)
    assert [log.since(one) for one in "abc"] == [10.0, None, 11.0]
    rows.hide()
    assert log.since("a") is None


def test_a_key_saw_what_was_painted_long_enough_before_it(
    qtbot: QtBot, window: Window, sight: Sight, clock: Clock
) -> None:
    glance = Glance(sight)
    shown = ["old"]
    glance.log(window.strip, lambda: shown)
    window.strip.update()
    painted(window)
    clock.now += 1
    shown.append("new")
    window.strip.update()
    painted(window)
    saw: list[tuple[bool, bool, bool]] = []
    window.strip.keyPressEvent = lambda _: saw.append(  # type: ignore[method-assign]
        (glance.saw("old"), glance.saw("new"), glance.saw("never"))
    )
    clock.now += SEEN_SECONDS - 0.01
    press(window)
    clock.now += 0.02
    press(window)
    assert saw == [(True, False, False), (True, True, False)]
    assert glance.saw("never"), "where no key is being handled, nothing is held back"
    assert Glance(None).saw("anything")


def test_what_was_scrolled_away_counts_as_seen_if_it_was_there_long_enough(
    window: Window, rows: RowList, sight: Sight, clock: Clock
) -> None:
    glance = Glance(sight)
    glance.remember(rows.viewport(), lambda: [("row", one) for one in rows_in_sight(rows)])
    found: list[list[object]] = []
    window.strip.keyPressEvent = lambda _: found.append(  # type: ignore[method-assign]
        [key[1] for key in glance.unseen(asked)]  # type: ignore[index]
    )
    asked = [("row", 0), ("row", 4), ("row", 49)]

    def unseen_by_a_key() -> list[object]:
        press(window, Key.Key_A)
        return found.pop()

    layout = window.layout()
    assert layout is not None
    layout.addWidget(rows)
    rows.setFixedHeight(5 * rows.sizeHintForRow(0))
    painted(window)
    clock.now += SEEN_SECONDS * 2
    assert unseen_by_a_key() == [49]
    rows.scrollToBottom()
    painted(window)
    clock.now += SEEN_SECONDS / 2
    assert unseen_by_a_key() == [49], "it has only just come up"
    rows.scrollToTop()
    painted(window)
    clock.now += SEEN_SECONDS * 2
    assert unseen_by_a_key() == [49], "it was passed over"
    rows.hide()
    assert unseen_by_a_key() == [49], "what was seen is remembered"
    assert Glance(None).unseen(asked) == []

"""Keys, clicks and time at work are counted once each, and go to the step that they led to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Change, ChangeKind
from curator.ui.bench.effort_meter import EffortMeter

Key = Qt.Key


class Efforts:
    def __init__(self) -> None:
        self.kept: list[tuple[int, int, int]] = []

    def record(self, operation_id: int, *, keys: int, milliseconds: int) -> None:
        self.kept.append((operation_id, keys, milliseconds))


class Desk:
    """A window with a line in a box, and a clock that is set by hand."""

    def __init__(self, qtbot: QtBot) -> None:
        self.now, self.efforts, self.steps = 0.0, Efforts(), 0
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.line = QLineEdit(self.window)
        QVBoxLayout(self.window).addWidget(self.line)
        self.window.show()
        self.window.activateWindow()
        assert QTest.qWaitForWindowActive(self.window)
        self.line.setFocus()
        self.meter = EffortMeter(self.efforts, clock=lambda: self.now)  # type: ignore[arg-type]
        self.meter.watch()

    def press(self, key: Key, *, at: float | None = None) -> None:
        self.now = self.now if at is None else at
        QTest.keyClick(self.line, key)

    def took(self, kind: ChangeKind = ChangeKind.DECIDED) -> tuple[int, int, int] | None:
        self.steps += 1
        self.meter.took(Change(kind, "ada", "", operation_id=self.steps))
        return self.efforts.kept[-1] if self.efforts.kept else None


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(qtbot)
    yield made
    made.meter.close()


def test_every_key_counts_once_and_modifiers_alone_do_not(desk: Desk) -> None:
    desk.press(Key.Key_A)
    desk.press(Key.Key_Shift)
    desk.press(Key.Key_Return)
    assert desk.took() == (1, 2, 0)
    assert desk.took() == (2, 0, 0), "counting begins again"


def test_a_held_key_counts_once(desk: Desk) -> None:
    held = QKeyEvent(QEvent.Type.ShortcutOverride, Key.Key_A, Qt.KeyboardModifier.NoModifier, "a", True)
    QCoreApplication.sendEvent(desk.line, held)
    assert desk.took() == (1, 0, 0)


def test_a_click_counts_at_the_window(desk: Desk) -> None:
    QTest.mouseClick(desk.window.windowHandle(), Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    assert desk.took() == (1, 1, 0)


def test_a_minutes_pause_is_no_work(desk: Desk) -> None:
    desk.press(Key.Key_A, at=0.0)
    desk.press(Key.Key_B, at=2.5)
    desk.press(Key.Key_C, at=500.0)
    desk.press(Key.Key_D, at=501.0)
    desk.now = 503.0
    assert desk.took() == (1, 4, 5500)


def test_a_step_that_decides_nothing_is_not_recorded_but_takes_its_keys(desk: Desk) -> None:
    desk.press(Key.Key_A)
    assert desk.took(ChangeKind.MENTIONS) is None
    desk.press(Key.Key_B)
    assert desk.took() == (2, 1, 0)

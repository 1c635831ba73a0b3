"""Calls from other threads into the window's."""

import threading
from functools import partial

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from curator.ui.kit.window_calls import call_in_window


def test_calls_come_in_order_in_the_window_s_thread(qapp: QApplication) -> None:
    told: list[tuple[int, bool]] = []

    def tell(number: int) -> None:
        told.append((number, threading.current_thread() is threading.main_thread()))

    def ask() -> None:
        for number in range(3):
            call_in_window(partial(tell, number))

    beside = threading.Thread(target=ask)
    beside.start()
    beside.join()
    assert told == [], "only when the window comes to it"
    qapp.processEvents()
    assert told == [(0, True), (1, True), (2, True)]


def test_a_call_from_the_window_s_own_thread_waits_its_turn_too(qapp: QApplication) -> None:
    told: list[int] = []
    call_in_window(partial(told.append, 1))
    assert told == []
    qapp.processEvents()
    assert told == [1]


def test_what_is_pending_is_painted_before_a_call(qtbot: QtBot) -> None:
    told: list[str] = []

    class Painted(QWidget):
        def paintEvent(self, event: QPaintEvent) -> None:
            told.append("painted")

    widget = Painted()
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitUntil(lambda: bool(told))
    told.clear()
    call_in_window(lambda: told.append("called"))
    widget.update()
    qtbot.waitUntil(lambda: "called" in told)
    assert told == ["painted", "called"]

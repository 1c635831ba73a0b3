"""Calls from other threads into the window's."""

import threading
from functools import partial

from PySide6.QtWidgets import QApplication

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

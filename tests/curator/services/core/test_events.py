"""The event bus: order, unsubscribing, and a listener that fails."""

from __future__ import annotations

import logging

import pytest

from curator.domain.decisions import Change, ChangeKind
from curator.services.core.events import EventBus

CHANGE = Change(ChangeKind.DECIDED, "ada", "text")


def test_listeners_hear_in_order_until_they_unsubscribe() -> None:
    bus, heard = EventBus(), list[str]()
    stop = bus.subscribe(lambda change: heard.append(f"first {change.text}"))
    bus.subscribe(lambda change: heard.append("second"))
    bus.emit(CHANGE)
    stop()
    stop()
    bus.emit(CHANGE)
    assert heard == ["first text", "second", "second"]


def test_a_failing_listener_does_not_silence_the_others(caplog: pytest.LogCaptureFixture) -> None:
    bus, heard = EventBus(), list[Change]()

    def fail(_: Change) -> None:
        raise RuntimeError("a view's bug")

    bus.subscribe(fail)
    bus.subscribe(heard.append)
    with caplog.at_level(logging.ERROR):
        bus.emit(CHANGE)
    assert heard == [CHANGE]
    assert "a view's bug" in caplog.text

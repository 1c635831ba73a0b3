"""Decisions of two curators side by side, from the notice to the mention; with a server: test_shared.py."""

from __future__ import annotations

from threading import Event

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from curator.commands.command import why_disabled
from curator.domain.wording import AwayError
from curator.services.queue.team import TeamService
from curator.ui.dashboard.conflicts_window import ConflictsWindow
from curator.ui.kit.worker import Worker
from curator.ui.shell.catalogue import COMMANDS
from tests.curator.ui.window.every_window import conflicting
from tests.curator.ui.window.fakes import Desk
from tests.curator.ui.window.test_seeing import seeing


def test_a_notice_leads_to_both_decisions_and_enter_to_the_mention(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    [command] = [one for one in COMMANDS if one.id == "people.conflicts"]
    assert why_disabled(command, desk.bench.state).startswith("No other curator decided differently")
    rows = conflicting(desk)._read()
    monkeypatch.setattr(TeamService, "collisions", [one for one, _ in rows])
    monkeypatch.setattr(TeamService, "collided", lambda _: rows)
    for _ in range(2):  # the second change brings no other
        seeing(desk)._changed()
    assert len(desk.bench.notices) == 1
    desk.bench.notices.show()
    window = desk.window.findChildren(ConflictsWindow)[-1]
    qtbot.waitUntil(lambda: window.table.model().rowCount() == 2 and window.isActiveWindow())
    cells = [[window.table.model().index(row, column).data() for column in range(1, 6)] for row in range(2)]
    nil, link = "NIL: not in the knowledge base", "Lidocaine (MESH:D008012)"
    assert cells == [["gout", nil, link, "bob", "theirs"], ["gout", nil, link, "bob", "yours"]]
    desk.press(Qt.Key.Key_Return, at=window.table)
    assert desk.bench.navigator.mention_id == 6
    assert window.isVisible()

    def away(_: TeamService) -> None:
        raise AwayError("The server does not answer.")

    monkeypatch.setattr(TeamService, "collided", away)
    window._read = desk.project.team.collided
    window.load()
    qtbot.waitUntil(lambda: window.words.text() == "The server does not answer.")
    assert window.table.model().rowCount() == 2


def test_what_was_read_is_shown_even_if_others_decide_meanwhile(desk: Desk, qtbot: QtBot) -> None:
    window = conflicting(desk)
    rows = window._read()
    begun, read = [Event(), Event()], [Event(), Event()]
    number = iter(range(2))

    def slowly() -> list[object]:
        at = next(number)
        begun[at].set()
        read[at].wait(20)
        return rows[: at + 1]

    window.worker, window._read = Worker(window), slowly
    window.table.show_rows([])
    window.load()
    assert begun[0].wait(20)
    window.load()
    window.load()
    read[0].set()
    qtbot.waitUntil(lambda: window.table.model().rowCount() == 1)
    assert begun[1].wait(20)
    read[1].set()
    qtbot.waitUntil(lambda: window.table.model().rowCount() == 2)
    window.worker.close()

"""Menus by keyboard: each command of a menu has a letter of its own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from curator.commands.command import Menu
from curator.ui.jobs.jobs import JobKind
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.menus import with_mnemonic
from tests.curator.ui.window.fakes import Desk

MOVING = {
    *("mention.next", "mention.previous", "mention.undecided", "queue.next", "queue.previous"),
    *("edit.undo", "edit.redo", "edit.find_next", "edit.find_previous"),
    *(f"edit.end_{where}" for where in ("later", "earlier", "right", "left")),
    *(f"edit.start_{where}" for where in ("later", "earlier", "right", "left")),
    *("view.looser", "view.tighter", "view.wider", "view.narrower"),
}
"""What a key repeats while it is held down."""


def test_every_command_of_a_menu_has_its_own_letter(window: MainWindow) -> None:
    menus = [action.menu() for action in window.menuBar().actions()]
    assert len(menus) == len(Menu)
    for menu in menus:
        assert isinstance(menu, QMenu)
        texts = [action.text() for action in menu.actions() if not action.isSeparator()]
        letters = [text[text.index("&") + 1].casefold() for text in texts]
        assert len(set(letters)) == len(letters), menu.title()


def test_titles_stay_as_they_are_but_for_the_mark(window: MainWindow) -> None:
    for command in COMMANDS:
        assert window.menus.action(command.id).text().replace("&", "") == command.title


def test_every_command_is_registered_by_whom_it_calls(desk: Desk) -> None:
    assert [one.id for one in COMMANDS if one not in desk.window.session.commands] == []


def test_a_key_that_is_held_down_moves_on_but_decides_once(window: MainWindow) -> None:
    again = {command.id for command in COMMANDS if window.menus.action(command.id).autoRepeat()}
    assert again == MOVING
    assert not {"mention.accept", "mention.nil", "mention.reject", "queue.done", "model.retrain"} & again


def test_a_letter_inside_a_word_is_the_second_choice() -> None:
    taken: set[str] = set()
    assert [with_mnemonic(one, taken) for one in ("Next mention", "Next", "Ne", "Ne")] == [
        "&Next mention",
        "N&ext",
        "Ne",
        "Ne",
    ]


class Running:
    def cancel(self) -> None:
        return None

    def wait(self, timeout: float | None = None) -> None:
        return None


def test_a_command_that_has_to_wait_says_why(desk: Desk) -> None:
    desk.bench.jobs.start(JobKind.CALIBRATE, "Refit weights", lambda progress, end: Running())
    desk.press(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    wait = "Wait until the background work has finished, or cancel it."
    assert desk.said == f"Retrain: {wait}"
    [model] = [one.menu() for one in desk.window.menuBar().actions() if one.text().replace("&", "") == "Model"]
    assert isinstance(model, QMenu)
    model.aboutToShow.emit()
    retrain, linkers = (desk.window.menus.action(f"model.{one}") for one in ("retrain", "history"))
    assert wait in retrain.toolTip().replace("\n", " ")
    assert wait not in linkers.toolTip().replace("\n", " ")

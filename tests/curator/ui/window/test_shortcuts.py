"""Custom keys: assigned, shown in menus and overlay, saved, and reset."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from curator.commands.command import Keymap, Menu
from curator.settings.file import load
from curator.settings.schema import with_value
from curator.ui.shell.keys_overlay import key_rows
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.shortcuts import ShortcutsDialog
from tests.curator.ui.window.fakes import Desk

Key = Qt.Key


def asked(window: MainWindow) -> ShortcutsDialog:
    window.menus.action("edit.shortcuts").trigger()
    [dialog] = [one for one in QApplication.topLevelWidgets() if isinstance(one, ShortcutsDialog) and one.isVisible()]
    return dialog


def choose(dialog: ShortcutsDialog, title: str) -> None:
    dialog.filter.setText(title)
    assert dialog.chosen is not None
    assert dialog.chosen.title == title


def test_a_command_gets_a_key_and_the_window_obeys_it(desk: Desk) -> None:
    dialog = asked(desk.window)
    choose(dialog, "Accept first suggestion")
    dialog.keys.setKeySequence(QKeySequence("Z"))
    dialog.give.click()
    dialog.accept()
    desk.press(Key.Key_Z, at=desk.bench.document)
    assert desk.decision("Lidocaine") is not None
    assert load().settings.shortcuts == {"mention.accept": ("Z", "Return", "Enter")}
    rows = {words: keys for keys, words in key_rows(Menu.MENTION, desk.window.preferences.keymap)}
    assert rows["Accept first suggestion"].startswith("Z")


def test_a_key_that_is_taken_is_said_and_changes_hands(window: MainWindow) -> None:
    dialog = asked(window)
    choose(dialog, "Redo")
    dialog.keys.setKeySequence(QKeySequence("Ctrl+Z"))
    assert "is assigned to “Undo”" in dialog.problem.text()
    dialog.give.click()
    dialog.accept()
    assert window.menus.action("edit.undo").shortcuts() == []
    assert window.menus.action("edit.redo").shortcuts()[0] == QKeySequence("Ctrl+Z")


def test_the_usual_keys_come_back(window: MainWindow) -> None:
    dialog = asked(window)
    choose(dialog, "Redo")
    dialog.take.click()
    assert dialog.keymap.changed == {"edit.redo": ()}
    dialog.usual.click()
    assert dialog.keymap == Keymap()
    dialog.take.click()
    dialog.all_usual.click()
    dialog.accept()
    assert load().settings.shortcuts == {}


def test_conflicts_that_a_file_brought_are_shown(window: MainWindow) -> None:
    settings = window.preferences.settings
    window.preferences.adopt(with_value(settings, "shortcuts", {"edit.redo": ("Ctrl+Z",)}))
    dialog = asked(window)
    assert "is assigned to several commands" in dialog.problem.text()
    dialog.reject()

"""Ctrl+K: letters find commands, @ finds documents, and what cannot be used says why."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from curator.commands.command import Keymap, WindowState
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.palette import Palette, command_entries
from tests.curator.ui.window.fakes import CTRL, Desk

Key = Qt.Key


def opened(window: MainWindow) -> Palette:
    QTest.keyClick(window, Key.Key_K, CTRL)
    return window.findChildren(Palette)[-1]


def titles(palette: Palette) -> list[str]:
    return [entry.title for row in range(palette.model.rowCount()) if (entry := palette.model.row(row)) is not None]


def test_letters_find_a_command_and_return_does_it(desk: Desk) -> None:
    desk.press(Key.Key_Return)
    before = desk.word
    palette = opened(desk.window)
    QTest.keyClicks(palette.line, "undo")
    assert titles(palette)[0] == "Undo"
    QTest.keyClick(palette.line, Key.Key_Return)
    assert desk.decision("Lidocaine") is None
    assert desk.word != before
    assert desk.bench.document.hasFocus()


def test_what_cannot_be_used_is_listed_with_its_reason_and_does_nothing(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClicks(palette.line, "retrain")
    entry = palette.model.row(0)
    assert entry is not None
    assert (entry.title, entry.why) == ("Retrain…", "Open a project first.")
    QTest.keyClick(palette.line, Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(palette.line, Key.Key_Escape)


def test_an_at_finds_documents_by_id_and_title(desk: Desk) -> None:
    palette = opened(desk.window)
    QTest.keyClicks(palette.line, "@")
    assert palette.model.rowCount() == 2
    QTest.keyClicks(palette.line, "2")
    assert [palette.model.row(0).place] == ["2"]  # type: ignore[union-attr]
    QTest.keyClick(palette.line, Key.Key_Return)
    assert desk.document == "2"


def test_without_a_project_documents_say_so(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClicks(palette.line, "@x")
    assert palette.model.rowCount() == 0
    assert "when a project is open" in palette.list.empty_words


def test_letters_typed_into_the_palette_decide_nothing_and_escape_gives_the_keyboard_back(desk: Desk) -> None:
    palette = opened(desk.window)
    QTest.keyClicks(palette.line, "nxs1 ")
    QTest.keyClick(palette.line, Key.Key_Escape)
    assert desk.project.curation.history(desk.world.mentions(1)[0]) == []
    assert desk.bench.document.hasFocus()


def test_what_was_chosen_last_stands_first_next_time(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClicks(palette.line, "dark")
    QTest.keyClick(palette.line, Key.Key_Return)
    assert titles(opened(window))[0] == "Dark colours"
    window.menus.action("view.light").trigger()


def test_arrows_move_in_what_was_found(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClick(palette.line, Key.Key_Down)
    QTest.keyClick(palette.line, Key.Key_PageDown)
    assert palette.list.currentIndex().row() > 1
    QTest.keyClick(palette.line, Key.Key_Up)
    QTest.keyClick(palette.line, Key.Key_Escape)


def test_the_recent_command_is_first_and_spoken_with_its_keys() -> None:
    entry = command_entries("", WindowState(), Keymap(), ["edit.undo"])[0]
    assert entry.title == "Undo"
    assert "Ctrl+Z" in entry.spoken

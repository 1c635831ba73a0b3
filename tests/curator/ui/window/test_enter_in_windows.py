"""Every window and dialog of the program: where the keyboard begins, what Enter presses, and that its hints are true.

A class without a line in `MAKERS` fails; so does a hint about a key that no test here presses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt, SignalInstance
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QTextEdit,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from curator.ui.bench.mention_editor import TypePicker
from curator.ui.dashboard.conflicts_window import ConflictsWindow
from curator.ui.dashboard.decisions_window import DecisionsWindow
from curator.ui.dashboard.suspicious_window import SuspiciousWindow
from curator.ui.entities.entities_window import EntitiesWindow
from curator.ui.entities.remap_window import RemapWindow
from curator.ui.kit.messages import ask, choose, tell
from curator.ui.shell.manual import AboutDialog
from curator.ui.shell.shortcuts import ShortcutsDialog
from curator.ui.training.bundles import ReasonDialog
from curator.ui.training.map_window import MapDialog
from tests.curator.ui.window.every_window import MAKERS, classes
from tests.curator.ui.window.fakes import Desk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_entities import to_front
from tests.curator.ui.window.test_reach import nameless

Key = Qt.Key
ENTERS = (Key.Key_Return, Key.Key_Enter)
INPUTS = (QAbstractItemView, QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit, QRadioButton)
NAMED_KEY = re.compile(r"\b(Enter|Space|Esc|arrows|F[2-9]|F1\d|K keeps)")
WITHOUT_INPUT = {
    "ImportDialog": "QPushButton",  # Add files…: what is to be done first, and it opens a dialog
    "MapDialog": "MapView",
    "RoundsDialog": "QPushButton",  # Close, while there is no round
    "ImportReportDialog": "QPushButton",  # Close, where there is no problem to list
}
"""What has the keyboard in windows that have neither a list nor a field to begin with."""
HARMLESS = {"Close", "Cancel", "OK", "Add files…", "Next", "New round…"}


class Shown(NamedTuple):
    desk: Desk
    window: QWidget

    @property
    def name(self) -> str:
        return type(self.window).__name__


@contextmanager
def shown_window(desk: Desk, folder: Path, name: str) -> Iterator[Shown]:
    kind, maker = classes()[name], MAKERS[name]
    if isinstance(maker, str):
        desk.window.menus.action(maker).trigger()
        [window] = [one for one in QApplication.topLevelWidgets() if type(one) is kind and one.isVisible()]
    else:
        window = maker(desk, folder)
        window.show()
    if kind is not TypePicker:  # behind a popup its window stays the active one
        to_front(window)
    try:
        yield Shown(desk, window)
    finally:
        if isValid(window) and window is not desk.window:
            window.close()


@pytest.fixture
def opened(desk: Desk, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shown]:
    with shown_window(desk, tmp_path, request.param) as shown:
        yield shown


def press(window: QWidget, *keys: Key) -> None:
    for key in keys:
        QTest.keyClick(window.focusWidget() or window, key)


def words(button: QPushButton | QToolButton) -> str:
    return button.text().replace("&", "")


def default(window: QWidget) -> str:
    """The words of the button that Enter presses, '' for none."""
    return " and ".join(words(one) for one in window.findChildren(QPushButton) if one.isDefault())


def test_every_window_is_here() -> None:
    assert sorted(classes()) == sorted(MAKERS), "a new window needs a line in MAKERS"


def test_enter_does_nothing_that_was_not_meant(desk: Desk, tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Where the keyboard begins, which button is the default one, what Enter does before anything else was done and on
    a button, what the window says of keys, and where the keyboard is after it; one window after the other."""
    for name in sorted(MAKERS.keys() - {"MainWindow"}):
        (tmp_path / name).mkdir()
        with subtests.test(name), shown_window(desk, tmp_path / name, name) as opened:
            enter_does_nothing_that_was_not_meant(opened)


def enter_does_nothing_that_was_not_meant(opened: Shown) -> None:
    begins_in_list_or_first_field(opened)
    assert nameless(opened.window) == []
    assert turned_by_the_wheel(opened.window) == []
    assert default(opened.window) in {"", *HARMLESS}
    assert not hints(opened.window) or opened.name in {*HINTED, "SettingsDialog"}  # those are about the text's keys
    if opened.name != "TypePicker":  # a popup that asks: its Enter answers
        enter_does_nothing_at_first(opened)
        enter_presses_what_has_the_keyboard(opened.window)
        opened.window.close()
        to_front(opened.desk.window)
        assert QApplication.focusWidget() is opened.desk.bench.document, "where the keyboard was before"


def turn_wheel(widget: QWidget, by: int) -> None:
    here, buttons, keys = QPointF(3, 3), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    wheel = QWheelEvent(here, widget.mapToGlobal(here), QPoint(), QPoint(0, by), buttons, keys, phase, False)
    QApplication.sendEvent(widget, wheel)


def turned_by_the_wheel(window: QWidget) -> list[str]:
    """The fields without the keyboard focus that the mouse wheel changes, or that it gives the focus."""
    found = []
    for one in (*window.findChildren(QComboBox), *window.findChildren(QAbstractSpinBox)):
        if one.hasFocus() or not one.isEnabled():
            continue
        before = one.currentText() if isinstance(one, QComboBox) else one.text()
        for turn in (120, -120):
            turn_wheel(one, turn)
            if before != (one.currentText() if isinstance(one, QComboBox) else one.text()) or one.hasFocus():
                found.append(one.accessibleName())
        if one.focusPolicy() is Qt.FocusPolicy.WheelFocus:
            found.append(one.accessibleName())
    return found


@pytest.mark.parametrize("opened", ["MainWindow"], indirect=True)
def test_the_wheel_changes_nothing_in_the_main_window(opened: Shown) -> None:
    assert turned_by_the_wheel(opened.window) == []


@pytest.mark.parametrize("opened", ["SettingsDialog"], indirect=True)
def test_the_wheel_changes_a_field_with_the_keyboard(opened: Shown) -> None:
    size = next(one for one in opened.window.findChildren(QSpinBox) if one.accessibleName() == "Font size")
    size.setFocus()
    before = size.value()
    turn_wheel(size, 120)
    assert size.value() == before + 1


def begins_in_list_or_first_field(opened: Shown) -> None:
    focused = opened.window.focusWidget()
    if opened.name in WITHOUT_INPUT:
        assert type(focused).__name__ == WITHOUT_INPUT[opened.name]
        assert not isinstance(focused, QPushButton) or words(focused) in HARMLESS
    else:
        assert isinstance(focused, INPUTS), focused


def enter_does_nothing_at_first(opened: Shown) -> None:
    """Nothing is pressed, decided or started, and the window behind hears nothing."""
    if isinstance(opened.window.focusWidget(), QPushButton):
        return  # a harmless one, which Enter presses
    pressed: list[str] = []
    for one in opened.window.findChildren(QPushButton):
        one.clicked.connect(lambda _=False, one=one: pressed.append(words(one)))
    before = _state(opened.desk)
    press(opened.window, *ENTERS)
    assert set(pressed) <= {"Next"}
    assert opened.window.isVisible()
    assert _state(opened.desk) == before


def _state(desk: Desk) -> tuple[int, int, str]:
    return len(desk.project.statistics.taken(limit=9)), len(desk.world.jobs.started), desk.word


def enter_presses_what_has_the_keyboard(window: QWidget) -> None:
    """As on “Give” among the shortcuts, where it saved and closed instead."""
    layout = window.layout()
    assert layout is not None
    button = QPushButton("One more", window)
    button.setAutoDefault(False)
    layout.addWidget(button)
    button.show()
    pressed: list[str] = []
    button.clicked.connect(lambda: pressed.append("one more"))
    button.setFocus()
    press(window, Key.Key_Shift, Key.Key_Insert)  # something was done: the usual button may be the default by now
    press(window, Key.Key_Return)
    assert pressed == ["one more"]
    assert window.isVisible()
    held = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    QCoreApplication.sendEvent(button, held)
    assert pressed == ["one more"], "a key that is held down"


def test_enter_held_down_on_close_decides_nothing_behind(desk: Desk, qtbot: QtBot) -> None:
    candidates = desk.bench.candidates.list
    qtbot.waitUntil(lambda: candidates.currentIndex().isValid())
    candidates.setFocus()
    desk.window.menus.action("help.about").trigger()
    [about] = shown(AboutDialog)
    assert isinstance(about, AboutDialog)
    to_front(about)
    close = about.buttons.button(QDialogButtonBox.StandardButton.Close)
    close.setFocus()
    press(about, Key.Key_Return)
    assert not about.isVisible()
    to_front(desk.window)
    assert QApplication.focusWidget() is candidates
    before = _state(desk)
    for _ in range(3):
        held = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
        QCoreApplication.sendEvent(candidates, held)
    assert _state(desk) == before
    press(desk.window, Key.Key_Return)
    assert _state(desk) != before, "a press of its own decides"


# --- what typing changes ---


def test_enter_accepts_a_form_once_something_was_typed(desk: Desk, qtbot: QtBot) -> None:
    dialog = ReasonDialog("Promote", question="Why?", ok="Use anyway", parent=desk.window)
    dialog.open()
    to_front(dialog)
    press(dialog, Key.Key_Return, Key.Key_Shift, Key.Key_Return)
    assert not dialog.problem.isVisible()
    assert default(dialog) == ""
    QTest.keyClicks(dialog.line, "Rare names")
    assert default(dialog) == "Use anyway"
    with qtbot.waitSignal(dialog.accepted):
        press(dialog, Key.Key_Return)


def test_enter_on_give_gives_the_keys_and_stays(desk: Desk) -> None:
    desk.window.menus.action("edit.shortcuts").trigger()
    [dialog] = shown(ShortcutsDialog)
    assert isinstance(dialog, ShortcutsDialog)
    to_front(dialog)
    QTest.keyClicks(dialog.filter, "retrain")
    press(dialog, Key.Key_Return)
    assert dialog.isVisible(), "Enter in the search line does not save"
    command = dialog.chosen
    assert command is not None
    dialog.keys.setFocus()
    QTest.keyClick(dialog.keys, Key.Key_F12)
    dialog.give.setFocus()
    press(dialog, Key.Key_Return)
    assert dialog.isVisible()
    assert "F12" in dialog.keymap.keys(command)
    dialog.reject()


# --- boxes ---


def _tell(window: QWidget, done: Callable[[], None]) -> QMessageBox:
    return tell(window, "Title", "Words")


def _ask(window: QWidget, done: Callable[[], None]) -> QMessageBox:
    return ask(window, "Delete", "Really?", yes="Delete", then=done)


def _choose(window: QWidget, done: Callable[[], None]) -> QMessageBox:
    return choose(window, "Resume", "What?", {"Resume": done, "Discard": done, "Later": lambda: None})


@pytest.mark.parametrize("make", [_tell, _ask, _choose])
def test_enter_in_a_question_is_no(desk: Desk, make: Callable[[QWidget, Callable[[], None]], QMessageBox]) -> None:
    done: list[str] = []
    box = make(desk.window, lambda: done.append("done"))
    to_front(box)
    focused = box.focusWidget()
    assert isinstance(focused, QPushButton)
    assert words(focused) in ("OK", "Cancel", "Later")
    press(box, Key.Key_Return)
    assert not box.isVisible()
    assert done == []


# --- hints ---


def hints(window: QWidget) -> list[str]:
    """What the window says of keys."""
    shown_words = [one.text() for one in window.findChildren(QLabel) if one.isVisible()]
    shown_words += [one.placeholderText() for one in window.findChildren(QLineEdit) if one.isVisible()]
    shown_words += [str(one.property("words")) for one in window.findChildren(QWidget) if one.property("words")]
    return [one for one in shown_words if NAMED_KEY.search(one)]


def caught(signal: Any) -> list[object]:
    found: list[object] = []
    assert isinstance(signal, SignalInstance)
    signal.connect(lambda *told: found.append(told))
    return found


def _nil_keys(window: QWidget) -> None:
    assert isinstance(window, EntitiesWindow)
    asked = caught(window.nils.make_wanted)
    press(window, Key.Key_Space)
    assert len(window.nils.table.ticked) == 1
    press(window, Key.Key_Return)
    assert len(asked) == 1
    window.nils.list.setFocus()
    press(window, Key.Key_Space)
    assert len(window.nils.chosen_ids) == 1


def _remap_keys(window: QWidget) -> None:
    assert isinstance(window, RemapWindow)
    press(window, Key.Key_Return)
    assert window.pages.currentWidget() is window.search
    press(window, Key.Key_Escape)
    assert window.isVisible()
    assert window.pages.currentWidget() is window.lines


def _suspicious_keys(window: QWidget) -> None:
    assert isinstance(window, SuspiciousWindow)
    opened, kept = caught(window.mention_wanted), caught(window.keep_wanted)
    press(window, Key.Key_Return)
    assert opened == [(1, 2)]
    press(window, Key.Key_K)
    while window.keep.isDown():
        QApplication.processEvents()
    assert kept == [(2,)]


def _map_keys(window: QWidget) -> None:
    assert isinstance(window, MapDialog)
    opened = caught(window.mention_wanted), caught(window.entity_wanted)
    press(window, Key.Key_Right, Key.Key_Return, Key.Key_Left, Key.Key_Return)
    assert sorted(map(len, opened)) == [1, 1]
    window.words.setFocus()
    QTest.keyClicks(window.words, "heart")
    press(window, Key.Key_Return)
    assert "Heart Arrest" in window.told.text()


def _conflict_keys(window: QWidget) -> None:
    assert isinstance(window, ConflictsWindow)
    opened = caught(window.mention_wanted)
    press(window, Key.Key_Down, Key.Key_Return)
    assert opened == [(2, 7)]


HINTED: dict[str, Callable[[QWidget], None]] = {
    "EntitiesWindow": _nil_keys,
    "RemapWindow": _remap_keys,
    "SuspiciousWindow": _suspicious_keys,
    "MapDialog": _map_keys,
    "ConflictsWindow": _conflict_keys,
}


@pytest.mark.parametrize("opened", HINTED, indirect=True)
def test_keys_do_what_the_window_says(opened: Shown) -> None:
    HINTED[opened.name](opened.window)


def test_enter_opens_the_decision_that_the_window_begins_on(desk: Desk, qtbot: QtBot) -> None:
    """“Enter or a double click opens the mention” is true at once, and of the search line by way of the list."""
    desk.press(Key.Key_Return)
    desk.window.menus.action("view.decisions").trigger()
    [window] = shown(DecisionsWindow)
    assert isinstance(window, DecisionsWindow)
    to_front(window)
    qtbot.waitUntil(lambda: window.model.rowCount() == 1)
    opened = caught(window.mention_wanted)
    assert window.focusWidget() is window.table
    press(window, Key.Key_Return)
    assert len(opened) == 1
    window.close()

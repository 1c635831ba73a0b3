"""A crawler over the window and every dialog: names for screen readers, a way by keyboard, words that fit at 200 %."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.palette import Palette
from tests.curator.ui.window.fakes import Desk, MakeDesk

Key = Qt.Key
INNER = ("qt_spinbox_lineedit", "qt_scrollarea_viewport", "qt_tabwidget_tabbar", "qt_menubar_ext_button")
"""Parts of Qt's own widgets, which speak for them."""
OPENING = tuple(one for one in COMMANDS if one.title.endswith("…") or one.id in ("help.about", "help.manual"))


@contextmanager
def double_size() -> Iterator[None]:
    """Words at 200 % of the usual size, as the settings' *Size of the interface* makes them."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    usual = app.font()
    font = QFont(usual)
    font.setPointSizeF(usual.pointSizeF() * 2)
    app.setFont(font)
    try:
        yield
    finally:
        app.setFont(usual)


def dialogs() -> list[QDialog]:
    """What is open, but for Qt's own file dialogs."""
    found = [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()]
    for one in found:
        if isinstance(one, QFileDialog):
            one.reject()
    return [one for one in found if not isinstance(one, QFileDialog)]


def each_dialog(desk: Desk) -> Iterator[tuple[str, QDialog]]:
    """Every dialog that a command opens here, one after the other."""
    for command in OPENING:
        if not desk.window.menus.action(command.id).isEnabled():
            continue
        desk.window.menus.action(command.id).trigger()
        for dialog in dialogs():
            for _ in range(3):  # sizes, places, heights of lines that were folded
                QApplication.processEvents()
            for _ in range(3):  # and those of words that came just now, before anything is painted
                QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
            if isValid(dialog):  # a question goes with the dialog that asks it
                yield command.id, dialog
                dialog.reject()
        for palette in desk.window.findChildren(Palette):
            palette.leave()


def name_of(widget: QWidget) -> str:
    words = widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""
    return f"{type(widget).__name__} {widget.objectName() or words[:40]!r}"


def nameless(top: QWidget) -> list[str]:
    """Controls that take the keyboard and have no name for a screen reader."""
    return [
        name_of(one)
        for one in top.findChildren(QWidget)
        if one.isVisible()
        and one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and one.objectName() not in INNER
        and not one.accessibleName()
        and not (isinstance(one, QAbstractButton) and one.text())
        and not _speaks_for_another(one)
    ]


def _speaks_for_another(widget: QWidget) -> bool:
    """The line inside a spin box, an editable combo box or a field for keys, where that has a name itself; or a widget
    that hands the keyboard on."""
    if widget.focusProxy() is not None:
        return True
    parent = widget.parentWidget()
    whole = isinstance(parent, QAbstractSpinBox | QComboBox | QKeySequenceEdit) and bool(parent.accessibleName())
    return whole and isinstance(widget, QLineEdit)


def clipped(top: QWidget) -> list[str]:
    """Labels and buttons whose words have less room than they need."""
    found = []
    for one in top.findChildren(QWidget):
        if not (isinstance(one, QLabel | QAbstractButton) and one.isVisible() and one.text()):
            continue
        needed = _needed(one)
        if one.width() + 1 < needed.width() or one.height() + 1 < needed.height():
            found.append(f"{name_of(one)} {one.width()}×{one.height()} needs {needed.width()}×{needed.height()}")
    return found


def _needed(widget: QLabel | QAbstractButton) -> QSize:
    if isinstance(widget, QLabel) and widget.wordWrap():
        return QSize(0, widget.heightForWidth(widget.width()))
    return widget.minimumSizeHint() if isinstance(widget, QAbstractButton) else widget.sizeHint()


def test_every_dialog_speaks_is_named_after_its_command_and_is_gone_round_by_tab(desk: Desk) -> None:
    """One way through all of them: names for screen readers, titles, stops of Tab."""
    silent, titles = {"window": nameless(desk.window)}, {}
    left_out, idle = dict[str, list[str]](), dict[str, list[str]]()
    for name, dialog in each_dialog(desk):
        silent[name] = nameless(dialog)
        titles[name] = (dialog.windowTitle(), isinstance(dialog, QMessageBox))
        left_out[name] = missed_by_tab(dialog)
        idle[name] = idle_letters(dialog)
    assert {name: found for name, found in idle.items() if found} == {}
    assert len(silent) > 10
    assert {name: found for name, found in silent.items() if found} == {}
    assert {name: title for name, (title, asks) in titles.items() if not is_named(name, title, asks=asks)} == {}
    assert {name: found for name, found in left_out.items() if found} == {}


OTHERS = {"model.curve": "Dashboard", "mention.find_uses": "All uses of the entity", "project.undo_import": "Imports"}
"""Commands that open the window of another one."""


def is_named(command: str, title: str, *, asks: bool) -> bool:
    """Whether a title is that of the menu item, with what it is about behind; a question may leave words out."""
    item = OTHERS.get(command) or next(one.title for one in COMMANDS if one.id == command)
    item, title = item.removesuffix("…"), title.removesuffix("…")
    return title == item or title.startswith((f"{item} of ", f"{item} – ")) or (asks and item.startswith(title))


def test_a_line_without_a_name_is_found(qtbot: QtBot) -> None:
    """Neither a named parent nor a hint inside it speaks for a line; what it is a part of does."""
    top = QWidget()
    qtbot.addWidget(top)
    whole = QVBoxLayout(top)
    box = QComboBox()
    box.setEditable(True)
    box.setAccessibleName("Curator")
    line = QLineEdit()
    line.setPlaceholderText("Find")
    group = QWidget()
    group.setAccessibleName("A group")
    QVBoxLayout(group).addWidget(line)
    for one in (box, group):
        whole.addWidget(one)
    top.show()
    assert nameless(top) == ["QLineEdit ''"]
    line.setAccessibleName("Find")
    assert nameless(top) == []
    box.setAccessibleName("")
    assert nameless(top) == ["QComboBox ''"]


def test_no_words_are_cut_at_200_percent(make_desk: MakeDesk) -> None:
    with double_size():
        desk = make_desk()
        desk.window.resize(1440, 900)
        QApplication.processEvents()
        wrong = {"window": clipped(desk.window)} | {name: clipped(dialog) for name, dialog in each_dialog(desk)}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_first_page_has_names_and_room_at_200_percent(window: MainWindow) -> None:
    with double_size():
        for _ in range(3):  # new font, new sizes, new places
            QApplication.processEvents()
        assert nameless(window) == []
        assert clipped(window) == []


def idle_letters(top: QWidget) -> list[str]:
    """Labels with a letter for Alt whose field does not take the keyboard."""
    return [
        label.text()
        for label in top.findChildren(QLabel)
        if "&" in label.text() and (field := label.buddy()) and field.focusPolicy() is Qt.FocusPolicy.NoFocus
    ]


def missed_by_tab(dialog: QDialog) -> set[str]:
    wanted = {one for one in dialog.findChildren(QWidget) if _is_stop(one) and one.window() is dialog}
    met = set()
    for _ in range(len(wanted) * 3 + 6):
        dialog.focusNextChild()
        met.add(dialog.focusWidget())
    return {name_of(one) for one in wanted - met if not _in_a_group(one)}


def _is_stop(widget: QWidget) -> bool:
    reachable = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
    return reachable and widget.isVisible() and widget.isEnabled() and widget.objectName() not in INNER


def _in_a_group(widget: QWidget) -> bool:
    """Of radio buttons only the chosen one is a stop; arrows reach the others."""
    return isinstance(widget, QAbstractButton) and widget.autoExclusive() and not widget.isChecked()


@pytest.mark.parametrize("command", ["project.new", "edit.shortcuts"])
def test_buttons_of_dialogs_have_letters_of_their_own(desk: Desk, command: str) -> None:
    desk.window.menus.action(command).trigger()
    [dialog] = dialogs()
    letters = [
        one.text()[one.text().index("&") + 1].casefold()
        for one in dialog.findChildren(QAbstractButton)
        if one.isVisible() and "&" in one.text() and not isinstance(one.parentWidget(), QDialogButtonBox)
    ]
    assert len(set(letters)) == len(letters)
    dialog.reject()

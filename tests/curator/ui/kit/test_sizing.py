"""Dialogs that are larger than the screen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from curator.ui.kit.form import FormDialog, sentence
from curator.ui.kit.sizing import SCROLLED, grow


def test_a_field_keeps_the_keyboard_where_the_dialog_has_to_scroll(qtbot: QtBot) -> None:
    dialog = FormDialog("Tall")
    qtbot.addWidget(dialog)
    first, chosen = QLineEdit(), QLineEdit()
    dialog.form.addRow("First", first)
    dialog.form.addRow("Chosen", chosen)
    first.setMinimumHeight(dialog.screen().availableSize().height())
    chosen.setFocus()
    dialog.show()
    assert dialog.height() <= dialog.screen().availableSize().height()
    assert dialog.focusWidget() is chosen
    assert dialog.buttons.contentsMargins().left() == 20, "the buttons do not begin at the edge"


class FramedWindow(QWidget):
    """As under a window manager that draws a title above it."""

    def frameSize(self) -> QSize:
        return self.size() + QSize(4, 28)


def test_the_frame_of_a_dialog_has_room_on_the_screen_too(qtbot: QtBot) -> None:
    window = FramedWindow()
    qtbot.addWidget(window)
    window.resize(300, 200)
    dialog = FormDialog("Tall", parent=window)
    field = QLineEdit()
    dialog.form.addRow("Field", field)
    field.setMinimumHeight(dialog.screen().availableSize().height())
    dialog.show()
    assert dialog.height() == dialog.screen().availableSize().height() - 28


def test_what_grows_while_it_is_open_stays_on_the_screen(qtbot: QtBot) -> None:
    dialog = FormDialog("Grows")
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    room = dialog.screen().availableGeometry()
    dialog.move(room.right() - dialog.width() - 50, room.bottom() - dialog.height() - 50)
    place = dialog.pos()
    grow(dialog, dialog.size() + QSize(40, 40))
    assert dialog.pos() == place
    grow(dialog, QSize(room.width() - 100, 500))
    assert room.contains(dialog.frameGeometry())
    assert dialog.width() == room.width() - 100
    grow(dialog, QSize(room.width() + 100, 500))
    assert dialog.x() == room.x()


def test_what_grows_before_it_has_a_place_is_moved_onto_the_screen_when_it_has_one(qtbot: QtBot) -> None:
    dialog = FormDialog("Grows")
    qtbot.addWidget(dialog)
    dialog.move(600, 0)
    with qtbot.waitExposed(dialog):
        dialog.show()
        grow(dialog, QSize(700, 500))
    qtbot.waitUntil(lambda: dialog.screen().availableGeometry().contains(dialog.frameGeometry()))


class Roomy(QPlainTextEdit):
    """Would like more height than a screen has, and needs little."""

    def sizeHint(self) -> QSize:
        return QSize(200, 9000)


def test_a_dialog_that_needs_less_leaves_room_for_its_title_wherever_it_is_put(qtbot: QtBot) -> None:
    window = FramedWindow()
    qtbot.addWidget(window)
    window.resize(300, 200)
    dialog = FormDialog("Tall", parent=window)
    dialog.body.addWidget(Roomy(), 1)
    dialog.show()
    assert dialog.height() == dialog.screen().availableSize().height() - 3 * 28


def test_no_button_becomes_the_default_where_the_dialog_has_to_scroll_later(qtbot: QtBot) -> None:
    dialog = FormDialog("Grows")
    qtbot.addWidget(dialog)
    words = sentence("Short")
    dialog.body.addWidget(words)
    dialog.show()
    assert not dialog.ok.isDefault()
    words.setText("Many lines\n" * 200)
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    assert dialog.findChild(QScrollArea, SCROLLED) is not None
    assert not any(one.isDefault() for one in dialog.findChildren(QPushButton))

"""Dialogs that are larger than the screen."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from curator.ui.kit import FormDialog


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

"""Dialogs that are larger than the screen."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit
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

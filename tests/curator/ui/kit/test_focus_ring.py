"""The focused widget is framed; the default button without the focus does not look focused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from curator.ui.kit.form import FormDialog
from curator.ui.kit.theme import LIGHT, contrast
from curator.ui.shell.app import FocusRing

ACCENT = LIGHT.accent.name()


@pytest.fixture(autouse=True)
def ring(qapp: QApplication) -> Iterator[None]:
    found = FocusRing(qapp)
    yield
    found.deleteLater()
    QCoreApplication.sendPostedEvents(found, QEvent.Type.DeferredDelete.value)


def edge(widget: QWidget) -> str:
    return QColor(widget.grab().toImage().pixel(0, widget.height() // 2)).name()


def test_lists_and_buttons_are_framed_while_they_have_the_keyboard(qtbot: QtBot) -> None:
    top = QWidget()
    qtbot.addWidget(top)
    whole = QVBoxLayout(top)
    parts = [QListWidget(), QPushButton("Go"), QComboBox(), QSpinBox(), QLineEdit()]
    for one in parts:
        whole.addWidget(one)
    top.show()
    top.activateWindow()
    assert QTest.qWaitForWindowActive(top)
    for at in (0, 1, 2, 3, 4, 0):
        parts[at].setFocus()
        framed = [edge(one) == ACCENT for one in parts[:4]]  # a line has a frame of its own
        assert framed == [at == place for place in range(4)]
    top.resize(500, 400)
    QApplication.processEvents()
    assert edge(parts[0]) == ACCENT
    inside = parts[0].grab().toImage()
    assert QColor(inside.pixel(QPoint(20, parts[0].height() // 2))).name() != ACCENT
    parts.pop(0).deleteLater()  # with its frame
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    parts[0].setFocus()
    assert edge(parts[0]) == ACCENT


def test_a_default_button_does_not_look_focused(qtbot: QtBot) -> None:
    dialog = FormDialog("Title", ok="Save")
    qtbot.addWidget(dialog)
    line = QLineEdit(dialog)
    dialog.form.addRow("Name", line)
    dialog.show()
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog)
    plain = blue(dialog.ok)
    QTest.keyClicks(line, "Anna")
    assert dialog.ok.isDefault()
    assert not dialog.ok.hasFocus()
    assert dialog.ok.font().bold()
    other = dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel)
    assert contrast(QColor(edge(dialog.ok)), QColor(edge(other))) < 1.3, "framed as the others are"
    assert blue(dialog.ok) <= plain + 6, "no bluer than a button that is nothing"
    dialog.ok.setFocus()
    assert edge(dialog.ok) == ACCENT
    assert blue(dialog.ok) > 100


def blue(button: QPushButton) -> int:
    """By how much its bluest pixel is bluer than red."""
    image = button.grab().toImage()
    places = [(x, y) for x in range(image.width()) for y in range(image.height())]
    colours = [QColor(image.pixel(x, y)) for x, y in places]
    return max(one.blue() - one.red() for one in colours)

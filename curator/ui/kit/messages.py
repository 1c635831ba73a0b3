"""Message boxes without a nested event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def tell(parent: QWidget, title: str, words: str, *, details: str = "", wrong: bool = False) -> QMessageBox:
    """Show a sentence; `details` are collapsed."""
    box = _box(parent, title, words, QMessageBox.Icon.Warning if wrong else QMessageBox.Icon.Information)
    if details:
        box.setDetailedText(details)
    box.addButton(QMessageBox.StandardButton.Ok)
    box.open()
    return box


def ask(parent: QWidget, title: str, words: str, *, yes: str, then: Callable[[], None]) -> QMessageBox:
    """Ask for an explicit yes: Enter, Esc and Cancel mean no."""
    box = _box(parent, title, words, QMessageBox.Icon.Question)
    box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    box.accepted.connect(then)
    box.open()
    return box


def choose(parent: QWidget, title: str, words: str, answers: Mapping[str, Callable[[], None]]) -> QMessageBox:
    """Ask with a button for each answer; the last one changes nothing and is the meaning of Enter and Esc."""
    box = _box(parent, title, words, QMessageBox.Icon.Question)
    buttons = {box.addButton(name, QMessageBox.ButtonRole.ActionRole): then for name, then in answers.items()}
    harmless = list(buttons)[-1]
    box.setDefaultButton(harmless)
    box.setEscapeButton(harmless)
    box.buttonClicked.connect(lambda button: buttons[button]())
    box.open()
    return box


def _box(parent: QWidget, title: str, words: str, icon: QMessageBox.Icon) -> QMessageBox:
    box = QMessageBox(icon, title, words, parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowModality(Qt.WindowModality.WindowModal)
    box.setAccessibleName(title)
    return box

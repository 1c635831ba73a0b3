"""Whose key is it: a widget's that has the keyboard, or the window's."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QTreeView,
    QWidget,
)

Key = Qt.Key
_COMMANDING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_LIST_KEYS = {
    Key.Key_Up,
    Key.Key_Down,
    Key.Key_Home,
    Key.Key_End,
    Key.Key_PageUp,
    Key.Key_PageDown,
    Key.Key_Return,
    Key.Key_Enter,
}
_TREE_KEYS = {Key.Key_Space, Key.Key_Left, Key.Key_Right}
_BUTTON_KEYS = {Key.Key_Space, Key.Key_Return, Key.Key_Enter, Key.Key_Tab}
_READER_KEYS = {Key.Key_Up, Key.Key_Down, Key.Key_PageUp, Key.Key_PageDown, Key.Key_Home, Key.Key_End, Key.Key_Tab}


def is_plain(event: QKeyEvent) -> bool:
    """A key that could be typed: no Ctrl, Alt or Meta, and no function key."""
    return not event.modifiers() & _COMMANDING and not Key.Key_F1 <= event.key() <= Key.Key_F35


def belongs_to(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Whether the widget with the keyboard keeps the key, so that no shortcut of the window takes it.

    Where text is entered, every key that could be typed; in lists and texts for reading, the keys that move in them;
    on buttons, those that press them. Ctrl, Alt and function keys are the window's, but for editing in text fields.
    """
    if widget is None:
        return False
    if isinstance(widget, QLineEdit | QAbstractSpinBox | QComboBox | QPlainTextEdit) or (
        isinstance(widget, QTextEdit) and not widget.isReadOnly()
    ):
        return is_plain(event)
    if not is_plain(event):
        return False
    if event.key() == Key.Key_Delete and widget.property("keeps_delete"):
        return True
    if isinstance(widget, QTreeView) and event.key() in _TREE_KEYS:
        return True
    if isinstance(widget, QAbstractItemView):
        return event.key() in _LIST_KEYS or event.key() == Key.Key_Tab
    if isinstance(widget, QTextEdit):
        return event.key() in _READER_KEYS
    return isinstance(widget, QAbstractButton) and event.key() in _BUTTON_KEYS

"""The current keys of commands, for hints and sentences: the defaults, or the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
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

from curator.commands.command import Command, Keymap
from curator.domain.wording import tr

SIGNS = {"Return": "↵", "Down": "↓", "Up": "↑", "Left": "←", "Right": "→", "+": " +", "-": " −"}
_by_id: dict[str, Command[Any]] = {}
_keymap = Keymap()
"""The key map of the process, shared by the hints in all windows."""


def use_keys(keymap: Keymap, commands: Iterable[Command[Any]]) -> None:
    """Use these keys in all hints created from now on, in all windows."""
    global _keymap
    _keymap = keymap
    _by_id.update({command.id: command for command in commands})


def key_name(key: str) -> str:
    """The name of a key, given as Qt's portable text, as this desktop writes it, in the user's language, with signs
    such as ↵."""
    last = key.rpartition("+")[2] or "+"
    held = key[: -len(last)]
    if last not in SIGNS or (not held and len(last) == 1):
        return _native(key)
    before, sign = _native(f"{held}A")[:-1] if held else "", SIGNS[last]
    return before.removesuffix("+") + sign if sign.startswith(" ") else before + sign


def _native(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def key_of(command_id: str) -> str:
    """The first key of a command; '' if it has none."""
    keys = _keymap.keys(_by_id[command_id])
    return key_name(keys[0]) if keys else ""


def keys_between(first: str, last: str) -> str:
    """The keys of a range of commands, such as `1–9`; '' if the first or the last has no key."""
    ends = key_of(first), key_of(last)
    return "–".join(ends) if all(ends) else ""


def way_to(command_id: str) -> str:
    """The key of a command, or its place in the menus if it has none, for use in sentences."""
    return key_of(command_id) or _in_menu(command_id)


def place_of(command_id: str) -> str:
    """The place of a command in the menus, with its key if it has one."""
    key = key_of(command_id)
    return f"{_in_menu(command_id)} ({key})" if key else _in_menu(command_id)


def _in_menu(command_id: str) -> str:
    """The title without its final ellipsis, which would clash with the full stop of a sentence."""
    command = _by_id[command_id]
    return f"{tr(command.menu.value)} › {tr(command.title).removesuffix('…')}"


# Decides whether a key belongs to the focused widget or to the window.

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
    """Whether the key is printable: no Ctrl, Alt or Meta, and no function key."""
    return not event.modifiers() & _COMMANDING and not Key.Key_F1 <= event.key() <= Key.Key_F35


def belongs_to(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Whether the focused widget keeps the key, so that it triggers no shortcut of the window.

    Text fields keep printable keys; lists and read-only texts, the navigation keys; buttons, the keys that press them.
    Ctrl, Alt and function keys belong to the window, except editing keys in text fields.
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

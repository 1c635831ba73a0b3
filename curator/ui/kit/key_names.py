"""The keys that commands have now, as hints and sentences name them: the usual ones, or those of the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtGui import QKeySequence

from curator.commands import Command
from curator.commands.keymap import Keymap
from curator.domain.wording import tr

SIGNS = {"Return": "↵", "Down": "↓", "Up": "↑", "Left": "←", "Right": "→", "+": " +", "-": " −"}
_by_id: dict[str, Command[Any]] = {}
_keymap = Keymap()
"""Of the process: every hint in every window names keys, and the user has one set of them."""


def use_keys(keymap: Keymap, commands: Iterable[Command[Any]]) -> None:
    """Let every hint that is made from now on name these keys; all windows of a process share them."""
    global _keymap
    _keymap = keymap
    _by_id.update({command.id: command for command in commands})


def key_name(key: str) -> str:
    """A key of Qt's portable text as this desktop writes it, in the user's language, with signs such as ↵."""
    last = key.rpartition("+")[2] or "+"
    held = key[: -len(last)]
    if last not in SIGNS or (not held and len(last) == 1):
        return _native(key)
    before, sign = _native(f"{held}A")[:-1] if held else "", SIGNS[last]
    return before.removesuffix("+") + sign if sign.startswith(" ") else before + sign


def _native(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def key_of(command_id: str) -> str:
    """The first key of a command; '' where it has none."""
    keys = _keymap.keys(_by_id[command_id])
    return key_name(keys[0]) if keys else ""


def keys_between(first: str, last: str) -> str:
    """Of a row of commands: `1–9`; '' where the first or the last has no key."""
    ends = key_of(first), key_of(last)
    return "–".join(ends) if all(ends) else ""


def way_to(command_id: str) -> str:
    """The key of a command, or where it has none its place in the menus: for sentences that tell what to press."""
    return key_of(command_id) or _in_menu(command_id)


def place_of(command_id: str) -> str:
    """The place of a command in the menus, with its key where it has one."""
    key = key_of(command_id)
    return f"{_in_menu(command_id)} ({key})" if key else _in_menu(command_id)


def _in_menu(command_id: str) -> str:
    command = _by_id[command_id]
    return f"{tr(command.menu.value)} › {tr(command.title)}"

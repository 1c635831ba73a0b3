"""The keys of a command: the default keys, or keys assigned by the user."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curator.commands.command import Command


@dataclass(frozen=True, slots=True)
class Keymap:
    """`changed`: command id -> its keys in Qt's portable text, for commands whose keys differ from the defaults.

    Ids of unknown (or removed) commands are kept and have no effect.
    """

    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def keys(self, command: Command[Any]) -> tuple[str, ...]:
        """All keys of a command; the first is shown in the menu."""
        return self.changed.get(command.id, command.shortcuts)

    def users(self, key: str, among: Iterable[Command[Any]], *, besides: str = "") -> list[Command[Any]]:
        """The commands with this key, except the command `besides`."""
        return [one for one in among if key in self.keys(one) and one.id != besides]

    def conflicts(self, among: Iterable[Command[Any]]) -> dict[str, list[Command[Any]]]:
        """Keys that several commands have; such a key has no effect."""
        users: defaultdict[str, list[Command[Any]]] = defaultdict(list)
        for command in among:
            for key in self.keys(command):
                users[key].append(command)
        return {key: commands for key, commands in users.items() if len(commands) > 1}

    def with_keys(self, command: Command[Any], keys: Sequence[str]) -> Keymap:
        """A copy in which the command has these keys; its default keys are not stored."""
        changed = {name: kept for name, kept in self.changed.items() if name != command.id}
        if tuple(keys) != command.shortcuts:
            changed[command.id] = tuple(keys)
        return Keymap(changed)

    def taking(self, command: Command[Any], key: str, among: Iterable[Command[Any]]) -> Keymap:
        """A copy in which the key is this command's first key and no other command has it."""
        result = self
        for other in self.users(key, among, besides=command.id):
            result = result.with_keys(other, [one for one in self.keys(other) if one != key])
        return result.with_keys(command, [key, *(one for one in result.keys(command) if one != key)])

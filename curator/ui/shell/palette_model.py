"""What the command palette lists: commands by a few letters, recent ones first, and documents behind an @."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeySequence

from curator.commands import Command, WindowState
from curator.commands.finding import match
from curator.commands.keymap import Keymap
from curator.commands.reasons import why_disabled
from curator.domain.wording import tr
from curator.services.ports import QueueRow
from curator.ui.shell.catalogue import COMMANDS

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ENTRY_ROLE = int(Qt.ItemDataRole.UserRole)
DOCUMENTS = "@"
MOST_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One line. `why` says why it cannot be chosen; '' where it can. Exactly one of the last two is set."""

    title: str
    place: str
    keys: str = ""
    why: str = ""
    command: Command[Any] | None = None
    document_id: int | None = None

    @property
    def spoken(self) -> str:
        """For a screen reader: everything that the line shows."""
        return ", ".join(part for part in (self.title, self.place, self.keys, self.why) if part)


def command_entries(query: str, state: WindowState, keymap: Keymap, recent: Sequence[str]) -> list[PaletteEntry]:
    """Commands that match, in English or in the window's language; among equals recent ones, then usable ones first."""
    last = {command_id: -place for place, command_id in enumerate(recent)}
    found = []
    for place, command in enumerate(COMMANDS):
        score = _score(query, command)
        if score is None:
            continue
        why = why_disabled(command, state)
        rank = (score if query.strip() else 0, last.get(command.id, -len(recent) - 1), not why, -place)
        found.append((rank, _entry(command, why, keymap)))
    return [entry for _, entry in sorted(found, key=lambda one: one[0], reverse=True)]


def _score(query: str, command: Command[Any]) -> int | None:
    """The best of title, `menu title` and the English title."""
    titles = {tr(command.title), f"{tr(command.menu.value)} {tr(command.title)}", command.title}
    hits = [hit.score for title in titles if (hit := match(query, title)) is not None]
    return max(hits, default=None)


def _entry(command: Command[Any], why: str, keymap: Keymap) -> PaletteEntry:
    return PaletteEntry(
        tr(command.title), tr(command.menu.value), shown_keys(keymap.keys(command)[:1]), why, command=command
    )


def shown_keys(keys: Sequence[str]) -> str:
    """Keys as this desktop writes them."""
    return "  ".join(QKeySequence(one).toString(QKeySequence.SequenceFormat.NativeText) for one in keys)


def document_entries(rows: Sequence[QueueRow]) -> list[PaletteEntry]:
    return [
        PaletteEntry(
            row.title or row.external_id,
            row.external_id,
            tr("{decided} of {mentions} decided", decided=row.decided, mentions=row.mentions),
            document_id=row.document_id,
        )
        for row in rows
    ]


class PaletteModel(QAbstractListModel):
    """`ENTRY_ROLE` gives the whole `PaletteEntry`. Those that cannot be chosen are listed too: they say why."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[PaletteEntry] = []

    def show_entries(self, entries: Sequence[PaletteEntry]) -> None:
        self.beginResetModel()
        self._entries = list(entries)
        self.endResetModel()

    def entry(self, row: int) -> PaletteEntry | None:
        return self._entries[row] if 0 <= row < len(self._entries) else None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entry(index.row()) if index.isValid() else None
        if entry is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return entry.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return entry.why or (tr(entry.command.help) if entry.command is not None else entry.title)
        return None

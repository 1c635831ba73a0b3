"""Opens the palette over a window, remembers what was chosen, and does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from curator.commands import WindowState
from curator.services.ports import QueueFilter, QueueRow
from curator.ui.kit.kept import read_state, write_state

if TYPE_CHECKING:
    from curator.ui.shell.main_window import MainWindow
    from curator.ui.shell.palette import Palette
    from curator.ui.shell.palette_model import PaletteEntry

FILE = "palette.json"
MOST = 20


class PaletteFlow(QObject):
    """API: `open`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def open(self, text: str = "") -> Palette:
        from curator.ui.shell.palette import Palette

        palette = Palette(self._window, entries=self._entries, documents=self._documents, text=text)
        palette.chosen.connect(self._do)
        return palette

    def _entries(self, query: str) -> list[PaletteEntry]:
        from curator.ui.shell.palette_model import command_entries

        window = self._window
        state = window.bench.state if window.bench is not None else WindowState()
        return command_entries(query, state, window.menus.keymap, recent_commands())

    def _documents(self, query: str) -> Sequence[QueueRow] | None:
        from curator.ui.shell.palette_model import MOST_DOCUMENTS

        bench = self._window.bench
        return bench.project.queue.rows(QueueFilter(text=query), limit=MOST_DOCUMENTS) if bench is not None else None

    def _do(self, entry: PaletteEntry) -> None:
        if entry.command is not None:
            write_state(FILE, [entry.command.id, *(one for one in recent_commands() if one != entry.command.id)][:MOST])
            self._window.menus.action(entry.command.id).trigger()
        elif entry.document_id is not None and self._window.bench is not None:
            self._window.bench.navigator.open(entry.document_id)
            self._window.bench.focus_document()


def recent_commands() -> list[str]:
    """Ids of what was chosen in the palette, the last first."""
    raw = read_state(FILE)
    return [one for one in raw if isinstance(one, str)] if isinstance(raw, list) else []

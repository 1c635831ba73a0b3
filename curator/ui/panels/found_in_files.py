"""Attributes of imported files, below the list of the project's; ticked ones are read into it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.wording import localised, ntr, tr
from curator.services.importing.file_attributes import FileAttribute
from curator.ui.kit.compose import button, column, row
from curator.ui.kit.form import sentence
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.record_tables import RecordColumn, RecordTable

TITLE = "Found in files"
INTRO = (
    "Imported files have these attributes. Reading the ticked ones makes them attributes of the project, in one step "
    "that you can undo. What you set or cleared before stays as it is."
)
SHOWN = 6
"""The most values listed in a row."""
NEW, DONE = "new", "read"
SEARCHING = "Searching the files for attributes…"
NOTHING = "The imported files have no attributes."


class FoundInFiles(QWidget):
    """API: `show_rows`, `set_busy`. `read_wanted` carries the names of the ticked attributes."""

    read_wanted = Signal(tuple)

    def __init__(self, *, writable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._writable = writable
        self._busy = True
        self.title = ElidedLabel(bold=True, parent=self)
        self.title.set_words(tr(TITLE))
        self.intro = sentence(tr(INTRO))
        self.table: RecordTable[FileAttribute] = RecordTable(
            tr(TITLE),
            [
                RecordColumn(tr("Attribute"), lambda one: one.name),
                RecordColumn(tr("Values"), _values),
                RecordColumn(
                    tr("Mentions"), lambda one: localised(one.mentions, ","), by=lambda one: one.mentions, figure=True
                ),
                RecordColumn(tr("State"), state_words),
            ],
            wide=1,
            tickable=lambda one: writable and can_be_read(one),
            parent=self,
        )
        self.note = sentence(tr(SEARCHING))
        self.button = button(tr("&Read from the files"), self._read, parent=self)
        column(self.title, self.intro, self.table, row(self.button, 1), self.note, of=self, margins=(0, 8, 0, 0))
        self.table.chosen.connect(self._read)
        self.table.lines.ticked_changed.connect(self._enable)
        self.table.moved.connect(self._enable)
        self._show(found=False)

    def show_rows(self, rows: Sequence[FileAttribute]) -> None:
        """Show the attributes found; those the project does not have yet are ticked."""
        self._busy = False
        self.table.show_rows(rows)
        self.table.lines.set_ticked([at for at, one in enumerate(rows) if can_be_read(one)], True)
        self._show(found=bool(rows))

    def set_busy(self, words: str = "") -> None:
        """Disable the button while files are read, until the next rows; without words, enable it at once."""
        self._busy = bool(words)
        self.note.setText(words)
        self.note.setVisible(bool(words))
        self._enable()

    def _show(self, *, found: bool) -> None:
        for widget in (self.title, self.intro, self.table, self.button):
            widget.setVisible(found)
        height = QSizePolicy.Policy.Preferred if found else QSizePolicy.Policy.Maximum  # no table for a sentence
        self.setSizePolicy(QSizePolicy.Policy.Preferred, height)
        self.note.setText(tr(SEARCHING) if self._busy else tr(NOTHING) if not found else "")
        self._enable()

    def _enable(self) -> None:
        one = self.table.current
        ticked = len(self.table.ticked)
        self.button.setEnabled(self._writable and not self._busy and ticked > 0)
        words = ntr("Read {n} attribute from the files", "Read {n:,} attributes from the files", ticked)
        self.button.setAccessibleName(words)
        if not self._busy and one is not None:
            self.note.setText(one.refusal)
        self.note.setVisible(bool(self.note.text()))

    def _read(self) -> None:
        if self.button.isEnabled():
            self.read_wanted.emit(tuple(one.name for one in self.table.ticked))


def can_be_read(one: FileAttribute) -> bool:
    return not one.refusal and one.unset > 0


def state_words(one: FileAttribute) -> str:
    """The state of an attribute in the project: “new”, “2 values are new”, “read” or that it cannot be read."""
    if one.refusal:
        return tr("cannot be read")
    if not one.known:
        return tr(NEW)
    if one.lacking:
        return ntr("{n} value is new", "{n:,} values are new", len(one.lacking))
    if one.unset:
        return ntr("{n} mention is left", "{n:,} mentions are left", one.unset)
    return tr(DONE)


def _values(one: FileAttribute) -> str:
    shown = sorted(one.values, key=lambda name: (-one.values[name], name))
    words = " · ".join(f"{name} ({localised(one.values[name], ',')})" for name in shown[:SHOWN])
    more = len(shown) - SHOWN
    return ntr("{words} and {n} more", "{words} and {n:,} more", more, words=words) if more > 0 else words

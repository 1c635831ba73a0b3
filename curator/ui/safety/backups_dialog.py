"""The list of a project's backups; for a damaged project, with the error and other recovery options."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QPushButton, QWidget

from curator.domain.wording import localised, tr
from curator.services.ports.safety import Backup
from curator.ui.kit.form import EmptyPage, ShowDialog, sentence
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.record_tables import RecordColumn, RecordTable

HOLDS = (
    "Curator makes a backup when you close a project and every hour in which something changed. A backup holds the "
    "documents, decisions, rounds and the knowledge base. Linkers are not in it; they can be built again."
)
WAYS = "Restore one of its backups, or save the decisions that can still be read. Both keep the damaged file as it is."
AGAIN = "Its folder can be made again from one of its backups. If it was moved, open it at its new place instead."
NONE, LATER = "No backups yet", "The first one is made when you close the project."
NONE_FOUND, OTHER = "No backups were found", "Decisions that can still be read can be saved to a file."


class BackupsDialog(ShowDialog):
    """`restore_wanted` gives the chosen backup. With `trouble`, a sentence, the project could not be opened: decisions
    can be saved unless its folder is `lost`, and with `lacking` it can be opened without the missing parts."""

    restore_wanted = Signal(object)  # Backup
    make_wanted = Signal()
    salvage_wanted = Signal()
    continue_wanted = Signal()

    def __init__(
        self,
        *,
        trouble: str = "",
        lacking: bool = False,
        lost: bool = False,
        writable: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        title = tr("Project not found") if lost else tr("Project damaged") if trouble else tr("Backups")
        super().__init__(title, parent)
        self._writable = writable
        columns = [
            RecordColumn[Backup](tr("Time"), lambda one: one.when, by=lambda one: one.at.timestamp()),
            RecordColumn[Backup](tr("Folder of the project"), lambda one: str(one.place)),
            RecordColumn[Backup](tr("Decisions"), _decisions, by=lambda one: one.decisions, figure=True),
            RecordColumn[Backup](tr("Size"), _size, by=lambda one: one.bytes, figure=True),
        ]
        self.table: RecordTable[Backup] = RecordTable(tr("Backups"), columns, wide=1, parent=self)
        self.empty = EmptyPage(tr(NONE_FOUND if trouble else NONE), tr(OTHER if trouble else LATER), self)
        self.note = NoteLabel(self)
        self.trouble = sentence(trouble or tr(HOLDS))
        self.body.addWidget(self.trouble)
        self.ways = sentence(tr(AGAIN if lost else WAYS))
        self.body.addWidget(self.ways)
        self._offers = bool(trouble) and not lacking
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.body.addWidget(self.note)
        self.restore = self.add_button(tr("&Restore…"))
        self.restore.clicked.connect(self._restore)
        self.table.chosen.connect(self._restore)
        if trouble and not lost:
            self._add(tr("&Save readable decisions…"), self.salvage_wanted)
            if lacking:
                self._add(tr("&Open what the project contains"), self.continue_wanted)
        elif not trouble:
            self.make = self._add(tr("&Back up now"), self.make_wanted)
            self.make.setEnabled(writable)
        self.resize(820, 440)
        self.show_backups(())

    def _add(self, words: str, wanted: SignalInstance) -> QPushButton:
        button = self.add_button(words)
        button.clicked.connect(wanted)
        return button

    def show_backups(self, backups: Sequence[Backup]) -> None:
        """Show backups in the given order."""
        self.table.show_rows(backups)
        self.empty.stand_in(self.table, empty=not backups)
        self.ways.setVisible(self._offers and bool(backups))
        self.restore.setEnabled(bool(backups) and self._writable)
        if backups:
            self.table.setFocus()

    def say(self, words: str) -> None:
        """Show a message below the list."""
        self.note.set_note(words)

    def _restore(self) -> None:
        chosen = self.table.current
        if chosen is not None and self.restore.isEnabled():
            self.restore_wanted.emit(chosen)


def _decisions(one: Backup) -> str:
    return tr("cannot be read") if one.decisions is None else localised(one.decisions, ",")


def _size(one: Backup) -> str:
    return tr("{size} MB", size=localised(one.bytes / 1e6, ",.1f"))

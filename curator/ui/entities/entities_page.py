"""The provisional entities, with the mentions linked to the current one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QPushButton, QWidget

from curator.domain.entities import ProvisionalEntity
from curator.domain.wording import localised, ntr, tr
from curator.services.knowledge.provisional import NewEntity
from curator.services.ports.queue import MentionContext
from curator.ui.deciding.kwic_list import KwicList
from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
from curator.ui.kit.compose import button, column, splitter
from curator.ui.kit.form import sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.sizing import FlowRow


class EntitiesPage(QWidget):
    """`show_entities` fills it; buttons request actions on the current entity."""

    edit_wanted = Signal(object)  # ProvisionalEntity
    delete_wanted = Signal(object)
    merge_wanted = Signal(object)
    make_wanted = Signal()
    mention_wanted = Signal(int, int)  # document, mention

    def __init__(
        self, contexts: Callable[[str], list[MentionContext]], *, writable: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._contexts = contexts
        self._writable = writable
        self.words = sentence("")
        self.table: RecordTable[NewEntity] = RecordTable(
            tr("New entities"),
            [
                RecordColumn(tr("Identifier"), lambda one: one.found.id),
                RecordColumn(tr("Name"), lambda one: one.found.entity.name),
                RecordColumn(tr("Types"), lambda one: ", ".join(one.found.entity.types)),
                RecordColumn(
                    tr("Mentions"), lambda one: localised(one.mentions, ","), by=lambda one: one.mentions, figure=True
                ),
                RecordColumn(tr("Created by"), lambda one: one.found.author),
                RecordColumn(tr("Created"), _made, by=lambda one: one.found.at.isoformat()),
            ],
            wide=1,
            parent=self,
        )
        self.list = KwicList(tr("Mentions linked to the entity"), self)
        self.make = button(tr("&New entity…"), self.make_wanted.emit, parent=self)
        self.edit = self._action(tr("&Edit…"), self.edit_wanted)
        self.merge = self._action(tr("Mer&ge with another entity…"), self.merge_wanted)
        self.delete = self._action(tr("&Delete"), self.delete_wanted)
        parts = splitter(self.table, self.list, parent=self, sizes=(260, 260))
        buttons = FlowRow(self.make, self.edit, self.merge, self.delete)
        column(self.words, (parts, 1), buttons, of=self, margins=10, spacing=8)
        self.table.chosen.connect(self.edit.click)
        self.table.selectionModel().currentRowChanged.connect(lambda: self._show_contexts())
        self.list.previewed.connect(self.mention_wanted)

    def _action(self, words: str, wanted: SignalInstance) -> QPushButton:
        """A button about the current entity."""
        return button(words, lambda: wanted.emit(self.current) if self.current is not None else None, parent=self)

    @property
    def current(self) -> ProvisionalEntity | None:
        row = self.table.current
        return row.found if row is not None else None

    def show_entities(self, entities: Sequence[NewEntity], *, at: str = "") -> None:
        """Show the entities; `at`: the id of the one to select."""
        self.table.show_rows(entities)
        if (place := self.table.lines.place(lambda one: one.found.id == at)) is not None:
            self.table.go_to(place)
        counted = ntr("{n} new entity.", "{n} new entities.", len(entities))
        some = tr("{counted} The linker suggests new entities, and search finds them.", counted=counted)
        none = tr("No new entities yet. Create one from NIL mentions, or press E at a mention.")
        self.words.setText(some if entities else none)
        self._show_contexts()

    def _show_contexts(self) -> None:
        current = self.current
        found = self._contexts(current.id) if current is not None else []
        self.list.show_rows([KwicRow(one.curator, one, CheckMark.RIGHT) for one in found])
        for one_of in (self.edit, self.merge, self.delete):
            one_of.setEnabled(current is not None and self._writable)
        self.make.setEnabled(self._writable)


def _made(one: NewEntity) -> str:
    return localised(one.found.at.astimezone(), "%d %b %Y %H:%M")

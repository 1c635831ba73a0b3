"""The provisional entities, with the mentions linked to the current one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSplitter, QVBoxLayout, QWidget

from curator.domain.entities import ProvisionalEntity
from curator.domain.wording import localised, ntr, tr
from curator.services.knowledge.provisional import NewEntity
from curator.services.ports.queue import MentionContext
from curator.ui.deciding.kwic_list import KwicList
from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
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
        self.make = self._button(tr("&New entity…"), lambda _: self.make_wanted.emit(), always=True)
        self.edit = self._button(tr("&Edit…"), self.edit_wanted.emit)
        self.merge = self._button(tr("Mer&ge with another entity…"), self.merge_wanted.emit)
        self.delete = self._button(tr("&Delete"), self.delete_wanted.emit)
        self._compose()
        self.table.chosen.connect(lambda: self.edit.click())
        self.table.selectionModel().currentRowChanged.connect(lambda: self._show_contexts())
        self.list.rested.connect(self._preview)

    def _button(
        self, words: str, then: Callable[[ProvisionalEntity | None], None], *, always: bool = False
    ) -> QPushButton:
        button = QPushButton(words, self)
        button.setAutoDefault(False)

        def act() -> None:
            if always or self.current is not None:
                then(self.current)

        button.clicked.connect(act)
        return button

    def _compose(self) -> None:
        parts = QSplitter(Qt.Orientation.Vertical, self)
        parts.addWidget(self.table)
        parts.addWidget(self.list)
        parts.setChildrenCollapsible(False)
        parts.setSizes([260, 260])
        buttons = FlowRow(self.make, self.edit, self.merge, self.delete)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(10, 10, 10, 10)
        whole.setSpacing(8)
        whole.addWidget(self.words)
        whole.addWidget(parts, 1)
        whole.addLayout(buttons)

    @property
    def current(self) -> ProvisionalEntity | None:
        row = self.table.current
        return row.found if row is not None else None

    def show_entities(self, entities: Sequence[NewEntity], *, at: str = "") -> None:
        """Show the entities; `at`: the id of the one to select."""
        self.table.show_rows(entities)
        place = next((i for i, one in enumerate(entities) if one.found.id == at), None)
        if place is not None:
            model = self.table.model()
            rows = (model.index(i, 0) for i in range(model.rowCount()))
            self.table.setCurrentIndex(next(index for index in rows if index.data() == at))
        counted = ntr("{n} new entity.", "{n} new entities.", len(entities))
        some = tr("{counted} The linker suggests new entities, and search finds them.", counted=counted)
        none = tr("No new entities yet. Create one from NIL mentions, or press E at a mention.")
        self.words.setText(some if entities else none)
        self._show_contexts()

    def _show_contexts(self) -> None:
        current = self.current
        found = self._contexts(current.id) if current is not None else []
        self.list.show_rows([KwicRow(one.curator, one, CheckMark.RIGHT) for one in found])
        for button in (self.edit, self.merge, self.delete):
            button.setEnabled(current is not None and self._writable)
        self.make.setEnabled(self._writable)

    def _preview(self, row: int) -> None:
        found = self.list.lines.row(row)
        if found is not None and found.context is not None:
            self.mention_wanted.emit(found.context.document_id, found.context.mention_id)


def _made(one: NewEntity) -> str:
    return localised(one.found.at.astimezone(), "%d %b %Y %H:%M")

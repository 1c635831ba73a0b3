"""Knowledge-base search with the record of the highlighted entity below it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from curator.domain.wording import tr
from curator.ui.candidates.entity_card import EntityCard, Lookup
from curator.ui.candidates.search_panel import SearchPanel
from curator.ui.candidates.search_runner import Search
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.sight import Glance

ADDING = "The entity you choose is added to the link of this mention. Esc leaves."


class SearchPane(QWidget):
    """`linked` and `added` carry an entity id: chosen to link to, or to be added to a link of several."""

    linked = Signal(str)
    added = Signal(str)
    left = Signal()

    def __init__(
        self, search: Search, lookup: Lookup, parent: QWidget | None = None, *, glance: Glance | None = None
    ) -> None:
        super().__init__(parent)
        self._adding = False
        self.note = NoteLabel(self)
        self.panel = SearchPanel(search, self, glance=glance)
        self.card = EntityCard(lookup, self)
        splitter = QSplitter(Qt.Orientation.Vertical, self)
        splitter.addWidget(self.panel)
        splitter.addWidget(self.card)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setChildrenCollapsible(False)
        splitter.setSizes([640, 220])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.note)
        whole.addWidget(splitter)
        self.panel.highlighted.connect(self.card.show_entity)
        self.panel.chosen.connect(self._choose)
        self.panel.left.connect(self.left)

    def start(self, text: str = "", *, adding: bool = False) -> None:
        """Take the keyboard; search `text` at once where it is given."""
        self._adding = adding
        self.note.set_note(tr(ADDING) if adding else "")
        if text:
            self.panel.prefill(text)
        else:
            self.panel.open_empty()

    def _choose(self, entity_id: str) -> None:
        (self.added if self._adding else self.linked).emit(entity_id)

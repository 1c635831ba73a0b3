"""*Project > Type mapping*: which entity types each mention type may link to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QPushButton, QVBoxLayout, QWidget

from curator.domain.entities import TypeMapping
from curator.domain.wording import tr
from curator.ui.kit.form import FormDialog, sentence

INTRO = (
    "Candidates for a mention are restricted to the entity types ticked for its own type. "
    "Nothing ticked means no restriction."
)


class TypeMappingDialog(FormDialog):
    """`mapping` is what stands in the dialog."""

    def __init__(
        self,
        mapping: TypeMapping,
        proposal: TypeMapping,
        *,
        mention_types: Mapping[str, int],
        entity_types: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Type mapping"), intro=tr(INTRO), parent=parent)
        self._proposal = proposal
        self._counts = dict(mention_types)
        self._allowed = {name: mapping.types_for(name) for name in sorted({*mention_types, *mapping.allowed})}
        self.types = QListWidget(self)
        self.types.setAccessibleName(tr("Mention types"))
        self.entities = QListWidget(self)
        self.entities.setAccessibleName(tr("Entity types"))
        self.propose = QPushButton(tr("&Propose anew"), self)
        self.propose.setAutoDefault(False)
        self._compose(entity_types)
        self._fill()

    def _compose(self, entity_types: Sequence[str]) -> None:
        for name in entity_types:
            item = QListWidgetItem(name, self.entities)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
        columns = QHBoxLayout()
        for heading, widget in ((tr("Mention type"), self.types), (tr("may link to entities of type"), self.entities)):
            column = QVBoxLayout()
            column.addWidget(sentence(heading))
            column.addWidget(widget, 1)
            columns.addLayout(column, 1)
        self.body.insertLayout(0, columns, 1)
        self.body.addWidget(self.propose, 0, Qt.AlignmentFlag.AlignLeft)
        self.types.currentRowChanged.connect(self._show)
        self.entities.itemChanged.connect(self._ticked)
        self.propose.clicked.connect(self._propose)
        self.resize(620, 420)

    def _fill(self) -> None:
        row = max(self.types.currentRow(), 0)
        self.types.clear()
        for name in self._allowed:
            self.types.addItem(self._words(name))
        self.types.setCurrentRow(row)

    def _words(self, name: str) -> str:
        allowed = ", ".join(self._allowed[name]) or "any"
        return f"{name} ({self._counts.get(name, 0):,}) → {allowed}"

    @property
    def _current(self) -> str | None:
        names = list(self._allowed)
        return names[self.types.currentRow()] if 0 <= self.types.currentRow() < len(names) else None

    def _show(self) -> None:
        allowed = self._allowed.get(self._current or "", ())
        self.entities.blockSignals(True)
        for row in range(self.entities.count()):
            item = self.entities.item(row)
            item.setCheckState(Qt.CheckState.Checked if item.text() in allowed else Qt.CheckState.Unchecked)
        self.entities.blockSignals(False)

    def _ticked(self) -> None:
        name = self._current
        if name is None:
            return
        items = [self.entities.item(row) for row in range(self.entities.count())]
        self._allowed[name] = tuple(one.text() for one in items if one.checkState() is Qt.CheckState.Checked)
        self.types.currentItem().setText(self._words(name))

    def _propose(self) -> None:
        self._allowed = {name: self._proposal.types_for(name) for name in self._allowed}
        self._fill()
        self._show()

    @property
    def mapping(self) -> TypeMapping:
        return TypeMapping(dict(self._allowed))

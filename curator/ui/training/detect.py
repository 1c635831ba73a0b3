"""*Tools > Detect mentions*: choose the entity types."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from curator.domain.wording import tr
from curator.ui.kit.compose import button, row
from curator.ui.kit.form import FormDialog

NOTHING_TICKED = "Tick at least one entity type, or press Cancel."


class DetectDialog(FormDialog):
    """`types` are the ticked types; `documents` is the number of documents to read."""

    def __init__(
        self, entity_types: Sequence[str], *, ticked: Collection[str], documents: int, parent: QWidget | None = None
    ) -> None:
        where = tr("this document") if documents == 1 else tr("{n:,} documents", n=documents)
        super().__init__(
            tr("Detect mentions"),
            intro=tr(
                "Marks names of entities of the ticked types in {where}. Existing mentions stay as they are.",
                where=where,
            ),
            ok=tr("Detect"),
            parent=parent,
        )
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Entity types"))
        for name in entity_types:
            item = QListWidgetItem(name, self.list)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(_state(name in ticked))
        self.body.insertWidget(0, self.list, 1)
        self.all = button(tr("Tick &all"), lambda: self._tick(True), parent=self)
        self.none = button(tr("Tick &none"), lambda: self._tick(False), parent=self)
        self.body.addLayout(row(self.all, self.none, 1))
        self.list.setCurrentRow(0)
        self.resize(460, 400)

    @property
    def types(self) -> tuple[str, ...]:
        items = [self.list.item(at) for at in range(self.list.count())]
        return tuple(one.text() for one in items if one.checkState() is Qt.CheckState.Checked)

    def check(self) -> str:
        return "" if self.types else tr(NOTHING_TICKED)

    def _tick(self, ticks: bool) -> None:
        for at in range(self.list.count()):
            self.list.item(at).setCheckState(_state(ticks))


def _state(ticked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked

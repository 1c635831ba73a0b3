"""*People > I am*: set the name stored with decisions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QWidget

from curator.domain.wording import tr
from curator.ui.kit.form import FormDialog

INTRO = "Each decision is saved under its curator's name. Earlier decisions keep their name."
EMPTY = "Enter a name, such as “Anna Berg”."
IMPORT = "A name cannot begin with “import:”, which is reserved for gold imported from files."


class IAmDialog(FormDialog):
    """`name` is valid after acceptance."""

    def __init__(self, present: str, known: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(tr("I am…"), intro=tr(INTRO), ok=tr("Continue"), parent=parent)
        self.names = QComboBox(self)
        self.names.setAccessibleName(tr("Curator"))
        self.names.setEditable(True)
        self.names.addItems(list(dict.fromkeys([present, *known])))
        self.form.addRow(tr("&Curator"), self.names)
        line = self.names.lineEdit()
        assert line is not None
        line.selectAll()
        self.names.setFocus()
        self.setMinimumWidth(460)

    @property
    def name(self) -> str:
        return " ".join(self.names.currentText().split())

    def check(self) -> str:
        if not self.name:
            return tr(EMPTY)
        return tr(IMPORT) if self.name.startswith("import:") else ""

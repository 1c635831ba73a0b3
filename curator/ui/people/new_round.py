"""*Rounds > New*: a name, how blind it is, and which documents."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QWidget

from curator.domain.documents import Split
from curator.domain.rounds import RoundKind
from curator.domain.wording import tr
from curator.ui.kit.form import FormDialog

INTRO = (
    "In a round several curators judge the same documents apart. Nobody sees another's judgements or the project's "
    "decisions about these mentions, and nothing in the project changes before the round is adjudicated."
)
KINDS = {
    RoundKind.BLIND: "With suggestions",
    RoundKind.UNAIDED: "Without suggestions",
}
ANY = "of all splits"


class NewRoundDialog(FormDialog):
    """`name`, `kind`, `count`, `split` and `here_only` are valid once it was accepted."""

    def __init__(self, *, documents: int, filtered: int | None = None, parent: QWidget | None = None) -> None:
        """`documents` there are in all; `filtered` that the queue shows now, where a filter is set."""
        super().__init__(tr("New round"), intro=tr(INTRO), ok=tr("Make the round"), parent=parent)
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Name of the round"))
        self.line.setPlaceholderText(tr("such as: pilot 1"))
        self.kinds = QComboBox(self)
        self.kinds.setAccessibleName(tr("Suggestions"))
        for kind, words in KINDS.items():
            self.kinds.addItem(tr(words), kind.value)
        self.number = QSpinBox(self)
        self.number.setAccessibleName(tr("Number of documents"))
        self.number.setRange(1, max(documents, 1))
        self.number.setValue(min(20, max(documents, 1)))
        self.which = QComboBox(self)
        self.which.setAccessibleName(tr("Which documents"))
        self.which.addItem(tr("drawn at random {any}", any=tr(ANY)), "")
        for split in Split:
            self.which.addItem(tr("drawn at random of {value}", value=split.value), split.value)
        if filtered:
            self.which.addItem(tr("the first that the queue shows now ({filtered:,})", filtered=filtered), "queue")
        self.form.addRow(tr("&Name"), self.line)
        self.form.addRow(tr("&Suggestions"), self.kinds)
        self.form.addRow(tr("&Documents"), self.number)
        self.form.addRow(tr("&Which"), self.which)
        self.setMinimumWidth(560)
        self.line.setFocus()

    @property
    def name(self) -> str:
        return self.line.text().strip()

    @property
    def kind(self) -> RoundKind:
        return RoundKind(self.kinds.currentData())

    @property
    def count(self) -> int:
        return self.number.value()

    @property
    def split(self) -> Split | None:
        data = self.which.currentData()
        return Split(data) if data and data != "queue" else None

    @property
    def of_queue(self) -> bool:
        return bool(self.which.currentData() == "queue")

    def check(self) -> str:
        return "" if self.name else tr("Give the round a name, such as “pilot 1”.")

"""Which split documents go to, how many are held out, and whether their gold is taken: asked in two dialogs."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QSpinBox, QWidget

from curator.domain.documents import Split
from curator.domain.wording import tr

NO_GOLD = "Gold needs a knowledge base: import one first."
SPLITS = {
    Split.TRAIN: "train: decisions teach the linker",
    Split.VALIDATION: "validation: decisions judge and calibrate it",
    Split.TEST: "test: never seen by it",
}


class SplitFields:
    """Three fields and their rules; `add_to` puts them into a form."""

    def __init__(self, parent: QWidget) -> None:
        self.split = QComboBox(parent)
        self.split.setAccessibleName(tr("Split"))
        for split, words in SPLITS.items():
            self.split.addItem(tr(words), split)
        self.hold_out = QSpinBox(parent)
        self.hold_out.setRange(0, 100_000)
        self.hold_out.setAccessibleName(tr("Documents held out for validation"))
        self.gold = QCheckBox(tr("&With gold: what the files say becomes decisions"), parent)
        self.split.currentIndexChanged.connect(self._split_changed)

    def add_to(self, form: QFormLayout) -> None:
        form.addRow(tr("&Split"), self.split)
        form.addRow(tr("Held out for &validation"), self.hold_out)
        form.addRow("", self.gold)

    def allow_gold(self, allowed: bool) -> None:
        """Without a knowledge base there is nothing to look identifiers up in."""
        self.gold.setEnabled(allowed)
        self.gold.setToolTip("" if allowed else tr(NO_GOLD))
        if not allowed:
            self.gold.setChecked(False)

    def _split_changed(self) -> None:
        self.hold_out.setEnabled(self.chosen is Split.TRAIN)

    @property
    def chosen(self) -> Split:
        return Split(self.split.currentData())

    @property
    def held_out(self) -> int:
        return self.hold_out.value() if self.chosen is Split.TRAIN else 0

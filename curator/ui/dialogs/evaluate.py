"""*Tools > Evaluate*: which split, and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QWidget

from curator.domain.documents import Split
from curator.ui.dialogs.figures import evaluation_rows
from curator.ui.dialogs.form import FormDialog, ShowDialog, sentence
from curator.ui.dialogs.table import FigureTable

INTRO = "Compares the linker that serves with the link and NIL decisions of documents that are done."


class EvaluateDialog(FormDialog):
    def __init__(self, documents: Mapping[Split, int], parent: QWidget | None = None) -> None:
        super().__init__("Evaluate", intro=INTRO, ok="Evaluate", parent=parent)
        self.splits = QComboBox(self)
        self.splits.setAccessibleName("Split")
        for split in (Split.VALIDATION, Split.TEST, Split.TRAIN):
            self.splits.addItem(f"{split.value} ({documents.get(split, 0):,} documents)", split)
        self.form.addRow("&Split", self.splits)

    @property
    def split(self) -> Split:
        return Split(self.splits.currentData())


class FiguresDialog(ShowDialog):
    """The outcome of an evaluation."""

    def __init__(self, result: Mapping[str, Any], parent: QWidget | None = None) -> None:
        super().__init__(f"Evaluation on {result.get('split', '')}", parent)
        rows = evaluation_rows(result)
        self.body.addWidget(sentence(str(result.get("message", "")), selectable=True))
        table = FigureTable("Figures", ["", "Figure"], self)
        table.show_rows(rows)
        self.body.addWidget(table, 1)
        self.body.addWidget(sentence(f"Bundle {result.get('bundle', '')}", selectable=True))
        copy = self.add_button("&Copy")
        text = "\n".join(f"{name}\t{value}" for name, value in rows)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        self.resize(480, 520)

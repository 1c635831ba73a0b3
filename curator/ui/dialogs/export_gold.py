"""*Project > Export gold*: in which format, which documents, where to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QWidget

from curator.ui.dialogs.form import FormDialog, PathEdit

USUAL = "pubtator"
INTRO = "Writes the decisions in the format of the documents. What nobody changed goes back byte for byte."


class ExportDialog(FormDialog):
    """`out`, `format` and `only_done` are valid once it was accepted."""

    def __init__(
        self, formats: Sequence[tuple[str, str]], *, usual: str = USUAL, place: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__("Export gold", intro=INTRO, ok="Export", parent=parent)
        self.formats = QComboBox(self)
        self.formats.setAccessibleName("Format")
        for name, title in formats:
            self.formats.addItem(title, name)
        self.finished_only = QCheckBox("Only documents that are &done", self)
        self.formats.setCurrentIndex(max(self.formats.findData(usual), 0))
        self.path = PathEdit("the exported file or folder", mode=QFileDialog.FileMode.AnyFile, parent=self)
        self._place = place
        self.form.addRow("&Format", self.formats)
        self.form.addRow("&To", self.path)
        self.form.addRow("", self.finished_only)
        self.formats.currentIndexChanged.connect(self._suggest)
        self.setMinimumWidth(560)
        self._suggest()

    def _suggest(self) -> None:
        name = self.formats.currentData()
        self.path.set_path(self._place / (f"gold.{name}" if name == USUAL else f"gold-{name}"))

    @property
    def format(self) -> str:
        return str(self.formats.currentData())

    @property
    def out(self) -> Path:
        return self.path.path or self._place

    @property
    def only_done(self) -> bool:
        return self.finished_only.isChecked()

    def check(self) -> str:
        path = self.path.path
        if path is None:
            return "Say where the export is written."
        if not path.parent.is_dir():
            return f"{path.parent} does not exist. Choose a folder that does."
        return ""

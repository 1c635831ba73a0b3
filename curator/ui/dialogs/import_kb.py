"""*Project > Import knowledge base*: a file, or the folder of ZESHEL documents."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from curator.domain.wording import tr
from curator.ui.dialogs.form import FormDialog, PathEdit

KB_FILES = "Knowledge bases (*.jsonl *.jsonl.gz *.obo *.obo.gz *.json *.json.gz);;All files (*)"
INTRO = (
    "JSON lines, OBO and ZESHEL documents are recognised by their content, compressed with gzip or not. A folder of "
    "ZESHEL documents is one knowledge base of several worlds."
)
REPLACES = "It replaces the knowledge base {name} ({entities:,} entities). Decisions stay as they are."


class ImportKbDialog(FormDialog):
    """`path` is valid once it was accepted. `before` is a sentence about what is replaced, '' for nothing."""

    def __init__(self, *, before: str = "", path: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(tr("Import knowledge base"), intro=tr(INTRO), ok=tr("Import"), parent=parent)
        self.file = kb_edit(self)
        self.form.addRow(tr("&Knowledge base"), self.file)
        self.setMinimumWidth(600)
        if path is not None:
            self.file.set_path(path)
        self.problem.set_note(before)
        self._before = before
        self.file.changed.connect(lambda: self.problem.set_note(self._before))
        self.file.setFocus()

    @property
    def path(self) -> Path:
        return self.file.path or Path()

    def check(self) -> str:
        if self.file.path is None:
            return tr("Choose the file or the folder of the knowledge base.")
        return missing(self.file)


def kb_edit(parent: QWidget) -> PathEdit:
    """The place of a knowledge base, a file or a folder."""
    mode = QFileDialog.FileMode.ExistingFile
    return PathEdit(tr("the knowledge base"), mode=mode, filters=KB_FILES, or_folder=True, parent=parent)


def missing(edit: PathEdit) -> str:
    """What is wrong with the path, as a sentence; '' when nothing is."""
    if edit.path is None or edit.path.exists():
        return ""
    return tr("{path} does not exist. Choose the file or the folder of the knowledge base.", path=edit.path)

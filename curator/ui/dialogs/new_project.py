"""*Project > New project*: a name, a place, and if wanted the knowledge base to begin with."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from curator.ui.dialogs.form import FormDialog, PathEdit
from curator.ui.dialogs.import_kb import kb_edit, missing

SUFFIX = ".curation"
INTRO = "A project is one folder. Everything you decide is kept in it at once."


class NewProjectDialog(FormDialog):
    """`folder` and `knowledge_base` are valid once it was accepted."""

    def __init__(self, *, place: Path, parent: QWidget | None = None) -> None:
        super().__init__("New project", intro=INTRO, ok="Create", parent=parent)
        self.name = QLineEdit(self)
        self.name.setAccessibleName("Name of the project")
        self.name.setPlaceholderText("for example: chemicals")
        self.place = PathEdit("the folder to put it in", mode=QFileDialog.FileMode.Directory, parent=self)
        self.place.set_path(place)
        self.kb = kb_edit(self)
        self.kb.line.setPlaceholderText("may follow later")
        self.form.addRow("&Name", self.name)
        self.form.addRow("&Folder", self.place)
        self.form.addRow("&Knowledge base", self.kb)
        self.setMinimumWidth(560)
        self.name.setFocus()

    @property
    def folder(self) -> Path:
        name = self.name.text().strip().removesuffix(SUFFIX)
        return (self.place.path or Path.cwd()) / f"{name}{SUFFIX}"

    @property
    def knowledge_base(self) -> Path | None:
        return self.kb.path

    def check(self) -> str:
        name = self.name.text().strip()
        if not name or name != Path(name).name:
            return "Give the project a name without slashes."
        if self.place.path is None or not self.place.path.is_dir():
            return f"{self.place.path or 'The folder'} does not exist. Choose the folder that the project is put in."
        if self.folder.exists():
            return f"{self.folder} exists already. Choose another name, or open it with Project › Open project…"
        return missing(self.kb)

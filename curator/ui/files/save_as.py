"""Asks where something is written: a release, the audit trail, a round, the updated knowledge base."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QComboBox, QFileDialog, QSpinBox, QWidget

from curator.domain.wording import tr
from curator.services.records import ExportScope
from curator.ui.files.export_gold import SCOPES
from curator.ui.kit import FormDialog, PathEdit

RELEASE_INTRO = (
    "A release holds the decisions, the hashes of the texts, the guidelines, the knowledge base's and the linker's "
    "hashes and figures. The same state gives the same bytes. A name that ends in .zip makes one file, any other a "
    "folder."
)
KB_INTRO = (
    "Writes the knowledge base as JSON lines with the names that your links taught and the entities that were made "
    "here. A second file lists what is new with its counts. Test documents teach nothing."
)


class SaveDialog(FormDialog):
    """`out` is valid once it was accepted."""

    def __init__(
        self,
        title: str,
        *,
        intro: str,
        place: Path,
        ok: str = "",
        what: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, intro=intro, ok=ok or tr("Export"), parent=parent)
        self.path = PathEdit(what or tr("the file"), mode=QFileDialog.FileMode.AnyFile, parent=self)
        self.path.set_path(place)
        self.form.addRow(tr("&To"), self.path)
        self.setMinimumWidth(600)

    @property
    def out(self) -> Path:
        assert self.path.path is not None, "checked before it was accepted"
        return self.path.path

    def check(self) -> str:
        path = self.path.path
        if path is None:
            return tr("Say where it is written.")
        return (
            ""
            if path.parent.is_dir()
            else tr("{parent} does not exist. Choose a folder that does.", parent=path.parent)
        )


class ReleaseDialog(SaveDialog):
    """*Project > Release*: a zip or a folder; `scope` says what goes in."""

    def __init__(self, *, place: Path, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("Release"),
            intro=tr(RELEASE_INTRO),
            place=place,
            ok=tr("Release"),
            what=tr("the release's zip or folder"),
            parent=parent,
        )
        self.scopes = QComboBox(self)
        self.scopes.setAccessibleName(tr("What is released"))
        for scope, words in SCOPES.items():
            self.scopes.addItem(tr(words), scope.value)
        self.scopes.setCurrentIndex(self.scopes.findData(ExportScope.DONE.value))
        self.form.insertRow(0, tr("&What"), self.scopes)

    @property
    def scope(self) -> ExportScope:
        return ExportScope(self.scopes.currentData())


class KbExportDialog(SaveDialog):
    """*Project > Export knowledge base*: links in `least` documents make a string a new name."""

    def __init__(self, *, place: Path, least: int, parent: QWidget | None = None) -> None:
        super().__init__(tr("Export knowledge base"), intro=tr(KB_INTRO), place=place, parent=parent)
        self.number = QSpinBox(self)
        self.number.setAccessibleName(tr("Documents that make a new name"))
        self.number.setRange(1, 1000)
        self.number.setValue(least)
        self.form.insertRow(0, tr("&Documents for a new name"), self.number)

    @property
    def least(self) -> int:
        return self.number.value()

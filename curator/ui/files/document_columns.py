"""Which column of a table of documents or mentions holds what: a button beside a list of files, and its dialog."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.services.ports import FormatRegistry
from curator.services.ports.files import DOCUMENT_FIELDS, DocumentOptions
from curator.ui.files.kb_columns import ColumnChooser
from curator.ui.kit.form import FormDialog

INTRO = (
    "Say which column holds what. A text or a mention is needed. The choice is kept for tables with the same headings."
)
HINT = (
    "Rows of mentions without a text need their documents in another sheet, or in {companion} beside the file. "
    "Several identifiers are taken apart at | or ;."
)


def field_words(field: str) -> str:
    words: Mapping[str, str] = {
        "document": tr("Document"),
        "title": tr("Title"),
        "text": tr("Text"),
        "mention": tr("Mention"),
        "start": tr("Start"),
        "end": tr("End"),
        "type": tr("Type"),
        "ids": tr("Identifiers"),
    }
    return words[field]


def columns_problem(columns: Mapping[str, str]) -> str:
    """What keeps a table from being read as documents, as a sentence; '' when nothing does."""
    if columns["text"] or columns["mention"] or (columns["document"] and columns["start"] and columns["end"]):
        return ""
    return tr("Choose the column that holds the texts, or the one that holds the mentions.")


class DocumentColumnsDialog(FormDialog):
    """`options` is what was chosen, valid once it was accepted."""

    def __init__(self, formats: FormatRegistry, path: Path, *, parent: QWidget | None = None) -> None:
        super().__init__(tr("Columns of {name}", name=path.name), intro=tr(INTRO), ok=tr("Choose"), parent=parent)
        self._formats, self._path = formats, path
        companion = f"{path.name.rpartition('.')[0]}.documents.{path.suffix.lstrip('.')}"
        self.chooser = ColumnChooser(
            self,
            fields=DOCUMENT_FIELDS,
            words=field_words,
            check=columns_problem,
            hint=tr(HINT, companion=companion),
        )
        self.body.addWidget(self.chooser, 1)
        self.chooser.sheet_chosen.connect(self._show)
        self.setMinimumWidth(640)
        self._show()
        self.chooser.boxes["document"].setFocus()

    @property
    def options(self) -> DocumentOptions:
        return DocumentOptions(self.chooser.columns, self.chooser.sheet.currentText())

    def check(self) -> str:
        """Chooses the columns as well, which says what is wrong with them."""
        wrong = self.chooser.problem()
        if wrong:
            return wrong
        try:
            self._formats.choose_columns(self._path, self.options)
        except UserError as error:
            return str(error)
        return ""

    def _show(self, _: str = "") -> None:
        try:
            found = self._formats.preview_documents(self._path, DocumentOptions(sheet=self.chooser.sheet.currentText()))
        except UserError as error:
            self.problem.set_note(str(error))
            return
        if found is not None:
            self.chooser.show_table(found)


class ColumnsButton(QPushButton):
    """Opens the dialog for the file that was shown last, where that is a table; `chosen` says that it was accepted."""

    chosen = Signal(object)

    def __init__(self, formats: FormatRegistry, parent: QWidget | None = None) -> None:
        super().__init__(tr("&Columns…"), parent)
        self._formats = formats
        self._path: Path | None = None
        self.setToolTip(tr("Which column of a table holds what"))
        self.setAutoDefault(False)
        self.setEnabled(False)
        self.clicked.connect(self._open)

    def show_for(self, path: Path | None) -> None:
        """Be there for this file, if it is a table."""
        if path == self._path:
            return
        self._path = path
        self.setEnabled(path is not None and self._is_table(path))

    def _is_table(self, path: Path) -> bool:
        try:
            return path.is_file() and self._formats.preview_documents(path) is not None
        except UserError:
            return False

    def _open(self) -> None:
        if self._path is None:
            return
        path = self._path
        dialog = DocumentColumnsDialog(self._formats, path, parent=self)
        dialog.accepted.connect(lambda: self.chosen.emit(path))
        dialog.open()

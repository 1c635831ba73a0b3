"""Choosing the columns of a table of documents or mentions: a button next to a list of files, and its dialog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QWidget

from curator.domain.entities import TypeMapping
from curator.domain.wording import UserError, localised, tr
from curator.services.ports.files import DOCUMENT_FIELDS, DocumentOptions, FormatRegistry
from curator.ui.files.kb_columns import ColumnChooser
from curator.ui.kit.compose import button, column, row
from curator.ui.kit.form import FormDialog, sentence

INTRO = (
    "Choose which column holds what. A text or a mention column is required. The choice is remembered "
    "for tables with the same headings."
)
HINT = (
    "If rows with mentions have no text, their documents must be in another sheet, or in {companion} "
    "next to the file. Several identifiers are separated by | or ;."
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
    """Why a table cannot be read as documents, as a sentence; '' if it can."""
    if columns["text"] or columns["mention"] or (columns["document"] and columns["start"] and columns["end"]):
        return ""
    return tr("Choose the column that holds the texts, or the one that holds the mentions.")


class DocumentColumnsDialog(FormDialog):
    """`options` is the choice, valid after acceptance."""

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
        """Check the choice by applying it, which reports errors."""
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
    """Opens the dialog for the current file, if it is a table; `chosen` is emitted on acceptance."""

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
        """Show the button for this file, if it is a table."""
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


# *Project > Type mapping*: which entity types each mention type may link to.

MAPPING_INTRO = (
    "Candidates for a mention are restricted to the entity types ticked for its own type. "
    "Nothing ticked means no restriction."
)


class TypeMappingDialog(FormDialog):
    """`mapping` are the values in the dialog."""

    def __init__(
        self,
        mapping: TypeMapping,
        proposal: TypeMapping,
        *,
        mention_types: Mapping[str, int],
        entity_types: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Type mapping"), intro=tr(MAPPING_INTRO), parent=parent)
        self._proposal = proposal
        self._counts = dict(mention_types)
        self._allowed = {name: mapping.types_for(name) for name in sorted({*mention_types, *mapping.allowed})}
        self.types = QListWidget(self)
        self.types.setAccessibleName(tr("Mention types"))
        self.entities = QListWidget(self)
        self.entities.setAccessibleName(tr("Entity types"))
        self.propose = button(tr("&Propose again"), self._propose, parent=self)
        self._compose(entity_types)
        self._fill()

    def _compose(self, entity_types: Sequence[str]) -> None:
        for name in entity_types:
            item = QListWidgetItem(name, self.entities)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
        types = column(sentence(tr("Mention type")), (self.types, 1), spacing=6)
        entities = column(sentence(tr("may link to entities of type")), (self.entities, 1), spacing=6)
        self.body.insertLayout(0, row((types, 1), (entities, 1), spacing=12), 1)
        self.body.addWidget(self.propose, 0, Qt.AlignmentFlag.AlignLeft)
        self.types.currentRowChanged.connect(self._show)
        self.entities.itemChanged.connect(self._ticked)
        self.resize(620, 420)

    def _fill(self) -> None:
        at = max(self.types.currentRow(), 0)
        self.types.clear()
        self.types.addItems([self._words(name) for name in self._allowed])
        self.types.setCurrentRow(at)

    def _words(self, name: str) -> str:
        allowed = ", ".join(self._allowed[name]) or "any"
        return f"{name} ({localised(self._counts.get(name, 0), ',')}) → {allowed}"

    @property
    def _current(self) -> str | None:
        names = list(self._allowed)
        return names[self.types.currentRow()] if 0 <= self.types.currentRow() < len(names) else None

    def _show(self) -> None:
        allowed = self._allowed.get(self._current or "", ())
        self.entities.blockSignals(True)
        for item in self._items():
            item.setCheckState(Qt.CheckState.Checked if item.text() in allowed else Qt.CheckState.Unchecked)
        self.entities.blockSignals(False)

    def _items(self) -> list[QListWidgetItem]:
        return [self.entities.item(at) for at in range(self.entities.count())]

    def _ticked(self) -> None:
        name = self._current
        if name is None:
            return
        self._allowed[name] = tuple(one.text() for one in self._items() if one.checkState() is Qt.CheckState.Checked)
        self.types.currentItem().setText(self._words(name))

    def _propose(self) -> None:
        self._allowed = {name: self._proposal.types_for(name) for name in self._allowed}
        self._fill()
        self._show()

    @property
    def mapping(self) -> TypeMapping:
        return TypeMapping(dict(self._allowed))

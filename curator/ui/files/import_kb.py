"""*Project > Import knowledge base*: a file or a folder, which replaces the knowledge base or is added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QWidget

from curator.domain.entities import KnowledgeSource
from curator.domain.wording import UserError, tr
from curator.services.importing.kb_importing import KbWish
from curator.services.ports.files import FormatRegistry, KbOptions
from curator.ui.files.kb_columns import ColumnChooser, KbFilters, KbPreview
from curator.ui.kit.compose import choice
from curator.ui.kit.form import FormDialog, PathEdit

KB_FILES = (
    "Knowledge bases (*.jsonl *.obo *.owl *.xml *.bin *.ttl *.nt *.rdf *.csv *.tsv *.txt *.xlsx *.json *.RRF *.gz);;"
    "All files (*)"
)
INTRO = (
    "MeSH, UMLS, CTD, OBO, OBO Graphs, OWL, SKOS, tables, JSON lines and ZESHEL documents are "
    "recognised by their content, also if compressed with gzip. A folder is a UMLS release or contains "
    "ZESHEL documents of several worlds."
)
REPLACES = "It replaces the knowledge base {name} ({entities:,} entities). Decisions stay as they are."
RENEWS = "It replaces the source {name} ({entities:,} entities). Decisions stay as they are."
JOINS = "Its entities are added to the knowledge base. Where an identifier already exists, the existing entity is kept."


class ImportKbDialog(FormDialog):
    """`path` and `wish` are valid after acceptance. `before` is a sentence about the replaced knowledge base, '' for
    none; `present` are the existing sources. Without `formats` there is no preview."""

    def __init__(
        self,
        *,
        before: str = "",
        path: Path | None = None,
        formats: FormatRegistry | None = None,
        present: Sequence[KnowledgeSource] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Import knowledge base"), intro=tr(INTRO), ok=tr("Import"), parent=parent)
        self._before, self._formats, self._present = before, formats, tuple(present)
        self._table = False
        self.file = kb_edit(self)
        self.form.addRow(tr("&Knowledge base"), self.file)
        self.place = self._place_box()
        self.name = self._line(tr("Na&me"), tr("Name of the source"), tr("the file's name"))
        self.release = self._line(tr("&Version"), tr("Version of the source"), tr("for the record, for example 2026"))
        self.licence = self._line(tr("&Licence"), tr("Licence of the source"), tr("for the record"))
        self.prefix = self._line(
            tr("&Prefix"), tr("Prefix of identifiers"), tr("added to identifiers without a prefix, for example MESH")
        )
        self.type = self._line(
            tr("&Type"), tr("Type of all its entities"), tr("for all its entities; empty: as in the file")
        )
        self.filters = KbFilters(self, self.form)
        self.columns = ColumnChooser(self)
        self.columns.hide()
        self.body.addWidget(self.columns, 1)
        self.preview = KbPreview(formats, self) if formats is not None else None
        if self.preview is not None:
            self.preview.known.connect(self._known)
            self.body.addWidget(self.preview, 1)
        self.filters.changed.connect(self._preview)
        self.columns.changed.connect(self._preview)
        self.setMinimumWidth(640)
        self.file.changed.connect(self._look)
        self.columns.sheet_chosen.connect(lambda _: self._look_at_table())
        self.place.currentIndexChanged.connect(self._placed)
        if path is not None:
            self.file.set_path(path)
        self._say()
        self.file.setFocus()

    @property
    def path(self) -> Path:
        return self.file.path or Path()

    @property
    def wish(self) -> KbWish:
        type_ = self.type.text().strip()
        return KbWish(
            self.options,
            add=self.place.currentIndex() > 0,
            exact=self.filters.any_shown,
            name=self.name.text().strip(),
            release=self.release.text().strip(),
            licence=self.licence.text().strip(),
            prefix=self.prefix.text().strip(),
            types={"*": type_} if type_ else {},
        )

    @property
    def options(self) -> KbOptions:
        if not self._table:
            return self.filters.options
        columns = self.columns.columns  # '' means that no column holds the field
        return replace(self.filters.options, columns=columns, sheet=self.columns.sheet.currentText())

    def done(self, result: int) -> None:
        if self.preview is not None:
            self.preview.close_reading()
        super().done(result)

    def check(self) -> str:
        if self.file.path is None:
            return tr("Choose the file or the folder of the knowledge base.")
        return missing(self.file) or (self.columns.problem() if self._table else "")

    def _line(self, label: str, name: str, hint: str) -> QLineEdit:
        line = QLineEdit(self)
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        self.form.addRow(label, line)
        return line

    def _place_box(self) -> QComboBox:
        """The box for adding or replacing; hidden without a knowledge base."""
        ways = [tr("Replaces the whole knowledge base"), tr("Adds to the knowledge base")]
        ways += [tr("Replaces the source {name}", name=source.name) for source in self._present]
        rows = [(words, at) for at, words in enumerate(ways)]
        box = choice(tr("What happens to the existing knowledge base"), rows, parent=self)
        self.form.addRow(tr("&What it does"), box)
        self.form.setRowVisible(box, bool(self._present))
        return box

    def _placed(self) -> None:
        """Set the name: an updated source keeps its name."""
        source = self._renewed()
        self.name.setText(source.name if source is not None else "")
        self.name.setEnabled(source is None)
        if source is not None:
            self.filters.set_source(source)
            self._preview()
        self._say()

    def _renewed(self) -> KnowledgeSource | None:
        at = self.place.currentIndex() - 2
        return self._present[at] if 0 <= at < len(self._present) else None

    def _say(self) -> None:
        source = self._renewed()
        if source is not None:
            self.problem.set_note(tr(RENEWS, name=source.name, entities=source.entities))
        else:
            self.problem.set_note(self._before if self.place.currentIndex() <= 0 else tr(JOINS))

    def _look(self) -> None:
        """Check whether another file is a table."""
        self.columns.sheet.clear()
        self._look_at_table()

    def _preview(self) -> None:
        path = self.file.path
        if self.preview is None:
            return
        if path is None or not path.exists() or (self._table and self.columns.problem()):
            self.preview.forget()
        else:
            self.preview.look(path, self.options)

    def _known(self) -> None:
        """Show the choices for the recognised format."""
        if self._formats is None or self.preview is None or self.preview.found is None:
            return
        if (choices := self._formats.kb_choices().get(self.preview.found.format)) is not None:
            self.filters.show_only(choices)
            self._preview()  # including the contents of the filters

    def _look_at_table(self) -> None:
        path = self.file.path
        found = None
        self.filters.show_only(())
        self._say()
        if self._formats is not None and path is not None and path.is_file():
            try:
                found = self._formats.preview_kb(path, KbOptions(sheet=self.columns.sheet.currentText()))
            except UserError as error:
                self.problem.set_note(str(error))
        self._table = found is not None
        if found is not None:
            with QSignalBlocker(self.columns):  # the choice is complete when all of its boxes are set
                self.columns.show_table(found)
        self.columns.setVisible(self._table)
        self._preview()


def kb_edit(parent: QWidget) -> PathEdit:
    """An edit field for the path of a knowledge base, a file or a folder."""
    mode = QFileDialog.FileMode.ExistingFile
    return PathEdit(tr("the knowledge base"), mode=mode, filters=tr(KB_FILES), or_folder=True, parent=parent)


def missing(edit: PathEdit) -> str:
    """The problem with the path, as a sentence; '' if there is none."""
    if edit.path is None or edit.path.exists():
        return ""
    return tr("{path} does not exist. Choose the file or the folder of the knowledge base.", path=edit.path)

"""*Project > Imports*: the imported files, when and by whom, and undo."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from curator.domain.documents import ImportRecord
from curator.domain.wording import localised, tr
from curator.services.importing.imports import FileImport
from curator.ui.kit.form import EmptyPage, ShowDialog
from curator.ui.kit.key_names import place_of
from curator.ui.kit.record_tables import RecordColumn, RecordTable

NONE, WAY = "Nothing imported yet", "Import documents with {documents} or {pubmed}."
WHOLE_ROW = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows


class ImportsDialog(ShowDialog):
    """`undo_wanted` names the selected files."""

    undo_wanted = Signal(object)  # tuple of file ids

    def __init__(
        self,
        files: Sequence[FileImport],
        *,
        chosen: Sequence[int] = (),
        writable: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Imports"), parent)
        self._writable = writable
        ways = {"documents": place_of("project.import"), "pubmed": place_of("project.fetch")}
        self.empty = EmptyPage(tr(NONE), tr(WAY, **ways), self)
        columns: list[RecordColumn[FileImport]] = [
            RecordColumn(tr("File"), lambda one: one.record.file.name, tip=_origin),
            RecordColumn(tr("Format"), lambda one: one.record.file.format, tip=_origin),
            RecordColumn(tr("Documents"), lambda one: localised(one.documents, ","), figure=True, tip=_origin),
            RecordColumn(tr("When"), lambda one: _when(one.record), tip=_origin),
            RecordColumn(tr("Who"), lambda one: one.record.curator or "–", tip=_origin),
            RecordColumn(tr("State"), _state, tip=_origin),
        ]
        self.table: RecordTable[FileImport] = RecordTable(tr("Imports"), columns, sortable=False, parent=self)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.undo = self.add_button(tr("&Undo…"), lambda: self.undo_wanted.emit(self.selected))
        self.table.selectionModel().selectionChanged.connect(self._selection_changed)
        self.resize(900, 420)
        self.show_files(files, chosen=chosen)

    def show_files(self, files: Sequence[FileImport], *, chosen: Sequence[int] = ()) -> None:
        """Newest first. `chosen` are selected."""
        self.empty.stand_in(self.table, empty=not files)
        self.table.show_rows(files)
        self.table.clearSelection()
        for row, one in enumerate(files):
            if one.record.file.id in chosen:
                self.table.selectionModel().select(self.table.lines.index(row, 0), WHOLE_ROW)
        self._selection_changed()

    @property
    def selected(self) -> tuple[int, ...]:
        """Ids of the selected files whose import was not undone."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        files = (self.table.lines.rows[row] for row in rows)
        return tuple(one.record.file.id for one in files if one.undone is None)

    def _selection_changed(self) -> None:
        self.undo.setEnabled(self._writable and bool(self.selected))


def _origin(one: FileImport) -> str:
    return tr("{path}, SHA-256 {sha256}", path=one.record.file.path, sha256=one.record.file.sha256)


def _state(one: FileImport) -> str:
    if one.undone is not None:
        return tr("undone {when} by {who}", when=_when(one.undone), who=one.undone.curator)
    if one.restored is not None:
        return tr("imported again {when} by {who}", when=_when(one.restored), who=one.restored.curator)
    return tr("in the project")


def _when(record: ImportRecord) -> str:
    return localised(record.at.astimezone(), "%d %b %Y, %H:%M") if record.at is not None else "–"

"""*Project > Imports*: the imported files, when and by whom, and undo."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from curator.domain.imports import ImportRecord
from curator.domain.wording import localised, tr
from curator.services.importing.imports import FileImport
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.form import EmptyPage, ShowDialog
from curator.ui.kit.key_names import place_of

NONE, WAY = "Nothing imported yet", "Import documents with {documents} or {pubmed}."


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
        self._files: tuple[FileImport, ...] = ()
        self._writable = writable
        ways = {"documents": place_of("project.import"), "pubmed": place_of("project.fetch")}
        self.empty = EmptyPage(tr(NONE), tr(WAY, **ways), self)
        self.table = self._make_table()
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.undo = self.add_button(tr("&Undo…"))
        self.undo.clicked.connect(lambda: self.undo_wanted.emit(self.selected))
        self.table.itemSelectionChanged.connect(self._selection_changed)
        self.resize(900, 420)
        self.show_files(files, chosen=chosen)

    def _make_table(self) -> QTableWidget:
        headings = [tr("File"), tr("Format"), tr("Documents"), tr("When"), tr("Who"), tr("State")]
        table = QTableWidget(0, len(headings), self)
        table.setAccessibleName(tr("Imports"))
        table.setHorizontalHeaderLabels(headings)
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        return table

    def show_files(self, files: Sequence[FileImport], *, chosen: Sequence[int] = ()) -> None:
        """Newest first. `chosen` are selected."""
        self._files = tuple(files)
        self.empty.stand_in(self.table, empty=not files)
        self.table.setRowCount(len(files))
        for row, one in enumerate(files):
            self._fill(row, one)
        self.table.clearSelection()
        mode = self.table.selectionMode()
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
        for row, one in enumerate(files):
            if one.record.file.id in set(chosen):
                self.table.selectRow(row)
        self.table.setSelectionMode(mode)
        self._selection_changed()

    def _fill(self, row: int, one: FileImport) -> None:
        file, when = one.record.file, _when(one.record)
        words = (file.name, file.format, localised(one.documents, ","), when, one.record.curator or "–", _state(one))
        for column, text in enumerate(words):
            item = QTableWidgetItem(text)
            item.setToolTip(tip(tr("{path}, SHA-256 {sha256}", path=file.path, sha256=file.sha256)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, text)
            if column == 2:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.table.setItem(row, column, item)

    @property
    def selected(self) -> tuple[int, ...]:
        """Ids of the selected files whose import was not undone."""
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        return tuple(self._files[row].record.file.id for row in rows if self._files[row].undone is None)

    def _selection_changed(self) -> None:
        self.undo.setEnabled(self._writable and bool(self.selected))


def _state(one: FileImport) -> str:
    if one.undone is not None:
        return tr("undone {when} by {who}", when=_when(one.undone), who=one.undone.curator)
    if one.restored is not None:
        return tr("imported again {when} by {who}", when=_when(one.restored), who=one.restored.curator)
    return tr("in the project")


def _when(record: ImportRecord) -> str:
    return localised(record.at.astimezone(), "%d %b %Y, %H:%M") if record.at is not None else "–"

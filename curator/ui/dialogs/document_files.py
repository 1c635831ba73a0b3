"""A list of document files with the format that each is recognised as: add, remove, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.services.ports import FormatRegistry
from curator.ui.dialogs.form import file_dialog

ROOM = 40
"""Pixels beside the widest name of a format."""


class DocumentFiles(QWidget):
    """`paths` are the files, `problem` the first sentence about one that cannot be read."""

    changed = Signal()

    def __init__(self, formats: FormatRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._formats = formats
        self._paths: list[Path] = []
        self._wrong: dict[Path, str] = {}
        self.table = self._make_table()
        self.add = QPushButton(tr("&Add files…"), self)
        self.remove = QPushButton(tr("&Remove"), self)
        row = QHBoxLayout()
        for button in (self.add, self.remove):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table, 1)
        column.addLayout(row)
        self.add.clicked.connect(self._browse)
        self.remove.clicked.connect(self._remove)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 2, self)
        table.setHorizontalHeaderLabels([tr("File"), tr("Recognised as")])
        table.setAccessibleName(tr("Files to import"))
        table.verticalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setColumnWidth(1, table.fontMetrics().horizontalAdvance("ZESHEL documents with mentions") + ROOM)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        return table

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(self._paths)

    @property
    def problem(self) -> str:
        return next(iter(self._wrong.values()), "")

    def add_paths(self, paths: Sequence[Path]) -> None:
        """Add files with the format that is recognised, or with the sentence that says what is wrong."""
        for path in paths:
            if path in self._paths:
                continue
            try:
                words, wrong = self._formats.recognise(path).title, ""
            except UserError as error:
                words, wrong = tr("not readable"), str(error)
            self._paths.append(path)
            if wrong:
                self._wrong[path] = wrong
            self._add_row(path, words, wrong)
        self.changed.emit()

    def _add_row(self, path: Path, words: str, wrong: str) -> None:
        at = self.table.rowCount()
        self.table.insertRow(at)
        for column, text in enumerate((path.name, words)):
            item = QTableWidgetItem(text)
            item.setToolTip(wrong or str(path))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{text}. {wrong}" if wrong else text)
            self.table.setItem(at, column, item)

    def _browse(self) -> None:
        dialog = file_dialog(self, tr("Documents to import"), mode=QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.add_paths([Path(name) for name in names]))
        dialog.open()

    def _remove(self) -> None:
        for row in sorted({index.row() for index in self.table.selectedIndexes()}, reverse=True):
            self.table.removeRow(row)
            self._wrong.pop(self._paths.pop(row), None)
        self.changed.emit()

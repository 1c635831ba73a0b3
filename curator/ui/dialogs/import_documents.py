"""*Project > Import documents*: which files, into which split, with or without their gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.services.ports import FormatRegistry
from curator.ui.dialogs.form import FormDialog, file_dialog

INTRO = "PubTator, ZESHEL, PubMed XML and MEDLINE are recognised by their content, compressed with gzip or not."
NO_GOLD = "Gold needs a knowledge base: import one first."
SPLITS = {
    Split.TRAIN: "train: decisions teach the linker",
    Split.VALIDATION: "validation: decisions judge and calibrate it",
    Split.TEST: "test: never seen by it",
}


@dataclass(frozen=True, slots=True)
class ImportWish:
    """What is to be imported; `hold_out` documents of each file become validation."""

    paths: tuple[Path, ...]
    split: Split
    gold: bool
    hold_out: int = 0


class ImportDialog(FormDialog):
    def __init__(
        self,
        formats: FormatRegistry,
        *,
        gold: bool,
        paths: Sequence[Path] = (),
        parent: QWidget | None = None,
    ) -> None:
        """`gold`: whether there is a knowledge base to look identifiers up in."""
        super().__init__("Import documents", intro=INTRO, ok="Import", parent=parent)
        self._formats = formats
        self._paths: list[Path] = []
        self._wrong: dict[Path, str] = {}
        self.files = self._table()
        self.add = QPushButton("&Add files…", self)
        self.remove = QPushButton("&Remove", self)
        self.split = QComboBox(self)
        self.split.setAccessibleName("Split")
        for split, words in SPLITS.items():
            self.split.addItem(words, split)
        self.hold_out = QSpinBox(self)
        self.hold_out.setRange(0, 100_000)
        self.hold_out.setAccessibleName("Documents held out for validation")
        self.gold = QCheckBox("&With gold: what the files say becomes decisions by import:FILE", self)
        self.gold.setEnabled(gold)
        self.gold.setToolTip("" if gold else NO_GOLD)
        self._compose()
        self.add_paths(paths)
        if not paths:
            self.add.setFocus()

    def _table(self) -> QTableWidget:
        table = QTableWidget(0, 2, self)
        table.setHorizontalHeaderLabels(["File", "Recognised as"])
        table.setAccessibleName("Files to import")
        table.verticalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setColumnWidth(1, 250)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        return table

    def _compose(self) -> None:
        row = QHBoxLayout()
        for button in (self.add, self.remove):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        self.body.insertWidget(0, self.files, 1)
        self.body.insertLayout(1, row)
        self.form.addRow("&Split", self.split)
        self.form.addRow("Held out for &validation", self.hold_out)
        self.form.addRow("", self.gold)
        self.split.currentIndexChanged.connect(self._split_changed)
        self.add.clicked.connect(self._browse)
        self.remove.clicked.connect(self._remove)
        self.resize(700, 460)

    def add_paths(self, paths: Sequence[Path]) -> None:
        """Add files with the format that is recognised, or with the sentence that says what is wrong."""
        for path in paths:
            if path in self._paths:
                continue
            try:
                words, wrong = self._formats.recognise(path).title, ""
            except UserError as error:
                words, wrong = "not readable", str(error)
            self._paths.append(path)
            if wrong:
                self._wrong[path] = wrong
            self._add_row(path, words, wrong)
        self.problem.set_note(next(iter(self._wrong.values()), ""))

    def _add_row(self, path: Path, words: str, wrong: str) -> None:
        at = self.files.rowCount()
        self.files.insertRow(at)
        for column, text in enumerate((path.name, words)):
            item = QTableWidgetItem(text)
            item.setToolTip(wrong or str(path))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{text}. {wrong}" if wrong else text)
            self.files.setItem(at, column, item)

    def _split_changed(self) -> None:
        self.hold_out.setEnabled(self.split.currentData() == Split.TRAIN)

    def _browse(self) -> None:
        dialog = file_dialog(self, "Documents to import", mode=QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.add_paths([Path(name) for name in names]))
        dialog.open()

    def _remove(self) -> None:
        for row in sorted({index.row() for index in self.files.selectedIndexes()}, reverse=True):
            self.files.removeRow(row)
            self._wrong.pop(self._paths.pop(row), None)
        self.problem.set_note(next(iter(self._wrong.values()), ""))

    def check(self) -> str:
        if not self._paths:
            return "Add at least one file."
        wrong = next(iter(self._wrong.values()), "")
        return f"{wrong} Or remove it from the list." if wrong else ""

    @property
    def wish(self) -> ImportWish:
        split = Split(self.split.currentData())
        hold_out = self.hold_out.value() if split is Split.TRAIN else 0
        return ImportWish(tuple(self._paths), split, self.gold.isChecked(), hold_out)

"""Which column of a table holds what: a choice for every field, beside the first rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import tr
from curator.services.ports.files import FIELDS, TablePreview
from curator.ui.kit.form import sentence

HINT = "Cells with several values are taken apart at | or ;. Columns that are not chosen are not read."
ROWS_SHOWN = 5
IN_A_ROW = 2


def field_words(field: str) -> str:
    words: Mapping[str, str] = {
        "id": tr("Identifier"),
        "name": tr("Name"),
        "synonyms": tr("Synonyms"),
        "types": tr("Types"),
        "definition": tr("Definition"),
        "alt_ids": tr("Alternate identifiers"),
        "parents": tr("Parents"),
        "tree_numbers": tr("Tree numbers"),
    }
    return words[field]


def kb_problem(columns: Mapping[str, str]) -> str:
    """What keeps a table of entities from being read, as a sentence; '' when nothing does."""
    missing = next((field for field in ("id", "name") if not columns[field]), "")
    words = {
        "id": tr("Choose the column that holds the identifiers."),
        "name": tr("Choose the column that holds the names."),
    }
    return words.get(missing, "")


class ColumnChooser(QWidget):
    """`columns` is what stands in the boxes, '' for fields without a column. `words` names a field for people, `check`
    says what is missing."""

    changed = Signal()
    sheet_chosen = Signal(str)

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        fields: Sequence[str] = FIELDS,
        words: Callable[[str], str] = field_words,
        check: Callable[[Mapping[str, str]], str] = kb_problem,
        hint: str = "",
    ) -> None:
        super().__init__(parent)
        self._words, self._check, self._hint = words, check, hint or tr(HINT)
        self.sheet = QComboBox(self)
        self.sheet.setAccessibleName(tr("Sheet of the workbook"))
        self.boxes = {field: self._box(field) for field in fields}
        self.rows = QTableWidget(self)
        self.rows.setAccessibleName(tr("The first rows of the table"))
        self.rows.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.rows.setTabKeyNavigation(False)
        self.rows.verticalHeader().hide()
        self._compose()
        self.sheet.textActivated.connect(self.sheet_chosen)

    @property
    def columns(self) -> dict[str, str]:
        return {field: str(box.currentData() or "") for field, box in self.boxes.items()}

    def problem(self) -> str:
        """What keeps the table from being read, as a sentence; '' when nothing does."""
        return self._check(self.columns)

    def show_table(self, found: TablePreview) -> None:
        self._show_sheets(found)
        for field, box in self.boxes.items():
            box.blockSignals(True)
            box.clear()
            box.addItem(tr("– none –"), "")
            for number, heading in enumerate(found.headings, 1):
                box.addItem(
                    heading or tr("Column {n}", n=number), str(number) if self._twice(found, heading) else heading
                )
            box.setCurrentIndex(max(box.findData(found.columns.get(field, "")), 0))
            box.blockSignals(False)
        self._show_rows(found)
        self.changed.emit()

    def _twice(self, found: TablePreview, heading: str) -> bool:
        """A heading that is empty or not alone is told by its number."""
        return not heading or found.headings.count(heading) > 1

    def _show_sheets(self, found: TablePreview) -> None:
        if [self.sheet.itemText(at) for at in range(self.sheet.count())] != list(found.sheets):
            self.sheet.clear()
            self.sheet.addItems(list(found.sheets))
        several = len(found.sheets) > 1
        self.sheet.setVisible(several)
        self.sheet_label.setVisible(several)

    def _show_rows(self, found: TablePreview) -> None:
        rows = found.rows[:ROWS_SHOWN]
        self.rows.setRowCount(len(rows))
        self.rows.setColumnCount(len(found.headings))
        self.rows.setHorizontalHeaderLabels(list(found.headings))
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells[: len(found.headings)]):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                self.rows.setItem(row, column, item)
        header = self.rows.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        line = self.rows.fontMetrics().height() * 2
        self.rows.setMinimumHeight(line * (min(len(rows), 3) + 1))

    def _box(self, field: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(tr("Column for: {field}", field=self._words(field)))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(14)
        box.currentIndexChanged.connect(self.changed)
        return box

    def _compose(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        grid = QGridLayout()
        self.sheet_label = QLabel(tr("Sheet"), self)
        self.sheet_label.setBuddy(self.sheet)
        grid.addWidget(self.sheet_label, 0, 0)
        grid.addWidget(self.sheet, 0, 1)
        for number, (field, box) in enumerate(self.boxes.items()):
            label = QLabel(self._words(field), self)
            label.setBuddy(box)
            row, side = number // IN_A_ROW + 1, number % IN_A_ROW * 2
            grid.addWidget(label, row, side, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(box, row, side + 1)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        column.addLayout(grid)
        column.addWidget(sentence(self._hint))
        column.addWidget(self.rows, 1)

"""Assigns the columns of a table to fields: a box per field, next to the first rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGridLayout,
    QHeaderView,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from curator.domain.entities import KnowledgeSource
from curator.domain.wording import tr
from curator.services.importing.foreseeing import Foreseen, foresee_kb
from curator.services.ports.files import FIELDS, FormatRegistry, KbOptions, TablePreview
from curator.ui.files.import_report import kb_page
from curator.ui.files.reading_ahead import FilePreviewer
from curator.ui.kit.compose import column, offer
from curator.ui.kit.foreign_text import PlainLabel, StillBrowser, tip
from curator.ui.kit.form import sentence

HINT = "Values in a cell are separated by | or ;. Columns that are not chosen are ignored."
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
    """The problem that prevents reading a table of entities, as a sentence; '' if there is none."""
    missing = next((field for field in ("id", "name") if not columns[field]), "")
    words = {
        "id": tr("Choose the column that holds the identifiers."),
        "name": tr("Choose the column that holds the names."),
    }
    return words.get(missing, "")


class ColumnChooser(QWidget):
    """`columns` are the values in the boxes, '' for fields without a column. `words` gives the label of a field,
    `check` reports what is missing."""

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
        """The problem that prevents reading the table, as a sentence; '' if there is none."""
        return self._check(self.columns)

    def show_table(self, found: TablePreview) -> None:
        self._show_sheets(found)
        rows: list[tuple[str, object]] = [(tr("– none –"), "")]
        for number, heading in enumerate(found.headings, 1):
            by_number = not heading or found.headings.count(heading) > 1
            rows.append((heading or tr("Column {n}", n=number), str(number) if by_number else heading))
        for field, box in self.boxes.items():
            offer(box, rows, chosen=found.columns.get(field, ""))
        self._show_rows(found)
        self.changed.emit()

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
        for at, cells in enumerate(rows):
            for number, text in enumerate(cells[: len(found.headings)]):
                item = QTableWidgetItem(text)
                item.setToolTip(tip(text))
                self.rows.setItem(at, number, item)
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
        grid = QGridLayout()
        self.sheet_label = PlainLabel(tr("Sheet"), self)
        self.sheet_label.setBuddy(self.sheet)
        grid.addWidget(self.sheet_label, 0, 0)
        grid.addWidget(self.sheet, 0, 1)
        for number, (field, box) in enumerate(self.boxes.items()):
            label = PlainLabel(self._words(field), self)
            label.setBuddy(box)
            row, side = number // IN_A_ROW + 1, number % IN_A_ROW * 2
            grid.addWidget(label, row, side, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(box, row, side + 1)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        column(grid, sentence(self._hint), (self.rows, 1), of=self)


# Filters for reading a knowledge base: languages and, for the UMLS, vocabularies, semantic types, suppressed names.


class KbFilters(QObject):
    """Form rows, of which only those that apply to the file's format are visible. `changed`: a filter was changed."""

    changed = Signal()

    def __init__(self, parent: QWidget, form: QFormLayout) -> None:
        super().__init__(parent)
        self._form = form
        self.languages = self._line(tr("Lan&guages"), tr("Languages of the names"), tr("en; for example en, de"))
        self.vocabularies = self._line(
            tr("Voca&bularies"), tr("Vocabularies to read names from"), tr("all; for example MSH, SNOMEDCT_US")
        )
        self.types = self._line(
            tr("&Only types"), tr("Semantic types to read"), tr("all; for example T047; T191; Clinical Drug")
        )
        self.suppressed = QCheckBox(tr("Include obsolete and s&uppressed names"), parent)
        self.suppressed.toggled.connect(self.changed)
        form.addRow("", self.suppressed)
        self._rows = {
            "languages": self.languages,
            "vocabularies": self.vocabularies,
            "types": self.types,
            "suppressed": self.suppressed,
        }
        self.show_only(())

    def show_only(self, names: Collection[str]) -> None:
        """Show the rows that apply to a format, by their names in `KbOptions`."""
        self._shown = frozenset(names) & frozenset(self._rows)
        for name, row in self._rows.items():
            self._form.setRowVisible(row, name in self._shown)

    def set_source(self, source: KnowledgeSource) -> None:
        """Fill in the filters of the last import from this source."""
        self.languages.setText(", ".join(source.languages))
        self.vocabularies.setText(", ".join(source.vocabularies))
        self.types.setText("; ".join(source.only_types))
        self.suppressed.setChecked(source.suppressed)

    @property
    def any_shown(self) -> bool:
        return bool(self._shown)

    @property
    def options(self) -> KbOptions:
        """The options without columns; hidden rows are ignored."""
        return KbOptions(
            languages=_words(self.languages, ",") if "languages" in self._shown else (),
            vocabularies=_words(self.vocabularies, ",") if "vocabularies" in self._shown else (),
            types=_words(self.types, ";") if "types" in self._shown else (),
            suppressed=self.suppressed.isChecked() and "suppressed" in self._shown,
        )

    def _line(self, label: str, name: str, hint: str) -> QLineEdit:
        line = QLineEdit(self._form.parentWidget())
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        line.editingFinished.connect(self.changed)
        self._form.addRow(label, line)
        return line


def _words(line: QLineEdit, between: str) -> tuple[str, ...]:
    """Split an entry; semicolons separate semantic types, whose names contain commas."""
    return tuple(word for one in line.text().split(between) if (word := one.strip()))


# A preview of a knowledge base, read in the background and shown before anything is written.


class KbPreview(StillBrowser):
    """`look` shows a file; `found` is what is known about it so far."""

    known = Signal()

    def __init__(self, formats: FormatRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._formats = formats
        self._ahead: FilePreviewer | None = None
        self._looked: tuple[Path, KbOptions] | None = None
        self.found: Foreseen | None = None
        self.setAccessibleName(tr("Preview of the knowledge base"))
        self.setPlaceholderText(tr("The content of a file is shown here before anything is imported."))
        self.setTabChangesFocus(True)
        self.setMinimumHeight(self.fontMetrics().lineSpacing() * 5)

    @property
    def reading(self) -> bool:
        return self._ahead is not None and self._ahead.reading

    def look(self, path: Path, options: KbOptions) -> None:
        """Restart if the file or the filters have changed."""
        if self._looked == (path, options):
            return
        self.close_reading()
        self._looked, self.found = (path, options), None
        self.setPlainText(tr("Reading the file…"))
        self._ahead = FilePreviewer(lambda one: foresee_kb(one, self._formats, options), self)
        self._ahead.found.connect(self._tell)
        self._ahead.add(path)

    def forget(self) -> None:
        """Clear the preview: no file is selected."""
        self.close_reading()
        self._looked, self.found = None, None
        self.clear()

    def close_reading(self) -> None:
        """Stop without waiting: a step can take long (a large RDF file is parsed as a whole) and uses only the file."""
        if self._ahead is not None:
            self._ahead.abandon()
            self._ahead.deleteLater()
            self._ahead = None

    def _tell(self, found: Foreseen) -> None:
        self.found = found
        self.setHtml(kb_page(found))
        self.known.emit()

"""The history of steps as a table, newest first, and its filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QWidget

from curator.domain.decisions import OperationKind
from curator.domain.wording import localised, tr
from curator.services.curating.steps import Step, StepKind, StepPage, StepState
from curator.services.ports.curation import Operation, StepFilter
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.labels import FindLine
from curator.ui.kit.record_tables import OpeningTable
from curator.ui.kit.sizing import FlowRow

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
HEADERS = ("Number", "When", "Who", "Step", "Mentions", "State")
NUMBER, TEXT, MENTIONS = 0, 3, 4
LEAST = 32
"""Characters of a step that are shown at least."""
STATES = {
    StepState.DONE: "",
    StepState.REDOABLE: "undone",
    StepState.UNDONE: "undone for good",
    StepState.FIXED: "",
}
HERE = "last step now"
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
ALIGNMENT, FONT = int(Qt.ItemDataRole.TextAlignmentRole), int(Qt.ItemDataRole.FontRole)
WORDS = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
ASKED = frozenset([*map(int, WORDS), ROW_ROLE, ALIGNMENT, FONT])
GAP = "\u2002"
"""A space after a number, so that it does not touch the next column."""
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
KINDS = {
    StepKind.DECISIONS: "Decisions",
    StepKind.MENTIONS: "Mentions added, changed, deleted",
    StepKind.STATES: "Document states",
    StepKind.NOTES: "Flags and comments",
    StepKind.ATTRIBUTES: "Attributes",
    StepKind.ENTITIES: "Entities of the project",
    StepKind.IMPORTS: "Imports",
}


class StepsModel(QAbstractTableModel):
    """`more_wanted` requests the rows after the last one; `add` appends them, `begin` starts again."""

    more_wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Step] = []
        self._more = False
        self._struck = QFont()
        self._struck.setStrikeOut(True)
        self.here: int | None = None  # the number of the last step not undone
        self.beyond: Operation | None = None  # where the next page begins

    def begin(self, page: StepPage) -> None:
        self.beginResetModel()
        self._rows = list(page.steps)
        self._take(page)
        self.endResetModel()

    def add(self, page: StepPage) -> None:
        self._take(page)
        if page.steps:
            self.beginInsertRows(NO_PARENT, len(self._rows), len(self._rows) + len(page.steps) - 1)
            self._rows += page.steps
            self.endInsertRows()

    def _take(self, page: StepPage) -> None:
        self.here, self.beyond = page.here, page.beyond
        self._more = page.beyond is not None

    def row(self, number: int) -> Step | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def find(self, number: int | None) -> int | None:
        """The row of a step."""
        return next((at for at, one in enumerate(self._rows) if one.number == number), None) if number else None

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._more

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._more = False  # until they arrive
            self.more_wanted.emit()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return tr(HEADERS[section]) if 0 <= section < len(HEADERS) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in ASKED:  # a table asks for ten roles of each cell
            return None
        row, column = self.row(index.row()) if index.isValid() else None, index.column()
        if row is None or role == ROW_ROLE:
            return row
        if role == ALIGNMENT:
            return RIGHT if column in (NUMBER, MENTIONS) else None
        if role == FONT:
            undone = column == TEXT and row.state in (StepState.REDOABLE, StepState.UNDONE)
            return self._struck if undone else None
        gap = GAP if role == Qt.ItemDataRole.DisplayRole and column in (NUMBER, MENTIONS) else ""
        return in_role(self._words(row)[column], role) + gap

    def _words(self, row: Step) -> tuple[str, ...]:
        here = row.number is not None and row.number == self.here
        return (
            "" if row.number is None else localised(row.number, ","),
            localised(row.at.astimezone(), "%d %b %Y, %H:%M:%S"),
            row.actor,
            row.text,
            localised(row.mentions, ",") if row.mentions else "",
            tr(HERE) if here else tr(STATES[row.state]) if STATES[row.state] else "",
        )


class StepsTable(OpeningTable):
    """Shows some words of every step: if the other columns leave no room, it scrolls sideways."""

    def updateGeometries(self) -> None:
        super().updateGeometries()
        header, least = self.horizontalHeader(), LEAST * self.fontMetrics().averageCharWidth()
        if header.count() <= TEXT:
            return
        others = sum(header.sectionSize(at) for at in range(header.count()) if at != TEXT)
        tight = self.viewport().width() - others < least
        mode = QHeaderView.ResizeMode.Interactive if tight else QHeaderView.ResizeMode.Stretch
        if header.sectionResizeMode(TEXT) is not mode:
            header.setSectionResizeMode(TEXT, mode)
        if tight and header.sectionSize(TEXT) < least:
            header.resizeSection(TEXT, least)


def make_table(model: StepsModel, parent: QWidget) -> OpeningTable:
    """The steps of the model, one row each."""
    table = StepsTable(parent)
    table.setAccessibleName(tr("Steps of the project"))
    table.setModel(model)
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setResizeContentsPrecision(20)
    for column in range(len(HEADERS)):
        stretched = column == TEXT
        mode = QHeaderView.ResizeMode.Stretch if stretched else QHeaderView.ResizeMode.ResizeToContents
        header.setSectionResizeMode(column, mode)
    return table


class StepFilters(QWidget):
    """`changed`: something else was chosen; `typed`: the search words changed. API: `offer`, `narrowed`."""

    changed = Signal()
    typed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = FindLine(tr("Find steps"), tr("Find by words, string or entity identifier"), self)
        self.words.setMinimumWidth(28 * self.fontMetrics().averageCharWidth())
        self.curators, self.kinds, self.documents = QComboBox(self), QComboBox(self), QComboBox(self)
        self.curators.addItem(tr("Everybody"), "")
        self.curators.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.kinds.addItem(tr("All kinds"), "")
        for kind in KINDS:
            self.kinds.addItem(tr(KINDS[kind]), kind.value)
        self.documents.addItem(tr("All documents"), False)
        self.documents.addItem(tr("The open document"), True)
        names = ((self.curators, tr("Curator")), (self.kinds, tr("Kind of step")), (self.documents, tr("Documents")))
        for box, name in names:
            box.setAccessibleName(name)
            box.currentIndexChanged.connect(self.changed)
        self.setLayout(FlowRow(self.words, self.curators, self.kinds, self.documents))
        self.words.textChanged.connect(self.typed)

    def reset(self) -> None:
        """Reset the filters."""
        with QSignalBlocker(self.words):
            self.words.clear()
        for box in (self.curators, self.kinds, self.documents):
            with QSignalBlocker(box):
                box.setCurrentIndex(0)

    def offer(self, actors: Sequence[str]) -> None:
        """Set the names of curators; the chosen one is kept."""
        with QSignalBlocker(self.curators):
            chosen = self.curators.currentData()
            while self.curators.count() > 1:
                self.curators.removeItem(1)
            for name in actors:
                self.curators.addItem(name, name)
            self.curators.setCurrentIndex(max(self.curators.findData(chosen), 0))

    def narrowed(self, document_id: int | None) -> StepFilter:
        """The filter; `document_id` is the open document's; without one the list is not filtered by document."""
        kind = self.kinds.currentData()
        kinds: frozenset[OperationKind] = StepKind(kind).operations if kind else frozenset()
        of_document = document_id if self.documents.currentData() else None
        return StepFilter(self.curators.currentData() or "", kinds, of_document, self.words.text().strip())

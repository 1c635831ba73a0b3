"""The rows of the list of inconsistencies, under a heading for each kind: strings, their decisions, places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from curator.domain.audit import Inconsistencies, Inconsistency, InconsistencyKind
from curator.domain.wording import localised, ntr, tr
from curator.services.records.inconsistencies import decided_words
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.record_tables import OpeningTable
from curator.ui.kit.sight import rows_in_sight

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
HEADERS = ("String", "Type", "Decided as", "Mentions", "Document")
STRING, DECIDED, MENTIONS = 0, 2, 3
GAP = "\u2002"
"""Space after a number, separating it from the next column."""
LETTERS = (26, 14, 0, 11, 16)
"""Initial column widths in letters; 0 takes the remaining width."""
KIND_WORDS = {
    InconsistencyKind.DOCUMENT: "One string, several entities in a document",
    InconsistencyKind.HIERARCHY: "One string, a broader and a narrower entity in a document",
    InconsistencyKind.OBSOLETE: "Obsolete entities, and entities that the knowledge base no longer has",
    InconsistencyKind.NIL: "Linked in one place, NIL in another",
    InconsistencyKind.PROJECT: "One string, several entities in the project",
}
HERE = "The string of the current mention: all its decisions"


def ways_words(one: Inconsistency, every: Inconsistencies) -> str:
    """The decisions with their counts, the most frequent first; for an obsolete entity, its replacement."""
    names = dict(every.names)
    if one.entity_id:
        into = " / ".join(f"{entity.id} {entity.name}" for entity in one.replacements)
        state = tr("obsolete") if one.obsolete else tr("no longer in the knowledge base")
        return f"{one.entity_id}: {state}, " + (tr("use {entities}", entities=into) if into else tr("no replacement"))
    return "  ·  ".join(f"{decided_words(way.verdict, names)} ({localised(len(way.places), ',')})" for way in one.ways)


def place_words(one: Inconsistency) -> str:
    """The document, or the number of them."""
    documents = {place.document_id for place in one.places}
    return one.external_id or ntr("{n:,} document", "{n:,} documents", len(documents))


class InconsistencyModel(QAbstractTableModel):
    """Rows grouped by kind; a heading row contains only its kind."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._every = Inconsistencies()
        self._rows: list[Inconsistency | str] = []

    def show_rows(
        self, every: Inconsistencies, rows: Sequence[Inconsistency], here: Inconsistency | None = None
    ) -> None:
        """`rows` must be grouped by kind. `here`: all decisions about one string, at the top."""
        self.beginResetModel()
        self._every, self._rows = every, []
        if here is not None:
            self._rows += [tr(HERE), here]
        numbers: dict[InconsistencyKind, int] = {}
        for one in rows:
            numbers[one.kind] = numbers.get(one.kind, 0) + 1
        kind = None
        for one in rows:
            if one.kind is not kind:
                kind = one.kind
                self._rows.append(f"{tr(KIND_WORDS[kind])} ({localised(numbers[kind], ',')})")
            self._rows.append(one)
        self.endResetModel()

    @property
    def headings(self) -> list[int]:
        return [at for at, one in enumerate(self._rows) if isinstance(one, str)]

    def row(self, at: int) -> Inconsistency | None:
        found = self._rows[at] if 0 <= at < len(self._rows) else None
        return found if isinstance(found, Inconsistency) else None

    def beside(self, at: int, step: int) -> int | None:
        """The next row that is not a heading, in steps of ±1; None at the end."""
        at += step
        while 0 <= at < len(self._rows) and isinstance(self._rows[at], str):
            at += step
        return at if 0 <= at < len(self._rows) else None

    def find(self, scope: str) -> int | None:
        """The row of a scope."""
        return next((at for at in range(len(self._rows)) if (one := self.row(at)) and one.scope == scope), None)

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) if self.row(index.row()) is not None else Qt.ItemFlag.NoItemFlags

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(HEADERS):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        words = tr(HEADERS[section]) + (GAP if section == MENTIONS else "")
        return words if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        found = self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None
        if isinstance(found, str):
            return self._heading(found, index.column(), role)
        if found is None or role == ROW_ROLE:
            return found
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(self._words(found, index.column()), role)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        return None

    def _heading(self, words: str, column: int, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return words if column == STRING else ""
        if role == Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        parent = self.parent()
        if isinstance(parent, QWidget) and role == Qt.ItemDataRole.BackgroundRole:
            return parent.palette().color(QPalette.ColorRole.AlternateBase)
        if isinstance(parent, QWidget) and role == Qt.ItemDataRole.ForegroundRole:
            return parent.palette().color(QPalette.ColorRole.Text)
        return None

    def _words(self, one: Inconsistency, column: int) -> str:
        if column == DECIDED:
            return ways_words(one, self._every)
        if column == MENTIONS:
            return f"{localised(len(one.places), ',')}{GAP}"
        return (one.text, one.type, "", "", place_words(one))[column]


def _side(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column == MENTIONS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


class InconsistencyTable(OpeningTable):
    """The rows; the arrow keys skip headings. `opened`: Enter or a double click; `pressed`: other printable keys;
    `moved`: the current row changed."""

    opened = Signal()
    pressed = Signal(int)  # Qt.Key
    moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Inconsistencies"))
        self.rows = InconsistencyModel(self)
        self.setModel(self.rows)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        letter = self.fontMetrics().averageCharWidth()
        for column, letters in enumerate(LETTERS):
            fixed = QHeaderView.ResizeMode.Interactive if letters else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(column, fixed)
            self.setColumnWidth(column, letters * letter)
        self.selectionModel().currentRowChanged.connect(lambda new, _: self.moved.emit() if new.isValid() else None)
        self.doubleClicked.connect(lambda _: self.opened.emit())

    def show_rows(
        self, every: Inconsistencies, rows: Sequence[Inconsistency], here: Inconsistency | None = None
    ) -> None:
        """Keep the highlighted row, or else highlight the row at its position."""
        at, one = self.currentIndex().row(), self.current
        self.rows.show_rows(every, rows, here)
        self.clearSpans()
        for heading in self.rows.headings:
            self.setSpan(heading, 0, 1, len(HEADERS))
        same = self.rows.find(one.scope) if one is not None else None
        nearest = self.rows.beside(min(at, self.rows.rowCount()) - 1, 1) if at > 0 else self.rows.beside(-1, 1)
        if nearest is None:
            nearest = self.rows.beside(self.rows.rowCount(), -1)
        if (row := nearest if same is None else same) is not None:
            self.go_to(row)

    @property
    def current(self) -> Inconsistency | None:
        return self.rows.row(self.currentIndex().row())

    def go_to(self, row: int) -> None:
        self.setCurrentIndex(self.rows.index(row, 0))
        if row == self.rows.beside(-1, 1):
            self.scrollToTop()  # with the heading above it

    def go_by(self, step: int) -> bool:
        """Go to the next or previous row; False at the end."""
        found, sign = self.currentIndex().row(), 1 if step > 0 else -1
        moved = False
        for _ in range(abs(step)):
            further = self.rows.beside(found, sign)
            if further is None:
                break
            found, moved = further, True
        if moved:
            self.go_to(found)
        return moved

    def scopes_in_sight(self) -> list[tuple[str, str]]:
        """The visible rows, for `Glance` to record."""
        found = (self.rows.row(at) for at in rows_in_sight(self))
        return [row_key(one) for one in found if one is not None]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, every = Qt.Key(event.key()), self.rows.rowCount()
        page = max(len(rows_in_sight(self)) - 1, 1)
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_J: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_K: -1,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_End: every,
            Qt.Key.Key_Home: -every,
        }
        if not is_plain(event) or key in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            super().keyPressEvent(event)
        elif key in steps:
            self.go_by(steps[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if not event.isAutoRepeat() and self.current is not None:
                self.opened.emit()
        elif not event.isAutoRepeat():
            self.pressed.emit(key)


def row_key(one: Inconsistency) -> tuple[str, str]:
    """The key of a row for `Glance`: its text, so that a changed row counts as a new one."""
    return one.scope, "|".join(f"{way.way}{len(way.places)}" for way in one.ways)

"""The rows of the list of inconsistencies, under a heading for each kind: strings, their decisions, places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPalette
from PySide6.QtWidgets import QWidget

from curator.domain.audit import Inconsistencies, Inconsistency, InconsistencyKind
from curator.domain.wording import localised, ntr, tr
from curator.services.records.inconsistencies import decided_words
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.record_tables import DISPLAY, FONT, SPOKEN, Index, RecordColumn, RecordModel, RecordTable
from curator.ui.kit.sight import rows_in_sight

DECIDED = 2
"""The column that takes the remaining width."""
GROUND = {
    int(Qt.ItemDataRole.BackgroundRole): QPalette.ColorRole.AlternateBase,
    int(Qt.ItemDataRole.ForegroundRole): QPalette.ColorRole.Text,
}
"""The colours of headings."""
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


class InconsistencyModel(RecordModel[Inconsistency | str]):
    """Rows grouped by kind; a row that is a string is a heading, in the first column."""

    def __init__(self) -> None:
        self.every = Inconsistencies()
        super().__init__(
            [
                RecordColumn(tr("String"), _of(lambda one: one.text), letters=26),
                RecordColumn(tr("Type"), _of(lambda one: one.type), letters=14),
                RecordColumn(tr("Decided as"), _of(lambda one: ways_words(one, self.every))),
                RecordColumn(tr("Mentions"), _of(lambda one: localised(len(one.places), ",")), figure=True, letters=11),
                RecordColumn(tr("Document"), _of(place_words), letters=16),
            ]
        )
        self._bold = QFont()
        self._bold.setWeight(QFont.Weight.DemiBold)

    def show_all(
        self, every: Inconsistencies, rows: Sequence[Inconsistency], here: Inconsistency | None = None
    ) -> None:
        """`rows` must be grouped by kind. `here`: all decisions about one string, at the top."""
        self.every = every
        shown: list[Inconsistency | str] = [tr(HERE), here] if here is not None else []
        for kind, of_kind in groupby(rows, key=lambda one: one.kind):
            found = list(of_kind)
            shown += [f"{tr(KIND_WORDS[kind])} ({localised(len(found), ',')})", *found]
        self.show_rows(shown)

    @property
    def headings(self) -> list[int]:
        return [at for at, one in enumerate(self.rows) if isinstance(one, str)]

    def inconsistency(self, at: int) -> Inconsistency | None:
        found = self.row(at)
        return found if isinstance(found, Inconsistency) else None

    def beside(self, at: int, step: int) -> int | None:
        """The next row that is not a heading, in steps of ±1; None at the end."""
        at += step
        while isinstance(self.row(at), str):
            at += step
        return at if self.row(at) is not None else None

    def find(self, scope: str) -> int | None:
        """The row of a scope."""
        return self.place(lambda one: isinstance(one, Inconsistency) and one.scope == scope)

    def flags(self, index: Index) -> Qt.ItemFlag:
        heading = isinstance(self.row(index.row()), str)
        return Qt.ItemFlag.NoItemFlags if heading else super().flags(index)

    def cell(self, row: Inconsistency | str, column: RecordColumn[Inconsistency | str], role: int) -> Any:
        if isinstance(row, str):
            first = column is self.columns[0]
            return {DISPLAY: row if first else "", SPOKEN: row if first else "", FONT: self._bold}.get(role)
        return super().cell(row, column, role)

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        parent = self.parent()
        if role in GROUND and isinstance(parent, QWidget) and isinstance(self.row(index.row()), str):
            return parent.palette().color(GROUND[role])
        return super().data(index, role)


def _of(words: Callable[[Inconsistency], str]) -> Callable[[Inconsistency | str], str]:
    return lambda one: "" if isinstance(one, str) else words(one)


class InconsistencyTable(RecordTable[Inconsistency | str]):
    """The rows; the arrow keys skip headings. `pressed`: printable keys other than Enter."""

    pressed = Signal(int)  # Qt.Key

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows = InconsistencyModel()
        super().__init__(tr("Inconsistencies"), self.rows, wide=DECIDED, sortable=False, parent=parent)

    def show_all(
        self, every: Inconsistencies, rows: Sequence[Inconsistency], here: Inconsistency | None = None
    ) -> None:
        """Keep the highlighted row, or else highlight the row at its position."""
        at, one = self.currentIndex().row(), self.here
        self.rows.show_all(every, rows, here)
        self.clearSpans()
        for heading in self.rows.headings:
            self.setSpan(heading, 0, 1, self.rows.columnCount())
        same = self.rows.find(one.scope) if one is not None else None
        nearest = self.rows.beside(min(at, self.rows.rowCount()) - 1, 1) if at > 0 else self.rows.beside(-1, 1)
        if nearest is None:
            nearest = self.rows.beside(self.rows.rowCount(), -1)
        if (row := nearest if same is None else same) is not None:
            self.go_to(row)

    @property
    def here(self) -> Inconsistency | None:
        return self.rows.inconsistency(self.currentIndex().row())

    def go_to(self, row: int) -> None:
        super().go_to(row)
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
        found = (self.rows.inconsistency(at) for at in rows_in_sight(self))
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
        passed = (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_plain(event) or key in passed:
            super().keyPressEvent(event)
        elif key in steps:
            self.go_by(steps[key])
        elif not event.isAutoRepeat():
            self.pressed.emit(key)


def row_key(one: Inconsistency) -> tuple[str, str]:
    """The key of a row for `Glance`: its text, so that a changed row counts as a new one."""
    return one.scope, "|".join(f"{way.way}{len(way.places)}" for way in one.ways)

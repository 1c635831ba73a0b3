"""The relations of the open document next to its text, those of the current mention first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.relations import Relation, RelationKind
from curator.domain.wording import localised, ntr, tr
from curator.ui.kit.compose import column, row, tool
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.record_tables import RecordColumn, RecordModel
from curator.ui.kit.row_list import PAD, RowDelegate, RowList, draw_two_lines, row_height
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
NOTHING = "This document has no relations. Frame a mention and press {key} to begin one."
BETWEEN = {
    RelationKind.MENTIONS: "between mentions",
    RelationKind.ENTITIES: "between entities",
    RelationKind.EVENT: "event, kept as it is",
}


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation with the texts of its mentions. `here`: it involves the current mention."""

    relation: Relation
    ends: tuple[str, ...]
    here: bool

    @property
    def what(self) -> str:
        joined = ", " if self.relation.kind is RelationKind.EVENT else " → "
        return joined.join(self.ends)

    @property
    def small(self) -> str:
        """The second line: type, kinds of its ends, and source."""
        one = self.relation
        parts = [one.type, tr(BETWEEN[one.kind]), one.note]
        if one.at is not None and not one.source:
            parts.append(f"{one.author}, {localised(one.at.astimezone(), '%d %b %Y, %H:%M')}")
        return " · ".join(part for part in parts if part)


class RelationDelegate(RowDelegate[RelationRow]):
    """Both ends, and below them the type; a bar marks relations of the current mention."""

    def height(self, font: QFont, row: RelationRow) -> int:  # noqa: ARG002 all are of one height
        return row_height(font, 2) - 4

    def draw(self, painter: QPainter, rect: QRectF, row: RelationRow, font: QFont, theme: Theme) -> None:
        if row.here:
            painter.fillRect(QRectF(rect.left() + PAD / 2, rect.top() + 6, 3, rect.height() - 12), theme.accent)
        line = QFontMetricsF(font).height()
        place = QRectF(rect.left() + PAD + 4, rect.top() + 5, rect.width() - 2 * PAD - 4, line)
        draw_two_lines(painter, place, row.what, row.small, font=font, theme=theme, bold=row.here)


class RelationList(RowList):
    delete_pressed = Signal()
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class RelationsPanel(QWidget):
    """API: `show_relations`. It only emits the curator's requests; its owner carries them out."""

    closed = Signal()
    deleted = Signal(object)  # Relation
    wanted = Signal(object)  # Relation: go to its mention

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._writable = True
        self.heading = ElidedLabel(parent=self)
        self.delete = tool(tr("Delete"), tr("Delete the selected relation"), self._delete, parent=self)
        self.close_button = tool("✕", tr("Hide the relations"), self.closed.emit, parent=self)
        said = lambda row: f"{row.what}\n{row.small}"  # noqa: E731
        self.model = RecordModel([RecordColumn[RelationRow]("", lambda row: row.what, tip=said, spoken=said)], self)
        self.list = RelationList(tr("Relations of the document"), self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(RelationDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.list.setProperty("keeps_delete", True)  # see keys.belongs_to
        buttons = QWidget(self)
        row(self.delete, self.close_button, of=buttons)
        head = FlowRow(self.heading, buttons)
        head.setContentsMargins(12, 8, 8, 6)
        column(head, (self.list, 1), of=self, spacing=0)
        self.list.chosen.connect(lambda at: self.wanted.emit(self.model.rows[at].relation))
        self.list.delete_pressed.connect(self._delete)
        self.list.left.connect(self.closed)
        self.forget()

    def set_writable(self, writable: bool) -> None:
        self._writable = writable
        self._look()

    def forget(self) -> None:
        """Show nothing until the relations of the document are read."""
        self.model.show_rows(())
        self.list.set_empty_words("")
        self._head(tr("Relations"))
        self._look()

    def show_relations(self, rows: Sequence[RelationRow], *, key: str) -> None:
        """Show rows in order and keep the highlighted one. `key` is the key that starts a relation."""
        before = self.current
        self.model.show_rows(rows)
        self.list.set_empty_words(tr(NOTHING, key=key))
        self._head(ntr("{n} relation", "{n:,} relations", len(rows)))
        names = [one.relation.name for one in rows]
        if before is not None and before.name in names:
            self.list.go_to(names.index(before.name))
        self._look()

    def _head(self, words: str) -> None:
        """The heading with full words; if they do not fit next to the buttons, the buttons are below."""
        self.heading.set_words(words)
        self.heading.setMinimumWidth(self.heading.fontMetrics().horizontalAdvance(words) + 2)

    @property
    def current(self) -> Relation | None:
        """The highlighted relation."""
        shown = self.model.row(self.list.currentIndex().row())
        return shown.relation if shown is not None else None

    def _look(self) -> None:
        self.delete.setEnabled(self._writable and self.model.rowCount() > 0)

    def _delete(self) -> None:
        if self.current is not None and self._writable:
            self.deleted.emit(self.current)

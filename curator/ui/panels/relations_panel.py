"""The relations of the open document next to its text, those of the current mention first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from curator.domain.relations import Relation, RelationKind
from curator.domain.wording import localised, ntr, tr
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.row_list import PAD, RowList, draw_words, row_height, scaled
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.theme import theme_of

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
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


class RelationModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[RelationRow] = []

    def show_rows(self, rows: Sequence[RelationRow]) -> None:
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.what
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(f"{row.what}\n{row.small}", role)
        return None


class RelationDelegate(QStyledItemDelegate):
    """Both ends, and below them the type; a bar marks relations of the current mention."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 Qt's signature
        return QSize(120, row_height(option.font, 2) - 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, RelationRow):
            return
        theme, rect, line = theme_of(option.palette), QRectF(option.rect), QFontMetricsF(option.font).height()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.selection)
        if row.here:
            painter.fillRect(QRectF(rect.left() + PAD / 2, rect.top() + 6, 3, rect.height() - 12), theme.accent)
        place = QRectF(rect.left() + PAD + 4, rect.top() + 5, rect.width() - 2 * PAD - 4, line)
        ink = theme.palette.color(QPalette.ColorRole.Text)
        draw_words(painter, place, row.what, font=scaled(option.font, 1.0, bold=row.here), colour=ink)
        draw_words(painter, place.translated(0, line), row.small, font=scaled(option.font, 0.88), colour=theme.muted)
        painter.restore()


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
        self.delete = QToolButton(self)
        self.delete.setText(tr("Delete"))
        self.delete.setAccessibleName(tr("Delete the selected relation"))
        self.delete.setToolTip(tr("Delete the selected relation"))
        self.close_button = QToolButton(self)
        self.close_button.setText("✕")
        self.close_button.setAccessibleName(tr("Hide the relations"))
        self.close_button.setToolTip(tr("Hide the relations"))
        self.model = RelationModel(self)
        self.list = RelationList(tr("Relations of the document"), self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(RelationDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.list.setProperty("keeps_delete", True)  # see keys.belongs_to
        buttons = QWidget(self)
        beside = QHBoxLayout(buttons)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self.delete)
        beside.addWidget(self.close_button)
        head = FlowRow(self.heading, buttons)
        head.setContentsMargins(12, 8, 8, 6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        self.list.chosen.connect(lambda row: self.wanted.emit(self.model.rows[row].relation))
        self.list.delete_pressed.connect(self._delete)
        self.list.left.connect(self.closed)
        self.delete.clicked.connect(self._delete)
        self.close_button.clicked.connect(self.closed)
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
        names = [row.relation.name for row in rows]
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
        row = self.list.currentIndex().row()
        return self.model.rows[row].relation if 0 <= row < len(self.model.rows) else None

    def _look(self) -> None:
        self.delete.setEnabled(self._writable and bool(self.model.rows))

    def _delete(self) -> None:
        if self.current is not None and self._writable:
            self.deleted.emit(self.current)

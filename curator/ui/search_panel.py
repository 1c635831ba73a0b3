"""Search in the knowledge base: type, go up and down, Enter chooses, Esc leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from curator.domain.entities import EntityMatch
from curator.domain.errors import UserError
from curator.ui.labels import ElidedLabel
from curator.ui.row_list import RowList
from curator.ui.row_painting import PAD, draw_focus, draw_ground, draw_words, row_height, scaled
from curator.ui.theme import theme_of

Search = Callable[[str], Sequence[EntityMatch]]
Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
DEBOUNCE_MS = 90
HINT = "Type a name, a synonym or an identifier. ↓ ↑ go through the entities, ↵ links, Esc leaves."


class MatchModel(QAbstractListModel):
    """What a search found; `ROW_ROLE` gives the `EntityMatch`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._matches: tuple[EntityMatch, ...] = ()

    def show_matches(self, matches: Sequence[EntityMatch]) -> None:
        self.beginResetModel()
        self._matches = tuple(matches)
        self.endResetModel()

    def found(self, row: int) -> EntityMatch | None:
        return self._matches[row] if 0 <= row < len(self._matches) else None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._matches)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        match = self.found(index.row()) if index.isValid() else None
        if match is None:
            return None
        if role == ROW_ROLE:
            return match
        if role == Qt.ItemDataRole.DisplayRole:
            return match.entity.name
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{match.entity.name}\n{match_facts(match)}"
        return None


def match_facts(match: EntityMatch) -> str:
    """Id, types, and the synonym that matched where it is not the name."""
    parts = [match.entity.id, ", ".join(match.entity.types)]
    if match.matched.casefold() not in (match.entity.name.casefold(), match.entity.id.casefold()):
        parts.append(f"matched “{match.matched}”")
    return " · ".join(part for part in parts if part)


class MatchDelegate(QStyledItemDelegate):
    """Name above, facts below."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        return QSize(200, row_height(option.font))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        match = index.data(ROW_ROLE)
        if not isinstance(match, EntityMatch):
            return
        theme, rect = theme_of(option.palette), QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_ground(painter, option, theme)
        line = QFontMetricsF(option.font).height()
        text = theme.palette.color(QPalette.ColorRole.Text)
        place = QRectF(rect.left() + PAD + 4, rect.top() + 7, rect.width() - 2 * PAD - 4, line)
        draw_words(painter, place, match.entity.name, font=scaled(option.font, 1.0, bold=True), colour=text)
        facts = place.translated(0, line)
        draw_words(painter, facts, match_facts(match), font=scaled(option.font, 0.88), colour=theme.muted)
        draw_focus(painter, option, theme)
        painter.restore()


class SearchPanel(QWidget):
    """API: `prefill`, `open_empty`, `set_search`. `search` may raise UserError, whose sentence is shown.

    `highlighted` carries the entity under the cursor (or None), for a card beside it.
    """

    chosen = Signal(str)
    left = Signal()
    highlighted = Signal(object)  # Entity | None

    def __init__(self, search: Search, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._search = search
        self.model = MatchModel(self)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText("Search the knowledge base")
        self.line.setAccessibleName("Search the knowledge base")
        self.line.setClearButtonEnabled(True)
        self.list = RowList("Entities found", self)
        self.list.setUniformItemSizes(True)
        self.list.setModel(self.model)
        self.list.setItemDelegate(MatchDelegate(self.list))
        self.list.set_empty_words(HINT)
        self.status = ElidedLabel(muted=True, parent=self)
        self._searched = ""
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._compose()
        self._timer.timeout.connect(self._run)
        self.line.textChanged.connect(lambda: self._timer.start())
        self.list.chosen.connect(self._choose)
        self.list.selectionModel().currentChanged.connect(self._highlight)
        self.line.installEventFilter(self)
        self.list.installEventFilter(self)

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        head = QVBoxLayout()
        head.setContentsMargins(10, 10, 10, 6)
        head.addWidget(self.line)
        head.addWidget(self.status)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self.list, 1)

    def set_search(self, search: Search) -> None:
        self._search = search

    def open_empty(self) -> None:
        """Take the keyboard with what was searched last, selected."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def prefill(self, text: str) -> None:
        """Search a text at once (the mention's, by one key) and take the keyboard."""
        self.line.setText(" ".join(text.split()))
        self._run()
        self.open_empty()

    def _run(self) -> None:
        self._timer.stop()
        query = self.line.text().strip()
        self._searched = query
        try:
            matches = self._search(query) if query else ()
        except UserError as error:
            self.model.show_matches(())
            self.status.set_words("")
            self.list.set_empty_words(str(error))
            return
        self.model.show_matches(matches)
        self.list.set_empty_words(f"Nothing in the knowledge base matches “{query}”." if query else HINT)
        self.status.set_words(_counted(len(matches)) if matches else "")
        if matches:
            self.list.go_to(0)
        else:
            self.highlighted.emit(None)

    def _highlight(self, index: QModelIndex) -> None:
        match = self.model.found(index.row())
        self.highlighted.emit(match.entity if match is not None else None)

    def _choose(self, row: int) -> None:
        match = self.model.found(row)
        if match is not None:
            self.chosen.emit(match.entity.id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the line and the list. Enter never chooses what an older query found."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.left.emit()
            return True
        if watched is self.line and key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.go_to(self.list.currentIndex().row() + step)
            return True
        if watched is self.line and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._timer.isActive():
                self._run()
            self._choose(self.list.currentIndex().row())
            return True
        return super().eventFilter(watched, event)


def _counted(number: int) -> str:
    return "1 entity" if number == 1 else f"{number} entities"

"""Every decision of a mention: when, who, what, the suggestion at that time, and the replaced decision; nothing is
hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.decisions import Decision
from curator.domain.documents import MentionEdit
from curator.domain.wording import tr
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.mention_state import state_of
from curator.ui.kit.row_list import PAD, RowList, draw_words, row_height, scaled
from curator.ui.kit.theme import theme_of
from curator.ui.kit.window_calls import Later
from curator.ui.panels.history_rows import DecisionStatus, HistoryRow, edit_rows, history_rows, merged
from curator.ui.panels.notes import CommentsPanel

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
NOTHING = "Nothing has been decided about this mention."


class HistoryModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[HistoryRow] = []

    def show_rows(self, rows: Sequence[HistoryRow]) -> None:
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
            return in_role("\n".join((row.what, *row.small_lines)), role)
        return None


class HistoryDelegate(QStyledItemDelegate):
    """The decision, and below it when, who, the suggestion shown, and the replaced decision. Undone decisions are
    struck through."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._heights: dict[tuple[str, int], int] = {}  # by font and lines: measuring takes longest

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(ROW_ROLE)
        lines = row.lines if isinstance(row, HistoryRow) else 1
        look = option.font.key(), lines
        if look not in self._heights:
            self._heights[look] = row_height(option.font, lines) - 4
        return QSize(200, self._heights[look])

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, HistoryRow):
            return
        theme, rect, line = theme_of(option.palette), QRectF(option.rect), QFontMetricsF(option.font).height()
        current = row.status is DecisionStatus.CURRENT
        font, small = scaled(option.font, 1.0, bold=current), scaled(option.font, 0.88)
        font.setStrikeOut(row.status is DecisionStatus.UNDONE)
        painter.save()
        bar = theme.states[state_of(row.decision)].line if current else theme.border
        painter.fillRect(QRectF(rect.left() + PAD, rect.top() + 7, 3, rect.height() - 12), bar)
        place = QRectF(rect.left() + PAD + 12, rect.top() + 5, rect.width() - 2 * PAD - 12, line)
        colour = theme.palette.color(QPalette.ColorRole.Text) if current else theme.muted
        draw_words(painter, place, row.what, font=font, colour=colour)
        for number, words in enumerate(row.small_lines, start=1):
            draw_words(painter, place.translated(0, number * line), words, font=small, colour=theme.muted)
        painter.restore()


class HistoryPanel(QWidget):
    """API: `show_history`, `show_later`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = HistoryModel(self)
        self._read: Callable[[], None] | None = None
        self._late = Later(self, self._read_now)
        self.list = RowList(tr("Decisions of the mention"), self)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setModel(self._model)
        self.list.setItemDelegate(HistoryDelegate(self.list))
        self.list.set_empty_words(tr(NOTHING))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.list)

    @property
    def model(self) -> HistoryModel:
        """The model of the list, up to date."""
        self._late.settle()
        return self._model

    def show_later(self, read: Callable[[], None]) -> None:
        """Call `read` to show a history, after the frame that shows the mention; only the last request counts."""
        self._read = read
        self._late.start()

    def stop(self) -> None:
        """Stop reading, as the project is being closed."""
        self._late.stop()

    def _read_now(self) -> None:
        if self._read is not None:
            self._read()

    def show_history(
        self,
        decisions: Sequence[Decision],
        *,
        names: Mapping[str, str] | None = None,
        edits: Sequence[MentionEdit] = (),
        text: str = "",
        more: Sequence[HistoryRow] = (),
    ) -> None:
        """Show decisions and edits, oldest first, as `CurationService.history` and `edits` return them; `names` of
        entities by id, `text` of the document; `more` are other changes in words."""
        rows = merged(history_rows(decisions, names or {}), [*edit_rows(edits, text), *more])
        if rows != self._model.rows:
            self._model.show_rows(rows)


LATE_MS = 40
"""Delay after the frame that shows the mention."""


class HistorySide(QWidget):
    """The decisions and comments of the mention under a heading; a line says so while there are none."""

    def __init__(self, history: HistoryPanel, comments: CommentsPanel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history, self._comments = history, comments
        self._heading = ElidedLabel(parent=self)
        self._heading.set_words(tr("Decisions of this mention"))
        self._nothing = ElidedLabel(muted=True, parent=self)
        self._nothing.set_words(tr("No decisions yet"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(2)
        for label in (self._heading, self._nothing):
            line = QHBoxLayout()
            line.setContentsMargins(12, 0, 12, 0)
            line.addWidget(label)
            column.addLayout(line)
        column.addWidget(history, 1)
        column.addWidget(comments, 1)
        column.addStretch(0)
        history.setMinimumHeight(1)  # comments take space from it, never from the candidates
        self._look()
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)  # a key press paints the mention first
        self._late.timeout.connect(self._look)
        history.model.modelReset.connect(self._late.start)
        comments.changed.connect(self._late.start)

    def _look(self) -> None:
        decided = self._history.model.rowCount() > 0
        self._heading.setVisible(decided)
        self._history.setVisible(decided)
        self._nothing.setVisible(not decided and not self._comments.filled)

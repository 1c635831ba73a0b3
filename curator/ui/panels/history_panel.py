"""Every decision of a mention: when, who, what, the suggestion at that time, and the replaced decision; nothing is
hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QTimer
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QAbstractItemView, QWidget

from curator.domain.decisions import Decision
from curator.domain.documents import MentionEdit
from curator.domain.wording import tr
from curator.ui.kit.compose import column
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.mention_state import state_of
from curator.ui.kit.record_tables import RecordColumn, RecordModel
from curator.ui.kit.row_list import PAD, SMALL, RowDelegate, RowList, draw_words, row_height, scaled
from curator.ui.kit.theme import Theme
from curator.ui.kit.window_calls import Later
from curator.ui.panels.history_rows import DecisionStatus, HistoryRow, edit_rows, history_rows, merged
from curator.ui.panels.notes import CommentsPanel

Index = QModelIndex | QPersistentModelIndex
NOTHING = "Nothing has been decided about this mention."


class HistoryDelegate(RowDelegate[HistoryRow]):
    """The decision, and below it when, who, the suggestion shown, and the replaced decision. Undone decisions are
    struck through."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._heights: dict[tuple[str, int], int] = {}  # by font and lines: measuring takes longest

    def height(self, font: QFont, row: HistoryRow) -> int:
        look = font.key(), row.lines
        if look not in self._heights:
            self._heights[look] = row_height(font, row.lines) - 4
        return self._heights[look]

    def draw(self, painter: QPainter, rect: QRectF, row: HistoryRow, font: QFont, theme: Theme) -> None:
        line, current = QFontMetricsF(font).height(), row.status is DecisionStatus.CURRENT
        first, small = scaled(font, 1.0, bold=current), scaled(font, SMALL)
        first.setStrikeOut(row.status is DecisionStatus.UNDONE)
        bar = theme.states[state_of(row.decision)].line if current else theme.border
        painter.fillRect(QRectF(rect.left() + PAD, rect.top() + 7, 3, rect.height() - 12), bar)
        place = QRectF(rect.left() + PAD + 12, rect.top() + 5, rect.width() - 2 * PAD - 12, line)
        colour = theme.palette.color(QPalette.ColorRole.Text) if current else theme.muted
        draw_words(painter, place, row.what, font=first, colour=colour)
        for number, words in enumerate(row.small_lines, start=1):
            draw_words(painter, place.translated(0, number * line), words, font=small, colour=theme.muted)


def history_model(parent: QObject | None = None) -> RecordModel[HistoryRow]:
    said = lambda row: "\n".join((row.what, *row.small_lines))  # noqa: E731
    return RecordModel([RecordColumn[HistoryRow]("", lambda row: row.what, tip=said, spoken=said)], parent)


class HistoryPanel(QWidget):
    """API: `show_history`, `show_later`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = history_model(self)
        self._read: Callable[[], None] | None = None
        self._late = Later(self, self._read_now)
        self.list = RowList(tr("Decisions of the mention"), self)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setModel(self._model)
        self.list.setItemDelegate(HistoryDelegate(self.list))
        self.list.set_empty_words(tr(NOTHING))
        column(self.list, of=self)

    @property
    def model(self) -> RecordModel[HistoryRow]:
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
        if rows != list(self._model.rows):
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
        for label in (self._heading, self._nothing):
            label.setContentsMargins(12, 0, 12, 0)
        parts = (self._heading, self._nothing, (history, 1), (comments, 1), 0)
        column(*parts, of=self, margins=(0, 6, 0, 0), spacing=2)
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

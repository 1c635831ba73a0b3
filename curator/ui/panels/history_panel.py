"""Every decision of a mention: when, who, what, what was suggested then and what it replaced; nothing is hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
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
from PySide6.QtGui import QFontMetricsF, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QSizePolicy,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.attributes import AttributeEdit, Scheme
from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import MentionEdit, slice_spans
from curator.domain.wording import tr
from curator.ui.kit import (
    PAD,
    ElidedLabel,
    RowList,
    cut_line,
    draw_words,
    figure,
    row_height,
    scaled,
    state_of,
    theme_of,
    verdict_words,
)
from curator.ui.panels.notes import CommentsPanel

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ABOVE = 5
"""Pixels of a row above its first line."""
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
NOTHING = "Nothing has been decided about this mention."


class DecisionStatus(StrEnum):
    """What became of a decision."""

    CURRENT = "current"
    REPLACED = "replaced"
    UNDONE = "undone"
    EDIT = ""  # not a decision: the mention was moved or retyped, or an attribute set


STATUS_WORDS = {DecisionStatus.REPLACED: "replaced", DecisionStatus.UNDONE: "undone"}
"""What is said of a decision that does not stand."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    decision: Decision | None  # None: a change of the mention itself
    what: str
    shown: str
    status: DecisionStatus
    replaced: str = ""  # what stood before, in words
    edit: MentionEdit | AttributeEdit | None = None

    @property
    def more(self) -> str:
        """What it replaced and with which note; '' where there is neither."""
        note = self.decision.note if self.decision is not None else ""
        parts = (tr("in place of {replaced}", replaced=self.replaced) if self.replaced else "", note)
        return " · ".join(part for part in parts if part)

    @property
    def small_lines(self) -> list[str]:
        """What is below `what`."""
        return [words for words in (self.who_and_when, self.shown, self.more) if words]

    @property
    def who_and_when(self) -> str:
        done = self.decision or self.edit
        if done is None:
            return ""
        at = f"{done.at.astimezone():%d %b %Y, %H:%M:%S}"
        status = f" · {tr(STATUS_WORDS[self.status])}" if self.status in STATUS_WORDS else ""
        return f"{at} · {done.curator}{status}"

    @property
    def at(self) -> datetime | None:
        done = self.decision or self.edit
        return done.at if done is not None else None


def history_rows(decisions: Sequence[Decision], names: Mapping[str, str]) -> list[HistoryRow]:
    """Newest first. `decisions` come oldest first; one that a CLEARED follows was undone."""
    rows = []
    for at, decision in enumerate(decisions):
        after = decisions[at + 1] if at + 1 < len(decisions) else None
        status = DecisionStatus.REPLACED
        if after is None:
            status = DecisionStatus.CURRENT
        elif after.verdict.outcome is Outcome.CLEARED:
            status = DecisionStatus.UNDONE
        before = decisions[at - 1] if at else None
        known = dict(names)
        replaced = None if before is None or before.verdict.outcome is Outcome.CLEARED else before
        rows.append(
            HistoryRow(
                decision,
                verdict_words(decision.verdict, known),
                shown_words(decision, names),
                status,
                verdict_words(replaced.verdict, known) if replaced else "",
            )
        )
    return rows[::-1]


def shown_words(decision: Decision, names: Mapping[str, str] | None = None) -> str:
    """What the curator saw: the first suggestion where another was chosen, the place of the chosen entity among the
    candidates, and the score of NIL."""
    shown = decision.shown
    if shown is None or decision.verdict.outcome is Outcome.CLEARED:
        return "" if decision.verdict.outcome is Outcome.CLEARED else tr("nothing shown")
    ids = [one.entity_id for one in shown.candidates]
    ranks = [str(place) for place in shown.places_of(decision.verdict)]
    among = tr("{n} shown", n=len(ids)) if ids else tr("no candidates shown")
    if ranks:
        among = tr("rank {join} of {n} shown", join=" + ".join(ranks), n=len(ids))
    elif ids and decision.verdict.outcome is Outcome.LINK:
        among = tr("not among {n} shown", n=len(ids))
    if shown.unseen is not None:
        among = tr("decided without suggestions")
    if shown.revealed:
        among = tr("{among} on request", among=among)
    if shown.nil_first:
        if decision.verdict.outcome is not Outcome.NIL:
            among = tr("suggested {get} · {among}", get="NIL", among=among)
    elif ids and ids[0] not in decision.verdict.entity_ids:
        among = tr("suggested {get} · {among}", get=(names or {}).get(ids[0], ids[0]), among=among)
    return (
        among if shown.nil_score is None else tr("{among} · NIL {figure}", among=among, figure=figure(shown.nil_score))
    )


MOVED = "Moved to “{text}”"
RETYPED = "Type changed to {type}"
WAS = "was “{text}”, {type}"


def edit_rows(edits: Sequence[MentionEdit], text: str) -> list[HistoryRow]:
    """Newest first, in words; `text` is the document's."""
    rows = []
    for edit in reversed(edits):
        moved = tr(MOVED, text=" ".join(slice_spans(text, edit.after.spans).split()))
        retyped = tr(RETYPED, type=edit.after.type)
        what = [moved] if edit.after.spans != edit.before.spans else []
        what += [retyped] if edit.after.type != edit.before.type else []
        before = " ".join(slice_spans(text, edit.before.spans).split())
        was = tr(WAS, text=before, type=edit.before.type)
        rows.append(HistoryRow(None, " · ".join(what), was, DecisionStatus.EDIT, edit=edit))
    return rows


def attribute_rows(edits: Sequence[AttributeEdit], scheme: Scheme) -> list[HistoryRow]:
    """Newest first, with the names that attributes and values have now."""
    values = {value.id: value.name for one in scheme.attributes for value in one.values}
    names = {one.id: one.name for one in scheme.attributes}
    rows = []
    for edit in reversed(edits):
        value = values.get(edit.value_id or 0, tr("no value"))
        what = f"{names.get(edit.attribute_id, edit.attribute_id)}: {value}"
        rows.append(HistoryRow(None, what, "", DecisionStatus.EDIT, edit=edit))
    return rows


def merged(decisions: Sequence[HistoryRow], edits: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Both newest first; of one moment, the decision is the newer."""
    if not edits:
        return list(decisions)
    return sorted((*decisions, *edits), key=lambda row: row.at or datetime.min.replace(tzinfo=UTC), reverse=True)


class HistoryModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[HistoryRow] = []

    def show_rows(self, rows: Sequence[HistoryRow]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.what
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return "\n".join((row.what, *row.small_lines))
        return None


class HistoryDelegate(QStyledItemDelegate):
    """What, and below it when, who, what was shown, and what it replaced. Undone decisions are struck through."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(ROW_ROLE)
        lines = 1 + len(row.small_lines) if isinstance(row, HistoryRow) else 1
        return QSize(200, row_height(option.font, lines) - 4)

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
        place = QRectF(rect.left() + PAD + 12, rect.top() + ABOVE, rect.width() - 2 * PAD - 12, line)
        colour = theme.palette.color(QPalette.ColorRole.Text) if current else theme.muted
        draw_words(painter, place, row.what, font=font, colour=colour)
        for number, words in enumerate(row.small_lines, start=1):
            draw_words(painter, place.translated(0, number * line), words, font=small, colour=theme.muted)
        painter.restore()


class _Decisions(RowList):
    """Its lower end leaves out what would be half a line."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        self.setViewportMargins(0, 0, 0, cut_line(self, self.height(), above=ABOVE))


class HistoryPanel(QWidget):
    """API: `show_history`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = HistoryModel(self)
        self.list = _Decisions(tr("Decisions of the mention"), self)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setModel(self.model)
        self.list.setItemDelegate(HistoryDelegate(self.list))
        self.list.set_empty_words(tr(NOTHING))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.list)

    def show_history(
        self,
        decisions: Sequence[Decision],
        *,
        names: Mapping[str, str] | None = None,
        edits: Sequence[MentionEdit] = (),
        text: str = "",
        more: Sequence[HistoryRow] = (),
    ) -> None:
        """Decisions and changes of the mention oldest first, as `CurationService.history` and `edits` return them;
        `names` of entities by id, `text` of the document; `more` are other changes, in words."""
        self.model.show_rows(merged(history_rows(decisions, names or {}), [*edit_rows(edits, text), *more]))
        self.list.fit()


LATE_MS = 40
"""Until the room is shared again: after the frame that shows the mention."""


class HistorySide(QWidget):
    """The decisions and the comments of the mention under a heading; one line while there are none of either."""

    changed = Signal()  # from one line to all of it, or back

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
            line.setContentsMargins(12, 0, 12, 4 if label is self._nothing else 0)
            line.addWidget(label)
            column.addLayout(line)
        column.addWidget(history, 1)
        column.addWidget(comments, 1)
        history.setMinimumHeight(1)  # comments take from it, never from the candidates
        self.filled = True
        self._look()
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)  # a key press paints the mention first
        self._late.timeout.connect(self._look)
        history.model.modelReset.connect(self._late.start)
        comments.changed.connect(self._late.start)

    def _look(self) -> None:
        decided = self._history.model.rowCount() > 0
        filled = decided or self._comments.filled
        for part in (self._heading, self._history):
            part.setVisible(decided)
        if filled == self.filled:
            return
        self.filled = filled
        self._nothing.setVisible(not filled)
        policy = QSizePolicy.Policy.Preferred if filled else QSizePolicy.Policy.Fixed
        self.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self.changed.emit()


LEAST_LINES = 6
"""Of the history where there is something to show, on a small screen or in large letters."""


class SideSplitter(QSplitter):
    """What the curator works with above the history; while that is one line, its room is the record's.

    `sizes` and `setSizes` are of a history that has something to show, so that a layout kept meanwhile is the
    curator's. Nothing moves in `upper`, whose lower end takes and gives the room.
    """

    def __init__(self, above: QWidget, history: HistorySide, upper: QSplitter, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._history, self._upper, self._share = history, upper, 0.0
        self.addWidget(above)
        self.addWidget(history)
        self.setStretchFactor(0, 1)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(self._moved)
        history.changed.connect(self._give)

    def sizes(self) -> list[int]:
        real = super().sizes()
        lower = real[1] if self._history.filled else round(sum(real) * self._share)
        return [sum(real) - lower, lower]

    def setSizes(self, sizes: Sequence[int]) -> None:
        self._share = sizes[1] / max(sum(sizes), 1)
        super().setSizes(list(sizes))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._history.filled:
            self._give()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            QTimer.singleShot(0, self, self._give)

    def _moved(self) -> None:
        real = super().sizes()
        if self._history.filled:
            self._share = real[1] / max(sum(real), 1)

    def _give(self) -> None:
        whole, rows = sum(super().sizes()), self._upper.sizes()
        least = min(LEAST_LINES * self.fontMetrics().height(), whole // 3)
        lower = max(round(whole * self._share), least) if self._history.filled else 0
        super().setSizes([whole - lower, lower])
        if rows[0]:
            self._upper.setSizes([rows[0], max(sum(self._upper.sizes()) - rows[0], 1)])

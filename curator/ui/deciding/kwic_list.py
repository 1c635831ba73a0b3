"""Lists of mentions in their contexts, with headings, and a mark for each line; they handle every letter key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QFrame, QStyleOptionViewItem, QWidget

from curator.domain.wording import tr
from curator.services.ports.queue import MentionContext
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import PAD, SMALL, RowDelegate, RowList, draw_words, scaled
from curator.ui.kit.sight import MODIFIERS, Glance, rows_in_sight
from curator.ui.kit.theme import Theme

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class CheckMark(StrEnum):
    TICKED = "ticked"
    UNTICKED = "not ticked"
    RIGHT = "right"
    WRONG = "wrong"
    OPEN = "not checked"
    NONE = ""  # nothing can be ticked or checked


@dataclass(frozen=True, slots=True)
class KwicRow:
    """A heading if `context` is None. `words` is the heading, or the text at the line's end."""

    words: str
    context: MentionContext | None = None
    mark: CheckMark = CheckMark.UNTICKED

    @property
    def said(self) -> str:
        """The text of a line's end for tooltips and screen readers."""
        return self.words


class KwicModel(QAbstractListModel):
    """Rows do not move; only marks change."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[KwicRow] = []
        self._at: dict[int, int] = {}

    def show_rows(self, rows: Iterable[KwicRow]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self._at = {row.context.mention_id: at for at, row in enumerate(self._rows) if row.context is not None}
        self.endResetModel()

    def append_rows(self, rows: Sequence[KwicRow]) -> None:
        """Append rows, whose mention ids must differ from those of the existing rows."""
        begin = len(self._rows)
        self.beginInsertRows(NO_PARENT, begin, begin + len(rows) - 1)
        self._rows += rows
        self._at |= {row.context.mention_id: at for at, row in enumerate(rows, start=begin) if row.context is not None}
        self.endInsertRows()

    def row(self, number: int) -> KwicRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def find(self, mention_id: int) -> int | None:
        return self._at.get(mention_id)

    def line_beside(self, number: int, step: int) -> int | None:
        """The nearest line in a direction, skipping headings; None at the end."""
        at = number + step
        while 0 <= at < len(self._rows) and self._rows[at].context is None:
            at += step
        return at if 0 <= at < len(self._rows) else None

    def section(self, number: int) -> list[int]:
        """Numbers of the lines under the heading at `number`, or around the line there."""
        begin = number
        while begin > 0 and self._rows[begin].context is not None:
            begin -= 1
        lines = []
        for at in range(begin + (self._rows[begin].context is None), len(self._rows)):
            if self._rows[at].context is None:
                break
            lines.append(at)
        return lines

    def marked(self, mark: CheckMark) -> list[int]:
        """Mention ids with this mark, in the order of the rows."""
        return [row.context.mention_id for row in self._rows if row.context is not None and row.mark is mark]

    def set_marks(self, marks: Mapping[int, CheckMark]) -> None:
        """Set the marks by row number; headings have none."""
        changed = [
            at for at, mark in marks.items() if self._rows[at].context is not None and self._rows[at].mark is not mark
        ]
        for at in changed:
            self._rows[at] = replace(self._rows[at], mark=marks[at])
        if changed:
            self.dataChanged.emit(self.index(min(changed)), self.index(max(changed)))

    @property
    def lines(self) -> Sequence[int]:
        """Numbers of the rows that are lines."""
        return list(self._at.values())

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        return super().flags(index) if row is not None and row.context is not None else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row()) if index.isValid() else None
        if row is None or role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole and row.context is not None:
            return tip(f"{row.context.external_id}: {row.said}" if row.said else row.context.external_id)
        return None


def spoken(row: KwicRow) -> str:
    """A row's text for screen readers."""
    if row.context is None:
        return row.words
    one = row.context
    text = " ".join(f"{one.left}[{one.text}]{one.right}".split())
    where, mark = tr("document {external_id}", external_id=one.external_id), row.mark.value
    return ", ".join(part for part in (mark and tr(mark), f"…{text}…", where, row.said) if part)


# Paints a mention in its context on one line: mark, words before, the mention, words after, its location and a reason.
BEFORE = 0.42
"""Share of the words' width that is left of the mention, so that mentions are aligned."""
END = 0.26
"""Share of the row for location and words."""
MOST_MENTION = 0.3


class KwicDelegate(RowDelegate[KwicRow]):
    """Rows of a `KwicModel`, all of the same height. A subclass may show more at a line's end, in its own width."""

    def height(self, font: QFont, row: KwicRow) -> int:  # noqa: ARG002
        return int(QFontMetricsF(font).height()) + 8

    def ground(self, painter: QPainter, option: QStyleOptionViewItem, row: KwicRow, theme: Theme) -> None:
        if row.context is None:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.AlternateBase))
        else:
            super().ground(painter, option, row, theme)

    def draw(self, painter: QPainter, rect: QRectF, row: KwicRow, font: QFont, theme: Theme) -> None:
        rect = rect.adjusted(PAD, 0, -PAD, 0)
        if row.context is None:
            draw_words(painter, rect, row.words, font=scaled(font, SMALL, bold=True), colour=theme.muted)
            return
        side = QFontMetricsF(font).height() * 0.75
        if row.mark:
            draw_mark(painter, QPointF(rect.left() + side / 2, rect.center().y()), side, row.mark, theme)
        rect.setLeft(rect.left() + side + 10)
        end = self.end_width(rect.width(), font)
        words = QRectF(rect.left(), rect.top(), rect.width() - end - 12, rect.height())
        _draw_context(painter, row.context, words, font, theme)
        self.draw_end(painter, QRectF(rect.right() - end, rect.top(), end, rect.height()), row, font, theme)

    def end_width(self, width: float, font: QFont) -> float:  # noqa: ARG002
        """Pixels at the end of a line whose words have `width` together with it."""
        return width * END

    def draw_end(self, painter: QPainter, where: QRectF, row: KwicRow, font: QFont, theme: Theme) -> None:
        """Draw the location of the mention, and its words."""
        assert row.context is not None
        said = " · ".join(part for part in (row.context.external_id, row.words) if part)
        draw_words(painter, where, said, font=scaled(font, SMALL), colour=theme.muted)


def _draw_context(painter: QPainter, context: MentionContext, rect: QRectF, font: QFont, theme: Theme) -> None:
    """Mentions are aligned in all rows; text that does not fit is cut at the outer ends."""
    text = theme.palette.color(QPalette.ColorRole.Text)
    bold = scaled(font, 1.0, bold=True)
    middle = rect.left() + rect.width() * BEFORE
    before = QRectF(rect.left(), rect.top(), middle - rect.left() - 4, rect.height())
    painter.setPen(text)
    _draw_cut_left(painter, before, context.left, font=font)
    rest = QRectF(middle, rect.top(), rect.right() - middle, rect.height())
    most = QRectF(rest.left(), rest.top(), max(rest.width() * (1 - MOST_MENTION), 1.0), rest.height())
    taken = draw_words(painter, most, context.text, font=bold, colour=text)
    space = QFontMetricsF(font).horizontalAdvance(" ") if context.right[:1].isspace() else 1.0
    draw_words(painter, rest.adjusted(taken + space, 0, 0, 0), context.right, font=font, colour=text)


def _draw_cut_left(painter: QPainter, rect: QRectF, words: str, *, font: QFont) -> None:
    """Draw text in its colour, right-aligned and cut at the left, keeping the space before the mention."""
    metrics = QFontMetricsF(font)
    blank = " " if words[-1:].isspace() else ""
    shown = metrics.elidedText(" ".join(words.split()) + blank, Qt.TextElideMode.ElideLeft, max(rect.width(), 0.0))
    painter.setFont(font)
    flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(rect, int(flags), shown)


def draw_mark(painter: QPainter, middle: QPointF, side: float, mark: CheckMark, theme: Theme) -> None:
    """A box: empty, with a tick, or with a cross; distinguished by shape and colour."""
    box = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
    colour = {
        CheckMark.TICKED: theme.accent,
        CheckMark.RIGHT: theme.states[MentionState.LINKED].line,
        CheckMark.WRONG: theme.states[MentionState.REJECTED].line,
    }.get(mark, theme.muted)
    painter.setPen(QPen(colour, 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 3, 3)
    painter.setPen(QPen(colour, 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    inner = box.adjusted(side * 0.24, side * 0.24, -side * 0.24, -side * 0.24)
    if mark in (CheckMark.TICKED, CheckMark.RIGHT):
        low = QPointF(inner.left() + inner.width() * 0.38, inner.bottom())
        painter.drawLine(QPointF(inner.left(), inner.center().y()), low)
        painter.drawLine(low, inner.topRight())
    elif mark is CheckMark.WRONG:
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())
    painter.setPen(theme.palette.color(QPalette.ColorRole.Text))


PREVIEW_MS = 120
"""Milliseconds on a line before it is shown in the text."""
ENTERS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KwicList(RowList):
    """`pressed(key)` for every key that does not move; `clicked_mark(row)` for a click on a line's mark; `rested(row)`
    when the curator stays on a line, or presses → or double-clicks; `stepped` for Shift+Enter. `moved_in`: a key or a
    click went to a line since the rows were shown."""

    pressed = Signal(int)  # Qt.Key
    clicked_mark = Signal(int)
    rested = Signal(int)
    previewed = Signal(int, int)  # document id, mention id: of the line that `rested`
    stepped = Signal()

    too_soon = Signal()  # a key came before the rows were seen
    keyboard = Signal()  # the list got or lost the focus

    def __init__(self, name: str, parent: QWidget | None = None, *, glance: Glance | None = None) -> None:
        super().__init__(name, parent)
        self._glance = glance or Glance(None)
        self._shown = 0  # how often rows were shown
        self.moved_in = False
        self.lines = KwicModel(self)
        self.setModel(self.lines)
        self.setItemDelegate(KwicDelegate(self))
        self.setUniformItemSizes(True)
        self._timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._timer.timeout.connect(self.rest)
        self.selectionModel().currentChanged.connect(lambda: self._timer.start())
        self.doubleClicked.connect(lambda: self.rest())
        self._glance.log(self.viewport(), lambda: [self._rows_key()])

    def show_rows(self, rows: Sequence[KwicRow], *, at: int | None = None) -> None:
        """Show rows and go to one, by default the first line; there is no preview until the curator moves."""
        self.lines.show_rows(rows)
        self._shown += 1
        self.moved_in = False
        first = self.lines.line_beside(-1, 1) if at is None else at
        if first is not None:
            self.go_to(first)
        self.scrollToTop() if at is None else None
        self._timer.stop()

    def add_rows(self, rows: Sequence[KwicRow]) -> None:
        """Append rows; there is no preview until the curator moves."""
        first = not self.lines.rowCount()
        self.lines.append_rows(rows)
        if first and (line := self.lines.line_beside(-1, 1)) is not None:
            self.go_to(line)
            self._timer.stop()

    def saw(self) -> bool:
        """Whether these rows were on the screen before the key or button was pressed; shows a message if not."""
        seen = self._glance.saw(self._rows_key())
        if not seen:
            self.too_soon.emit()
        return seen

    def _rows_key(self) -> Hashable:
        return "rows", id(self), self._shown

    @property
    def current(self) -> KwicRow | None:
        return self.lines.row(self.currentIndex().row())

    @property
    def place(self) -> tuple[int, int] | None:
        """Document and mention of the current line."""
        row = self.current
        return (row.context.document_id, row.context.mention_id) if row is not None and row.context else None

    def go_by(self, step: int) -> bool:
        """Go to the next or previous line; False at the end."""
        at = self.currentIndex().row()
        found = self.lines.line_beside(at, 1 if step > 0 else -1)
        if found is None:
            return False
        for _ in range(abs(step) - 1):
            further = self.lines.line_beside(found, 1 if step > 0 else -1)
            found = found if further is None else further
        self.go_to(found)
        if found == self.lines.line_beside(-1, 1):
            self.scrollToTop()  # with the heading above it
        return True

    def event(self, event: QEvent) -> bool:
        """Keep typing keys from the window while the list has the focus, so that a slip decides nothing."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_plain(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_J: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_K: -1}
        page = max(len(rows_in_sight(self)) - 1, 1)  # no line is skipped unseen
        pages = {Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
        ends = {Qt.Key.Key_End: len(self.lines.lines), Qt.Key.Key_Home: -len(self.lines.lines)}
        step = {**steps, **pages, **ends}.get(Qt.Key(key))
        if key in MODIFIERS or not is_plain(event):
            event.ignore()
        elif key != Qt.Key.Key_Escape and not self.saw():
            event.accept()
        elif step is not None:
            self.moved_in = True
            self.go_by(step)
        elif key in ENTERS and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.stepped.emit()
        elif key == Qt.Key.Key_Right:
            self.rest()
        else:
            self.moved_in = self.moved_in or key not in ENTERS
            self.pressed.emit(key)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.keyboard.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.keyboard.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.moved_in = True
        at = self.indexAt(event.position().toPoint()).row()
        row = self.lines.row(at)
        on_mark = event.position().x() < self.fontMetrics().height() * 1.8
        if row is not None and row.context is not None and on_mark and self.saw():  # it may be meant for other rows
            self.clicked_mark.emit(at)

    def rest(self) -> None:
        """Show the current line in the text."""
        self._timer.stop()
        if (place := self.place) is not None:
            self.rested.emit(self.currentIndex().row())
            self.previewed.emit(*place)


def rule(parent: QWidget) -> QFrame:
    """The line between the text and what is below it."""
    line = QFrame(parent)
    line.setFrameShape(QFrame.Shape.HLine)
    line.setFrameShadow(QFrame.Shadow.Plain)
    line.setForegroundRole(QPalette.ColorRole.Mid)
    return line


class TickList(KwicList):
    """Space ticks a line and moves to the next, A ticks all, and a click on a box ticks its line. If all of them are
    ticked, this removes the ticks. It remembers which lines were on the screen, by `key_of`."""

    ticks_changed = Signal()
    unable = Signal()  # none of these lines can be ticked
    acted = Signal(int)  # Qt.Key that neither moves nor ticks

    def __init__(self, name: str, parent: QWidget | None = None, *, glance: Glance | None = None) -> None:
        super().__init__(name, parent, glance=glance)
        self._glance.remember(self.viewport(), self._lines_shown)
        self.pressed.connect(self._act)
        self.clicked_mark.connect(lambda row: self.toggle([row]))

    @property
    def ticked(self) -> list[KwicRow]:
        """In the order of the list."""
        rows = (self.lines.row(one) for one in self.lines.lines)
        return [row for row in rows if row is not None and row.mark is CheckMark.TICKED]

    @property
    def ticked_ids(self) -> list[int]:
        """The ticked mentions, in the order of the list."""
        return self.lines.marked(CheckMark.TICKED)

    @property
    def unseen(self) -> list[int]:
        """Row numbers of ticked lines that were never on the screen."""
        rows = ((at, self.lines.row(at)) for at in self.lines.lines)
        ticked = ((at, row) for at, row in rows if row is not None and row.mark is CheckMark.TICKED)
        return [at for at, row in ticked if self._glance.unseen([self.key_of(row)])]

    def key_of(self, row: KwicRow) -> Hashable:
        """What a seen line is remembered by."""
        return "line", id(self), row.context.mention_id if row.context is not None else 0

    def _lines_shown(self) -> list[Hashable]:
        rows = (self.lines.row(one) for one in rows_in_sight(self))
        return [self.key_of(row) for row in rows if row is not None and row.context is not None]

    def _act(self, key: int) -> None:
        at = self.currentIndex().row()
        if key == Qt.Key.Key_A:
            self.toggle(self.lines.lines)
        elif key == Qt.Key.Key_Space and at >= 0:
            self.toggle([at])
            self.go_by(1)
        else:
            self.acted.emit(key)

    def toggle(self, rows: Iterable[int]) -> None:
        """Tick these lines, or, if all of them are ticked, none."""
        marks = {one: row.mark for one in rows if (row := self.lines.row(one)) is not None}
        able = [one for one, mark in marks.items() if mark is not CheckMark.NONE]
        if not able:
            self.unable.emit()
            return
        every = all(marks[one] is CheckMark.TICKED for one in able)
        self.lines.set_marks(dict.fromkeys(able, CheckMark.UNTICKED if every else CheckMark.TICKED))
        self.ticks_changed.emit()

"""Paints a mention in its context on one line: mark, words before, itself, words behind, where it stands and why."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from curator.ui.deciding.kwic_model import ROW_ROLE, CheckMark, KwicRow
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_painting import PAD, draw_focus, draw_ground, draw_words, scaled
from curator.ui.kit.theme import Theme, theme_of

SMALL = 0.88
BEFORE = 0.42
"""Share of the words' width that is left of the mention, so that mentions stand below each other."""
END = 0.26
"""Share of the row for where it stands and what is said of it."""
MOST_MENTION = 0.3


class KwicDelegate(QStyledItemDelegate):
    """Rows of a `KwicModel`, all of one height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002
        return QSize(300, int(QFontMetricsF(option.font).height()) + 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, KwicRow):
            return
        theme = theme_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.context is None:
            self._paint_heading(painter, option, row, theme)
        else:
            draw_ground(painter, option, theme)
            self._paint_line(painter, option, row, theme)
            draw_focus(painter, option, theme)
        painter.restore()

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, row: KwicRow, theme: Theme) -> None:
        rect = QRectF(option.rect)
        painter.fillRect(rect, option.palette.color(QPalette.ColorRole.AlternateBase))
        font = scaled(option.font, SMALL, bold=True)
        draw_words(painter, rect.adjusted(PAD, 0, -PAD, 0), row.words, font=font, colour=theme.muted)

    def _paint_line(self, painter: QPainter, option: QStyleOptionViewItem, row: KwicRow, theme: Theme) -> None:
        assert row.context is not None
        rect = QRectF(option.rect).adjusted(PAD, 0, -PAD, 0)
        side = QFontMetricsF(option.font).height() * 0.75
        draw_mark(painter, QPointF(rect.left() + side / 2, rect.center().y()), side, row.mark, theme)
        rect.setLeft(rect.left() + side + 10)
        end = rect.width() * END
        words = QRectF(rect.left(), rect.top(), rect.width() - end - 12, rect.height())
        self._paint_words(painter, option, row, words)
        small = scaled(option.font, SMALL)
        where = QRectF(rect.right() - end, rect.top(), end, rect.height())
        said = " · ".join(part for part in (row.context.external_id, row.words) if part)
        draw_words(painter, where, said, font=small, colour=theme.muted)

    def _paint_words(self, painter: QPainter, option: QStyleOptionViewItem, row: KwicRow, rect: QRectF) -> None:
        """The mention begins at one place in all rows; what does not fit is cut at the outer ends."""
        assert row.context is not None
        text = option.palette.color(QPalette.ColorRole.Text)
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        middle = rect.left() + rect.width() * BEFORE
        before = QRectF(rect.left(), rect.top(), middle - rect.left() - 4, rect.height())
        _draw_cut_left(painter, before, row.context.left, font=option.font)
        rest = QRectF(middle, rect.top(), rect.right() - middle, rect.height())
        most = QRectF(rest.left(), rest.top(), max(rest.width() * (1 - MOST_MENTION), 1.0), rest.height())
        taken = draw_words(painter, most, row.context.text, font=bold, colour=text)
        space = QFontMetricsF(option.font).horizontalAdvance(" ") if row.context.right[:1].isspace() else 1.0
        draw_words(painter, rest.adjusted(taken + space, 0, 0, 0), row.context.right, font=option.font, colour=text)


def _draw_cut_left(painter: QPainter, rect: QRectF, words: str, *, font: QFont) -> None:
    """In the colour of the text, right-aligned, cut at the left. The blank before the mention stays."""
    metrics = QFontMetricsF(font)
    blank = " " if words[-1:].isspace() else ""
    shown = metrics.elidedText(" ".join(words.split()) + blank, Qt.TextElideMode.ElideLeft, max(rect.width(), 0.0))
    painter.setFont(font)
    flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
    painter.drawText(rect, int(flags), shown)


def draw_mark(painter: QPainter, middle: QPointF, side: float, mark: CheckMark, theme: Theme) -> None:
    """A box: empty, with a tick, or with a cross; told apart by shape and colour."""
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

"""Paints a mention of a list of work: its text, how sure its suggestion is, its type and document."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from curator.services.ports import WorkRow
from curator.ui.kit.row_painting import PAD, draw_bar, draw_focus, draw_ground, draw_words, row_height, scaled
from curator.ui.kit.theme import Theme, theme_of
from curator.ui.queue.queue_model import CURRENT_ROLE, ROW_ROLE
from curator.ui.queue.work_model import DECIDED_ROLE, DOCUMENT_ROLE

SMALL = 0.88


class WorkDelegate(QStyledItemDelegate):
    """Rows of a `WorkModel`, all of one height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002
        return QSize(200, row_height(option.font, 2.0) + 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, WorkRow):
            return
        theme, rect = theme_of(option.palette), QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = bool(index.data(CURRENT_ROLE))
        if current:
            painter.fillRect(option.rect, theme.accent_tint)
        draw_ground(painter, option, theme)
        if current:
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), theme.accent)
        _paint(
            painter, rect, row, option, theme, where=str(index.data(DOCUMENT_ROLE)), decided=index.data(DECIDED_ROLE)
        )
        draw_focus(painter, option, theme)
        painter.restore()


def _paint(
    painter: QPainter,
    rect: QRectF,
    row: WorkRow,
    option: QStyleOptionViewItem,
    theme: Theme,
    *,
    where: str,
    decided: bool,
) -> None:
    font, line = option.font, QFontMetricsF(option.font).height()
    small, text = scaled(font, SMALL), theme.palette.color(QPalette.ColorRole.Text)
    left, right, top = rect.left() + PAD, rect.right() - PAD, rect.top() + 7
    figure = "✓" if decided else "–" if row.probability is None else f"{row.probability:.2f}"
    width = draw_words(painter, QRectF(left, top, right - left, line), figure, font=small, colour=text, right=True)
    words = QRectF(left, top, right - width - PAD - left, line)
    ink = theme.muted if decided else text
    draw_words(painter, words, row.text, font=scaled(font, 1.0, bold=not decided), colour=ink)
    facts = QRectF(left, top + line + 2, right - left, line)
    draw_words(painter, facts, f"{row.type} · {where}", font=small, colour=theme.muted)
    bar = QRectF(left, facts.bottom() + 4, right - left, 3)
    draw_bar(painter, bar, 1.0 if decided else row.probability or 0.0, colour=theme.accent, theme=theme)

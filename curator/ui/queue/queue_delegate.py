"""Paints a document of the queue: state as a glyph and a word, id, title, decided share."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPalette, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState
from curator.domain.wording import localised, tr
from curator.services.ports.documents import QueueRow
from curator.services.ports.queue import WorkRow
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.note_marks import draw_notes, notes_width
from curator.ui.kit.row_list import PAD, draw_bar, draw_focus, draw_ground, draw_words, row_height, scaled
from curator.ui.kit.theme import Theme, theme_of
from curator.ui.queue.queue_model import CURRENT_ROLE, ROW_ROLE, SPLIT_WORDS, STATE_WORDS
from curator.ui.queue.work_model import DOCUMENT_ROLE, OUTCOME_ROLE

SMALL = 0.88
USUAL_GLYPH = 14.0
"""Design size of the glyphs in pixels; they are scaled to the line height."""


class QueueDelegate(QStyledItemDelegate):
    """Paints the rows of a `QueueModel`, all of one height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002
        return QSize(200, row_height(option.font, 2.0) + 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, QueueRow):
            return
        theme = theme_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = bool(index.data(CURRENT_ROLE))
        if current:
            painter.fillRect(option.rect, theme.accent_tint)
        draw_ground(painter, option, theme)
        if current:
            painter.fillRect(QRectF(option.rect.left(), option.rect.top(), 3, option.rect.height()), theme.accent)
        _paint_row(painter, QRectF(option.rect), row, option, theme, current=current)
        draw_focus(painter, option, theme)
        painter.restore()


def _paint_row(
    painter: QPainter, rect: QRectF, row: QueueRow, option: QStyleOptionViewItem, theme: Theme, *, current: bool
) -> None:
    font, line = option.font, QFontMetricsF(option.font).height()
    small, text = scaled(font, SMALL), theme.palette.color(QPalette.ColorRole.Text)
    top, right = rect.top() + 7, rect.right() - PAD
    draw_state_glyph(painter, QPointF(rect.left() + PAD + line / 2, top + line / 2), line, row.state, theme)
    left = rect.left() + PAD + line + 8
    counts = f"{row.decided}/{row.mentions}"
    width = draw_words(painter, QRectF(left, top, right - left, line), counts, font=small, colour=text, right=True)
    words = QRectF(left, top, right - width - PAD - left, line)
    noted = notes_width(line * 0.6, flagged=row.flagged, commented=row.comments > 0)
    name = words.adjusted(0, 0, -noted - 6 if noted else 0, 0)  # the marks follow it, never over the counts
    used = draw_words(painter, name, row.external_id, font=scaled(font, 1.0, bold=True), colour=text)
    foot = QPointF(words.left() + used + 6, top + line * 0.8)
    draw_notes(painter, foot, line * 0.6, theme, flagged=row.flagged, commented=row.comments > 0)
    used += noted + 2 if noted else 0
    facts = f"{tr(STATE_WORDS[row.state])} · {tr(SPLIT_WORDS[row.split])}"
    draw_words(painter, words.adjusted(used + PAD, 0, 0, 0), facts, font=small, colour=theme.muted)
    title = QRectF(left, top + line + 2, right - left, line)
    draw_words(painter, title, row.title, font=small, colour=text if current else theme.muted)
    bar = QRectF(left, title.bottom() + 4, right - left, 3)
    fraction = row.decided / row.mentions if row.mentions else 0.0
    draw_bar(painter, bar, fraction, colour=theme.states[MentionState.LINKED].line, theme=theme)


def draw_state_glyph(painter: QPainter, centre: QPointF, size: float, state: DocumentState, theme: Theme) -> None:
    """Draw an empty ring for todo, a half-filled one for in progress, a filled one with a tick for done, one with a
    question mark for what needs discussion; `size` pixels wide."""
    painter.save()
    painter.translate(centre)
    painter.scale(size / USUAL_GLYPH, size / USUAL_GLYPH)
    _draw_glyph(painter, state, theme)
    painter.restore()


def _draw_glyph(painter: QPainter, state: DocumentState, theme: Theme) -> None:
    centre, radius = QPointF(0.0, 0.0), USUAL_GLYPH / 2 - 1
    colour = theme.muted if state is DocumentState.TODO else theme.accent
    if state is DocumentState.DONE:
        colour = theme.states[MentionState.LINKED].ink
    elif state is DocumentState.DISCUSS:
        colour = theme.states[MentionState.REJECTED].ink
    painter.setPen(QPen(colour, 1.5))
    painter.setBrush(colour if state is DocumentState.DONE else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(centre, radius, radius)
    if state is DocumentState.IN_PROGRESS:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        box = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
        painter.drawPie(box, 90 * 16, -180 * 16)
    elif state is DocumentState.DISCUSS:
        hook = QPainterPath(centre + QPointF(-2.2, -1.6))
        hook.cubicTo(centre + QPointF(-2.2, -4.6), centre + QPointF(2.6, -4.6), centre + QPointF(2.2, -1.4))
        hook.cubicTo(centre + QPointF(1.9, 0.2), centre + QPointF(0.0, -0.2), centre + QPointF(0.0, 1.4))
        painter.drawPath(hook)
        painter.drawPoint(centre + QPointF(0.0, 3.6))
    elif state is DocumentState.DONE:
        tick = QPainterPath(centre + QPointF(-3.0, 0.2))
        tick.lineTo(centre + QPointF(-0.8, 2.4))
        tick.lineTo(centre + QPointF(3.2, -2.4))
        painter.setPen(QPen(theme.palette.color(QPalette.ColorRole.Base), 1.7))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(tick)


# Paints a mention of a work list: text, confidence of the suggestion, type and document.


class WorkDelegate(QStyledItemDelegate):
    """Paints the rows of a `WorkModel`, all of one height."""

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
        outcome = index.data(OUTCOME_ROLE)
        outcome = Outcome(outcome) if outcome is not None else None  # Qt gives back its plain text
        _paint(painter, rect, row, option, theme, where=str(index.data(DOCUMENT_ROLE)), outcome=outcome)
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
    outcome: Outcome | None,
) -> None:
    font, line = option.font, QFontMetricsF(option.font).height()
    small, text = scaled(font, SMALL), theme.palette.color(QPalette.ColorRole.Text)
    left, right, top = rect.left() + PAD, rect.right() - PAD, rect.top() + 7
    if outcome is not None:
        figure = "✓" if outcome.decides else "~"
    else:
        figure = "–" if row.probability is None else localised(row.probability, ".2f")
    width = draw_words(painter, QRectF(left, top, right - left, line), figure, font=small, colour=text, right=True)
    words = QRectF(left, top, right - width - PAD - left, line)
    ink = text if outcome is None else theme.muted
    draw_words(painter, words, row.text, font=scaled(font, 1.0, bold=outcome is None), colour=ink)
    facts = QRectF(left, top + line + 2, right - left, line)
    draw_words(painter, facts, f"{row.type} · {where}", font=small, colour=theme.muted)
    bar = QRectF(left, facts.bottom() + 4, right - left, 3)
    draw_bar(
        painter,
        bar,
        (row.probability or 0.0) if outcome is None else float(outcome.decides),
        colour=theme.accent,
        theme=theme,
    )

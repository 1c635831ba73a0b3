"""Paints a document of the queue: state as a glyph and a word, id, title, decided share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPalette, QPen
from PySide6.QtWidgets import QStyleOptionViewItem

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState
from curator.domain.wording import localised, tr
from curator.services.ports.documents import QueueRow
from curator.services.ports.queue import WorkRow
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.note_marks import draw_notes, notes_width
from curator.ui.kit.row_list import PAD, SMALL, RowDelegate, draw_bar, draw_words, row_height, scaled
from curator.ui.kit.theme import Theme
from curator.ui.queue.queue_model import (
    CURRENT_ROLE,
    DOCUMENT_ROLE,
    OUTCOME_ROLE,
    ROW_ROLE,
    SPLIT_WORDS,
    STATE_WORDS,
)

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex
USUAL_GLYPH = 14.0
"""Design size of the glyphs in pixels; they are scaled to the line height."""


@dataclass(frozen=True, slots=True)
class _Document:
    row: QueueRow
    current: bool


class _CurrentMarked(RowDelegate[R]):
    """Rows of one height, of which the open one has a bar."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 no row is read for it
        return QSize(200, row_height(option.font) + 8)

    def ground(self, painter: QPainter, option: QStyleOptionViewItem, row: R, theme: Theme) -> None:
        current = row.current  # type: ignore[attr-defined]
        if current:
            painter.fillRect(option.rect, theme.accent_tint)
        super().ground(painter, option, row, theme)
        if current:
            painter.fillRect(QRectF(option.rect.left(), option.rect.top(), 3, option.rect.height()), theme.accent)


class QueueDelegate(_CurrentMarked[_Document]):
    """Paints the rows of a `QueueModel`."""

    def row(self, index: Index) -> _Document | None:
        row = index.data(ROW_ROLE)
        return _Document(row, bool(index.data(CURRENT_ROLE))) if isinstance(row, QueueRow) else None

    def draw(self, painter: QPainter, rect: QRectF, row: _Document, font: QFont, theme: Theme) -> None:
        one = row.row
        line = QFontMetricsF(font).height()
        small, text = scaled(font, SMALL), theme.palette.color(QPalette.ColorRole.Text)
        top, right = rect.top() + 7, rect.right() - PAD
        draw_state_glyph(painter, QPointF(rect.left() + PAD + line / 2, top + line / 2), line, one.state, theme)
        left = rect.left() + PAD + line + 8
        counts = f"{one.decided}/{one.mentions}"
        width = draw_words(painter, QRectF(left, top, right - left, line), counts, font=small, colour=text, right=True)
        words = QRectF(left, top, right - width - PAD - left, line)
        noted = notes_width(line * 0.6, flagged=one.flagged, commented=one.comments > 0)
        name = words.adjusted(0, 0, -noted - 6 if noted else 0, 0)  # the marks follow it, never over the counts
        used = draw_words(painter, name, one.external_id, font=scaled(font, 1.0, bold=True), colour=text)
        foot = QPointF(words.left() + used + 6, top + line * 0.8)
        draw_notes(painter, foot, line * 0.6, theme, flagged=one.flagged, commented=one.comments > 0)
        used += noted + 2 if noted else 0
        facts = f"{tr(STATE_WORDS[one.state])} · {tr(SPLIT_WORDS[one.split])}"
        draw_words(painter, words.adjusted(used + PAD, 0, 0, 0), facts, font=small, colour=theme.muted)
        title = QRectF(left, top + line + 2, right - left, line)
        draw_words(painter, title, one.title, font=small, colour=text if row.current else theme.muted)
        bar = QRectF(left, title.bottom() + 4, right - left, 3)
        fraction = one.decided / one.mentions if one.mentions else 0.0
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


@dataclass(frozen=True, slots=True)
class _Mention:
    row: WorkRow
    current: bool
    document: str
    outcome: Outcome | None


class WorkDelegate(_CurrentMarked[_Mention]):
    """Paints the rows of a `WorkModel`."""

    def row(self, index: Index) -> _Mention | None:
        row, outcome = index.data(ROW_ROLE), index.data(OUTCOME_ROLE)
        if not isinstance(row, WorkRow):
            return None
        decided = Outcome(outcome) if outcome is not None else None  # Qt gives back its plain text
        return _Mention(row, bool(index.data(CURRENT_ROLE)), str(index.data(DOCUMENT_ROLE)), decided)

    def draw(self, painter: QPainter, rect: QRectF, row: _Mention, font: QFont, theme: Theme) -> None:
        line, outcome, one = QFontMetricsF(font).height(), row.outcome, row.row
        small, text = scaled(font, SMALL), theme.palette.color(QPalette.ColorRole.Text)
        left, right, top = rect.left() + PAD, rect.right() - PAD, rect.top() + 7
        if outcome is not None:
            figure = "✓" if outcome.decides else "~"
        else:
            figure = "–" if one.probability is None else localised(one.probability, ".2f")
        width = draw_words(painter, QRectF(left, top, right - left, line), figure, font=small, colour=text, right=True)
        words = QRectF(left, top, right - width - PAD - left, line)
        ink = text if outcome is None else theme.muted
        draw_words(painter, words, one.text, font=scaled(font, 1.0, bold=outcome is None), colour=ink)
        facts = QRectF(left, top + line + 2, right - left, line)
        draw_words(painter, facts, f"{one.type} · {row.document}", font=small, colour=theme.muted)
        bar = QRectF(left, facts.bottom() + 4, right - left, 3)
        draw_bar(
            painter,
            bar,
            (one.probability or 0.0) if outcome is None else float(outcome.decides),
            colour=theme.accent,
            theme=theme,
        )
